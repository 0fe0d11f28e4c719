"""Files that others read: written beside, flushed, renamed into place, folder flushed. Nothing half-written.

What cannot be written raises `StateNotWritten`, which says whether bytes or inodes are gone.
"""

from __future__ import annotations

import errno
import os
import pwd
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
LINE_LIMIT_BYTES = 1 << 26


class StateNotWritten(Exception):
    """A write of the run's state failed. Trying again helps once there is room (`errno` ENOSPC, EDQUOT).

    path: what was to be written. shortage: "bytes", "inodes", or None when the disk is not what is short.
    """

    def __init__(self, path: str, cause: OSError) -> None:
        self.path = path
        self.errno = cause.errno or errno.EIO
        self.shortage, seen = look_for_shortage(path) if self.errno in NO_ROOM else (None, "")
        text = f"cannot write {path}: {os.strerror(self.errno)}"
        if self.errno == errno.ELOOP:
            text = f"cannot write {path}: it is a symbolic link, which is not followed"
        if self.errno == errno.EMLINK:
            text = f"cannot write {path}: it has another name (a hard link), which would change with it"
        super().__init__(text + (f" ({seen})" if seen else ""))

    @property
    def way_on(self) -> str:
        """What to do about it, in a few words."""
        return "make room" if self.errno in NO_ROOM else "fix that (owner, mode, mount)"


NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def look_for_shortage(path: str) -> tuple[str | None, str]:
    """Which of bytes and inodes is gone where `path` lies, and the numbers as text. (None, "") if neither or unseen."""
    try:
        seen = os.statvfs(os.path.dirname(path) or ".")
    except OSError:
        return None, ""
    if seen.f_files and not seen.f_favail:
        return "inodes", f"0 of {seen.f_files} inodes free; {seen.f_bavail * seen.f_frsize} bytes are"
    if seen.f_bavail * seen.f_frsize < 65536:
        return "bytes", f"{seen.f_bavail * seen.f_frsize} bytes free; {seen.f_favail} of {seen.f_files} inodes are"
    return None, ""


def whose(path: str) -> str:
    """` (/data/digits belongs to ann, and this is bob)` of what may not be entered; "" where that is not the reason."""
    place = os.path.abspath(path)
    while place != "/" and not os.path.lexists(place):
        place = os.path.dirname(place)  # what lies in a closed folder cannot even be seen
    try:
        owner = os.stat(place).st_uid
    except OSError:
        return ""
    if owner == os.geteuid():
        return ""
    return f" ({place} belongs to {user_name(owner)}, and this is {user_name(os.geteuid())})"


