"""The table from how a run stands to what is typed next."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from onbox.contract.markers import Slot
from onbox.contract.states import RunState
from onbox.runs.acts import Act, WithWord
from onbox.runs.journal import fold
from onbox.runs.kept_facts import from_plain, to_plain
from onbox.runs.next_step import TABLE, Standing, next_step, step_after
from onbox.runs.room import LEAST_BYTES, LEAST_INODES, RunRoom
from onbox.runs.signs import Sign, signs_of_failure, signs_of_room, signs_of_stage
from onbox.runs.unseen_end import UnseenEnd

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


@pytest.mark.parametrize(
    ("room", "name"),
    [
        (RunRoom("/p", LEAST_BYTES - 1, None), "disk-full-now"),
        (RunRoom("/p", 0, 0), "disk-full-now"),
        (RunRoom("/p", 1 << 30, LEAST_INODES - 1), "inodes-gone-now"),
        (RunRoom("/p", LEAST_BYTES, LEAST_INODES), ""),
        (RunRoom("/p", 1 << 40, None), ""),
        (None, ""),
    ],
)
def test_what_would_be_continued_needs_room_first(room: RunRoom | None, name: str) -> None:
    for standing in ALL:
        if standing.has(Sign.DISK_FULL_NOW, Sign.INODES_GONE_NOW):
            continue
        before, step = next_step(standing), next_step(standing._replace(signs=standing.signs | signs_of_room(room)))
        assert step.name == (name if name and before.continues else before.name), standing
        assert not (name and step.continues)


def test_a_disk_other_than_the_projects_is_the_one_to_look_at() -> None:
    assert Act.INODES.line("digits", place="/state dir") == "df -i '/state dir'"
    assert Act.ROOM.line("digits", place="/s") == "df -h /s && df -i /s && onbox prune --dry-run digits"


NOTHING_BEGUN = frozenset({Sign.STAGE_NOT_BEGUN})
NOT_JUDGED = frozenset({Sign.STAGE_NOT_JUDGED})


def _event(name: str, stage: str, **fields: object) -> dict[str, object]:
    return {"schema": 1, "at": "2026-11-22T10:00:00.000Z", "event": name, "stage": stage, "attempt": 1, **fields}


@pytest.mark.parametrize(
    ("events", "slot", "signs"),
    [
        ((), None, NOTHING_BEGUN),
        ((("attempt_started", "a"),), Slot("r", "a", 1, 7, None), frozenset()),
        ((("attempt_started", "a"),), Slot("r", "a", 1, 7, 0), NOT_JUDGED),
        ((("attempt_started", "a"), ("attempt_ended", "a")), None, NOT_JUDGED),
        ((("attempt_started", "a"),), Slot("r", "a", 1, None, None), NOTHING_BEGUN),
        ((("attempt_started", "a"), ("stage_interrupted", "a")), Slot("r", "a", 1, 7, 143), frozenset()),
        ((("attempt_started", "a"), ("stage_failed", "a")), Slot("r", "a", 1, 7, 1), frozenset()),
        ((("attempt_started", "a"), ("stage_done", "a")), None, NOTHING_BEGUN),
        (
            (("attempt_started", "b"), ("stage_redo", "a"), ("attempt_started", "a"), ("stage_done", "a")),
            None,
            frozenset(),
        ),
    ],
    ids=str,
)
def test_what_a_resume_finds_of_its_stage(
    events: tuple[tuple[str, str], ...], slot: Slot | None, signs: frozenset[Sign]
) -> None:
    facts = fold([_event("chain_started", "", launch=1), *(_event(*one) for one in events)])
    assert signs_of_stage(facts, slot) == signs
    kept = from_plain(to_plain(facts))
    assert signs_of_stage(kept, slot) == signs, "also by who has read the journal before"


def test_an_end_that_was_missed_is_not_resumed_before_somebody_has_looked() -> None:
    facts = fold([_event("chain_started", "", launch=1), _event("attempt_started", "a")])
    missed = UnseenEnd(says_done=True)
    signs = signs_of_stage(facts, Slot("r", "a", 1, 7, None), missed)
    assert next_step(Standing(RunState.INTERRUPTED, signs)).name == "end-missed"
    assert signs_of_stage(facts, Slot("r", "a", 1, 7, 0), missed) == NOT_JUDGED, "its exit code is on record"


def test_an_event_that_asks_for_nothing_has_no_next_step() -> None:
    assert step_after("chain_done") is None
    assert step_after("stage_done") is None
