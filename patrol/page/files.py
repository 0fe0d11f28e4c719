"""What a run left behind: whole checkpoints, as its series tells, and what its stages were judged by. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.events import Event
from onbox.contract.json_text import as_whole
from onbox.model.units import counted, format_size
from onbox.named_tuple import NamedTuple
from onbox.system.clock import parse_utc

if TYPE_CHECKING:
    from onbox.series.point import Point as SeriesPoint
    from patrol.page.model import RunHistory

FILES, CHECKPOINTS = 40, 8


class Written(NamedTuple):
    """at: when it was written; None: not known. size: in words; "" where it is not told."""

    what: str
    stage: str
    size: str
    at: float | None


def written_by(run: RunHistory) -> tuple[Written, ...]:
    """Checkpoints first, newest first; then files, in the order of the stages."""
    return (*_checkpoints(run), *_files(run))


def still_there(run: RunHistory) -> str:
    """A training removes most of what it saves: how many of its checkpoints are left."""
    newest = next((point for point in reversed(run.series) if point.checkpoint_at is not None), None)
    if newest is None or newest.checkpoints is None:
        return ""
    return f"the newest that were saved; {counted(newest.checkpoints, 'checkpoint')} on the disk at the last reading"


def _checkpoints(run: RunHistory) -> list[Written]:
    """Each once, at the time at which it was whole. What a rollback has set aside is left out."""
    seen: dict[tuple[int | None, float], Written] = {}
    back = _rollbacks(run)
    for point in run.series:
        if point.checkpoint_at is not None and not any(one.rejects(point) for one in back):
            step = "checkpoint" if point.checkpoint_step is None else f"checkpoint of step {point.checkpoint_step}"
            seen[point.checkpoint_step, point.checkpoint_at] = Written(step, point.stage, "", point.checkpoint_at)
    return sorted(seen.values(), key=lambda one: -(one.at or 0.0))[:CHECKPOINTS]


class _Rollback(NamedTuple):
    stage: str
    step: int
    at: float

    def rejects(self, point: SeriesPoint) -> bool:
        """Whether it has set the point's checkpoint aside."""
        step, at = point.checkpoint_step, point.checkpoint_at
        return point.stage == self.stage and step is not None and step > self.step and at is not None and at < self.at


def _rollbacks(run: RunHistory) -> list[_Rollback]:
    """Those that hold."""
    found: dict[object, _Rollback] = {}
    for event in run.events:
        step, at = as_whole(event.get("step")), parse_utc(str(event.get("at")))
        if event["event"] == Event.ROLLBACK_DONE and step is not None and at is not None:
            found[event.get("number")] = _Rollback(str(event.get("stage")), step, at)
        elif event["event"] == Event.ROLLBACK_UNDONE:
            found.pop(event.get("number"), None)
    return list(found.values())


def _files(run: RunHistory) -> list[Written]:
    """Of the stages that are done."""
    found = {}
    for event in run.events:
        files = event.get("artifacts")
        if event["event"] != Event.STAGE_DONE or not isinstance(files, list):
            continue
        for one in files:
            if isinstance(one, dict) and isinstance(one.get("path"), str):
                size, at = as_whole(one.get("bytes")), as_whole(one.get("mtime"))
                words = "" if size is None or size < 0 else format_size(size)
                found[one["path"]] = Written(one["path"], str(event.get("stage")), words, at)
    return list(found.values())[-FILES:]
