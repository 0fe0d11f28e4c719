"""What happened stands on one axis and in one list, with the line that proves it."""

from __future__ import annotations

from onbox.contract.events import Event
from onbox.contract.readings import Unseen
from onbox.system.clock import utc_text
from patrol.memory.rows import Flip, LastWord, TickPoint
from patrol.page.attempts import attempts_of
from patrol.page.model import RunHistory
from patrol.page.timeline import timeline_of
from tests.patrol.makers import NOW, box, run

WORD = LastWord("gpu1", "digits", NOW, "", "{}")
AT_END = {"at": utc_text(NOW - 5000), "stage": "train", "attempt": 1}
PROOF = {"proof": "RuntimeError: out of room", "where": "train.py:9", "rule": "exception"}
EVENTS = (
    {"at": utc_text(NOW - 9000), "event": Event.CHAIN_STARTED, "stages": 2, "pid": 7},
    {**AT_END, "event": Event.ATTEMPT_ENDED, "duration_seconds": 4000},
    {**AT_END, "event": Event.STAGE_FAILED, "reason": "exit_code: 1, wanted 0", **PROOF},
)


def history(**changes: object) -> RunHistory:
    look = run(attempt=2, stage_began_age_seconds=3000.0)
    points = tuple(
        (int(NOW - 9000 + 1000 * n), "slow" if n in (4, 5) else "healthy", int(n in (4, 5)), TickPoint(1.0))
        for n in range(10)
    )
    flips = (Flip(NOW - 5000, "gpu1", "digits", "healthy", "slow", 1, "degraded", "40% under its own pace"),)
    known = RunHistory(WORD, None, look, box(runs=(look,)), NOW, True, points, flips, events=EVENTS)
    return known._replace(**changes)  # type: ignore[arg-type]


def test_each_attempt_is_a_bar_with_its_end() -> None:
    first, second = attempts_of(history())
    assert (first.number, first.began_at, first.ended_at, first.tone) == (1, NOW - 9000, NOW - 5000, "critical")
    assert (second.number, second.began_at, second.ended_at, second.how) == (2, NOW - 3000, None, "running")
    verdict, train = timeline_of(history(), []).lanes
    assert [bar.tone for bar in verdict.bars] == ["ok", "warning", "ok"]
    assert [(round(bar.left), round(bar.width), bar.tone) for bar in train.bars] == [
        (0, 44, "critical"),
        (67, 33, "running"),
    ]


def test_what_was_not_seen_is_no_bar_of_something() -> None:
    seen_before = attempts_of(history(seen_now=False))[-1]
    assert (seen_before.how, seen_before.tone) == ("running when it was seen last", "unknown")
    look = run(stage_alive=Unseen("no answer"))
    assert [one.number for one in attempts_of(history(look=look))] == [1]
    holes = timeline_of(history(), [(int(NOW - 4000), int(NOW - 2000))]).lanes[0].bars
    assert (holes[-1].tone, holes[-1].text) == ("hole", "not seen")


def test_the_list_is_newest_first_with_its_proof() -> None:
    rows = timeline_of(history(), []).rows
    assert [(row.who, row.what) for row in rows] == [("train", "failed"), ("patrol", "says slow"), ("chain", "started")]
    assert rows[0].proof == "RuntimeError: out of room  [train.py:9]"
    assert rows[1].text == "40% under its own pace (was healthy)"


def test_nothing_known_is_no_axis() -> None:
    empty = timeline_of(RunHistory(WORD, None), [])
    assert empty == ((), (), (), 0)
