"""What a launch refuses, what it freezes, and what a person's word on earlier results does."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from onbox.chain.command.environment import run_dir_assignment
from onbox.chain.launch import AlreadyDone, Forgets, OtherStageAlive, launch, prepare
from onbox.chain.lock.run_lock import StillAlive, Taken
from onbox.chain.runner.runner import launch_facts
from onbox.chain.state.earlier_results import Conflict, Conflicts, ResultWishes, redo_with_followers
from onbox.chain.state.frozen_run import read_head
from onbox.chain.state.slots import reserve_slot
from onbox.contract.events import Event
from onbox.contract.exits import Exit
from onbox.model.manifest import Artifact, Stage
from onbox.system.lock import is_locked
from onbox.system.process import find_tree
from tests.box import wait_until
from tests.chain_here import NO_WISHES, ChainHere

if TYPE_CHECKING:
    from onbox.contract.differences import Difference
    from tests.box import Box

A = Stage("a", "echo a >model.pt; echo a >>ran", artifacts=(Artifact("model.pt"),))
B = Stage("b", "echo b >>ran")
OTHER_A = A._replace(cmd="echo other >model.pt; echo other >>ran")


@pytest.fixture
def here(box: Box) -> ChainHere:
    return ChainHere(box)


@pytest.fixture
def done(here: ChainHere) -> ChainHere:
    assert here.run(A, B) == Exit.DONE
    return here


def conflicts(here: ChainHere, *stages: Stage, **wishes: Any) -> list[str]:
    """In the way of these stages: `STAGE: why`."""
    with pytest.raises(Conflicts) as caught:
        prepare(here.definition(*stages), ResultWishes(**wishes))
    return [f"{one.frozen.stage.name}: {why(one)}" for one in caught.value.found]


def why(one: Conflict) -> str:
    return f"after {one.after}" if one.after else "; ".join(one.lost) or one.reason or one.action.value


def test_a_run_that_is_done_starts_nothing_and_gives_its_lock_back(done: ChainHere) -> None:
    before = done.box.events()
    lock = Taken(done.freeze(A, B))
    assert launch(done.definition(A, B), NO_WISHES, lock) == AlreadyDone(2)
    assert (is_locked(done.paths.lock), done.box.events()) == (False, before)


def test_a_done_of_another_command_needs_a_word(done: ChainHere) -> None:
    assert conflicts(done, OTHER_A, B) == ["a: DONE, but of another command"]
    assert done.box.ran == ["a", "b"]


def test_with_the_word_to_accept_the_result_stands_and_who_said_so(done: ChainHere) -> None:
    assert done.run(OTHER_A, B, wishes=ResultWishes(accept_done=("a",))) == Exit.DONE
    assert done.box.ran == ["a", "b"]
    assert done.box.marker("a_DONE")["accepted_by"]
    assert [one["stage"] for one in done.box.events(Event.DONE_ACCEPTED)] == ["a"]


def test_with_the_word_to_redo_it_runs_and_so_must_what_follows_it(done: ChainHere) -> None:
    assert conflicts(done, OTHER_A, B, redo=("a",)) == ["b: after a"]
    redo = redo_with_followers(done.paths, ["a", "b"], ["a"], [])
    assert redo == ["a", "b"]
    assert done.run(OTHER_A, B, wishes=ResultWishes(redo=redo)) == Exit.DONE
    assert done.box.ran == ["a", "b", "other", "b"]


def test_what_a_person_keeps_is_no_follower(done: ChainHere) -> None:
    assert redo_with_followers(done.paths, ["a", "b"], ["a"], ["b"]) == ["a"]
    assert redo_with_followers(done.paths, ["a", "b", "c"], ["b"], []) == ["b"], "c has no result that could be old"


def test_a_result_that_is_gone_is_not_skipped_in_silence(done: ChainHere) -> None:
    (done.box.project / "model.pt").unlink()
    (told,) = conflicts(done, A, B)
    assert "model.pt" in told


def test_a_failure_can_be_accepted_and_a_stage_that_never_ran_cannot(here: ChainHere) -> None:
    assert here.run(Stage("a", "exit 3"), B) == Exit.FAILED
    assert conflicts(here, Stage("a", "exit 3"), B, accept_done=("b",)) == [
        "b: it never ran, so there is no result to accept"
    ]
    assert here.run(Stage("a", "exit 3"), B, wishes=ResultWishes(accept_done=("a",))) == Exit.DONE
    marker = here.box.marker("a_DONE")
    assert (marker["exit_code"], here.box.ran) == (3, ["b"])
    assert "3" in marker["in_spite_of"]


def test_what_differs_from_the_launch_before_is_announced_and_frozen(done: ChainHere) -> None:
    heard: list[tuple[Difference, ...]] = []
    prepare(done.definition(A, B, Stage("c", "true")), NO_WISHES, heard.append)
    ((told,),) = heard
    assert "c" in " ".join(map(str, told))
    head = read_head(done.paths)
    assert head is not None
    assert head.data["changed"]["launch"] == 2
    assert launch_facts(head, None)["fingerprint"] == head.chain_fingerprint


def test_the_first_launch_announces_nothing(here: ChainHere) -> None:
    os.close(here.freeze(A))
    prepare(here.definition(A), NO_WISHES, lambda _: pytest.fail("there is nothing to compare with"))


def test_nothing_is_started_beside_a_live_stage_of_another_definition(here: ChainHere) -> None:
    os.close(here.freeze(A))
    slot = reserve_slot(here.paths, here.run_id, "z", 1)  # as a keeper holds it
    with pytest.raises(OtherStageAlive, match="z"):
        prepare(here.definition(A), NO_WISHES)
    os.close(slot)
    prepare(here.definition(A), NO_WISHES)


def test_processes_of_a_run_whose_state_was_removed_are_not_run_over(here: ChainHere) -> None:
    os.close(here.freeze(A))
    lives = subprocess.Popen(["sleep", "600"], env={**here.box.env, "ONBOX_RUN_DIR": here.paths.root})
    wait_until(lambda: find_tree(None, run_dir_assignment(here.paths.root)), "its environment to be seen")
    with pytest.raises(StillAlive) as caught:
        prepare(here.definition(A), NO_WISHES)
    lives.kill()
    lives.wait()
    assert caught.value.pids == [lives.pid]


def test_a_shorter_run_that_forgets_a_stage_is_refused_before_anything_is_written(here: ChainHere) -> None:
    os.close(here.freeze(A, B))
    before = json.loads((here.box.state / "run.json").read_text())
    with pytest.raises(Forgets, match="forgets b"):
        prepare(here.definition(A)._replace(forgets="forgets b"), NO_WISHES)
    assert json.loads((here.box.state / "run.json").read_text()) == before
