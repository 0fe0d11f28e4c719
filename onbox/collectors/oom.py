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

    from onbox.collectors.groups import ControlGroup
    from onbox.contract.readings import Maybe

BELOW_LIMIT = 64  # groups below ours that are read in v1: a stage that makes more is not an ordinary job


def count_kills(group: ControlGroup) -> dict[str, int]:
    """The counters that tell of a process in `group`: by directory. Those that cannot be read are left out."""
    return _count(group.version, group.own)


def _count(version: int, top: str) -> dict[str, int]:
    found = {}
    for level in (top, *(_below(top) if version == 1 and not _is_root(top) else ())):
        kills = read_oom_kills(version, level)
        if isinstance(kills, int):
            found[level] = kills
    return found


def _is_root(level: str) -> bool:
    """Whether a v1 group is the whole machine's: strangers' groups are below it. Only it has this file (cgroups(7))."""
    return os.path.exists(f"{level}/release_agent")


def _below(folder: str) -> list[str]:
    """The groups below one, breadth first, bounded."""
    found: list[str] = []
    queue = [folder]
    while queue and len(found) < BELOW_LIMIT:
        place = queue.pop(0)
        try:
            if os.stat(place).st_nlink == 2:
                continue  # a folder of cgroupfs has a link for each one in it
            with os.scandir(place) as entries:
                groups = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue  # removed meanwhile, or not ours to see
        found += groups
        queue += groups
    return found[:BELOW_LIMIT]


class KillWatch:
    """OOM kills since a moment. `baseline`: the counters then, as `count_kills` gave them; None: could not look.

    What counts are the groups of the baseline, not the one that the caller stands in: a runner that takes over an
    attempt may have come by another session.
    """

    def __init__(self, group: Maybe[ControlGroup], baseline: Mapping[str, int] | None, root: str = "/") -> None:
        self._group, self._root = group, root
        self._baseline = dict(baseline or {})
        self._tops = [level for level in self._baseline if not self._is_counted(level, but=level)]
        self._latest = dict(self._baseline)
        self._elsewhere: dict[str, int] = {}

    def _is_counted(self, level: str, but: str = "") -> bool:
        """Whether a group of the baseline is `level` or counts it with its own."""
        return any(
            level == known or (level.startswith(known + "/") and not _is_root(known))
            for known in self._baseline
            if known != but
        )

    def look_at(self, pids: Iterable[int]) -> None:
        """Take in the groups of processes that moved themselves elsewhere (a job that made a group of its own)."""
        for pid in pids:
            group = find_group("memory", pid, self._root)
            if isinstance(group, Absent | Unseen) or group.own in self._latest or self._is_counted(group.own):
                continue
            kills = count_kills(group)
            if group.own in kills:
                self._elsewhere[group.own] = group.version
                self._baseline = kills | self._baseline
                self._latest = kills | self._latest

    def delta(self) -> Maybe[int]:
        """Processes killed since the baseline; Unseen where no counter could or can be read."""
        if isinstance(self._group, Absent | Unseen):
            return Unseen(f"no OOM counter: {self._group.why}")
        if not self._tops:
            return Unseen("the OOM counter could not be read when the attempt began")
        lost = self._look_again(self._group.version)
        kills = sum(self._since(level, count) for level, count in self._latest.items())
        return kills if kills or not lost else Unseen(f"the OOM counter of {lost[0]} cannot be read any more")

    def _look_again(self, version: int) -> list[str]:
        """Read all counters; those of the baseline's that are gone."""
        lost = []
        for top in self._tops:
            seen = _count(version, top)
            lost += [] if top in seen else [top]
            self._latest |= seen
        for level, of_version in self._elsewhere.items():
            seen = _count(of_version, level)
            lost += [] if level in seen else [level]
            self._latest |= seen
        return lost

    def _since(self, level: str, count: int) -> int:
        before = self._baseline.get(level, 0)  # a group that was not there then began at 0
        return count - before if count >= before else count
