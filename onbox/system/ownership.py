"""Who else could have written a file: asked before what stands in it is carried out.

A file is ours when it belongs to this user or to root, and nobody else can write it. Two things count as nobody else:
a group that has no member but the owner (Debian and Ubuntu give each user one, and a umask of 002 with it), and, where
a caller says so, a group that this user is in: a team that shares a project shares what it runs, too.
Some mounts tell neither owner nor mode of a file (a network volume, a disk of Windows, a share): there a file that is
made now looks the same as the one in question, and that says nothing against it.
"""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
from contextlib import suppress

from onbox.named_tuple import NamedTuple
from onbox.system.files import StateNotWritten, create_beside, make_folders, user_name

ROOT = 0


class NotOurs(StateNotWritten):
    """A folder for our own state that others can write."""

    def __init__(self, path: str, why: str) -> None:
        self.path, self.errno, self.shortage = path, errno.EPERM, None
        Exception.__init__(self, f"cannot write {path}: it {why}")


class Made(NamedTuple):
    """What a file looks like that was made just now: what a mount tells of any file."""

    owner: int
    mode: int


class WhyNotOurs(NamedTuple):
    """says: "belongs to ann, and this is bob". by_mode: the owner is right, and the mode lets others write."""

    says: str
    by_mode: bool = False


def why_not_ours(path: str, *, team: bool = False) -> WhyNotOurs | None:
    """Why others could have written the file or folder at `path`; None: they could not.

    team: groups that this user is in may write it. A symbolic link must be ours, too. Raises OSError.
    """
    link = os.lstat(path)
    if stat.S_ISLNK(link.st_mode) and not _may_own(link.st_uid):
        return WhyNotOurs(f"is a symbolic link of {user_name(link.st_uid)}, and this is {user_name(os.geteuid())}")
    found = os.stat(path)
    if is_ours(found, team=team):
        return None
    made = _made_now(path, found)
    if not _may_own(found.st_uid) and (made is None or made.owner != found.st_uid):
        return WhyNotOurs(f"belongs to {user_name(found.st_uid)}, and this is {user_name(os.geteuid())}")
    if others_can_write(found, team=team) and (made is None or not made.mode & 0o022):
        return WhyNotOurs(f"can be written by other users (mode {stat.S_IMODE(found.st_mode):04o})", by_mode=True)
    return None


def is_ours(found: os.stat_result, *, team: bool = False) -> bool:
    """Whether owner and mode alone say that nobody else could have written it."""
    return _may_own(found.st_uid) and not others_can_write(found, team=team)


def others_can_write(found: os.stat_result, *, team: bool = False) -> bool:
    """Whether somebody else but root may write it, by its mode."""
    if found.st_mode & stat.S_IWOTH:
        return True
    if not found.st_mode & stat.S_IWGRP:
        return False
    if team and found.st_gid in (os.getegid(), *os.getgroups()):
        return False
    return not _is_private_group(found.st_gid, found.st_uid)


def _may_own(uid: int) -> bool:
    return uid in (ROOT, os.geteuid())


def _is_private_group(gid: int, owner: int) -> bool:
    """Whether the group is the owner's own: its first group, of the same name, with no other member."""
    try:
        user, group = pwd.getpwuid(owner), grp.getgrgid(gid)
    except KeyError:
        return False
    return user.pw_gid == gid and group.gr_name == user.pw_name and not set(group.gr_mem) - {user.pw_name}


def _made_now(path: str, found: os.stat_result) -> Made | None:
    """A file made in the same folder, looked at by its descriptor, so that nobody can put another in its place."""
    place = os.path.join(path, "probe") if stat.S_ISDIR(found.st_mode) else os.path.realpath(path)
    try:
        fd, name = create_beside(place)
    except OSError:
        return None
    try:
        made = os.fstat(fd)
        return Made(made.st_uid, stat.S_IMODE(made.st_mode))
    finally:
        os.close(fd)
        with suppress(OSError):
            os.unlink(name)


def make_own_folder(path: str) -> None:
    """As `make_folders`, for a folder of our own state: what others can write is refused. Raises StateNotWritten."""
    make_folders(path)
    try:
        why = why_not_ours(path)
    except OSError as error:
        raise StateNotWritten(path, error) from error
    if why is not None:
        raise NotOurs(path, why.says)
