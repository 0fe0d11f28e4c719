"""Small kernel files and their common shapes. One that is not there is Absent, one that cannot be read is Unseen."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe

LONGEST_NUMBER = 20  # digits of 2^64
READ_BYTES = 1 << 20  # mountinfo of a busy node has some hundred KB; everything else is far smaller
_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ESRCH, errno.ENODEV})


def read_text(path: str) -> Maybe[str]:
    """A file of /proc or /sys. An unreadable one (rights, EOPNOTSUPP of a pressure file) is Unseen with the reason."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        return _not_read(path, error)
    try:
        parts = []
        while part := os.read(fd, READ_BYTES):  # one read seldom gives all of a long /proc file
            parts.append(part)
        return b"".join(parts).decode("utf-8", "surrogateescape")
    except OSError as error:
        return _not_read(path, error)
    finally:
        os.close(fd)


def _not_read(path: str, error: OSError) -> Absent | Unseen:
    if error.errno in _MISSING:
        return Absent(f"no {path}")
    return Unseen(f"{path}: {error.strerror}")


def read_int(path: str) -> Maybe[int]:
    """A file that holds one number. Anything else in it is Unseen with what was seen."""
    return to_int(read_text(path), path)


def to_int(text: Maybe[str], path: str) -> Maybe[int]:
    if isinstance(text, Absent | Unseen):
        return text
    word = text.strip()
    size = parse_count(word.removeprefix("-"))
    if size is None:
        return Unseen(f"{path} holds {word[:40]!r}, wanted a number")
    return -size if word.startswith("-") else size


def parse_count(word: str) -> int | None:
    """Decimal digits as a number; None for anything else, also for digits of other scripts and endless ones."""
    return int(word) if word.isdigit() and word.isascii() and len(word) <= LONGEST_NUMBER else None


def parse_keys(text: str) -> dict[str, int]:
    """Lines of `key number` (memory.stat, memory.events, cpu.stat). Lines of another shape are passed over: the kernel
    adds lines and promises no order (cgroup-v2.rst, "flat keyed").
    """
    found = {}
    for line in text.splitlines():
        key, _, word = line.partition(" ")
        value = parse_count(word)
        if value is not None:
            found[key] = value
    return found


def key_of(text: Maybe[str], key: str, path: str) -> Maybe[int]:
    """One key of a flat keyed file; a file without it (an older kernel) is Absent."""
    if isinstance(text, Absent | Unseen):
        return text
    keys = parse_keys(text)
    return keys[key] if key in keys else Absent(f"{path} has no {key}")
