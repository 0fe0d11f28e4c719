"""Which checkpoint a resumed attempt is told to go on from (ONBOX_CHECKPOINT), and what is known of its lineage."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from onbox.chain.artifacts.on_disk import StopAsked
from onbox.checkpoints.lineage import LineageTerms
from onbox.checkpoints.on_disk import look_at_checkpoints, real_path, written_at
from onbox.contract.events import ROLLBACKS, Event, Unreadable, parse_events
from onbox.model.manifest import folder_of
from onbox.model.origin import Origin, origin_of
from onbox.named_tuple import NamedTuple
from onbox.system.clock import parse_utc
from onbox.system.journal import read_lines
from onbox.system.process import never
from onbox.system.time_limit import CalledOff, TooLong, time_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import RunHead
    from onbox.model.manifest import Stage

LOOK_SECONDS = 120.0


def stage_records(paths: RunPaths, stage: str) -> Iterator[Record]:
    """What the journal has about a stage."""
    for record in parse_events(read_lines(paths.journal)):
        if not isinstance(record, Unreadable) and record.get("stage") == stage:
            yield record


class SetAside(NamedTuple):
    """A checkpoint that a rollback rejects. path: real. identity: device and inode."""

    path: str
    aside: str
    identity: tuple[int, int]


class Rollback(NamedTuple):
    """As the journal tells it. last: the name of its newest event. number: which one of the run, from 1."""

    number: int
    stage: str
    step: int
    checkpoint: str
    reason: str
    by: str
    at: str
    moved: tuple[SetAside, ...]
    last: str = Event.ROLLBACK_BEGUN

    @property
    def is_open(self) -> bool:
        """It, or its undoing, was cut off (or is at work)."""
        return self.last in (Event.ROLLBACK_BEGUN, Event.ROLLBACK_UNDOING)

    @property
    def rejected(self) -> tuple[str, ...]:
        """Original paths."""
        return tuple(one.path for one in self.moved)


def rollbacks(paths: RunPaths, stage: str) -> list[Rollback]:
    """Those of a stage, the oldest first."""
    found: dict[object, Rollback] = {}
    for record in stage_records(paths, stage):
        number = record.get("number")
        if record["event"] == Event.ROLLBACK_BEGUN and (read := _rollback(record)) is not None:
            found[number] = read
        elif record["event"] in ROLLBACKS and number in found:
            found[number] = found[number]._replace(last=record["event"])
    return list(found.values())


def _rollback(record: Record) -> Rollback | None:
    """None: it cannot be understood."""
    try:
        moved = [
            SetAside(one["path"], one["aside"], (one["identity"][0], one["identity"][1])) for one in record["moved"]
        ]
        texts = [str(record.get(key) or "") for key in ("checkpoint", "reason", "by", "at")]
        return Rollback(int(record["number"]), str(record["stage"]), int(record["step"]), *texts, tuple(moved))  # type: ignore[arg-type, call-arg]
    except (KeyError, TypeError, ValueError, IndexError):
        return None


def lineage_terms(paths: RunPaths, head: RunHead, stage: Stage, origin: Origin) -> LineageTerms:
    """What is known of the lineage of the stage's checkpoints."""
    rejected = tuple(
        os.path.basename(path) for it in rollbacks(paths, stage.name) if it.is_open for path in it.rejected
    )
    began, own = [], [head.run_id, head.run, origin.tracker, origin.initialize_from]
    is_over, begun_anew = False, None
    for record in stage_records(paths, stage.name):
        event = record["event"]
        if event == Event.ATTEMPT_STARTED:
            began.append(parse_utc(str(record.get("at"))))
            is_over, begun_anew = False, began[-1] if is_over else begun_anew
        elif event in (Event.STAGE_DONE, Event.STAGE_REDO):
            is_over = True
        elif event == Event.TRACKER_RUN:
            own += [str(record.get(key) or "") for key in ("run_id", "name")]
    attempts = tuple(at for at in began if at is not None)
    return LineageTerms(origin.rejected, tuple(filter(None, own)), attempts, rejected, begun_anew)


class ResumeSource(NamedTuple):
    """A checkpoint. path: absolute. at: when it was written, seconds since the epoch; None: that cannot be told."""

    path: str
    at: float | None


def find_to_resume_from(
    paths: RunPaths, head: RunHead, stage: Stage, urged: Callable[[], bool] = never
) -> ResumeSource | None:
    """The checkpoint that a resumed attempt of the stage is given; None: there is none. urged: whether somebody asked
    to stop. Raises OSError.
    """
    terms = lineage_terms(paths, head, stage, origin_of(head.data))
    try:
        with time_limit(LOOK_SECONDS, urged):
            chosen = look_at_checkpoints(stage, head.project, terms).chosen
    except CalledOff as off:
        raise StopAsked(errno.EINTR, "the look at its checkpoints was ended by a stop", head.project) from off
    except TooLong as late:
        says = f"the look at its checkpoints took longer than {LOOK_SECONDS:g} s"
        raise OSError(errno.ETIMEDOUT, says, head.project) from late
    if chosen is None:
        return None
    folder = folder_of(head.project, stage)
    written = written_at(folder, chosen.path, chosen.step)
    return ResumeSource(real_path(os.path.join(folder, chosen.path)), written.at if written else None)
