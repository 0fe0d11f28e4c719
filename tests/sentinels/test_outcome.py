"""How a wait can end: the table, and what many targets come to."""

from __future__ import annotations

import pytest

from sentinels.judge.outcome import CODE_OF, TABLE, Outcome, SentinelExit, WaitFinding, combine

LANDED = WaitFinding(Outcome.LANDED, "a", "it is there")
FAILED = WaitFinding(Outcome.FAILED, "b", "it failed")
GONE = WaitFinding(Outcome.GONE, "c", "it has gone")


def test_every_outcome_has_one_row() -> None:
    assert [row.outcome for row in TABLE] == list(Outcome)
    assert set(CODE_OF) == set(Outcome)


def test_codes_are_those_that_scripts_rely_on() -> None:
    codes = {outcome.value: int(code) for outcome, code in CODE_OF.items()}
    assert codes == {
        "landed": 0, "failed": 1, "gone": 3, "stopped": 3, "stalled": 5,
        "unreachable": 69, "superseded": 75, "timed-out": 124,
    }  # fmt: skip
    assert {int(SentinelExit.USAGE), int(SentinelExit.CONFIG)} == {64, 78}


@pytest.mark.parametrize(
    ("findings", "total", "want_any", "ends_with"),
    [
        ({}, 1, False, None),
        ({0: LANDED}, 1, False, LANDED),
        ({0: LANDED}, 2, False, None),
        ({0: LANDED, 1: FAILED}, 3, False, FAILED),
        ({0: GONE, 1: FAILED}, 3, False, GONE),
        ({0: LANDED, 1: LANDED}, 2, False, LANDED),
        ({0: FAILED}, 2, True, None),
        ({0: FAILED, 1: LANDED}, 3, True, LANDED),
        ({0: FAILED, 1: GONE}, 2, True, FAILED),
    ],
)
def test_many_targets_come_to_one_end(
    findings: dict[int, WaitFinding], total: int, *, want_any: bool, ends_with: WaitFinding | None
) -> None:
    assert combine(findings, total, want_any=want_any) == ends_with
