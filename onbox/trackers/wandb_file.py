"""The file in which W&B keeps a run on the disk (`run-ID.wandb`), read without the wandb package. Pure.

Seven bytes of header (`:W&B`, magic, version), then records as in LevelDB's log: 32 KiB blocks of fragments, each with
a checksum, a length and a type (1 whole, 2 first, 3 middle, 4 last). A record is a protobuf `Record`: 2 history, 3
summary, 17 run, 18 exit. Checked on files of wandb 0.31. It is flushed about every 15 seconds: a younger one holds its
header only. What is cut off at its end was being written, or its writer was killed.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.trackers.reading import LOSSES, TrackerRun, loss_of
from onbox.trackers.reading import number as as_number

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b":W&B"
HEADER_BYTES = 7
BLOCK_BYTES = 32768
FRAGMENT = struct.Struct("<IHB")
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4
HISTORY, SUMMARY, RUN, EXIT = 2, 3, 17, 18
_WANTED = frozenset({"_step", "_timestamp", "global_step", *LOSSES})


class CutOff(ValueError):
    """A message ends in the middle of a field."""


def fold_wandb(known: TrackerRun | None, data: bytes, at: int) -> Maybe[TrackerRun]:
    """What is known of a run with a part of its file, from the offset `at` on: a part that begins inside of a block or
    of a record is read from the next one on. known: of the parts before; None: of none.
    """
    if at == 0 and (data[: len(MAGIC)] != MAGIC[: len(data)] or len(data) < len(MAGIC)):
        return Unseen("not a W&B run file")
    run = known or TrackerRun("wandb")
    last: dict[str, Any] = {}
    seen = False
    for record in records(data, at):
        seen = True
        try:
            run, last = _take_in(run, last, record)
        except (CutOff, ValueError, RecursionError):
            break  # what follows a damaged record may be anything
    if not seen and known is None:
        return Absent("nothing of it was written to the disk yet")
    return _newest(run, last)


def _take_in(run: TrackerRun, last: dict[str, Any], record: bytes) -> tuple[TrackerRun, dict[str, Any]]:
    for number, value in fields(record):
        if not isinstance(value, bytes):
            continue
        if number in (HISTORY, SUMMARY):
            last = {**last, **_items(value)}
            run = run._replace(has_summary=True) if number == SUMMARY else run
        elif number == EXIT:
            code = next((field for key, field in fields(value) if key == 1), 0)
            run = run._replace(state="finished" if code == 0 else "failed")
        elif number == RUN:
            found = {key: text.decode("utf-8", "replace") for key, text in _texts(value)}
            run = run._replace(run_id=found.get(1), project=found.get(3), name=found.get(8))
    return run, last


def _newest(run: TrackerRun, last: dict[str, Any]) -> TrackerRun:
    """The run with the newest values; what none of the records told stays as it was."""
    step, own_step = as_number(last.get("global_step")), False
    if step is None:
        step, own_step = as_number(last.get("_step")), True
    if step is None or (own_step and run.step is not None and not run.own_step):
        step, own_step = run.step, run.own_step if run.step is not None else True
    at, loss = as_number(last.get("_timestamp")), loss_of(last)
    return run._replace(
        step=step,
        own_step=own_step,
        last_at_seconds=run.last_at_seconds if at is None else at,
        loss=run.loss if loss is None else loss,
    )


def block_before(size: int) -> int:
    """Where the last block of a file of so many bytes begins: from there its next part is read."""
    return size // BLOCK_BYTES * BLOCK_BYTES


def records(data: bytes, start: int = 0) -> Iterator[bytes]:
    """The whole records, in order; what is cut off at either end is left out. start: where in the file the data lie."""
    at, parts = -start % BLOCK_BYTES if start else HEADER_BYTES, b""
    is_whole = start == 0
    while at + FRAGMENT.size <= len(data):
        left = BLOCK_BYTES - (start + at) % BLOCK_BYTES
        if left < FRAGMENT.size:
            at += left
            continue
        _, length, kind = FRAGMENT.unpack_from(data, at)
        if kind == 0 and length == 0:
            at += left
            continue
        body = data[at + FRAGMENT.size : at + FRAGMENT.size + length]
        if len(body) < length:
            return
        at += FRAGMENT.size + length
        is_whole = is_whole or kind in (WHOLE, FIRST)  # a part may begin in the middle of a record
        parts = body if kind in (WHOLE, FIRST) else parts + body
        if kind in (WHOLE, LAST):
            if is_whole:
                yield parts
            parts = b""


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message: (number, value). Raises CutOff."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == 2:
            size, at = _varint(message, at)
        else:
            size = {1: 8, 5: 4}.get(kind, -1)
        if size < 0 or at + size > len(message):
            raise CutOff(f"field {number}")
        yield number, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    result = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        result |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return result, at
    raise CutOff("a number")


def _texts(message: bytes) -> Iterator[tuple[int, bytes]]:
    for number, value in fields(message):
        if isinstance(value, bytes):
            yield number, value


def _items(message: bytes) -> dict[str, Any]:
    """Keys and values of a history or summary record; those that matter, as JSON."""
    found = {}
    for _, item in _texts(message):
        parts = list(_texts(item))
        key = ".".join(text.decode("utf-8", "replace") for number, text in parts if number in (1, 2) and text)
        if key in _WANTED:
            value = next((text for number, text in parts if number == 16), None)
            found[key] = json.loads(value) if value else None
    return found
