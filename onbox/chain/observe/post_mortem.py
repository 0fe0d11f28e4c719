"""Why an attempt failed, or what speaks against its success: its log, its end and its box, weighed by triage in a child
of the runner.

A child, because a failed attempt's log may be huge, a user's own regular expression may never end, and the runner stays
small. If the child does not answer, the class is what the end alone proves.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from onbox.collectors.disk import read_disks
from onbox.contract.readings import Absent, Unseen, observed
from onbox.logs.farewell import is_farewell
from onbox.logs.tail import TAIL_BYTES as LAST_WORDS_BYTES
from onbox.logs.tail import last_words
from onbox.named_tuple import NamedTuple
from onbox.system.child_query import ChildQuery, Silence
from onbox.system.files import open_plain, read_tail
from onbox.system.self_exec import bare_child_words
from onbox.system.time_limit import TooLong, time_limit
from onbox.triage.classes import IN_DOUBT, REMEDIES
from onbox.triage.evidence import NO_PROOF_RULES, Evidence, EvidenceEnd, classify_end
from onbox.triage.rules.rows import UserRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onbox.chain.gates.success_gate import Ended
    from onbox.triage.verdict import Diagnosis

PATIENCE_SECONDS = 60.0
DOUBT_PATIENCE_SECONDS = 20.0  # the next stage waits for it
USER_ROWS_SECONDS = 15.0  # with rows of the user's own; then the log is read without them
HEAD_BYTES = 8 << 20  # of a longer log its beginning (which run is this?) and its end are read
TAIL_BYTES = 64 << 20
BLOCK_BYTES = 1 << 20


class Cause(NamedTuple):
    """Why the attempt failed. line: the proof in the log, redacted; None: the end alone proves it, or nothing does.

    line_number: from 1; None also where the log is too long to count. confidence: "high", "medium" or "low".
    signature: equal for the same failure twice; "" if the log was not read. where: "file:line" of the user's own code.
    secondary: classes of further faults in the log. traceback: its last lines, redacted. trouble: why the log was not
    read, "" if it was.
    """

    failure_class: str
    rule: str
    remedy: str
    confidence: str = "medium"
    line: str | None = None
    line_number: int | None = None
    signature: str = ""
    where: str | None = None
    secondary: tuple[str, ...] = ()
    traceback: tuple[str, ...] = ()
    trouble: str = ""


def examine(
    log: str, ended: Ended, gates: Sequence[str], oom_kills: int | None, rows: Sequence[Mapping[str, Any]], folder: str
) -> Cause:
    """Why the attempt failed. gates: success gates that refused. rows: the user's own [[triage]], as frozen.

    folder: where the stage works; its free room is evidence too.
    """
    end = EvidenceEnd(ended.exit_code, ended.signal, ended.cause, tuple(gates), oom_kills)
    if ended.cause == "not_started":
        return _from_end(end, "")._replace(confidence="high")  # a log there may be is of an earlier attempt
    evidence = {
        "exit_code": ended.exit_code,
        "signal": ended.signal,
        "cause": ended.cause,
        "gates": list(gates),
        "oom_kill_delta": oom_kills,
        "process_alive": False,
    }
    found = _ask({"log": log, "folder": folder, "rows": list(rows), "evidence": evidence}, PATIENCE_SECONDS)
    return _from_end(end, found) if isinstance(found, str) else found


def examine_success(log: str, folder: str) -> Cause | str | None:
    """What the log of an attempt that ended with 0 tells of a failure; None: nothing. A text: why nobody could look."""
    evidence = {"exit_code": 0, "gates": [], "process_alive": False}
    found = _ask({"log": log, "folder": folder, "rows": [], "evidence": evidence}, DOUBT_PATIENCE_SECONDS)
    if isinstance(found, str):
        return found
    if found.trouble:
        return found.trouble
    return None if found.failure_class == "success_healthy" else found


def _ask(request: Mapping[str, Any], patience_seconds: float) -> Cause | str:
    """The child's answer; a text: why there is none."""
    asker = ChildQuery(bare_child_words("onbox.chain.observe.post_mortem", "serve()"), name="triage")
    try:
        asker.ask(json.dumps(request).encode("ascii"))
        answer = asker.answer(patience_seconds)
        return answer.why if isinstance(answer, Silence) else _cause_from(json.loads(answer))
    except (ValueError, KeyError, TypeError) as error:
        return f"triage answered with junk: {error}"
    finally:
        asker.close()


def _from_end(end: EvidenceEnd, trouble: str) -> Cause:
    row = classify_end(end)
    return Cause(row.failure_class, row.rule, REMEDIES[row.failure_class], "low", trouble=trouble)


