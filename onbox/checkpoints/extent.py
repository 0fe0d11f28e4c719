"""What a checkpoint takes up on the disk, and what about it speaks against removing it. No link is followed."""

from __future__ import annotations

import os
import stat

from onbox.named_tuple import NamedTuple

ENTRIES = 500_000  # a folder with more is not a checkpoint


class Extent(NamedTuple):
    """bytes: of the files in it, as long as they are. newest_at, oldest_at: when a file of it was last written, seconds
    since the epoch. is_link: the checkpoint itself is a symbolic link; nothing behind it was looked at. shared: a file
    of it has another name (a hard link). mounted: a folder in it is another file system. identity: device and inode.
    """

    is_folder: bool
    is_link: bool
    bytes: int
    files: int
    newest_at: float
    identity: tuple[int, int]
    shared: bool = False
    mounted: bool = False


class TooManyFiles(OSError):
    """A folder that has more entries than are counted."""


def measure(path: str) -> Extent:
    """Walk the file or folder at `path`. Raises OSError where a part of it cannot be looked at."""
    top = os.lstat(path)
    identity = (top.st_dev, top.st_ino)
    if stat.S_ISLNK(top.st_mode):
        return Extent(os.path.isdir(path), True, 0, 0, top.st_mtime, identity)
    if not stat.S_ISDIR(top.st_mode):
        return Extent(False, False, top.st_size, 1, top.st_mtime, identity, shared=top.st_nlink > 1)
    return _walk(path, top)


def _walk(path: str, top: os.stat_result) -> Extent:
    size = files = seen = 0
    newest, shared, mounted, places = top.st_mtime, False, False, [path]
    while places:
        with os.scandir(places.pop()) as entries:
            for entry in entries:
                seen += 1
                found = entry.stat(follow_symlinks=False)
                newest, mounted = max(newest, found.st_mtime), mounted or found.st_dev != top.st_dev
                if entry.is_dir(follow_symlinks=False):
                    places += [entry.path] if found.st_dev == top.st_dev else []
                    continue
                size, files = size + found.st_size, files + 1
                shared = shared or found.st_nlink > 1
                if seen > ENTRIES:
                    raise TooManyFiles(0, f"over {ENTRIES} files in it", path)
    return Extent(True, False, size, files, newest, (top.st_dev, top.st_ino), shared=shared, mounted=mounted)
