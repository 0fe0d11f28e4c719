"""What takes up the most room in the places that fill by themselves: temporary files, caches, the project; where the
project's own disk is full, what lies on that disk comes first, with the logs of its runs.

Each place is walked on its own file system, without following links but for those right in it (a cache is often a link
to another disk), and in a bounded time. What could not be looked at, or not to its end, is said.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

WALK_SECONDS = 10.0
LEAST_BYTES = 1_000_000
LEAST_SHARE = 0.01  # of a full disk: it may be a small one
FULL_SHARE = 0.05  # free: of a disk with less it matters first what lies on it
LEAST_FILES = 10_000  # many small ones: what is short may be inodes

# Variables that move a cache elsewhere
CACHE_VARIABLES = ("XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "PIP_CACHE_DIR", "WANDB_DIR", "TRITON_CACHE_DIR")


class Hog(NamedTuple):
    """One entry of a place. path: where it really lies. bytes: that it occupies on the disk. whole: it was walked to
    its end; False: it is at least so big.
    """

    path: str
    bytes: int
    files: int
    whole: bool


class Hogs(NamedTuple):
    """found: the biggest first. places: that were looked into. unseen: `path: reason`. late: the time was over."""

    found: tuple[Hog, ...]
    places: tuple[str, ...]
    unseen: tuple[str, ...]
    late: bool


def places_to_look(environ: Mapping[str, str], project: str) -> tuple[str, ...]:
    """Real paths of the folders that fill by themselves, each once, none inside of another."""
    home = environ.get("HOME") or os.path.expanduser("~")
    named = [environ.get("TMPDIR") or "/tmp", "/var/tmp", "/dev/shm", os.path.join(home, ".cache")]
    named += [environ[name] for name in CACHE_VARIABLES if environ.get(name)]
    real = [os.path.realpath(place) for place in (*named, project)]
    there = [place for place in dict.fromkeys(real) if os.path.isdir(place)]
    return tuple(one for one in there if not any(one.startswith(os.path.join(other, "")) for other in there))


def places_on_full_disk(project: str, logs: Iterable[str]) -> tuple[str, ...]:
    """Where the project's disk is full: real paths of the folders of logs, the project, and what else its disk holds.
    () where it is not.
    """
    room = os.statvfs(project)
    free = (room.f_bavail, room.f_blocks), (room.f_favail, room.f_files)
    if not any(left < FULL_SHARE * total for left, total in free):
        return ()
    top = os.path.realpath(project)
    there = [os.path.realpath(one) for one in logs if os.path.isdir(one)]
    mount = top
    while not os.path.ismount(mount):
        mount = os.path.dirname(mount)
    return tuple(dict.fromkeys([*there, top, *([] if mount == "/" else [mount])]))


def find_hogs(places: Iterable[str], seconds: float = WALK_SECONDS, full: Iterable[str] = ()) -> Hogs:
    """Sizes of all that lies right in the places. full: further ones, on a disk that is full: what it holds is first,
    each folder with what is big within it.
    """
    first = tuple(full)
    looked, ends, walk = list(dict.fromkeys([*first, *places])), monotonic() + seconds, _Walk()
    found: dict[str, Hog] = {}
    for number, place in enumerate(looked):
        walk.deadline = monotonic() + (ends - monotonic()) / (
            len(looked) - number
        )  # one big place leaves time for others
        found.update((one.path, one) for one in walk.look_into(place) if one.path not in found)
    here, least = _on_disk_of(first[0], found) if first else (frozenset(), LEAST_BYTES)
    big = [
        one
        for path, one in found.items()
        if one.bytes >= (least if path in here else LEAST_BYTES) or one.files >= LEAST_FILES
    ]
    ranked = sorted(big, key=lambda one: (one.path in here, one.bytes, one.files), reverse=True)
    return Hogs(tuple(ranked), tuple(looked), tuple(walk.unseen), walk.is_late)


def _on_disk_of(folder: str, paths: Iterable[str]) -> tuple[frozenset[str], float]:
    """Which of the paths lie on the disk of a folder, and from how many bytes on something is big on it."""
    device, room = os.stat(folder).st_dev, os.statvfs(folder)
    there = frozenset(path for path in paths if _device_of(path) == device)
    return there, min(LEAST_BYTES, LEAST_SHARE * room.f_blocks * room.f_frsize)


def _device_of(path: str) -> int | None:
    try:
        return os.stat(path).st_dev
    except OSError:
        return None  # gone meanwhile


class _Walk:
    """One walk through all places. A file with several names counts once."""

    def __init__(self) -> None:
        self.deadline = 0.0
        self._linked: set[tuple[int, int]] = set()
        self._entered: set[tuple[int, int]] = set()
        self.unseen: list[str] = []
        self.is_late = False

    def look_into(self, place: str) -> Iterator[Hog]:
        device = os.stat(place).st_dev
        for entry in self._entries(place):
            real = os.path.realpath(entry.path)
            try:
                seen = os.stat(real)
            except OSError:
                continue  # gone, or a link that leads nowhere
            is_mount = seen.st_dev != device and not entry.is_symlink()
            if is_mount or (seen.st_dev, seen.st_ino) in self._entered:
                continue
            self._entered.add((seen.st_dev, seen.st_ino))
            yield self._measure(real, seen)

    def _measure(self, path: str, top: os.stat_result) -> Hog:
        size, files, folders = top.st_blocks * 512, 1, [path] if os.path.isdir(path) else []
        while folders:
            if monotonic() > self.deadline:
                self.is_late = True
                return Hog(path, size, files, whole=False)
            for entry in self._entries(folders.pop()):
                try:
                    seen = entry.stat(follow_symlinks=False)
                except OSError:
                    continue  # gone meanwhile
                if seen.st_dev != top.st_dev or (seen.st_nlink > 1 and self._is_counted(entry, seen)):
                    continue
                size, files = size + seen.st_blocks * 512, files + 1
                folders += [entry.path] if entry.is_dir(follow_symlinks=False) else []
        return Hog(path, size, files, whole=True)

    def _is_counted(self, entry: os.DirEntry[str], seen: os.stat_result) -> bool:
        key = (seen.st_dev, seen.st_ino)
        if entry.is_dir(follow_symlinks=False) or key not in self._linked:
            self._linked.add(key)
            return False
        return True

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except FileNotFoundError:
            return []
        except OSError as error:
            self.unseen.append(f"{folder}: {error.strerror}")
            return []
