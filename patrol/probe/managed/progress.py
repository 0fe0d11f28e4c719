"""How far a run is: by its log as this look brought it, and by what its runner said lately. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import as_number, as_whole
from onbox.contract.progress import Progress
from onbox.contract.readings import Absent, Unseen, observed
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from patrol.probe import log_memory
from patrol.probe.managed.values import TEXT_LIMIT, age_of
from patrol.snapshot import NOT_ASKED, Artifacts, Cells, Detected, LogLook, RunLook

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe
    from patrol.memory.run_memory import LogPlace


FRESH_HEARTBEATS = 3
DETECTED_LIMIT = 20
CELLS_LIMIT, CELL_LIMIT, WARNINGS_LIMIT = 50, 120, 5
OWN_RULE, SWEEP_RULE = "own", "sweep"


class ManagedTold(NamedTuple):
    """The runner's own reading. holds: its heartbeat is young and its runner was not seen to be gone, or its stage was
    seen to be gone: then nothing moves on.
    """

    progress: Progress
    pace: Maybe[float]
    holds: bool


def _is_fresh(look: RunLook) -> bool:
    """Whether the runner lives and has said lately how it is."""
    age = look.heartbeat_age_seconds
    fresh = isinstance(age, float) and age < FRESH_HEARTBEATS * look.heartbeat_every_seconds
    return fresh and look.runner_alive is not False


def artifacts_of(look: RunLook, fields: dict[str, Any], clock: float) -> Maybe[Artifacts]:
    """What the runner has seen of them at its last look; an old word says nothing of those that came since."""
    told = fields.get("artifacts")
    if not isinstance(told, dict) or not _is_fresh(look):
        return NOT_ASKED
    count, size = as_whole(told.get("count")), as_whole(told.get("bytes"))
    if count is None or size is None:
        return NOT_ASKED
    return Artifacts(count, size, age_of(told.get("newest_at"), clock, "none yet"))


def detected_by(look: RunLook, fields: dict[str, Any]) -> Maybe[tuple[Detected, ...]]:
    """What its detectors found at their last look, of the attempt that runs."""
    told = fields.get("detected")
    if not isinstance(told, list) or not _is_fresh(look):
        return NOT_ASKED
    found = [one for one in told[:DETECTED_LIMIT] if isinstance(one, dict) and isinstance(one.get("detector"), str)]
    return tuple(Detected(*(safe_line(one.get(key) or "", TEXT_LIMIT) for key in Detected._fields)) for one in found)


def cells_of(data: object) -> Cells | None:
    """How the cells stand, as its runner's status tells; None: it is not a sweep."""
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        return None
    rows = data.get("rows")
    told = [row for row in rows[:CELLS_LIMIT] if isinstance(row, list)] if isinstance(rows, list) else []
    counts = [as_whole(data.get(key)) or 0 for key in ("done", "total")]
    words = tuple(tuple(safe_line(one, CELL_LIMIT) for one in row[:3] if isinstance(one, str)) for row in told)
    said = data.get("warnings")
    warnings = tuple(safe_line(one, TEXT_LIMIT) for one in said[:WARNINGS_LIMIT]) if isinstance(said, list) else ()
    return Cells(safe_line(data["text"], TEXT_LIMIT), max(0, counts[0]), max(0, counts[1]), words, warnings)


def told_by_status(look: RunLook, fields: dict[str, Any]) -> ManagedTold | None:
    """None where it tells none, or that of an attempt before: its counter is another one."""
    data = fields.get("progress")
    progress = _told_progress(data)
    if progress is None or not isinstance(data, dict):
        return None
    is_of_sweep = progress.rule == SWEEP_RULE  # counts cells, over all of its launches
    if not is_of_sweep and (observed(look.stage), observed(look.attempt)) != (
        fields.get("stage"),
        fields.get("attempt"),
    ):
        return None
    pace, fresh = as_number(data.get("steps_per_second")), _is_fresh(look)
    return ManagedTold(progress, pace if fresh and pace else Absent("no pace told"), fresh or look.stage_alive is False)


def progress_of(
    told: ManagedTold | None, status: Maybe[dict[str, Any]], place: LogPlace | None, log: Maybe[LogLook]
) -> Maybe[Progress]:
    """What the log shows in this very look; the runner's reading where the log was not read or shows nothing, and where
    it alone knows how: by a pattern of the user's own, which is not run here.
    """
    if told is not None and told.progress.rule == SWEEP_RULE:  # its log tells of cells, and may quote their counters
        return told.progress
    shown = log_memory.progress(place)
    is_shown = shown.current is not None or shown.percent is not None
    own_way = told is not None and told.holds and told.progress.rule == OWN_RULE
    if is_shown and not own_way and isinstance(log, LogLook):
        return shown if told is None or shown.exact_max is not None else _with_maximum(shown, told.progress)
    if told is not None:
        return told.progress
    if is_shown:
        return shown
    return status if isinstance(status, Unseen) else Absent("no progress shown")


def _with_maximum(shown: Progress, told: Progress) -> Progress:
    """The maximum that is set in the configuration, for the same counter."""
    return shown._replace(exact_max=told.exact_max) if told.exact_max and told.unit == shown.unit else shown


def _told_progress(data: object) -> Progress | None:
    """The progress of status.json: each field that has its own type, the others as not told."""
    if not isinstance(data, dict):
        return None
    told: dict[str, Any] = {}
    for key in ("current", "epoch_current", "eta_seconds", "percent", "inner_current"):
        told[key] = as_number(data.get(key))
    for key in ("exact_max", "epoch_max", "inner_max"):
        told[key] = value if isinstance(value := data.get(key), int) and not isinstance(value, bool) else None
    for key in ("unit", "inner_unit", "rule", "tracker_run"):
        told[key] = safe_line(value, 200) if isinstance(value := data.get(key), str) else None
    loss, finished = data.get("loss"), data.get("finished")
    told["loss"] = safe_line(loss, 20) if isinstance(loss, str) else as_number(loss)
    told["finished"] = finished if isinstance(finished, bool) else None
    return Progress(**told, current_rounded=data.get("current_rounded") is True)
