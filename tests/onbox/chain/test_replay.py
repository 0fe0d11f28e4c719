"""What a journal says has happened."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.chain.state.replay import History, StageHistory, replay
from onbox.contract.events import CHAIN_ENDS, Event, Record, Unreadable

BEFORE = {"best.npz": [1, 2, 3]}


def record(event: str, attempt: int = 1, **more: Any) -> Record:
    return {"event": event, "stage": "train", "attempt": attempt, **more}


def started(attempt: int = 1, before: dict[str, Any] | None = None, **more: Any) -> Record:
    return record(Event.ATTEMPT_STARTED, attempt, before=BEFORE if before is None else before, **more)


def after(*records: Record) -> StageHistory:
    return replay(records).of("train")


def test_an_empty_journal_tells_of_nothing() -> None:
    history = replay([])
    assert (StageHistory(), False, 0, None, []) == (
        history.of("train"),
        history.open,
        history.launches,
        history.last_end,
        history.unreadable,
    )


def test_a_started_attempt_is_the_newest() -> None:
    assert StageHistory(1, Event.ATTEMPT_STARTED, started(), None, BEFORE, 0) == after(started())


def test_the_end_of_an_attempt_is_kept_with_it() -> None:
    end = record(Event.ATTEMPT_ENDED, exit_code=5)
    assert end == after(started(), end).ended


def test_a_new_attempt_forgets_the_end_of_the_one_before() -> None:
    known = after(started(), record(Event.ATTEMPT_ENDED, exit_code=5), record(Event.STAGE_RETRYING), started(2))
    assert (known.attempts, known.ended) == (2, None)


@pytest.mark.parametrize(
    ("last", "records"),
    [
        (Event.ATTEMPT_STARTED, [started()]),
        (Event.ATTEMPT_STARTED, [started(), record(Event.ATTEMPT_ENDED)]),
        (Event.STAGE_DONE, [started(), record(Event.STAGE_DONE)]),
        (Event.STAGE_FAILED, [started(), record(Event.STAGE_FAILED)]),
        (Event.STAGE_INTERRUPTED, [started(), record(Event.STAGE_INTERRUPTED)]),
        (Event.STAGE_RETRYING, [started(), record(Event.STAGE_RETRYING)]),
        (Event.STAGE_REDO, [started(), record(Event.STAGE_DONE), record(Event.STAGE_REDO)]),
        (Event.ATTEMPT_STARTED, [started(), record(Event.STAGE_FAILED), started(2)]),
        (Event.ATTEMPT_STARTED, [started(), record(Event.STAGE_STALLED), record(Event.STAGE_MOVING)]),
    ],
)
def test_the_last_deciding_event_is_kept(last: str, records: list[Record]) -> None:
    assert last == after(*records).last


@pytest.mark.parametrize("event", [Event.STAGE_INTERRUPTED, Event.STAGE_RETRYING])
def test_a_series_keeps_its_first_picture(event: str) -> None:
    known = after(started(), record(event), started(2, {"best.npz": [9, 9, 9]}))
    assert (known.attempts, known.before) == (2, BEFORE)


def test_a_series_that_began_with_no_file_keeps_that() -> None:
    assert after(started(1, {}), record(Event.STAGE_INTERRUPTED), started(2)).before == {}


def test_a_failed_attempt_stays_in_the_series_with_a_new_budget_of_retries() -> None:
    ended = record(Event.ATTEMPT_ENDED, 1, duration_seconds=9.5)
    known = after(started(), record(Event.STAGE_RETRYING), ended, record(Event.STAGE_FAILED), started(2, {}))
    assert (known.before, known.retries, known.spent_seconds) == (BEFORE, 0, 9.5)


def test_a_command_that_never_started_inherits_no_files() -> None:
    failed = record(Event.STAGE_FAILED, fingerprint="other")
    known = after(started(fingerprint="one"), failed, started(2, {}, fingerprint="other"))
    assert known.before == {}


@pytest.mark.parametrize("event", [Event.STAGE_DONE, Event.STAGE_REDO])
def test_a_series_ends_with_done_and_redo(event: str) -> None:
    new = {"best.npz": [9, 9, 9]}
    known = after(started(), record(Event.STAGE_RETRYING), started(2), record(event, 2))
    assert (known.attempts, known.before, known.retries) == (2, None, 0)
    known = after(started(), record(Event.STAGE_RETRYING), started(2), record(event, 2), started(3, new))
    assert (3, new, 0) == (known.attempts, known.before, known.retries)


def test_retries_are_counted_and_interrupts_are_not() -> None:
    known = after(
        started(),
        record(Event.STAGE_RETRYING),
        started(2),
        record(Event.STAGE_INTERRUPTED, 2),
        started(3),
        record(Event.STAGE_RETRYING, 3),
    )
    assert (known.attempts, known.retries) == (3, 2)


def test_stages_are_told_apart() -> None:
    history = replay([started(), {"event": Event.STAGE_DONE, "stage": "eval", "attempt": 4}])
    assert (history.of("train").attempts, history.of("eval").attempts, history.of("test").attempts) == (1, 4, 0)


@pytest.mark.parametrize("end", sorted(CHAIN_ENDS))
def test_a_chain_is_open_from_its_start_to_its_end(end: str) -> None:
    begin, last = {"event": Event.CHAIN_STARTED}, {"event": end, "stage": "CHAIN"}
    assert replay([begin]).open
    ended = replay([begin, last])
    assert (False, last, 1) == (ended.open, ended.last_end, ended.launches)
    again = replay([begin, last, begin])
    assert (again.open, again.last_end, again.launches) == (True, None, 2)


def test_a_start_without_an_end_leaves_the_chain_open() -> None:
    history = replay([{"event": Event.CHAIN_STARTED}, started(), {"event": Event.CHAIN_STARTED}])
    assert (history.open, history.launches) == (True, 2)


@pytest.mark.parametrize("end", sorted(CHAIN_ENDS))
def test_a_failure_is_untold_until_the_chain_ends_and_never_again(end: str) -> None:
    begin, failed, last = {"event": Event.CHAIN_STARTED}, record(Event.STAGE_FAILED), {"event": end, "stage": "CHAIN"}
    assert replay([begin, started(), failed]).untold == "train"
    assert replay([begin, started(), failed, begin]).untold == "train"
    assert replay([begin, started(), failed, last, begin]).untold == ""


def test_unreadable_lines_are_kept_aside() -> None:
    damage = Unreadable(2, "garbage")
    history = replay([started(), damage, record(Event.STAGE_DONE)])
    assert ([damage], Event.STAGE_DONE) == (history.unreadable, history.of("train").last)


@pytest.mark.parametrize(
    "unknown",
    [
        {"event": "stage_blessed", "stage": "train", "attempt": 9},
        {"event": "", "stage": "train"},
        {"event": Event.STAGE_DONE, "attempt": 9},
        {"event": Event.STAGE_DONE, "stage": 7, "attempt": 9},
        {"event": Event.ATTEMPT_ADOPTED, "stage": "train", "attempt": 9},
    ],
)
def test_what_it_does_not_know_changes_nothing(unknown: Record) -> None:
    assert after(started()) == after(started(), unknown)


def test_fields_of_a_newer_writer_are_carried_along() -> None:
    new = {**started(), "novel": [1]}
    assert new == after(new).started


def test_one_record_at_a_time_gives_the_same_history() -> None:
    records = [{"event": Event.CHAIN_STARTED}, started(), record(Event.STAGE_DONE)]
    history = History()
    for one in records:
        history.apply(one)
    assert (replay(records).stages, replay(records).open) == (history.stages, history.open)


@pytest.mark.parametrize("event", [Event.ATTEMPT_STARTED, Event.STAGE_DONE])
def test_a_record_without_attempt_stops_no_reader(event: str) -> None:
    replay([{"event": event, "stage": "train"}])
