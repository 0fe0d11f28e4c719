"""A box that knew a patrol tells when nobody looks any more: once, whatever runs there, and once when it is over."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from onbox.chain.observe.patrol_watch import PatrolWatch
from onbox.contract.events import Event, render_event
from onbox.contract.paths import RunPaths
from onbox.system.lock import try_lock
from tests.fakes.die_at import OTHERS, WRITES, Sweep

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
        """What they journal, one after the other."""
        self.now += after
        return [event for watch in watches if (event := self.step(watch)) is not None]

    def step(self, watch: PatrolWatch) -> str | None:
        """As a runner: look, and journal what there is to tell."""
        record = watch.look(self.now, WALL + self.now)
        if record is None:
            return None
        fd = os.open(self.folder / watch._name / "events.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(fd, render_event(record))
        os.close(fd)
        return str(record["event"])

    def journaled(self) -> list[str]:
        """Of all runs, in the order of their names."""
        texts = [path.read_bytes() for path in sorted(self.folder.glob("*/events.jsonl"))]
        return [json.loads(line)["event"] for text in texts for line in text.splitlines() if line.endswith(b"}")]


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


# -- killed while it tells


def killed_at(state: State, watch: PatrolWatch, operation: int, when: str) -> bool:
    """A heartbeat of a runner that dies at its n-th operation on the disk; False: it came to its end before."""
    pid = os.fork()
    if not pid:
        try:
            sweep = Sweep(operation, when)
            for name in WRITES + OTHERS:
                sweep.wrap(name)
            state.step(watch)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("heir", ["a", "b"])
def test_whoever_is_killed_while_it_tells_is_followed_by_another(state: State, when: str, heir: str) -> None:
    """By the same run, resumed, or by another one that runs there."""
    meant: list[str] = []
    for event in (Event.PATROL_SILENT, Event.PATROL_BACK) * 20:
        if event == Event.PATROL_BACK:
            state.patrol_looks()
        else:
            state.patrol_looks()
            state.told(state.watch(heir))
            state.now += LIMIT + 1
        was_killed = killed_at(state, state.watch("a"), len(meant) // 2 + 1, when)
        assert state.told(state.watch(heir), state.watch(heir), state.watch(heir)) in ([event], [])
        meant.append(event)
        assert sorted(state.journaled()) == sorted(meant), f"killed {when} operation {len(meant) // 2}"
        if not was_killed and event == Event.PATROL_BACK:
            break
    assert len(meant) > 8, "every step was tried"


def test_what_an_earlier_version_has_left_is_of_one_that_was_told(state: State) -> None:
    state.patrol_looks()
    (state.folder / ".unpatrolled").write_text("gone")
    assert state.told(state.watch("a"), after=LIMIT + 1) == []
    state.patrol_looks()
    assert state.told(state.watch("a")) == [Event.PATROL_BACK]
