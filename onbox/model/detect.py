"""What the runner looks for in a run's series, and from which numbers on it tells. Values, no logic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

# What follows when a detector finds something.
TELL, STOP, IGNORE = "tell", "stop", "ignore"
ANSWERS = (TELL, STOP, IGNORE)

# Names of the detectors; `onbox/series/detectors/table.py` has the code of each.
NAMES = (
    "slow",
    "loss-not-finite",
    "loss-risen",
    "grad-norm-risen",
    "all-zero",
    "resume-mismatch",
    "checkpoints-late",
    "checkpoints-few",
    "output-buffered",
)


class DetectSettings(NamedTuple):
    """A reading is a point in which the log showed the value anew. on_detect: (name, answer); others are told.

    slow: that many readings in a row so far below the attempt's own median speed. loss: so many in a row so far above
    the trend. grad_norm: so many in a row above so many times the usual. zero: so many in a row.
    resume_loss_difference: from the loss of the attempt before at the same step; resume_loss_percent: from its trend,
    behind its last step.
    checkpoint_intervals: no complete checkpoint for so many of the run's own intervals. rollback_depth: at least so
    many complete checkpoints are wanted; 0: any number will do. buffered_after_seconds: so much older than the newest
    artifact is the log. same_step: ends so many steps apart are at the same one; None: a share of the step
    (onbox/triage/repeats.py).
    """

    slow_percent: float = 25.0
    slow_readings: int = 5
    loss_percent: float = 50.0
    loss_readings: int = 10
    grad_norm_factor: float = 10.0
    grad_norm_readings: int = 3
    zero_readings: int = 5
    resume_loss_difference: float = 0.002
    resume_loss_percent: float = 1.0
    checkpoint_intervals: float = 3.0
    rollback_depth: int = 0
    buffered_after_seconds: float = 600.0
    same_step: int | None = None
    on_detect: tuple[tuple[str, str], ...] = ()

    def answer(self, name: str) -> str:
        """What follows when this detector finds something."""
        return dict(self.on_detect).get(name, TELL)


def detect_to_dict(settings: DetectSettings) -> dict[str, Any]:
    """The field `detect` of run.json."""
    return {**settings._asdict(), "on_detect": dict(settings.on_detect)}


def detect_from_dict(data: Mapping[str, Any] | None) -> DetectSettings:
    """The inverse of `detect_to_dict`; None (a run frozen before there were detectors): the usual numbers."""
    known = {key: value for key, value in (data or {}).items() if key in DetectSettings._fields}
    answers = known.pop("on_detect", None) or {}
    return DetectSettings(**known, on_detect=tuple((str(name), str(answer)) for name, answer in answers.items()))
