"""Which checkpoint a resumed attempt is told to go on from (ONBOX_CHECKPOINT), and what is known of its lineage."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from onbox.chain.artifacts.on_disk import StopAsked
from onbox.checkpoints.lineage import LineageTerms
from onbox.checkpoints.on_disk import look_at_checkpoints, real_path
from onbox.contract.events import Event, Unreadable, parse_events
from onbox.model.manifest import folder_of
from onbox.model.origin import Origin, origin_of
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


def lineage_terms(paths: RunPaths, head: RunHead, stage: Stage, origin: Origin) -> LineageTerms:
    """What is known of the lineage of the stage's checkpoints."""
    began, own = [], [head.run_id, head.run, origin.tracker, origin.initialize_from]
    for record in stage_records(paths, stage.name):
        if record["event"] == Event.ATTEMPT_STARTED:
            began.append(parse_utc(str(record.get("at"))))
        elif record["event"] == Event.TRACKER_RUN:
            own += [str(record.get(key) or "") for key in ("run_id", "name")]
    return LineageTerms(origin.rejected, tuple(filter(None, own)), tuple(at for at in began if at is not None))


def find_to_resume_from(paths: RunPaths, head: RunHead, stage: Stage, urged: Callable[[], bool] = never) -> str:
    """The checkpoint that a resumed attempt of the stage is given, as an absolute path; "": there is none. urged:
    whether somebody asked to stop. Raises OSError.
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
    return real_path(os.path.join(folder_of(head.project, stage), chosen.path)) if chosen else ""