def has_name(uid: int) -> bool:
    """Whether there is an account of this number here."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def user_name(uid: int) -> str:
    """What a user is called here; `user 1001` where the number has no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`; os.write may take only a part."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def pwrite_all(fd: int, data: bytes, offset: int) -> None:
    """As `write_all`, at an offset and without moving the file's position."""
    view = memoryview(data)
    while view:
        written = os.pwrite(fd, view, offset)
        view, offset = view[written:], offset + written


def sync_folder(path: str) -> None:
    """Make renames and new names in the folder `path` durable."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems refuse it for folders
            raise
    finally:
        os.close(fd)


def open_own(path: str, flags: int, *, below: int | None = None) -> int:
    """A descriptor of a file of ours, made private where it is new. A symbolic link in its place is not followed: who
    could put it there would choose which file is written. below: `path` is a name in this opened folder. Raises
    OSError.
    """
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE, dir_fd=below)


def beside(path: str) -> str:
    """A name in the folder of `path` that nobody can foresee, and so put nothing there before."""
    return f"{path}.tmp{os.urandom(5).hex()}"


def create_beside(path: str, flags: int = 0) -> tuple[int, str]:
    """A new and empty file that is going to replace `path`: its descriptor and its name. Raises OSError."""
    name = beside(path)
    return open_own(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | flags), name


def replace_file(path: str, data: bytes, *, durable: bool = True, mode: int = PRIVATE_FILE) -> None:
    """Put `data` at `path` in one step: a reader sees the old file or the new one, never a part.

    durable=False leaves out the flushes: for files that are only a view of the journal (status.json).
    Raises StateNotWritten; the old file is then still whole.
    """
    new = ""
    try:
        fd, new = create_beside(path)
        try:
            if mode != PRIVATE_FILE:
                with suppress(PermissionError):  # mounts that keep no modes refuse to set one
                    os.fchmod(fd, mode)
            write_all(fd, data)
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(new, path)
        if durable:
            sync_folder(os.path.dirname(path))
    except OSError as error:
        with suppress(OSError):
            os.unlink(new)
        raise StateNotWritten(path, error) from error


def append_line(path: str, line: str) -> None:
    """One more line of a log for people. Where it cannot be written nothing is lost but the line."""
    with suppress(OSError):
        fd = open_own(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            write_all(fd, line.encode("utf-8", "replace") + b"\n")
        finally:
            os.close(fd)


def open_plain(path: str) -> BinaryIO:
    """A file to be read. Raises OSError, also of a FIFO, which would hang who opens it, and of a device: a link to
    /dev/zero has no end.
    """
    return open(_open_plain(path)[0], "rb")


def _open_plain(path: str) -> tuple[int, int]:
    """(descriptor, size in bytes). As `open_plain`."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    seen = os.fstat(fd)
    if stat.S_ISREG(seen.st_mode):
        return fd, seen.st_size
    os.close(fd)
    if stat.S_ISDIR(seen.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise OSError(errno.EINVAL, f"it is a {'FIFO' if stat.S_ISFIFO(seen.st_mode) else 'device'}, not a file", path)


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """The lines of an opened file; one of over LINE_LIMIT_BYTES in parts: a hole of 20 GB in a file is one line."""
    return iter(lambda: file.readline(LINE_LIMIT_BYTES), b"")


def read_file(path: str, limit: int = 1 << 26, *, below: int | None = None) -> bytes | None:
    """The first `limit` bytes of a file; None if there is no such file. Other errors raise OSError, and so does a FIFO,
    which would hang who reads it. below: `path` is a name in this opened folder, and no link is followed.
    """
    links = 0 if below is None else os.O_NOFOLLOW
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | links, dir_fd=below)
    except FileNotFoundError:
        return None
    try:
        if stat.S_ISFIFO(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is a FIFO, not a file", path)
        return read_all(fd, limit)
    finally:
        os.close(fd)


def read_all(fd: int, limit: int = 1 << 26) -> bytes:
    """What an opened file holds from its beginning, at most `limit` bytes, without moving its position."""
    parts: list[bytes] = []
    offset = 0
    while offset < limit and (part := os.pread(fd, min(limit - offset, 1 << 20), offset)):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)


def read_tail(path: str, limit: int) -> bytes | None:
    """The last `limit` bytes of a file, at a cost that does not depend on its size; None if there is no such file."""
    try:
        fd, size = _open_plain(path)
    except FileNotFoundError:
        return None
    try:
        return os.pread(fd, limit, max(0, size - limit))
    finally:
        os.close(fd)


def make_folders(*paths: str) -> None:
    """Make folders, with those above them, private to the user. Raises StateNotWritten."""
    for path in paths:
        if os.path.isdir(path):
            continue
        parent = os.path.dirname(path)
        if parent != path:
            make_folders(parent)
        try:
            os.mkdir(path, PRIVATE_FOLDER)
        except FileExistsError:
            if not os.path.isdir(path):
                raise StateNotWritten(path, NotADirectoryError(errno.ENOTDIR, "not a folder", path)) from None
        except OSError as error:
            raise StateNotWritten(path, error) from error


def remove_file(path: str) -> bool:
    """Remove a file; False if there was none. Raises StateNotWritten."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StateNotWritten(path, error) from error
    return True


def link_newest(target_name: str, link: str) -> None:
    """Let the symbolic link `link` point to `target_name` in the same folder, replacing it in one step."""
    new = beside(link)
    try:
        with suppress(FileExistsError):
            os.symlink(target_name, link)
            return
        os.symlink(target_name, new)
        os.rename(new, link)
    except OSError as error:
        with suppress(OSError):
            os.unlink(new)
        raise StateNotWritten(link, error) from error
