"""The table from how a run stands to what is typed next."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from onbox.contract.states import RunState
from onbox.runs.next_step import TABLE, Act, Sign, Standing, WithWord, next_step, signs_of_failure, step_after

ALL = [
    Standing(state, frozenset(signs))
    for state, count in product(RunState, (0, 1, 2))
    for signs in combinations(Sign, count)
]


def test_names_are_unique_and_each_row_is_reached() -> None:
    names = [row.step.name for row in TABLE]
    assert len(set(names)) == len(names)
    assert {next_step(standing).name for standing in ALL} == set(names)


def test_no_next_command_needs_a_persons_word() -> None:
    forbidden = {"stop", "--redo", "--any-checkpoint", "--accept-done", "ack", "chain"}
    for act in Act:
        assert not forbidden & {word for command in act.commands("digits") for word in command}, act
    assert {"stop", "--redo", "--any-checkpoint"} <= {word for one in WithWord for word in one.words("digits")}


def test_a_resume_is_next_only_where_nothing_speaks_against_it() -> None:
    against = (
        Sign.NO_REPEAT,
        Sign.REPEATED,
        Sign.NO_ROOM,
        Sign.NO_INODES,
        Sign.CAUSE_UNKNOWN,
        Sign.FOREIGN,
        Sign.LOSS_LOST,
    )
    for standing in ALL:
        step = next_step(standing)
        assert step.resume_now == (step.act is Act.RESUME)
        if step.name == "rechecked":  # a person asked the gate again: what spoke against it is over
            assert standing.state is RunState.FAILED
            assert standing.has(Sign.RECHECKED)
        elif step.act is Act.RESUME:
            assert standing.state is RunState.INTERRUPTED or standing.has(Sign.RUNNER_GONE, Sign.UNATTENDED), standing
            assert standing.state is not RunState.INTERRUPTED or not standing.has(*against), standing
            assert standing.state not in (RunState.STOPPED, RunState.DONE, RunState.FAILED), standing


@pytest.mark.parametrize(
    ("failure_class", "name"),
    [
        ("disk_full", "no-room"),
        ("inode_exhausted", "no-inodes"),
        ("unknown", "cause-not-known"),
        ("code_error", "do-not-repeat"),
        ("preempted", "failed"),
    ],
)
def test_the_class_of_a_failure_decides_what_is_next(failure_class: str, name: str) -> None:
    signs = signs_of_failure(failure_class)
    assert next_step(Standing(RunState.FAILED, signs)).name == name
    after = step_after("stage_failed", signs)
    assert after is not None
    assert after.name == name


def test_an_event_that_asks_for_nothing_has_no_next_step() -> None:
    assert step_after("chain_done") is None
    assert step_after("stage_done") is None
