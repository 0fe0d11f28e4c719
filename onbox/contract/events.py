"""The journal: one JSON object per line, appended and fsynced, never rewritten. The source of truth of a run.

Every record has `schema`, `at` (UTC, ISO 8601 with milliseconds) and `event`; records about a stage have `stage` and
most of them `attempt`. Readers ignore events and fields that they do not know.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import parse_object
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SCHEMA = 1
_ENCODE = json.JSONEncoder(separators=(",", ":")).encode

Record = dict[str, Any]


class Event:
    """Names of journal events. Constants, not an Enum: a line's event may be one that this version does not know."""

    CHAIN_STARTED = "chain_started"
    STAGE_WAITING = "stage_waiting"
    ATTEMPT_STARTED = "attempt_started"
    ATTEMPT_ADOPTED = "attempt_adopted"
    ATTEMPT_ENDED = "attempt_ended"
    STAGE_STALLED = "stage_stalled"
    STAGE_MOVING = "stage_moving"
    DETECTED = "detected"
    DETECTED_OVER = "detected_over"
    TRACKER_RUN = "tracker_run"
    TRACKER_DRIFT = "tracker_drift"
    STAGE_DONE = "stage_done"
    STAGE_FAILED = "stage_failed"
    STAGE_RETRYING = "stage_retrying"
    STAGE_INTERRUPTED = "stage_interrupted"
    STAGE_REDO = "stage_redo"
    DONE_ACCEPTED = "done_accepted"
    GATE_REFUSED = "gate_refused"
    CHAIN_DONE = "chain_done"
    CHAIN_FAILED = "chain_failed"
    CHAIN_STOPPED = "chain_stopped"
    CHAIN_INTERRUPTED = "chain_interrupted"
    CHAIN_HANDED_ON = "chain_handed_on"
    JOB_SUBMITTING = "job_submitting"
    JOB_SUBMITTED = "job_submitted"
    JOB_REFUSED = "job_refused"
    JOB_STOPPING = "job_stopping"
    JOB_ENDED = "job_ended"
    CELLS_ADDED = "cells_added"
    CELL_STARTED = "cell_started"
    CELL_ADOPTED = "cell_adopted"
    CELL_ENDED = "cell_ended"
    CELL_SKIPPED = "cell_skipped"
    CELL_REOPENED = "cell_reopened"
    CELLS_HELD = "cells_held"
    CELLS_RELEASED = "cells_released"
    PATROL_SILENT = "patrol_silent"
    PATROL_BACK = "patrol_back"
    ROLLBACK_BEGUN = "rollback_begun"
    ROLLBACK_DONE = "rollback_done"
    ROLLBACK_UNDOING = "rollback_undoing"
    ROLLBACK_UNDONE = "rollback_undone"
    NOTICES_HELD = "notices_held"
    NOTICES_WRITTEN = "notices_written"


ROLLBACKS = frozenset({Event.ROLLBACK_BEGUN, Event.ROLLBACK_DONE, Event.ROLLBACK_UNDOING, Event.ROLLBACK_UNDONE})
CHAIN_ENDS = frozenset(
    {
        Event.CHAIN_DONE,
        Event.CHAIN_FAILED,
        Event.CHAIN_STOPPED,
        Event.CHAIN_INTERRUPTED,
        Event.GATE_REFUSED,
        Event.CHAIN_HANDED_ON,  # by a job whose stage is done: the next stage is a job of its own
    }
)


def render_event(record: Mapping[str, Any]) -> bytes:
    """One journal line. ASCII only, so that a byte-wise cut never splits a character."""
    return _ENCODE({"schema": SCHEMA, **record}).encode("ascii") + b"\n"


class Unreadable(NamedTuple):
    """A journal line that is not a record: damaged on disk, or written by something else."""

    line_number: int
    beginning: str


def parse_events(lines: Iterable[bytes]) -> Iterator[Record | Unreadable]:
    """Records in file order. A last line without newline is a torn append: it never happened, and is left out."""
    for number, line in enumerate(lines, start=1):
        if not line.endswith(b"\n"):
            return
        if line == b"\n":
            continue
        record = parse_object(line)
        if record is not None and isinstance(record.get("event"), str):
            yield record
        else:
            yield Unreadable(number, line[:80].decode("utf-8", "replace").rstrip("\n"))
