"""What is told of a run: which journal record becomes a notice, and the notice as JSON. Pure.

A notice is complete by itself: who reads it at night needs no access to the box to know what happened, where to look
and what to type.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event
from onbox.contract.json_text import as_number, as_whole
from onbox.contract.notify_targets import EVENTS_OF
from onbox.contract.paths import SWEEP
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.events import Record
    from onbox.contract.runfile import RunHead

SCHEMA = 1
TEXT_LIMIT = 2000  # characters of one text in a notice
TEST_EVENT = "test"

# What a patrol tells by itself; the word of `[notify] on` for all of it.
PATROL_WORD = "patrol"
PATROL_TROUBLE, PATROL_RECOVERED, PATROL_DONE = "patrol_trouble", "patrol_recovered", "patrol_done"
PATROL_DIGEST = "patrol_digest"

_WORD_OF = {event: word for word, events in EVENTS_OF.items() for event in events}
STOP_REASON = "stopped on request"
_BAD = frozenset(
    (
        "patrol_silent",
        "stage_failed",
        "stalled",
        "chain_failed",
        "gate_refused",
        "tracker_drift",
        "detected",
        "interrupted",
        PATROL_TROUBLE,
    )
)


class Notice(NamedTuple):
    """One thing to tell. None: not known, or does not apply to this event.

    id: made when it is written down, the same at every try. event: the word of `[notify] on`. state: of the stage or
    chain afterwards, for people. proof: the line of the log (or the first finding) that proves what happened. times,
    since: how many equal ones in a row this one stands for, and the time of the first. log: absolute path.
    next_command: to be typed on the box; None when nothing is left to do. relayed_from: the box that could not deliver
    it, where a patrol does: then the words are the box's, and the voice is not.
    """

    id: str
    at: str
    event: str
    state: str
    run: str
    run_id: str
    project: str
    host: str | None = None
    stage: str | None = None
    attempt: int | None = None
    stages_total: int | None = None
    exit_code: int | None = None
    failure_class: str | None = None
    remedy: str | None = None
    proof: str | None = None
    reason: str | None = None
    warning: str | None = None
    progress: str | None = None
    tracker: str | None = None
    resources: dict[str, Any] | None = None
    artifact_count: int | None = None
    artifact_bytes: int | None = None
    duration_seconds: float | None = None
    log: str | None = None
    log_tail: str | None = None
    next_command: str | None = None
    times: int = 1
    since: str | None = None
    relayed_from: str | None = None

    @property
    def key(self) -> tuple[str | None, ...]:
        """Bad news of the same key in a row is one thing that happened again; good news is always told by itself."""
        again = self.is_bad and not self.is_of_patrol
        return (self.event, self.stage, self.failure_class) if again else (self.id,)

    @property
    def is_bad(self) -> bool:
        return self.event in _BAD

    @property
    def is_of_patrol(self) -> bool:
        """A patrol groups what belongs together before it tells it."""
        return self.event in (PATROL_TROUBLE, PATROL_RECOVERED, PATROL_DONE, PATROL_DIGEST)


def word_of(record: Record) -> str | None:
    """The word of `[notify] on` for a journal record; None if nobody is ever told of it."""
    word = _WORD_OF.get(record["event"])
    if record.get("stage") == SWEEP:
        return None  # the one stage of a sweep: its end tells it
    if record["event"] == Event.STAGE_INTERRUPTED and record.get("reason") in (STOP_REASON, "asked to stop"):
        return None  # the end of the chain tells it
    return word


def notice_id(run_id: str, offset: int, line: bytes) -> str:
    """The id of the notice of the journal line that begins at `offset`: nothing but the journal is needed to make it
    again. No dots: a webhook's signature separates its fields with them (Standard Webhooks 1.0, "signature scheme").
    """
    return f"msg_{run_id.replace('.', '-')}_{offset}_{binascii.crc32(line):08x}"


STATES = {
    "stage_done": "done",
    "stage_failed": "FAILED",
    "stalled": "STALLED",
    "chain_done": "done",
    "chain_failed": "FAILED",
    "gate_refused": "REFUSED",
    "tracker_drift": "TRACKER DRIFT",
    Event.DETECTED: "needs a look",
    Event.DETECTED_OVER: "well again",
    "interrupted": "interrupted",
    "stopped": "stopped",
    Event.PATROL_SILENT: "NOT WATCHED",
    Event.PATROL_BACK: "watched again",
    TEST_EVENT: "test",
}


def notice_from(record: Record, head: RunHead, *, id_: str, root: str) -> Notice | None:
    """The notice of a journal record; None if it is not one to tell of. root: the run directory.

    Its `next_command` is filled in by who knows how a run goes on: `onbox/notify/queue/enqueue.py`.
    """
    word = word_of(record)
    if word is None:
        return None
    event = record["event"] if word in (PATROL_WORD, Event.DETECTED) else word
    chain = record.get("stage") in (None, "CHAIN")
    stage = _text(record.get("stopped_at")) if chain else _text(record.get("stage"))
    attempt = None if chain else as_whole(record.get("attempt"))
    return Notice(
        id=id_,
        at=str(record.get("at", "")),
        event=event,
        state=STATES[event],
        run=head.run,
        run_id=head.run_id,
        project=head.project,
        host=_text(head.data.get("host")),
        stage=stage,
        attempt=attempt,
        stages_total=head.stage_count,
        exit_code=as_whole(record.get("exit_code")),
        failure_class=_text(record.get("failure_class") or record.get("detector")),
        remedy=_text(record.get("remedy")),
        proof=_proof(record),
        reason=_reason(record),
        warning=_text("; ".join(map(str, record.get("warnings") or ()))),
        progress=_progress(record),
        tracker=_text(record.get("tracker")),
        resources=dict(record["resources"]) if isinstance(record.get("resources"), dict) else None,
        artifact_count=as_whole(record.get("artifact_count")),
        artifact_bytes=as_whole(record.get("artifact_bytes_total")),
        duration_seconds=as_number(record.get("duration_seconds")),
        log=f"{root}/logs/{stage}.{attempt}.log" if stage and attempt else f"{root}/logs",
    )


def _progress(record: Mapping[str, Any]) -> str | None:
    """How far it was, as one text."""
    progress = record.get("progress")
    return _text(progress.get("text")) if isinstance(progress, dict) else _text(progress)


def _proof(record: Mapping[str, Any]) -> str | None:
    if record.get("proof"):
        return _text(record["proof"])
    return _text(record.get("last_line")) if record["event"] == Event.STAGE_FAILED else None


def _reason(record: Mapping[str, Any]) -> str | None:
    if record["event"] == Event.STAGE_STALLED:
        return f"no sign of life for {as_number(record.get('quiet_seconds')) or 0:.0f} s"
    reason = _text(record.get("reason"))
    findings = [one for one in record.get("findings") or () if isinstance(one, dict)]
    if reason or not findings:
        return reason
    return _text("; ".join(f"{one.get('gate')}: {one.get('seen')}, wanted {one.get('wanted')}" for one in findings))


def _text(value: object) -> str | None:
    return str(value)[:TEXT_LIMIT] if value not in (None, "") else None


def notice_to_dict(notice: Notice) -> dict[str, Any]:
    """As JSON: `schema`, and every field that is known."""
    return {"schema": SCHEMA, **{key: value for key, value in notice._asdict().items() if value is not None}}


def notice_from_dict(data: Mapping[str, Any]) -> Notice:
    """The inverse of `notice_to_dict`. Unknown fields are ignored; raises ValueError naming all that are missing, or
    that hold what they cannot.
    """
    missing = [name for name in Notice._fields if name not in Notice._field_defaults and name not in data]
    if missing:
        raise ValueError("a notice lacks " + ", ".join(missing))
    given = {key: data[key] for key in Notice._fields if data.get(key) is not None}
    odd = [key for key, value in given.items() if not _can_hold(key, value)]
    if odd or given.keys() < REQUIRED:
        raise ValueError("a notice holds something else in " + ", ".join(odd or sorted(REQUIRED - given.keys())))
    return Notice(**given)


REQUIRED = frozenset(Notice._fields) - Notice._field_defaults.keys()
_WHOLE = frozenset({"attempt", "stages_total", "exit_code", "artifact_count", "artifact_bytes", "times"})


def _can_hold(field: str, value: object) -> bool:
    if field in _WHOLE:
        return as_whole(value) is not None
    if field == "duration_seconds":
        return as_number(value) is not None
    return isinstance(value, dict if field == "resources" else str)
