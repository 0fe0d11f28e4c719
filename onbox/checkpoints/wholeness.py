"""Whether a checkpoint can be read to its end, told without loading it.

A file by its format: a zip (npz, pt, ckpt) by the directory at its end, safetensors by the length in its head. A folder
by what its framework writes last, by the weights in it, and by the shards that its index names. Other formats tell
nothing, and that is said.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from onbox.checkpoints.kinds import kind_of, what_is_missing
from onbox.system.files import open_plain, read_file

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMINED = 256  # weights files of one folder
DEPTH = 3
INDEX_LIMIT_BYTES = 64 << 20
HEAD_LIMIT_BYTES = 16 << 20  # of 100,000 tensors; read into memory it takes thirteen times as much
OFFSET_LIMIT = 1 << 63
DAMAGED_HEAD = "its head is damaged or cut off"
ZIP_TAIL_BYTES = 65_557  # the end record and the longest comment (APPNOTE.TXT 4.3.16)
UNPROVEN = "nothing in it says whether it is finished"
_ZIPS = (".npz", ".pt", ".pth", ".zip", ".ckpt", ".keras", ".bin")
_WEIGHTS = (".safetensors", *_ZIPS)
_INDEX = ".index.json"
ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")  # a first member, or none (APPNOTE.TXT 4.3.7, 4.3.16)
_ZIP_END = ZIP_STARTS[1]
_LIGHTGBM = b"tree\nversion="
LIGHTGBM_TAIL_BYTES = 1 << 20
_IN_ZIP64 = 0xFFFFFFFF

Proof = tuple[bool | None, str]  # whole: True, False, or None (nothing tells); and what was seen


def examine(path: str, kind: str = "") -> Proof:
    """Whether the file or folder at `path` is whole. kind: the preset that it is declared to be of. Raises OSError."""
    return _folder(path, kind) if os.path.isdir(path) else _file(path, os.stat(path).st_size)


def _folder(path: str, kind: str) -> Proof:
    name, entries = os.path.basename(path.rstrip("/")), frozenset(os.listdir(path))
    known = kind_of(name, entries, kind)
    lack = what_is_missing(known, entries) if known is not None else ""
    if lack or not entries:
        return False, lack or "it is empty"
    proven = False
    for weights in _weights(path, DEPTH):
        whole, says = _index(weights) if weights.endswith(_INDEX) else _file(weights, os.stat(weights).st_size)
        if whole is False:
            return False, f"{os.path.relpath(weights, path)}: {says}"
        proven = proven or whole is True
    if known is not None:
        there = next(one for one in known.last if one in entries)
        return True, f"{there} is there" + (", and its weights can be read to their end" if proven else "")
    return (True, "its weights can be read to their end") if proven else (None, UNPROVEN)


def _weights(path: str, depth: int) -> Iterator[str]:
    """The files in a folder, and some folders deep, whose wholeness can be told: at most EXAMINED."""
    count, places = 0, [(path, depth)]
    while places:
        place, left = places.pop()
        for entry in sorted(os.scandir(place), key=lambda one: one.name):
            if entry.is_dir(follow_symlinks=False):
                places += [(entry.path, left - 1)] if left > 1 else []
            elif entry.name.endswith((*_WEIGHTS, _INDEX)) and count < EXAMINED:
                count += 1
                yield entry.path


def _index(path: str) -> Proof:
    """An index of shards: each one that it names must be there. Whether a shard is whole is told by itself."""
    try:
        shards = set(json.loads(read_file(path, INDEX_LIMIT_BYTES) or b"")["weight_map"].values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False, "it is damaged or cut off"
    folder = os.path.dirname(path)
    gone = sorted(str(shard) for shard in shards if not os.path.isfile(os.path.join(folder, str(shard))))
    more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
    return (False, f"it names {gone[0]}{more}, which is not there") if gone else (None, "all its shards are there")


def _file(path: str, size: int) -> Proof:
    if size == 0:
        return False, "it is empty"
    if path.endswith(".safetensors"):
        return _safetensors(path, size)
    if path.endswith(_ZIPS):
        return _zip(path, size)
    if is_lightgbm(path):
        return _lightgbm(path, size)
    return None, "its format tells nothing; only its size was looked at"


def is_lightgbm(path: str) -> bool:
    """Whether a text file is a model of LightGBM, which has no ending of its own. Raises OSError."""
    if not path.endswith(".txt") or not os.path.isfile(path):
        return False
    with open_plain(path) as file:
        return file.read(len(_LIGHTGBM)) == _LIGHTGBM


def _lightgbm(path: str, size: int) -> Proof:
    """Its trees and its parameters are closed by a line each; a list of categories may follow."""
    with open_plain(path) as file:
        file.seek(max(0, size - LIGHTGBM_TAIL_BYTES))
        if b"\nend of parameters" in file.read():
            return True, "its parameters are there to their end"
    if size > LIGHTGBM_TAIL_BYTES:
        return None, "the end of its parameters is not near its end"
    return False, "its end is missing: it was cut off while it was written"


def _zip(path: str, size: int) -> Proof:
    with open_plain(path) as file:
        if not file.read(4).startswith(ZIP_STARTS):
            return None, "not a zip; only its size was looked at"
        start = max(0, size - ZIP_TAIL_BYTES)
        file.seek(start)
        tail = file.read()
    at = tail.rfind(_ZIP_END)
    if at < 0 or at + 22 > len(tail):
        return False, "its end is missing: it was cut off while it was written"
    length, begins = (int.from_bytes(tail[at + one : at + one + 4], "little") for one in (12, 16))
    fits = begins == _IN_ZIP64 or begins + length <= start + at
    return (True, "its zip directory is there") if fits else (False, "its zip directory does not fit its length")


def _safetensors(path: str, size: int) -> Proof:
    with open_plain(path) as file:
        length = int.from_bytes(file.read(8), "little")
        if not 0 < length <= size:
            return False, DAMAGED_HEAD
        if length > HEAD_LIMIT_BYTES:
            return None, "its head is too long to be read"
        try:
            tensors = json.loads(file.read(length))
            ends = {one["data_offsets"][1] for key, one in tensors.items() if key != "__metadata__"}
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            return False, DAMAGED_HEAD
    if not all(isinstance(one, int) and 0 <= one < OFFSET_LIMIT for one in ends):
        return False, DAMAGED_HEAD
    end = max(ends, default=0)
    if size == 8 + length + end:
        return True, "its length is the one in its head"
    return False, f"{size} bytes where its head tells {8 + length + end}"