def _cause_from(data: Mapping[str, Any]) -> Cause:
    fields = {key: data[key] for key in Cause._fields}
    return Cause(**{**fields, "secondary": tuple(data["secondary"]), "traceback": tuple(data["traceback"])})


# -- in the child


def serve() -> None:
    """The child: one request (JSON) in, one cause (JSON) out."""
    request = json.loads(sys.stdin.buffer.readline())
    sys.stdout.write(json.dumps(answer(request)._asdict()) + "\n")
    sys.stdout.flush()


def answer(request: Mapping[str, Any]) -> Cause:
    """What triage says. Raises only for a request that is none."""
    from onbox.triage.classify import classify  # noqa: PLC0415 - in the child only

    fields = {**request["evidence"], **_room(request["folder"], request["log"])}
    fields["gates"] = tuple(fields["gates"])
    rows = [UserRow(row["regex"], row["class"], row.get("remedy"), bool(row.get("retry"))) for row in request["rows"]]
    reading = _Reading(request["log"])
    try:
        with time_limit(USER_ROWS_SECONDS if rows else PATIENCE_SECONDS):
            verdict = classify(reading.blocks(), Evidence(**fields), rows)
    except TooLong:
        reading = _Reading(request["log"])
        verdict = classify(reading.blocks(), Evidence(**fields))
        reading.trouble = reading.trouble or f"[[triage]] left out: it took over {USER_ROWS_SECONDS:.0f} s on this log"
    verdict = _with_the_doubt(_without_farewell(verdict, request["log"]))
    number = verdict.line_number
    return Cause(
        failure_class=verdict.failure_class,
        rule=verdict.rule,
        remedy=verdict.remedy,
        confidence=verdict.confidence,
        line=verdict.line,
        line_number=number if reading.is_counted(number) else None,
        signature=verdict.signature,
        where=verdict.where,
        secondary=tuple(dict.fromkeys(finding.failure_class for finding in verdict.secondary)),
        traceback=verdict.traceback,
        trouble=reading.trouble,
    )


def _with_the_doubt(verdict: Diagnosis) -> Diagnosis:
    """Of an end with 0 that the log speaks against: what it tells of."""
    if verdict.rule != IN_DOUBT:
        return verdict
    told = verdict.secondary[0]
    return verdict._replace(failure_class=told.failure_class, line=told.line, line_number=told.line_number)


def _without_farewell(verdict: Diagnosis, log: str) -> Diagnosis:
    """What a tracker says at the end of every run explains no end: then the program's own last line is told."""
    if verdict.rule not in NO_PROOF_RULES or not is_farewell(verdict.line or ""):
        return verdict
    words = last_words(read_tail(log, LAST_WORDS_BYTES) or b"")
    told = None if words is None or is_farewell(words) else words
    return verdict._replace(line=told, line_number=None)


def _room(folder: str, log: str) -> dict[str, int | None]:
    """Free bytes and inodes where the stage works, or where its log stands if less is free there; nothing is claimed of
    what could not be looked at.
    """
    disks = read_disks([folder, os.path.dirname(log)], look_remote=lambda _: Unseen("not asked"))
    if isinstance(disks, Absent | Unseen):
        return {}
    rooms = [disk.room for disk in disks if not isinstance(disk.room, Absent | Unseen)]
    if not rooms:
        return {}
    inodes = [free for room in rooms if (free := observed(room.inodes_free)) is not None]
    return {"disk_free_bytes": min(room.bytes_free for room in rooms), "inodes_free": min(inodes, default=None)}


class _Reading:
    """A log in blocks; of a long one its head and its tail. trouble: why it was not read, "" if it was."""

    def __init__(self, path: str) -> None:
        self.path, self.trouble = path, ""
        self._skipped = False
        self._head_lines = 0

    def blocks(self) -> Iterator[bytes]:
        try:
            with open_plain(self.path) as file:
                size = os.fstat(file.fileno()).st_size
                left = size if size <= HEAD_BYTES + TAIL_BYTES else HEAD_BYTES
                while left > 0 and (block := file.read(min(left, BLOCK_BYTES))):
                    left -= len(block)
                    self._head_lines += block.count(b"\n")
                    yield block
                if size > HEAD_BYTES + TAIL_BYTES:
                    self._skipped = True
                    file.seek(size - TAIL_BYTES)
                    file.readline()
                    yield b"\n"
                    while block := file.read(BLOCK_BYTES):
                        yield block
        except OSError as error:
            self.trouble = f"{self.path}: {error.strerror}"

    def is_counted(self, line_number: int | None) -> bool:
        """Whether a line number is that of the file."""
        return line_number is not None and (not self._skipped or line_number <= self._head_lines)
