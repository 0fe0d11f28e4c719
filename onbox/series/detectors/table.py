"""The detectors, and one look with all of them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.model.detect import IGNORE, NAMES
from onbox.named_tuple import NamedTuple
from onbox.series.detectors import files, loss, speed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onbox.series.detectors.course import Course, Detection


class Detector(NamedTuple):
    """find: what there is now, told the finding of the look before (None: it found nothing). words: of what is wrong.
    remedy: what a person does about it.
    """

    find: Callable[[Course, Detection | None], Detection | None]
    words: str
    remedy: str


DETECTORS: dict[str, Detector] = {
    "slow": Detector(
        speed.slow,
        "it got slower",
        "Look for the cause: a degraded or throttled GPU, a slow data source, checkpoints that take long,"
        " recompilation, retries.",
    ),
    "loss-not-finite": Detector(
        loss.not_finite,
        "its loss or gradient is not a number",
        "Stop it: it burns time without learning. Go back to an earlier checkpoint, with a lower rate or clipping.",
    ),
    "loss-risen": Detector(
        loss.risen,
        "its loss climbs",
        "Look at the curve. If it does not come back: an earlier checkpoint, a lower rate, a look at the data there.",
    ),
    "grad-norm-risen": Detector(
        loss.grad_norm_risen,
        "its gradients explode",
        "Look at the loss; divergence usually follows. Clip the gradient, lower the rate, look at the data there.",
    ),
    "all-zero": Detector(
        loss.all_zero,
        "a value is always 0",
        "It is more likely a bug than a result: look at how it is computed, and at what it is computed from.",
    ),
    "resume-mismatch": Detector(
        loss.resume_mismatch,
        "it continues elsewhere than it stopped",
        "See whether weights, optimizer, data order and seed were restored, and from the checkpoint that was meant.",
    ),
    "checkpoints-late": Detector(
        files.checkpoints_late,
        "it saves no more",
        "See whether saving fails or hangs, and whether there is room; what is computed now would be lost.",
    ),
    "checkpoints-few": Detector(
        files.checkpoints_few,
        "too few checkpoints are left",
        "See what deletes them, and keep more: onbox checkpoints.",
    ),
    "output-buffered": Detector(
        files.output_buffered,
        "its log lags behind",
        "It is not hung: its output is buffered. Run it unbuffered (python -u, PYTHONUNBUFFERED=1, stdbuf -oL).",
    ),
}
assert tuple(DETECTORS) == NAMES


def look(course: Course, before: Mapping[str, Detection]) -> dict[str, Detection]:
    """What all detectors find now. before: what they found at the last look."""
    found = {
        name: one
        for name, detector in DETECTORS.items()
        if course.limits.answer(name) != IGNORE and (one := detector.find(course, before.get(name))) is not None
    }
    return {name: _as_one_episode(before.get(name), one) for name, one in found.items()}


def _as_one_episode(before: Detection | None, now: Detection) -> Detection:
    """An episode began when it was found first; its proof is of now."""
    return now if before is None else now._replace(at=before.at, step=before.step)
