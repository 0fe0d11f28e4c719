"""How many processes the OOM killer took from a stage: the change of a counter of its own cgroup, never a log line.

v2 counts the whole subtree in memory.events. v1 counts a group's own victims in memory.oom_control, so the groups below
are read one by one. A counter that shrank belongs to a new group of the same name.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.collectors.groups import find_group
from onbox.collectors.memory import read_oom_kills
from onbox.contract.readings import Absent, Unseen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onbox.collectors.groups import Group
    from onbox.contract.readings import Maybe

BELOW_LIMIT = 64  # groups below ours that are read in v1: a stage that makes more is not an ordinary job


def count_kills(group: Group) -> dict[str, int]:
    """The counters that tell of a process in `group`: by directory. Those that cannot be read are left out."""
    found = {}
    for level in (group.own, *(_below(group.own) if group.version == 1 else ())):
        kills = read_oom_kills(group.version, level)
        if isinstance(kills, int):
            found[level] = kills
    return found


def _below(folder: str) -> list[str]:
    """The groups below one, breadth first, bounded."""
    found: list[str] = []
    queue = [folder]
    while queue and len(found) < BELOW_LIMIT:
        place = queue.pop(0)
        try:
            if os.stat(place).st_nlink <= 2:
                continue  # a folder of cgroupfs has a link for each one in it
            with os.scandir(place) as entries:
                groups = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue  # removed meanwhile, or not ours to see
        found += groups
        queue += groups
    return found[:BELOW_LIMIT]


class KillWatch:
    """OOM kills since a moment. `baseline`: the counters then, as `count_kills` gave them; None: could not look."""

    def __init__(self, group: Maybe[Group], baseline: Mapping[str, int] | None, root: str = "/") -> None:
        self._group, self._root = group, root
        self._baseline = dict(baseline or {})
        self._known = baseline is not None
        self._latest = dict(self._baseline)
        self._elsewhere: dict[str, int] = {}

    def look_at(self, pids: Iterable[int]) -> None:
        """Take in the groups of processes that moved themselves elsewhere (a job that made a group of its own)."""
        for pid in pids:
            group = find_group("memory", pid, self._root)
            if isinstance(group, Absent | Unseen) or group.own in self._latest or group.own in self._elsewhere:
                continue
            if not isinstance(self._group, Absent | Unseen) and group.own.startswith(self._group.own + "/"):
                continue  # below ours: counted with it
            kills = read_oom_kills(group.version, group.own)
            if isinstance(kills, int):
                self._elsewhere[group.own] = group.version
                self._baseline[group.own] = self._latest[group.own] = kills

    def delta(self) -> Maybe[int]:
        """Processes killed since the baseline."""
        if isinstance(self._group, Absent | Unseen):
            return Unseen(f"no OOM counter: {self._group.why}")
        if not self._known:
            return Unseen("the OOM counter could not be read when the attempt began")
        self._latest |= count_kills(self._group)
        for level, version in self._elsewhere.items():
            kills = read_oom_kills(version, level)
            if isinstance(kills, int):
                self._latest[level] = kills
        return sum(self._since(level, count) for level, count in self._latest.items())

    def _since(self, level: str, count: int) -> int:
        before = self._baseline.get(level, 0)  # a group that was not there then began at 0
        return count - before if count >= before else count
