"""Processes of this machine that wait or transfer: a claim that something runs is believed only if it is here."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

from handbook.words import safe
from onbox.contract.readings import Maybe, Unseen

# Of this user only, whatever terminal they have; the same on Linux and macOS.
PS = ("ps", "-xo", "pid=,args=")
PS_SECONDS = 10.0
TRANSFERS = ("rsync", "scp", "sftp", "rclone")
SHOWN = 10


class Waiter(NamedTuple):
    """kind: sentinel or transfer."""

    kind: str
    pid: int
    words: str


def find_waiters() -> Maybe[tuple[str, ...]]:
    """Sentinels and transfers that are alive on this machine now, one line each."""
    try:
        done = subprocess.run(PS, check=True, capture_output=True, timeout=PS_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        return Unseen(f"`ps` did not answer: {type(error).__name__}")
    found = parse_ps(done.stdout.decode("utf-8", "replace"), os.getpid())
    return tuple(f"{one.kind} pid {one.pid}: {one.words}" for one in found[:SHOWN])


def parse_ps(text: str, own_pid: int) -> list[Waiter]:
    """The lines of `ps -xo pid=,args=` that are ours to tell, in order of their pids. Pure."""
    found = []
    for line in text.splitlines():
        pid, _, args = line.strip().partition(" ")
        kind = _kind(args.split())
        if kind and pid.isdigit() and int(pid) != own_pid:
            found.append(Waiter(kind, int(pid), safe(args.strip(), 160)))
    return sorted(found, key=lambda one: one.pid)


def _kind(words: list[str]) -> str:
    names = [word.rpartition("/")[2] for word in words[:4]]
    if not names or names[0] in ("sh", "bash", "ssh"):
        return ""
    if names[0] in TRANSFERS:
        return "transfer"
    is_sentinel = names[0] == "sentinel" or (len(names) > 1 and names[1] == "sentinel")
    if (is_sentinel and "wait" in words) or words[1:4] == ["-m", "sentinels", "wait"]:
        return "sentinel"
    return ""
