"""How far a run is, as its log tells it, and the one line that says so. Pure."""

from __future__ import annotations

from typing import NamedTuple

from onbox.contract.units import format_duration

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


def render_progress(progress: Progress) -> str:
    """`~4600/5155 (89%) eta 1h12m loss 0.41`; `~4600/unknown` without an exact maximum; `no progress shown`."""
    words: list[str] = []
    if progress.current is not None:
        words.append(_counter(progress))
    elif progress.percent is not None:
        words.append(f"{progress.percent:g}%")
    else:
        return NOTHING
    if progress.eta_seconds is not None and not progress.finished:
        words.append(f"eta {format_duration(progress.eta_seconds)}")
    if progress.loss is not None:
        words.append(f"loss {progress.loss}" if isinstance(progress.loss, str) else f"loss {progress.loss:.4g}")
    return " ".join(words)


def _counter(progress: Progress) -> str:
    assert progress.current is not None
    current = f"{progress.current:.12g}"
    if not progress.exact_max:
        return f"~{current}/unknown"
    # Floored: 100 % is said at the maximum only.
    return f"~{current}/{progress.exact_max} ({int(100 * progress.current / progress.exact_max)}%)"
