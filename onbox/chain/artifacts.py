"""Artifacts on the disk: what lies there, and which of it is new since a stage began.

"New" is told by comparing with a picture taken before the start (inode, mtime, size), never by comparing file times
with this machine's clock: on a network file system the two differ.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onbox.contract.manifest import Artifact

PICTURE_LIMIT = 500


class Found(NamedTuple):
    """One file of an artifact. `path` is as configured (relative to the stage's cwd), times in seconds."""

    path: str
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class Look(NamedTuple):
    """What was found of one artifact: `new` since the stage began, `old` from before, `small` but new.

    problem: why looking failed (then the lists say nothing); None if it did not.
    """

    artifact: Artifact
    new: tuple[Found, ...] = ()
    old: tuple[Found, ...] = ()
    small: tuple[Found, ...] = ()
    problem: str | None = None


def find_files(artifact: Artifact, folder: str) -> Iterator[Found]:
    """The regular files of an artifact now, each once, however many links lead to it.

    Raises OSError where a look fails for another reason than absence."""
    seen_files = set()
    for path in _paths(artifact, folder):
        try:
            seen = os.stat(os.path.join(folder, path))
        except (FileNotFoundError, NotADirectoryError):
            continue
        if stat.S_ISREG(seen.st_mode) and (seen.st_dev, seen.st_ino) not in seen_files:
            seen_files.add((seen.st_dev, seen.st_ino))
            yield Found(path, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)


def _paths(artifact: Artifact, folder: str) -> Iterator[str]:
    if not artifact.is_glob:
        yield artifact.pattern
        return
    import glob  # noqa: PLC0415 - 3 ms that only stages with globs need

    yield from sorted(glob.glob(artifact.pattern, root_dir=folder, recursive=True))


def picture(artifacts: tuple[Artifact, ...], folder: str, until_ns: int | None = None) -> dict[str, Any]:
    """What the artifacts look like before a stage starts, JSON-ready: {path: [inode, mtime_ns, size]}.

    Beyond PICTURE_LIMIT files only the newest change time is kept, under the key "" (no file has an empty name).
    until_ns: leave out what changed later.
    """
    before: dict[str, Any] = {}
    newest = 0
    for artifact in artifacts:
        for found in find_files(artifact, folder):
            if until_ns is not None and found.ctime_ns > until_ns:
                continue
            newest = max(newest, found.ctime_ns)
            if len(before) < PICTURE_LIMIT:
                before[found.path] = [found.inode, found.mtime_ns, found.size_bytes]
            else:
                before[""] = newest
    return before


def look_at(artifact: Artifact, folder: str, before: Mapping[str, Any]) -> Look:
    """Sort an artifact's files into new, old and small, by the picture taken before."""
    new: list[Found] = []
    old: list[Found] = []
    small: list[Found] = []
    try:
        for found in find_files(artifact, folder):
            if not _is_new(found, before):
                old.append(found)
            elif found.size_bytes < artifact.min_bytes:
                small.append(found)
            else:
                new.append(found)
    except OSError as error:
        return Look(artifact, problem=f"{error.filename or artifact.pattern}: {error.strerror}")
    except ValueError as error:  # a pattern that can be no file's name
        return Look(artifact, problem=f"{artifact.pattern!r}: {error}")
    return Look(artifact, tuple(new), tuple(old), tuple(small))


def _is_new(found: Found, before: Mapping[str, Any]) -> bool:
    entry = [found.inode, found.mtime_ns, found.size_bytes]
    if found.path in before:
        return entry != list(before[found.path]) and entry not in before.values()
    if entry in before.values():
        return False  # a file from before under another of its names: a link to it was removed or moved
    newest = before.get("")
    return newest is None or found.ctime_ns > newest
