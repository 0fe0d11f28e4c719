"""How far a run is, as its log tells it, and the one line that says so. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.json_text import as_number
from onbox.model.units import format_duration
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTHING = "no progress shown"
SCHEMA = 1


class Progress(NamedTuple):
    """How far a run is. None always means: the log does not say.

    current: of the outermost counter of the run, as displayed. exact_max: its maximum, only if it was printed (or set)
    exactly; never worked out from a rounded number or a percentage. unit: `step`, `epoch`, ...
    epoch_current, epoch_max: the epoch beside a step-like counter. loss: the last training loss; `"nan"` if it is none.
    eta_seconds: of the whole run. finished: True, the log shows an end of its own; False, it does not; None, cannot
    tell.
    percent: as displayed, in a log that shows a percentage only. tracker_run: URL of the tracker's page of the run.
    inner_*: the counter inside the primary one (batches of an epoch). current_rounded: the program itself rounded
    `current` (`1.61k`). rule: id of the shape that `current` was read by.
    """

    current: float | None = None
    exact_max: int | None = None
    unit: str | None = None
    epoch_current: float | None = None
    epoch_max: int | None = None
    loss: float | str | None = None
    eta_seconds: float | None = None
    finished: bool | None = None
    percent: float | None = None
    tracker_run: str | None = None
    inner_current: float | None = None
    inner_max: int | None = None
    inner_unit: str | None = None
    current_rounded: bool = False
    rule: str | None = None


class ProgressWords(NamedTuple):
    """A progress in words, part by part; "" for what it does not show."""

    counter: str = ""
    share: str = ""
    eta: str = ""
    loss: str = ""


def render_progress(progress: Progress) -> str:
    """`~4600/5155 (89%) eta 1h12m loss 0.41`; `~4600/unknown` without an exact maximum; `no progress shown`."""
    words = words_of_progress(progress)
    return " ".join(filter(None, words)) if words.counter else NOTHING


def words_of_progress(progress: Progress) -> ProgressWords:
    """Without a counter there is nothing to say."""
    if progress.current is not None:
        counter, share = _counter(progress.current, progress.exact_max), _percent(progress)
    elif progress.percent is not None:
        counter, share = f"{progress.percent:g}%", ""
    else:
        return ProgressWords()
    loss = progress.loss if isinstance(progress.loss, str | None) else f"{progress.loss:.4g}"
    return ProgressWords(
        counter,
        share,
        "" if progress.eta_seconds is None or progress.finished else f"eta {format_duration(progress.eta_seconds)}",
        "" if loss is None else f"loss {loss}",
    )


def percent_of(told: Mapping[str, object]) -> float | None:
    """How much of the whole is done, from 0 to 100; None: not told. told: the fields of a `Progress`.

    Who stands in the last epoch of all is not through with it: then the counter inside tells how far.
    """
    current, most = as_number(told.get("current")), as_number(told.get("exact_max"))
    if current is None or not most:
        return as_number(told.get("percent"))
    inner, inner_most = as_number(told.get("inner_current")), as_number(told.get("inner_max"))
    if current == most and inner is not None and inner_most and inner < inner_most and told.get("finished") is not True:
        return 100 * ((most - 1) * inner_most + inner) / (most * inner_most)
    return 100 * current / most  # in this order: 100 times 0.58 is less than 58


def _counter(current: float, maximum: int | None) -> str:
    return f"~{current:.12g}/{maximum}" if maximum else f"~{current:.12g}/unknown"


def _percent(progress: Progress) -> str:
    percent = percent_of(progress._asdict()) if progress.exact_max else None
    return "" if percent is None else f"({int(percent)}%)"  # floored: 100 % is said at the maximum only
