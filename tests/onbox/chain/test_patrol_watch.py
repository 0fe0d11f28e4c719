"""A box that knew a patrol tells when nobody looks any more: once, whatever runs there, and once when it is over."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.chain.observe.patrol_watch import PatrolWatch
from onbox.contract.events import Event
from onbox.contract.paths import RunPaths
from onbox.system.lock import try_lock

if TYPE_CHECKING:
    from pathlib import Path

WALL, LIMIT = 1_700_000_000.0, 3630.0


class State:
    """A state directory with runs, and a patrol that looks at it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = 1000.0

    def watch(self, name: str) -> PatrolWatch:
        (self.folder / name).mkdir(exist_ok=True)
        return PatrolWatch(RunPaths(os.fspath(self.folder / name)))

    def patrol_looks(self, text: str = f"{LIMIT:.0f}\n") -> None:
        (self.folder / ".patrolled").write_text(text)
        os.utime(self.folder / ".patrolled", (WALL + self.now, WALL + self.now))

    def told(self, *watches: PatrolWatch, after: float = 0.0) -> list[str]:
        self.now += after
        records = [watch.look(self.now, WALL + self.now) for watch in watches]
        return [record["event"] for record in records if record is not None]


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path)


def test_a_box_that_no_patrol_ever_looked_at_says_nothing(state: State) -> None:
    assert state.told(state.watch("a"), after=1e6) == []


def test_the_silence_is_told_once_and_its_end_once_by_all_runs_together(state: State) -> None:
    runs = [state.watch(name) for name in ("a", "b", "c")]
    state.patrol_looks()
    assert state.told(*runs, after=LIMIT - 1) == []
    assert state.told(*runs, after=2) == [Event.PATROL_SILENT]
    assert state.told(*runs, after=1e5) == []
    state.patrol_looks()
    locks = [try_lock(os.fspath(state.folder / name / "lock")) for name in ("a", "b", "c")]
    assert all(lock is not None for lock in locks)
    assert state.told(*reversed(runs)) == [Event.PATROL_BACK]
    assert state.told(*runs) == []
    for lock in locks:
        os.close(lock or -1)


def test_a_runner_that_is_started_again_tells_nothing_twice(state: State) -> None:
    state.patrol_looks()
    assert state.told(state.watch("a"), after=LIMIT + 1) == [Event.PATROL_SILENT]
    assert state.told(state.watch("a"), after=60) == []
    state.patrol_looks()
    assert state.told(state.watch("b")) == [Event.PATROL_BACK], "the run that told it has ended"


def test_a_machine_that_slept_itself_says_nothing(state: State) -> None:
    run = state.watch("a")
    state.patrol_looks()
    assert state.told(run, after=10) == []
    assert run.look(state.now + 30, WALL + state.now + 8 * 3600) is None, "its own clock stood still"


@pytest.mark.parametrize("text", ["", "x\n", "9" * 60 + "\n"])
def test_a_look_that_could_not_write_is_a_look_all_the_same(state: State, text: str) -> None:
    run = state.watch("a")
    state.patrol_looks()
    assert state.told(run) == []
    state.now += LIMIT - 1
    state.patrol_looks(text)
    assert state.told(run, after=2) == []


def test_a_trace_through_a_link_or_without_rights_harms_nothing(state: State, tmp_path: Path) -> None:
    (tmp_path / ".patrolled").symlink_to(".patrolled")
    assert state.told(state.watch("a"), after=1e6) == []
