"""Artifacts on the disk: what lies there, and which of it is new since a stage began.

"New" is told by comparing with a picture taken before the start (inode, mtime, size), never by comparing file times
with this machine's clock: on a network file system the two differ.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
from itertools import islice
from typing import TYPE_CHECKING, Any

from onbox.checkpoints.select import HALF, is_half_written, step_of
from onbox.checkpoints.wholeness import examine
from onbox.named_tuple import NamedTuple
from onbox.system.process import never
from onbox.system.time_limit import CalledOff, TooLong, time_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onbox.model.manifest import Artifact

PICTURE_LIMIT = 500
ENTRIES_LIMIT = 100_000  # of one folder
MATCHES_LIMIT = 500_000  # of one pattern
WALK_SECONDS = 120.0  # for all that one pattern leads to


class StopAsked(OSError):
    """Not all was looked at, because somebody asked the runner to stop."""


def list_files(
    artifact: Artifact, folder: str, seconds: float = WALK_SECONDS, urged: Callable[[], bool] = never
) -> list[FoundFile]:
    """As `find_files`, in a bounded time: a pattern may lead through the whole disk (`/**`). urged: whether somebody
    asked to stop. Raises OSError, of which StopAsked.
    """
    try:
        with time_limit(seconds, urged):
            return list(find_files(artifact, folder))
    except CalledOff as off:
        raise StopAsked(errno.EINTR, "the walk through its files was ended by a stop", artifact.pattern) from off
    except TooLong as late:
        says = f"the walk through its files took longer than {seconds:g} s"
        raise OSError(errno.ETIMEDOUT, says, artifact.pattern) from late


class FoundFile(NamedTuple):
    """One file or folder of an artifact. `path` is as configured (relative to the stage's cwd). Of a folder the size is
    that of all files in it, and the times are the newest of itself and of what is in it.
    """

    path: str
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class ArtifactLook(NamedTuple):
    """What was found of one artifact: `new` since the stage began, `old` from before, `small` but new, `broken`: new,
    big enough, and incomplete.

    newest_is_broken: the last one that was written is incomplete; what says so. problem: why looking failed (then the
    lists say nothing); None if it did not.
    """

    artifact: Artifact
    new: tuple[FoundFile, ...] = ()
    old: tuple[FoundFile, ...] = ()
    small: tuple[FoundFile, ...] = ()
    broken: tuple[FoundFile, ...] = ()
    newest_is_broken: str | None = None
    problem: str | None = None


def find_files(artifact: Artifact, folder: str) -> Iterator[FoundFile]:
    """The files and folders of an artifact now, each once, however many links lead to it. A folder of which something
    is matched as well is not one of its own.

    Raises OSError where a look fails for another reason than absence."""
    seen_files = set()
    paths = [path.rstrip("/") for path in _paths(artifact, folder)]
    holders = {holder for path in paths for holder in _holders(path)}
    for path in dict.fromkeys(paths):
        whole = os.path.join(folder, path)
        try:
            seen = os.stat(whole)
            kind = stat.S_IFMT(seen.st_mode)
            if kind not in (stat.S_IFREG, stat.S_IFDIR) or (seen.st_dev, seen.st_ino) in seen_files:
                continue
            if kind == stat.S_IFDIR and path in holders:
                continue
            size, mtime, ctime = _sum(whole, seen) if kind == stat.S_IFDIR else _times(seen)
        except (FileNotFoundError, NotADirectoryError):
            continue
        seen_files.add((seen.st_dev, seen.st_ino))
        yield FoundFile(path, size, mtime, ctime, seen.st_ino)


def _paths(artifact: Artifact, folder: str) -> Iterator[str]:
    if not artifact.is_glob:
        yield artifact.pattern
        return
    found = list(islice(glob.iglob(artifact.pattern, root_dir=folder, recursive=True), MATCHES_LIMIT + 1))
    if len(found) > MATCHES_LIMIT:
        raise OSError(errno.E2BIG, f"more than {MATCHES_LIMIT} files and folders match", artifact.pattern)
    yield from sorted(found)


def _holders(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _times(seen: os.stat_result) -> tuple[int, int, int]:
    return seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


def _sum(path: str, own: os.stat_result) -> tuple[int, int, int]:
    """(bytes of all files, newest mtime, newest ctime) of a folder, down to ENTRIES_LIMIT entries."""
    size, mtime, ctime = 0, own.st_mtime_ns, own.st_ctime_ns
    places, left = [path], ENTRIES_LIMIT
    while places and left > 0:
        for entry in os.scandir(places.pop()):
            left -= 1
            try:
                seen = entry.stat()
            except FileNotFoundError:  # gone meanwhile, or a link that leads nowhere
                continue
            if entry.is_dir(follow_symlinks=False):
                places.append(entry.path)
            elif stat.S_ISREG(seen.st_mode):
                size += seen.st_size
            mtime, ctime = max(mtime, seen.st_mtime_ns), max(ctime, seen.st_ctime_ns)
    return size, mtime, ctime


def picture(
    artifacts: tuple[Artifact, ...], folder: str, until_ns: int | None = None, urged: Callable[[], bool] = never
) -> dict[str, Any]:
    """What the artifacts look like before a stage starts, JSON-ready: {path: [inode, mtime_ns, size]}.

    Beyond PICTURE_LIMIT files only the newest change time is kept, under the key "" (no file has an empty name).
    until_ns: leave out what changed later. Raises OSError.
    """
    before: dict[str, Any] = {}
    newest = 0
    for artifact in artifacts:
        for found in list_files(artifact, folder, urged=urged):
            if until_ns is not None and found.ctime_ns > until_ns:
                continue
            newest = max(newest, found.ctime_ns)
            if len(before) < PICTURE_LIMIT:
                before[found.path] = [found.inode, found.mtime_ns, found.size_bytes]
            else:
                before[""] = newest
    return before


def look_at(
    artifact: Artifact,
    folder: str,
    before: Mapping[str, Any],
    kind: str = "",
    urged: Callable[[], bool] = never,
) -> ArtifactLook:
    """Sort an artifact's files and folders into new, old, small and broken, by the picture taken before. kind: of
    checkpoint, as the stage declares it. Raises StopAsked.
    """
    new: list[FoundFile] = []
    old: list[FoundFile] = []
    small: list[FoundFile] = []
    try:
        for found in list_files(artifact, folder, urged=urged):
            if not _is_new(found, before):
                old.append(found)
            elif found.size_bytes < artifact.min_bytes:
                small.append(found)
            else:
                new.append(found)
        whys = _incomplete(artifact, new, folder, kind)
    except StopAsked:
        raise
    except OSError as error:
        return ArtifactLook(artifact, problem=f"{error.filename or artifact.pattern}: {error.strerror}")
    except ValueError as error:  # a pattern that can be no file's name
        return ArtifactLook(artifact, problem=f"{artifact.pattern!r}: {error}")
    broken = tuple(found for found in new if found.path in whys)
    last = max(new, key=_order).path if new else ""
    why = f"{last}: {whys[last]}" if last in whys else None
    return ArtifactLook(
        artifact, tuple(found for found in new if found.path not in whys), tuple(old), tuple(small), broken, why
    )


def _incomplete(artifact: Artifact, found: list[FoundFile], folder: str, kind: str) -> dict[str, str]:
    """What is known not to be whole, by path, and what shows it."""
    if not found:
        return {}
    whys = {one.path: HALF for one in found if artifact.is_glob and is_half_written(one.path)}
    rest = [one.path for one in found if one.path not in whys and one.size_bytes]  # empty: the artifact's own choice
    proofs = {path: examine(os.path.join(folder, path), kind) for path in rest}
    return whys | {path: says for path, (whole, says) in proofs.items() if whole is False}


def _order(found: FoundFile) -> tuple[int, int]:
    """By step, where the name has one, then by time."""
    step = step_of(found.path)
    return -1 if step is None else step, found.mtime_ns


def _is_new(found: FoundFile, before: Mapping[str, Any]) -> bool:
    entry = [found.inode, found.mtime_ns, found.size_bytes]
    if found.path in before:
        return entry != list(before[found.path]) and entry not in before.values()
    if entry in before.values():
        return False  # a file from before under another of its names: a link to it was removed or moved
    newest = before.get("")
    return newest is None or found.ctime_ns > newest
