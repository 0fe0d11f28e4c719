"""What follows from what lies on the disk: one row per situation."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.chain.state.plan import PLAN, Action, StageEvidence, plan_stage
from onbox.chain.state.replay import StageHistory
from onbox.contract.events import Event
from onbox.contract.markers import Invalid, Marker, Slot

OURS, OTHER = "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"


def history(last: str = "", *, attempts: int = 1, print_: str | None = OURS, **more: Any) -> StageHistory:
    """A stage's history whose newest attempt was started with the fingerprint `print_`."""
    return StageHistory(attempts, last, started={"event": "attempt_started", "fingerprint": print_}, **more)


def slot(*, attempt: int = 1, keeper: int | None = 77, code: int | None = None) -> Slot:
    return Slot("r", "train", attempt, keeper, code)


def marker(print_: str = OURS) -> Marker:
    return Marker("r", "train", 1, print_, {})


def seen(
    known: StageHistory | None = None,
    *,
    mark: Marker | Invalid | None = None,
    in_slot: Slot | None = None,
    slot_exists: bool | None = None,
    locked: bool = False,
    failure_untold: bool = True,
) -> StageEvidence:
    exists = in_slot is not None if slot_exists is None else slot_exists
    return StageEvidence(OURS, known or StageHistory(), mark, in_slot, exists, locked, failure_untold)


STARTED = history(Event.ATTEMPT_STARTED)
FAILED = StageHistory(1, Event.STAGE_FAILED, started={"event": "stage_failed", "fingerprint": OURS})
FAILED_OTHER = StageHistory(1, Event.STAGE_FAILED, started={"event": "stage_failed", "fingerprint": OTHER})
DONE = StageHistory(1, Event.STAGE_DONE)
REDO = StageHistory(1, Event.STAGE_REDO)
ENDED = {"event": "attempt_ended", "exit_code": 0}

CASES: list[tuple[str, Action, StageEvidence]] = [
    ("alive", Action.ADOPT, seen(STARTED, in_slot=slot(), locked=True)),
    ("alive", Action.ADOPT, seen(STARTED, in_slot=slot(keeper=None), locked=True)),
    ("alive", Action.ADOPT, seen(STARTED, in_slot=slot(), locked=True, mark=marker())),
    ("alive", Action.ADOPT, seen(history(Event.ATTEMPT_STARTED, print_=None), in_slot=slot(), locked=True)),
    (
        "alive-other-command",
        Action.REFUSE_LIVE,
        seen(history(Event.ATTEMPT_STARTED, print_=OTHER), in_slot=slot(), locked=True),
    ),
    ("alive-unreadable", Action.REFUSE_LIVE, seen(STARTED, slot_exists=True, locked=True)),
    ("marker-same-command", Action.SKIP, seen(DONE, mark=marker())),
    ("marker-same-command", Action.SKIP, seen(mark=marker())),
    ("marker-same-command", Action.SKIP, seen(STARTED, mark=marker(), in_slot=slot(code=0))),
    ("marker-other-command", Action.REFUSE_STALE, seen(DONE, mark=marker(OTHER))),
    ("marker-other-command", Action.REFUSE_STALE, seen(mark=marker(OTHER), failure_untold=False)),
    ("marker-invalid", Action.REFUSE_INVALID, seen(DONE, mark=Invalid("it is empty"))),
    ("marker-invalid", Action.REFUSE_INVALID, seen(mark=Invalid("it is empty"))),
    ("marker-not-landed", Action.LAND, seen(DONE, in_slot=slot(code=0))),
    ("marker-not-landed", Action.LAND, seen(DONE, slot_exists=True)),
    ("marker-removed", Action.START, seen(DONE)),
    ("marker-removed", Action.START, seen(DONE, in_slot=slot(attempt=2, keeper=None))),
    (
        "unfinished-other-command",
        Action.START,
        seen(history(Event.ATTEMPT_STARTED, print_=OTHER), in_slot=slot(code=0)),
    ),
    ("unfinished-other-command", Action.START, seen(history(Event.STAGE_INTERRUPTED, print_=OTHER))),
    ("unfinished-other-command", Action.START, seen(FAILED_OTHER)),
    ("failure-not-told", Action.FINISH_FAILURE, seen(FAILED, failure_untold=True)),
    ("failure-not-told", Action.FINISH_FAILURE, seen(FAILED, in_slot=slot(code=1), failure_untold=True)),
    ("failed-before", Action.START, seen(FAILED, failure_untold=False)),
    ("failed-before", Action.START, seen(FAILED, in_slot=slot(code=1), failure_untold=False)),
    ("retry-due", Action.RETRY, seen(history(Event.STAGE_RETRYING, retries=1), in_slot=slot(code=1))),
    ("interrupted-before", Action.RESTART, seen(history(Event.STAGE_INTERRUPTED))),
    ("interrupted-before", Action.RESTART, seen(history(Event.STAGE_INTERRUPTED), in_slot=slot(code=143))),
    ("exit-recorded", Action.JUDGE, seen(STARTED, in_slot=slot(code=0))),
    ("exit-recorded", Action.JUDGE, seen(STARTED, in_slot=slot(code=1))),
    ("exit-recorded", Action.JUDGE, seen(STARTED, in_slot=slot(code=0), locked=True)),
    ("end-recorded", Action.JUDGE, seen(history(Event.ATTEMPT_STARTED, ended=ENDED), in_slot=slot())),
    ("end-recorded", Action.JUDGE, seen(history(Event.ATTEMPT_STARTED, ended=ENDED))),
    ("never-ran", Action.START_AGAIN, seen(STARTED, in_slot=slot(keeper=None))),
    ("cut-off", Action.RESTART, seen(STARTED)),
    ("cut-off", Action.RESTART, seen(STARTED, in_slot=slot())),
    ("cut-off", Action.RESTART, seen(STARTED, slot_exists=True)),
    ("cut-off", Action.RESTART, seen(history(Event.ATTEMPT_STARTED, attempts=2), in_slot=slot(attempt=1, code=0))),
    ("new", Action.START, seen()),
    ("redo-asked-for", Action.START, seen(REDO)),
    ("redo-asked-for", Action.START, seen(REDO, in_slot=slot(code=0))),
    ("new", Action.START, seen(in_slot=slot(keeper=None))),
]


@pytest.mark.parametrize(("name", "action", "evidence"), CASES)
def test_each_situation_has_its_row_and_action(name: str, action: Action, evidence: StageEvidence) -> None:
    row = plan_stage(evidence)
    assert (name, action) == (row.name, row.action)


def test_every_row_is_reached_by_some_situation() -> None:
    assert [row.name for row in PLAN] == [row.name for row in PLAN if row.name in {name for name, _, _ in CASES}]


def test_names_of_rows_are_unique() -> None:
    names = [row.name for row in PLAN]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("evidence", [evidence for _, _, evidence in CASES])
def test_the_last_row_always_holds(evidence: StageEvidence) -> None:
    assert PLAN[-1].holds(evidence)


def test_every_action_is_said_by_some_row() -> None:
    assert set(Action) == {row.action for row in PLAN}


@pytest.mark.parametrize("known", [StageHistory(), STARTED])
def test_nothing_is_started_while_the_slot_is_held(known: StageHistory) -> None:
    action = plan_stage(seen(known, slot_exists=True, locked=True)).action
    assert action not in (Action.START, Action.START_AGAIN, Action.RESTART, Action.RETRY)
