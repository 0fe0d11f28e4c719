"""The processes of a stage, for `onbox stats`: as `onbox.collectors.tree` reads them in the runner, with psutil."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import psutil

from onbox.collectors.tree import Member, tree_of
from onbox.contract.readings import Absent, Unseen
from onbox.system.process import look_up

if TYPE_CHECKING:
    from onbox.collectors.tree import Tree
    from onbox.contract.readings import Maybe
    from onbox.system.process import Identity

STATES = {
    psutil.STATUS_RUNNING: "R",
    psutil.STATUS_SLEEPING: "S",
    psutil.STATUS_DISK_SLEEP: "D",
    psutil.STATUS_STOPPED: "T",
    psutil.STATUS_TRACING_STOP: "t",
    psutil.STATUS_IDLE: "I",
}


def read_tree(leader: Identity) -> Maybe[Tree]:
    """The session that the keeper `leader` leads and its descendants; Absent when it has ended."""
    entry = look_up(leader.pid)
    members = [] if entry is None or entry.identity != leader else list(filter(None, map(_member, _family(leader.pid))))
    if not members:
        return Absent(f"process {leader.pid} has ended")
    return tree_of(members, _open_files([member.pid for member in members]))


def _family(session: int) -> list[psutil.Process]:
    table = {one.pid: one for one in psutil.process_iter(["ppid"])}
    members = {pid for pid in table if _session_of(pid) == session}
    grew = True
    while grew:
        born = {pid for pid, one in table.items() if one.info["ppid"] in members} - members
        members |= born
        grew = bool(born)
    return [table[pid] for pid in sorted(members)]


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _member(process: psutil.Process) -> Member | None:
    """None: it has ended."""
    try:
        with process.oneshot():
            status, times = process.status(), process.cpu_times()
            if status in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                return None
            return Member(
                process.pid,
                process.name(),
                process.memory_info().rss,
                times.user + times.system,
                process.num_threads(),
                STATES.get(status, "?"),
            )
    except psutil.Error:
        return None


def _open_files(pids: list[int]) -> Maybe[int]:
    count = 0
    for pid in pids:
        try:
            count += psutil.Process(pid).num_fds()
        except psutil.NoSuchProcess:
            continue  # ended meanwhile
        except psutil.Error:
            return Unseen(f"descriptors of process {pid}: not for this user")
    return count
