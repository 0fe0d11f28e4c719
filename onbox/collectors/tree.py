"""The processes of a stage: how many, how big, how busy, and which of them the kernel holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple
from onbox.system.process import TICKS_PER_SECOND, find_family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.readings import Maybe
    from onbox.system.process import Identity, ProcessEntry

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
BIGGEST = 5


class Member(NamedTuple):
    """One process. rss: resident memory, shared pages included. state: as in proc(5)."""

    pid: int
    name: str
    rss_bytes: int
    cpu_seconds: float
    threads: int
    state: str


class Tree(NamedTuple):
    """All processes of a stage. rss_bytes adds up what the processes have: shared pages count once for each.

    cpu_seconds: of those that live now. held: in uninterruptible sleep (D) at this moment. open_files: descriptors.
    biggest: by resident memory.
    """

    processes: int
    threads: int
    rss_bytes: int
    cpu_seconds: float
    held: tuple[int, ...]
    open_files: Maybe[int]
    biggest: tuple[Member, ...]


def read_tree(leader: Identity, root: str = "/") -> Maybe[Tree]:
    """The tree of the keeper `leader`; Absent when it has ended."""
    try:
        entries = find_family(leader, root)
    except OSError as error:
        return Unseen(f"/proc: {error.strerror}")
    return tree_from(entries, root) if entries else Absent(f"process {leader.pid} has ended")


def tree_from(entries: Sequence[ProcessEntry], root: str = "/") -> Tree:
    return tree_of([_member(entry) for entry in entries], _open_files([entry.identity.pid for entry in entries], root))


def tree_of(members: Sequence[Member], open_files: Maybe[int]) -> Tree:
    """What these processes are together. Pure."""
    return Tree(
        processes=len(members),
        threads=sum(member.threads for member in members),
        rss_bytes=sum(member.rss_bytes for member in members),
        cpu_seconds=round(sum(member.cpu_seconds for member in members), 2),
        held=tuple(member.pid for member in members if member.state == "D"),
        open_files=open_files,
        biggest=tuple(sorted(members, key=lambda member: -member.rss_bytes)[:BIGGEST]),
    )


def _member(entry: ProcessEntry) -> Member:
    return Member(
        entry.identity.pid,
        entry.name,
        entry.rss_pages * PAGE_BYTES,
        entry.cpu_ticks / TICKS_PER_SECOND,
        entry.threads,
        entry.state,
    )


def _open_files(pids: list[int], root: str) -> Maybe[int]:
    count = 0
    for pid in pids:
        try:
            count += len(os.listdir(os.path.join(root, "proc", str(pid), "fd")))
        except FileNotFoundError:
            continue  # ended meanwhile
        except OSError as error:
            return Unseen(f"descriptors of process {pid}: {error.strerror}")
    return count
