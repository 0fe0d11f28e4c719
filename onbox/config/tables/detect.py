"""[detect]: from which numbers on a run that goes wrong is told of, and what follows. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Unwanted
from onbox.config.keys import Key, Keys, OwnKey
from onbox.did_you_mean import did_you_mean
from onbox.model.detect import ANSWERS, NAMES, DetectSettings

if TYPE_CHECKING:
    from onbox.config.fields import Table

_USUAL = DetectSettings()


def _above_zero(value: object) -> float:
    found = values.number(value)
    if found <= 0:
        raise Unwanted("a number above 0")
    return found


def _share(value: object) -> float:
    found = values.number(value)
    if not 0 < found < 100:
        raise Unwanted("a number of percent between 0 and 100")
    return found


class DetectKeys(Keys):
    """[detect]."""

    HEADER = "[detect]"
    HELP = (
        "What the runner looks for in a run while it runs, at every sample (docs/series.md). A reading is one value that the"
        " log shows. It tells, and stops nothing by itself."
    )
    slow_percent = Key(_share, _USUAL.slow_percent, "Slow is this far below its own median speed.", "25", usual="25")
    slow_readings = Key(values.count_from(1), _USUAL.slow_readings, "For this many readings in a row.", "5", usual="5")
    loss_percent = Key(
        _above_zero, _USUAL.loss_percent, "The loss has risen when it is this far above its trend.", "50", usual="50"
    )
    loss_readings = Key(
        values.count_from(1), _USUAL.loss_readings, "For this many readings in a row.", "10", usual="10"
    )
    grad_norm_factor = Key(
        _above_zero,
        _USUAL.grad_norm_factor,
        "The gradient explodes at this many times its usual size.",
        "10",
        usual="10",
    )
    grad_norm_readings = Key(
        values.count_from(1), _USUAL.grad_norm_readings, "For this many readings in a row.", "3", usual="3"
    )
    zero_readings = Key(
        values.count_from(2),
        _USUAL.zero_readings,
        "A loss, grad norm or metric is exactly 0 in this many readings in a row.",
        "5",
        usual="5",
    )
    resume_loss_difference = Key(
        _above_zero,
        _USUAL.resume_loss_difference,
        "After a resume the loss may differ by this much from the same step in the attempt before.",
        "0.002",
        usual="0.002",
    )
    resume_loss_percent = Key(
        _above_zero,
        _USUAL.resume_loss_percent,
        "Past the last step of the attempt before, the loss may be this far above that attempt's trend.",
        "1",
        usual="1",
    )
    checkpoint_intervals = Key(
        _above_zero,
        _USUAL.checkpoint_intervals,
        "Late when there was no new complete checkpoint for this many of the run's own intervals.",
        "3",
        usual="3",
    )
    rollback_depth = Key(
        values.count_from(0),
        _USUAL.rollback_depth,
        "At least this many complete checkpoints should be left, once there were as many; 0: any number will do.",
        "3",
        usual="0",
    )
    buffered_after = Key(
        values.positive_duration,
        _USUAL.buffered_after_seconds,
        "Artifacts this much younger than the log mean that the output is buffered.",
        '"10m"',
        usual='"10m"',
    )
    same_step = Key(
        values.count_from(0),
        _USUAL.same_step,
        "Two attempts that end within so many steps of each other end at the same step: told as a repeated failure"
        " (default: half a percent of the step).",
        "50",
    )
    on_detect = OwnKey(
        'What to do, by detector: "tell" you, "stop" (the stage is ended and fails) or "ignore". Detectors: '
        + ", ".join(NAMES)
        + ".",
        '{ loss-not-finite = "stop" }',
        usual='"tell"',
    )


def read_detect(table: Table) -> DetectSettings:
    """What [detect] says; every error goes into the table's list."""
    return DetectSettings(
        slow_percent=table.get(DetectKeys.slow_percent),
        slow_readings=table.get(DetectKeys.slow_readings),
        loss_percent=table.get(DetectKeys.loss_percent),
        loss_readings=table.get(DetectKeys.loss_readings),
        grad_norm_factor=table.get(DetectKeys.grad_norm_factor),
        grad_norm_readings=table.get(DetectKeys.grad_norm_readings),
        zero_readings=table.get(DetectKeys.zero_readings),
        resume_loss_difference=table.get(DetectKeys.resume_loss_difference),
        resume_loss_percent=table.get(DetectKeys.resume_loss_percent),
        checkpoint_intervals=table.get(DetectKeys.checkpoint_intervals),
        rollback_depth=table.get(DetectKeys.rollback_depth),
        buffered_after_seconds=table.get(DetectKeys.buffered_after),
        same_step=table.get(DetectKeys.same_step),
        on_detect=table.read("on_detect", _answers, ()),
    )


def _answers(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping):
        raise Unwanted('a table such as { loss-not-finite = "stop" }')
    for name, answer in value.items():
        if name not in NAMES:
            raise Unwanted(f'a table of detectors: there is no "{name}"' + did_you_mean(str(name), NAMES))
        if answer not in ANSWERS:
            raise Unwanted(f'a table of detectors: {name} is "tell", "stop" or "ignore"')
    return tuple((str(name), str(answer)) for name, answer in value.items())
