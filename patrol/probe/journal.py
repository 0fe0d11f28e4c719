"""A run's journal, folded as it grows into the few facts that a look needs. Pure.

The fold is a dict of plain values, small whatever the journal's length, so that it can be kept between looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import CHAIN_ENDS, Event, Unreadable, parse_events
from onbox.contract.json_text import as_whole
from onbox.contract.tracker import identity_from_record
from onbox.outside import safe_line
from onbox.triage import repeats

if TYPE_CHECKING:
    from onbox.contract.events import Record

REASON_LIMIT = 300
JOBS_KEPT = 24  # records about a chain that is one job: its newest submissions
_OF_JOBS = frozenset({
    Event.JOB_SUBMITTING, Event.JOB_SUBMITTED, Event.JOB_REFUSED, Event.JOB_ENDED, Event.STAGE_REDO,
    Event.DONE_ACCEPTED, Event.CHAIN_STARTED,
})  # fmt: skip
_JOB_FIELDS = (
    "schema", "event", "at", "stage", "backend", "name", "job_id", "session", "job", "state", "native_state", "reason",
    "note", "failure_class",
)  # fmt: skip
DRIFTS = 5
STAGES = 8


def new_fold(inode: int) -> dict[str, Any]:
    """Nothing read yet. offset: behind the last whole line that was taken in. gap: whether lines were skipped."""
    return {"inode": inode, "offset": 0, "gap": False, "open": False, "end": None, "stage": None, "attempt": None,
            "began_at": None, "retries": 0, "jobs": [], "trackers": {}, "repeats": repeats.NOTHING}  # fmt: skip


def take_in(fold: dict[str, Any], start: int, pieces: tuple[bytes, ...], skipped_bytes: int) -> dict[str, Any]:
    """The fold with the journal's bytes from `start` on. After a gap, the first (torn) line of a piece is left out."""
    fold = dict(fold)
    end = start + skipped_bytes + sum(len(piece) for piece in pieces)
    for at, piece in enumerate(pieces):
        text = piece
        if at > 0:
            fold["gap"] = True
            text = piece[piece.find(b"\n") + 1 :]
        if at + 1 < len(pieces):
            text = text[: text.rfind(b"\n") + 1]
        for record in parse_events(text.splitlines(keepends=True)):
            if not isinstance(record, Unreadable):
                _apply(fold, record)
    torn = len(pieces[-1]) - (pieces[-1].rfind(b"\n") + 1) if pieces else 0
    fold["offset"] = end - torn
    return fold


def _apply(fold: dict[str, Any], record: Record) -> None:
    event, stage = record["event"], record.get("stage")
    fold["repeats"] = repeats.take_in(fold.get("repeats") or repeats.NOTHING, record)
    if event in _OF_JOBS and isinstance(fold.get("jobs"), list):
        kept = {key: str(value)[:REASON_LIMIT] for key in _JOB_FIELDS if (value := record.get(key)) is not None}
        fold["jobs"] = [*fold["jobs"], kept][-JOBS_KEPT:]
    if event == Event.CHAIN_STARTED:
        fold.update(open=True, end=None)
    elif event in CHAIN_ENDS:
        fold.update(open=False, end=_end(record))
    elif event == Event.ATTEMPT_STARTED and isinstance(stage, str):
        if stage != fold["stage"]:
            fold["retries"] = 0
        fold.update(stage=stage, attempt=as_whole(record.get("attempt")), began_at=record.get("at"))
    elif event == Event.TRACKER_RUN:
        fold["trackers"] = _with_tracker(fold.get("trackers") or {}, record)
    elif event == Event.STAGE_RETRYING:
        fold["retries"] += 1
    elif event in (Event.STAGE_DONE, Event.STAGE_FAILED):
        fold["retries"] = 0 if event == Event.STAGE_DONE else fold["retries"]


def _with_tracker(known: dict[str, Any], record: Record) -> dict[str, Any]:
    """The newest run at a tracker of each stage, of the newest eight stages."""
    identity = identity_from_record(record)
    if identity is None or identity.stage is None:
        return known
    drift = record.get("drift")
    words = [safe_line(one, REASON_LIMIT) for one in drift[:DRIFTS]] if isinstance(drift, list) else []
    told = {key: _safe(value) for key, value in identity._asdict().items() if value is not None}
    rest = {stage: one for stage, one in known.items() if stage != identity.stage}
    return {**dict(list(rest.items())[1 - STAGES :]), identity.stage: {**told, "drift": words}}


def _safe(value: object) -> object:
    return safe_line(value, 500) if isinstance(value, str) else value


def _end(record: Record) -> dict[str, Any]:
    return {
        "event": record["event"],
        "at": str(record.get("ended_at") or record.get("at") or ""),
        "reason": str(record.get("reason") or "")[:REASON_LIMIT],
        "stage": str(record.get("stopped_at") or ""),
    }
