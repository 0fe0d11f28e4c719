"""The next stage's keeper starts up while a marker lands: the command begins after it, is never lost or doubled."""

from __future__ import annotations

import errno
import os
import signal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from onbox.chain.runner import stage_run
from onbox.chain.runner.early_start import start_early
from onbox.chain.state.replay import StageHistory
from onbox.contract.events import Event
from onbox.contract.exits import Exit
from onbox.contract.paths import RunPaths
from onbox.contract.runfile import FrozenStage
from onbox.model.manifest import Amount, Gates, Stage, WaitFor
from onbox.system.files import StateNotWritten
from tests.box import wait_until
from tests.chain_here import ChainHere

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.box import Box

A, B = Stage("a", "echo a >>ran"), Stage("b", "test -f .onbox/digits/markers/a_DONE; echo b >>ran")
NOTHING_KNOWN = StageHistory()


@pytest.fixture
def here(box: Box) -> ChainHere:
    return ChainHere(box)


def after_the_early_start(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """In the runner, which is a fork of the test."""

    def start_and_more(*args: Any) -> Any:
        prepared = start_early(*args)
        assert prepared is not None
        happens()
        return prepared

    monkeypatch.setattr(stage_run, "start_early", start_and_more)


def finishes_without_a_second_run(here: ChainHere) -> None:
    wait_until(lambda: not here.box.processes(), "the keeper that waited to end")
    assert here.run(A, B) == Exit.DONE
    assert (here.box.ran, here.box.markers) == (["a", "b"], ["CHAIN_DONE", "a_DONE", "b_DONE"])


def test_a_stage_whose_keeper_waits_begins_when_the_marker_before_it_lies_there(
    here: ChainHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    after_the_early_start(monkeypatch, lambda: None)
    told = B._replace(cmd=f"{B.cmd}; echo $WORD >>ran", env=(("WORD", "told"),))
    assert here.run(A, told) == Exit.DONE
    assert here.box.ran == ["a", "b", "told"]
    events = [(event["event"], event["stage"]) for event in here.box.events() if "stage" in event]
    assert events.index((Event.STAGE_DONE, "a")) < events.index((Event.ATTEMPT_STARTED, "b"))


def test_a_stage_does_not_begin_where_the_marker_before_it_cannot_land(here: ChainHere) -> None:
    blocked = here.box.state / "markers" / "a_DONE"
    stage = A._replace(cmd=f"echo a >>ran; mkdir -p {blocked}/x")
    assert here.run(stage, B) == Exit.STATE_NOT_WRITTEN
    assert here.box.ran == ["a"]
    (blocked / "x").rmdir()
    blocked.rmdir()
    wait_until(lambda: not here.box.processes(), "the keeper that waited to end")
    assert here.run(stage, B) == Exit.DONE
    assert here.box.ran == ["a", "b"]


def test_a_stop_in_between_lets_the_keeper_go(here: ChainHere, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        after_the_early_start(patch, lambda: os.kill(os.getpid(), signal.SIGTERM))
        assert here.run(A, B) == Exit.STOPPED
    assert (here.box.ran, here.box.markers, here.box.processes()) == (["a"], ["a_DONE"], [])
    assert not os.path.exists(here.paths.slot("b"))
    finishes_without_a_second_run(here)


def test_a_kill_in_between_loses_nothing(here: ChainHere, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        after_the_early_start(patch, lambda: os.kill(os.getpid(), signal.SIGKILL))
        assert here.run(A, B) == -signal.SIGKILL
    assert (here.box.ran, here.box.markers) == (["a"], [])
    finishes_without_a_second_run(here)


def test_a_keeper_that_is_killed_while_it_waits_is_an_end_that_is_told(
    here: ChainHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def start_and_kill(*args: Any) -> Any:
            prepared = start_early(*args)
            assert prepared is not None
            os.kill(prepared.keeper_pid, signal.SIGKILL)
            return prepared

        patch.setattr(stage_run, "start_early", start_and_kill)
        assert here.run(A, B) == Exit.FAILED
    assert (here.box.ran, here.box.markers) == (["a"], ["CHAIN_FAILED", "a_DONE", "b_FAILED"])
    assert "SIGKILL" in here.box.marker("b_FAILED")["reason"]


def test_a_full_disk_does_not_keep_the_marker_from_landing(here: ChainHere, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: Any) -> Any:
        raise StateNotWritten(here.paths.slot("b"), OSError(errno.ENOSPC, "full"))

    with monkeypatch.context() as patch:
        patch.setattr(stage_run, "start_early", no_room)
        assert here.run(A, B) == Exit.STATE_NOT_WRITTEN
    assert (here.box.ran, here.box.markers) == (["a"], ["a_DONE"])
    finishes_without_a_second_run(here)


def test_a_stage_that_cannot_be_started_after_all_leaves_no_keeper(here: ChainHere) -> None:
    assert here.run(A, B._replace(cwd="nowhere")) == Exit.FAILED
    assert (here.box.ran, here.box.processes()) == (["a"], [])
    assert "is not a folder" in here.box.marker("b_FAILED")["reason"]


@pytest.mark.parametrize(
    ("stage", "known"),
    [
        (B._replace(wait_for=WaitFor("READY", None, None, 60.0)), NOTHING_KNOWN),
        (B._replace(gates=Gates(disk_free=Amount(number=1))), NOTHING_KNOWN),
        (B._replace(env=(("TOKEN", "file:token"),)), NOTHING_KNOWN),
        (B, StageHistory(attempts=1, last=Event.STAGE_INTERRUPTED)),
        (B, StageHistory(last=Event.STAGE_REDO)),
    ],
)
def test_nothing_is_started_early_that_asks_for_something_first(
    tmp_path: Path, stage: Stage, known: StageHistory
) -> None:
    ctx: Any = SimpleNamespace(paths=RunPaths(str(tmp_path)))
    assert start_early(ctx, FrozenStage(stage, "f", 1), known) is None


@pytest.mark.parametrize("name", [".b.slot", "b_DONE"])
def test_nothing_is_started_early_where_something_lies(tmp_path: Path, name: str) -> None:
    (tmp_path / "markers").mkdir()
    (tmp_path / "markers" / name).touch()
    ctx: Any = SimpleNamespace(paths=RunPaths(str(tmp_path)))
    assert start_early(ctx, FrozenStage(B, "f", 1), NOTHING_KNOWN) is None
