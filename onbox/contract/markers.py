"""Markers: the files whose existence means DONE or FAILED, and the slot that reserves their place.

A *slot* is made before a stage starts: one file with a whole block of blanks. The stage's keeper holds a lock on it
(so the kernel knows whether the stage lives), writes `keeper …` and `exit …` into it, and on success the runner
overwrites it with the marker's JSON and renames it to `<stage>_DONE`. Nothing on this way needs a new inode or a new
block, so a marker lands even when the file system filled up while the stage ran.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import as_whole, parse_json
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 1
SLOT_BYTES = 4096


class Marker(NamedTuple):
    """What a marker says. `data` holds all of it; the named fields are those that decisions use."""

    run_id: str
    stage: str
    attempt: int
    fingerprint: str
    data: Mapping[str, Any]


class Invalid(NamedTuple):
    """A file of a marker's name that is not a marker: empty, cut off, or touched by hand."""

    reason: str


_ALWAYS_WHOLE = frozenset({"schema", "run_id", "stage", "attempt", "fingerprint", "exit_code"})
_TOO_LONG = "(too long for the marker; see events.jsonl)"


def render_marker(data: Mapping[str, Any]) -> bytes:
    """The marker's text, at most `SLOT_BYTES` long, so that it fits into the place reserved for it.

    What does not fit is left out: first all but the first artifacts (their number and bytes stay in `artifact_count`
    and `artifact_bytes_total`), then the longest other fields, never those by which a marker is known.
    """
    whole = {"schema": SCHEMA, **data}
    text = _dump(whole)
    if len(text) <= SLOT_BYTES:
        return text
    artifacts = list(whole.get("artifacts") or ())
    while len(text) > SLOT_BYTES and artifacts:
        artifacts = artifacts[: len(artifacts) // 2]
        whole["artifacts"] = artifacts
        text = _dump(whole)
    by_length = sorted(whole.keys() - _ALWAYS_WHOLE, key=lambda key: len(json.dumps(whole[key])))
    while len(text) > SLOT_BYTES and by_length:
        whole[by_length.pop()] = _TOO_LONG
        text = _dump(whole)
    return text


def fits(data: Mapping[str, Any]) -> bool:
    """Whether a marker can say all of it, but perhaps for its artifacts."""
    return len(_dump({"schema": SCHEMA, **data, "artifacts": []})) <= SLOT_BYTES


def _dump(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data).encode("ascii") + b"\n"


def parse_marker(text: bytes) -> Marker | Invalid:
    """Read a marker back. Never raises: what is not a marker is `Invalid` with the reason."""
    if not text.strip():
        return Invalid("it is empty (touched by hand?)")
    try:
        data = parse_json(text)
    except ValueError:
        return Invalid("it does not hold a whole JSON object")
    if not isinstance(data, dict):
        return Invalid("it does not hold a JSON object")
    missing = [key for key in ("run_id", "stage", "attempt", "fingerprint") if key not in data]
    if missing:
        return Invalid("it lacks " + ", ".join(missing))
    if as_whole(data["attempt"]) is None:
        return Invalid("its attempt is not a whole number")
    return Marker(str(data["run_id"]), str(data["stage"]), data["attempt"], str(data["fingerprint"]), data)


class Slot(NamedTuple):
    """What a slot file says of an attempt. None: not written (yet).

    `exit_code` is the shell's: 128 + n for a command that signal n ended. `keeper_pid` alone proves nothing: a live
    keeper is one that has the slot open.
    """

    run_id: str
    stage: str
    attempt: int
    keeper_pid: int | None
    exit_code: int | None


def render_slot(run_id: str, stage: str, attempt: int) -> bytes:
    """The first line of a slot; the keeper's lines follow it."""
    return f"slot {SCHEMA} {run_id} {stage} {attempt}\n".encode("ascii")


def parse_slot(text: bytes) -> Slot | None:
    """Read a slot; None when it is not one (cut off by a crash, or already overwritten with a marker)."""
    lines = text.split(b"\n")
    head = lines[0].split()
    if len(lines) < 2 or len(head) != 5 or head[0] != b"slot" or not head[4].isdigit() or not lines[0].isascii():
        return None
    pid = code = None
    for line in lines[1:-1]:  # what follows the last newline may be half a line
        words = line.split()
        if words[:1] == [b"keeper"] and len(words) == 2 and words[1].isdigit():
            pid = int(words[1])
        elif words[:1] == [b"exit"] and len(words) == 2 and words[1].isdigit():
            code = int(words[1])
    return Slot(head[2].decode(), head[3].decode(), int(head[4]), pid, code)
