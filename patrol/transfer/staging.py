"""The near end of a pull: files come into a folder of their own, and into their place only when they are whole.

Nothing here follows a symbolic link: folders are opened one below the other, and a file is put in its place by a rename
within opened folders. A journal tells what is whole already, so that the next try goes on from there.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import parse_object
from onbox.named_tuple import NamedTuple
from onbox.system.files import StateNotWritten
from onbox.system.lock import try_lock
from patrol.transfer.names import OWN_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from patrol.transfer.listing import File

CHUNK_BYTES = 1 << 20
FLUSHED_FROM_BYTES = 1 << 20
COARSE_NS = 2 * 10**9  # FAT keeps a time to two seconds
JOURNAL = "journal.jsonl"
_to_json = json.JSONEncoder(separators=(",", ":")).encode
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class InUse(Exception):
    """Another transfer writes to this folder now."""


class Whole(NamedTuple):
    """A file that came whole. stamp, size: of the box's file. is_placed: it lies in its place."""

    local: str
    size: int
    stamp: str
    sha256: str
    is_placed: bool = False

    def is_of(self, file: File) -> bool:
        return (self.size, self.stamp) == (file.size, file.stamp)


class Staging:
    """A destination that is being written. `close` it. Raises StateNotWritten, InUse, OSError."""

    def __init__(self, destination: str) -> None:
        self.destination = destination
        os.makedirs(destination, exist_ok=True)
        self.own = os.path.join(destination, OWN_FOLDER)
        self._dir = os.open(destination, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._parents: tuple[str, int] | None = None
        self._journal: Any = None
        with suppress(FileExistsError):
            os.mkdir(OWN_FOLDER, 0o700, dir_fd=self._dir)
        self._staged = os.open(OWN_FOLDER, _FOLDER_FLAGS, dir_fd=self._dir)
        lock = try_lock("lock", below=self._staged)
        if lock is None:
            os.close(self._staged)
            os.close(self._dir)
            raise InUse(destination)
        self._lock = lock
        self.whole = self._read_journal()
        self._journal = self._open_journal()

    def close(self) -> None:
        with suppress(OSError):
            self._journal.close()
        if self._parents is not None:
            os.close(self._parents[1])
        for fd in (self._lock, self._staged, self._dir):
            os.close(fd)

    # -- what came before

    def has(self, file: File) -> bool:
        """Whether it came whole before, and still lies as it came."""
        known = self.whole.get(file.local)
        if known is None or not known.is_of(file):
            return False
        if not known.is_placed:
            staged = self._staged_stat(_name(file))
            return staged is not None and staged.st_size == file.size
        found, written = self._placed_stat(file.local), written_at(file.stamp)
        return found is not None and found.st_size == file.size and _is_of_time(found.st_mtime_ns, written)

    def partial_bytes(self, file: File) -> int:
        """How much of this very file came before, without its end."""
        found = self._staged_stat(_name(file))
        return min(found.st_size, file.size) if found is not None else 0

    # -- what comes now

    def open_partial(self, file: File, *, anew: bool) -> int:
        """A descriptor that appends to what there is of it. anew: from its beginning. The folder is closed to others;
        the file's own mode is the one with which it is placed.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(_name(file), flags | (os.O_TRUNC if anew else 0), 0o666, dir_fd=self._staged)

    def finish(self, file: File, fd: int, sha256: str) -> None:
        """The partial has all its bytes: flush it and enter it."""
        if file.size >= FLUSHED_FROM_BYTES:
            os.fsync(fd)
        self._enter(Whole(file.local, file.size, file.stamp, sha256))

    def take(self, file: File, path: str) -> None:
        """A file that another program wrote below the own folder. Raises OSError where it is none, or another one."""
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or found.st_size != file.size:
                raise OSError(errno.EINVAL, "it is not the file that was asked for", path)
            digest = digest_of(fd)
        finally:
            os.close(fd)
        os.rename(path, _name(file), dst_dir_fd=self._staged)
        self._enter(Whole(file.local, file.size, file.stamp, digest))

    def forget(self, file: File) -> None:
        """It did not come whole after all."""
        with suppress(FileNotFoundError):
            os.unlink(_name(file), dir_fd=self._staged)
        self.whole.pop(file.local, None)
        self._write({"local": file.local, "gone": True})

    def place(self, file: File) -> None:
        """Put a staged file in its place, with the time of its last write. Raises OSError, also where a symbolic link
        stands in the way.
        """
        known = self.whole[file.local]
        if known.is_placed:
            return
        folder, name = self._parent_of(file.local), file.local.rpartition("/")[2]
        staged = _name(file)
        if (written := written_at(file.stamp)) is not None:
            os.utime(staged, ns=(written, written), dir_fd=self._staged, follow_symlinks=False)
        os.rename(staged, name, src_dir_fd=self._staged, dst_dir_fd=folder)
        self._enter(known._replace(is_placed=True))

    def place_link(self, local: str, target: str) -> None:
        """A symbolic link, which the caller has found to stay inside. Raises OSError."""
        folder, name = self._parent_of(local), local.rpartition("/")[2]
        try:
            os.symlink(target, name, dir_fd=folder)
        except FileExistsError:
            if not stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise
            os.unlink(name, dir_fd=folder)
            os.symlink(target, name, dir_fd=folder)

    def flush(self) -> None:
        self._journal.flush()

    def free_bytes(self) -> int:
        seen = os.fstatvfs(self._staged)
        return seen.f_bavail * seen.f_frsize

    def write_beside(self, name: str, lines: Iterator[bytes]) -> None:
        """A file of our own in the destination, in one step. Raises StateNotWritten."""
        new = f"{OWN_FOLDER}/{name}"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with open(os.open(name, flags, 0o644, dir_fd=self._staged), "wb") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            os.rename(name, name, src_dir_fd=self._staged, dst_dir_fd=self._dir)
            os.fsync(self._dir)
        except OSError as error:
            raise StateNotWritten(os.path.join(self.destination, new), error) from error

    def clean(self) -> None:
        """After all came: what partials are left belong to files that have changed since."""
        for name in os.listdir(self._staged):
            if name.startswith("file-"):
                with suppress(OSError):
                    os.unlink(name, dir_fd=self._staged)

    # -- the pieces

    def _enter(self, whole: Whole) -> None:
        self.whole[whole.local] = whole
        self._write(whole._asdict())

    def _write(self, record: dict[str, object]) -> None:
        self._journal.write(_to_json(record) + "\n")

    def _read_journal(self) -> dict[str, Whole]:
        found: dict[str, Whole] = {}
        try:
            fd = os.open(JOURNAL, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._staged)
        except FileNotFoundError:
            return found
        with open(fd, "rb") as file:
            for line in file:
                whole = _whole_of(line)
                if whole is not None:
                    found[whole.local] = whole
                elif (gone := parse_object(line)) and isinstance(gone.get("local"), str):
                    found.pop(gone["local"], None)
        return found

    def _open_journal(self) -> Any:
        """To append to. A last line that was cut off is ended first: the next record must not be lost with it."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(JOURNAL, flags, 0o600, dir_fd=self._staged)
        size = os.fstat(fd).st_size
        if size and os.pread(fd, 1, size - 1) != b"\n":
            os.write(fd, b"\n")
        return open(fd, "a", encoding="ascii")

    def _staged_stat(self, name: str) -> os.stat_result | None:
        try:
            found = os.stat(name, dir_fd=self._staged, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return found if stat.S_ISREG(found.st_mode) else None

    def _placed_stat(self, local: str) -> os.stat_result | None:
        try:
            folder = self._parent_of(local, make=False)
            found = os.stat(local.rpartition("/")[2], dir_fd=folder, follow_symlinks=False)
        except OSError:
            return None
        return found if stat.S_ISREG(found.st_mode) else None

    def _parent_of(self, local: str, *, make: bool = True) -> int:
        """The folder in which it lies, opened step by step; the last one is kept open: many files lie side by side."""
        above = local.rpartition("/")[0]
        if self._parents is not None and self._parents[0] == above:
            return self._parents[1]
        fd = os.dup(self._dir)
        try:
            for part in above.split("/") if above else ():
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=fd)
                inner = os.open(part, _FOLDER_FLAGS, dir_fd=fd)
                os.close(fd)
                fd = inner
        except OSError as error:
            os.close(fd)
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise OSError(
                    error.errno, "a symbolic link or a file stands where its folder should be", local
                ) from error
            raise
        if self._parents is not None:
            os.close(self._parents[1])
        self._parents = (above, fd)
        return fd


def _is_of_time(found_ns: int, written_ns: int | None) -> bool:
    """Whether a file is as it was put there: some file systems keep whole or every second second only."""
    if written_ns is None or found_ns == written_ns:
        return True
    return found_ns % 10**9 == 0 and abs(found_ns - written_ns) <= COARSE_NS


def digest_of(fd: int, digest: Any = None) -> str:
    """The SHA-256 of an opened file from its beginning. digest: one to add to."""
    digest = digest or hashlib.sha256()
    offset = 0
    while part := os.pread(fd, CHUNK_BYTES, offset):
        digest.update(part)
        offset += len(part)
    return str(digest.hexdigest())


def written_at(stamp: str) -> int | None:
    """The time of the last write in what stat(1) calls %y, in nanoseconds since the epoch; None: not
    understood. Pure.
    """
    words = stamp.split(" ")
    if len(words) < 3:
        return None
    try:
        whole = datetime.fromisoformat(f"{words[0]}T{words[1][:8]}{words[2][:3]}:{words[2][3:5]}")
        part = words[1][9:18].ljust(9, "0")
        return int(whole.timestamp()) * 10**9 + (int(part) if part.isdigit() else 0)
    except (ValueError, OverflowError):
        return None


def _whole_of(line: bytes) -> Whole | None:
    data = parse_object(line) or {}
    local, size, stamp, sha256 = (data.get(name) for name in ("local", "size", "stamp", "sha256"))
    if not (isinstance(local, str) and isinstance(size, int) and isinstance(stamp, str) and isinstance(sha256, str)):
        return None
    return Whole(local, size, stamp, sha256, data.get("is_placed") is True)


def _hashed(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _name(file: File) -> str:
    """In the own folder, of this very state of the file: another one begins anew."""
    return f"file-{_hashed(f'{file.local}/{file.size}/{file.stamp}')}"
