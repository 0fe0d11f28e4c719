"""What counts as the same failure again, as a journal tells."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import pytest

from onbox.contract.events import Event
from onbox.triage import repeats

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.events import Record

KEY_ERROR = "code_error: KeyError: 'lr'"
OTHER = "nccl_or_distributed: NCCL communicator was aborted"


def started(attempt: int, fingerprint: str = "a", stage: str = "train") -> Record:
    return {"event": Event.ATTEMPT_STARTED, "stage": stage, "attempt": attempt, "fingerprint": fingerprint}


def failed(attempt: int, signature: str = KEY_ERROR, step: object = None, stage: str = "train") -> Record:
    kind = signature.partition(":")[0]
    about = {"stage": stage, "attempt": attempt, "failure_class": kind, "signature": signature}
    return {"event": Event.STAGE_FAILED, **about, "progress": None if step is None else {"current": step}}


def killed(attempt: int, step: float) -> Record:
    return {"event": Event.STAGE_INTERRUPTED, "stage": "train", "attempt": attempt, "progress": {"current": step}}


def stopped(attempt: int) -> Record:
    return {"event": Event.STAGE_INTERRUPTED, "stage": "train", "attempt": attempt, "reason": "asked to stop"}


def about(event: str) -> Record:
    return {"event": event, "stage": "train"}


def after(*records: Record) -> repeats.Repeated:
    known: Mapping[str, Any] = reduce(repeats.take_in, records, repeats.NOTHING)
    return repeats.repeated(repeats.ends_of(known))


CASES: tuple[tuple[str, tuple[Record, ...], tuple[int, float | None]], ...] = (
    ("nothing has ended", (started(1),), (0, None)),
    ("one failure", (started(1), failed(1)), (1, None)),
    ("the same error twice", (failed(1), failed(2)), (2, None)),
    ("the same error, and another one between", (failed(1), failed(2, OTHER, 9.0), failed(3)), (2, None)),
    ("another error elsewhere", (failed(1, KEY_ERROR, 100), failed(2, OTHER, 900)), (1, None)),
    ("another error at the same step", (failed(1, KEY_ERROR, 4600), failed(2, OTHER, 4590.0)), (2, 4590.0)),
    ("killed twice at one step", (killed(1, 4600.0), killed(2, 4605.0)), (2, 4605.0)),
    ("killed just outside the window", (killed(1, 4600.0), killed(2, 4630.0)), (1, None)),
    ("epochs are told apart", (killed(1, 12.0), killed(2, 13.0)), (1, None)),
    ("both before the first step", (killed(1, 0.0), failed(2, OTHER, 0)), (1, None)),
    ("stopped by a person in between", (killed(1, 4600.0), stopped(2), killed(3, 4600.0)), (2, 4600.0)),
    ("done in between", (failed(1), about(Event.STAGE_DONE), failed(2)), (1, None)),
    ("redone in between", (failed(1), about(Event.STAGE_REDO), failed(2)), (1, None)),
    ("another command", (started(1), failed(1), started(2, "b"), failed(2)), (1, None)),
    ("the same command", (started(1), failed(1), started(2), failed(2)), (2, None)),
    ("another stage", (failed(1), failed(1, stage="eval")), (1, None)),
    ("preempted twice", (failed(1, "preempted: PREEMPTED", 4600), failed(2, "preempted: PREEMPTED", 4600)), (0, None)),
    ("one attempt, told twice", (failed(1), failed(1)), (1, None)),
    ("unknown, and no line to compare", (failed(1, "unknown"), failed(2, "unknown")), (1, None)),
    ("a step that is no number", (failed(1, OTHER, "9"), failed(2, KEY_ERROR, True)), (1, None)),
)


@pytest.mark.parametrize(("records", "told"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_an_end_that_came_before_is_known(records: tuple[Record, ...], told: tuple[int, float | None]) -> None:
    assert after(*records)[:2] == told


def test_the_distance_of_two_ends_can_be_said_in_steps() -> None:
    known: Any = reduce(repeats.take_in, (killed(1, 4600.0), killed(2, 4640.0)), repeats.NOTHING)
    ends = repeats.ends_of(known)
    assert repeats.repeated(ends).times == 1
    assert repeats.repeated(ends, 39).times == 1
    assert str(repeats.repeated(ends, 40)) == "2 ends within 40 steps of each other (4600, 4640)"
    assert str(repeats.repeated(ends[-1:] * 2, 0)) == "2 ends at the same step (4640)"


def test_a_journal_of_any_length_is_a_small_fold() -> None:
    known: Any = repeats.NOTHING
    for number in range(500):
        for one in (started(number, str(number), f"stage{number}"), failed(number, stage=f"stage{number}")):
            known = repeats.take_in(known, one)
    assert (len(known["ends"]), len(known["commands"])) == (repeats.KEPT, repeats.COMMANDS_KEPT)
