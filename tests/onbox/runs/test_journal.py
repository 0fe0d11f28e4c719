"""The one fold of the journal, and its plain form between two looks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onbox.contract.events import CHAIN_ENDS, Event, Record
from onbox.runs.journal import JournalFacts, fold
from onbox.runs.kept_facts import from_plain, to_plain, trackers_by_stage
from onbox.system.clock import parse_utc

LAUNCH: Record = {"event": Event.CHAIN_STARTED, "launch": 2, "at": "2026-11-21T05:00:00.000Z"}
ATTEMPT: Record = {"event": Event.ATTEMPT_STARTED, "stage": "train", "attempt": 3, "at": "2026-11-21T05:00:01.000Z"}
RETRY: Record = {"event": Event.STAGE_RETRYING, "stage": "train", "attempt": 3}
TRACKER: Record = {"event": Event.TRACKER_RUN, "tracker": "wandb", "run_id": "abc", "stage": "train", "drift": ["x"]}
SUBMITTING: Record = {"event": Event.JOB_SUBMITTING, "stage": "train", "backend": "slurm", "name": "digits.1"}
SUBMITTED: Record = {"event": Event.JOB_SUBMITTED, "stage": "train", "job_id": "7"}
FAILED: Record = {"event": Event.STAGE_FAILED, "stage": "train", "attempt": 3, "signature": "KeyError"}
END: Record = {"event": Event.CHAIN_FAILED, "attempt": 2, "stopped_at": "train", "at": "2026-11-21T06:00:00.000Z"}
WHOLE = [LAUNCH, SUBMITTING, SUBMITTED, ATTEMPT, RETRY, TRACKER, FAILED, END]


def told(facts: JournalFacts) -> dict[str, Any]:
    return {**vars(facts), "jobs": facts.jobs.of, "tracker_runs": trackers_by_stage(facts)}


@pytest.mark.parametrize("cut", range(len(WHOLE) + 1))
def test_a_look_goes_on_where_the_last_one_ended(cut: int) -> None:
    first = from_plain(json.loads(json.dumps(to_plain(fold(WHOLE[:cut])))))
    for record in WHOLE[cut:]:
        first.apply(record)
    assert told(from_plain(to_plain(first))) == told(from_plain(to_plain(fold(WHOLE))))


def test_what_has_happened_to_the_chain() -> None:
    facts = fold(WHOLE[:-1])
    assert (facts.is_open, facts.launch, facts.launches, facts.end) == (True, 2, 1, None)
    assert (facts.stage, facts.attempt, facts.retries) == ("train", 3, 1)
    assert facts.jobs.of["train"].job_id == "7"
    assert facts.repeated(None).times == 1
    facts.apply(END)
    assert (facts.is_open, facts.end) == (False, END)
    assert facts.newest_event == Event.CHAIN_FAILED


@pytest.mark.parametrize("event", sorted(CHAIN_ENDS))
def test_a_new_launch_makes_an_end_history(event: str) -> None:
    facts = fold([LAUNCH, {**END, "event": event}, {**LAUNCH, "launch": 3}])
    assert (facts.is_open, facts.end, facts.launch) == (True, None, 3)


def test_the_time_between_launches_is_none_that_it_ran() -> None:
    hour, cut_off = 3600.0, {**LAUNCH, "launch": 4, "at": "2026-11-21T09:10:00.000Z"}
    facts = fold([LAUNCH, END, {**LAUNCH, "launch": 3, "at": "2026-11-21T09:00:00.000Z"}])
    began = parse_utc(str(LAUNCH["at"])) or 0.0
    assert facts.worked_seconds(began + 4 * hour) == hour
    assert (facts.took_seconds(60.0, began + 4 * hour), facts.took_seconds(5000.0, began + 4 * hour)) == (hour, 5000.0)
    facts.apply(cut_off)  # the launch before has no end: a stage of it may have worked on
    assert facts.worked_seconds(began + 5 * hour) == 2 * hour
    assert from_plain(to_plain(facts)).rested_seconds == 3 * hour
    facts.apply({**END, "event": Event.CHAIN_DONE})
    facts.apply({**LAUNCH, "at": "2026-11-22T05:00:00.000Z"})
    assert facts.worked_seconds(began + 25 * hour) == hour


def test_what_is_kept_is_bounded_and_holds_no_secret() -> None:
    secret = "hf_" + "a" * 34
    end = {**END, "reason": f"token {secret} " + "x" * 9000}
    trackers = [{**TRACKER, "stage": f"s{number}", "url": "https://x/" + "y" * 9000} for number in range(99)]
    kept = json.dumps(to_plain(fold([LAUNCH, *trackers, end])))
    assert secret not in kept
    assert len(kept) < 40_000


@pytest.mark.parametrize("data", [{}, {"schema": 1}, {"schema": 2}, {"schema": 2, "jobs": 7}])
def test_what_has_another_shape_is_not_taken_for_facts(data: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        from_plain(data)


# -- how long the attempts of a stage took


def began(attempt: int, minute: int, command: str = "f1") -> Record:
    at = f"2026-11-21T05:{minute:02}:00.000Z"
    return {"event": Event.ATTEMPT_STARTED, "stage": "train", "attempt": attempt, "at": at, "fingerprint": command}


def ended(attempt: int, seconds: float | None) -> Record:
    return {"event": Event.ATTEMPT_ENDED, "stage": "train", "attempt": attempt, "duration_seconds": seconds}


def stage_done(attempt: int) -> Record:
    return {"event": Event.STAGE_DONE, "stage": "train", "attempt": attempt, "duration_seconds": 5.0}


REDO: Record = {"event": Event.STAGE_REDO, "stage": "train"}
SPENT: dict[str, tuple[list[Record], float | None]] = {
    "one attempt": ([began(1, 0), ended(1, 60.0), stage_done(1)], 60.0),
    "resumed after a failure": ([began(1, 0), ended(1, 60.0), began(2, 9), ended(2, 5.0), stage_done(2)], 65.0),
    "killed with its runner": ([began(1, 0), began(2, 9), ended(2, 5.0), stage_done(2)], None),
    "an end without its time": ([began(1, 0), ended(1, None), began(2, 9), ended(2, 5.0), stage_done(2)], None),
    "another command": ([began(1, 0), ended(1, 60.0), began(2, 9, "f2"), ended(2, 5.0), stage_done(2)], 5.0),
    "made again": ([began(1, 0), ended(1, 60.0), stage_done(1), REDO, began(2, 9), ended(2, 5.0), stage_done(2)], 5.0),
}  # fmt: skip


@pytest.mark.parametrize("case", SPENT)
def test_all_attempts_of_a_stage_count_as_far_as_their_ends_were_seen(case: str) -> None:
    records, seconds = SPENT[case]
    for cut in range(len(records) + 1):
        facts = from_plain(json.loads(json.dumps(to_plain(fold(records[:cut])))))
        for record in records[cut:]:
            facts.apply(record)
        assert facts.results["train"].spent_seconds == seconds
        assert facts.series == {}


def test_a_stage_began_with_its_first_attempt() -> None:
    assert fold([began(1, 0), ended(1, 60.0), began(2, 9)]).stage_began_at == "2026-11-21T05:00:00.000Z"
    assert fold([began(1, 0), ended(1, 60.0), began(2, 9, "f2")]).stage_began_at == "2026-11-21T05:09:00.000Z"


BACK: Record = {"event": Event.ROLLBACK_DONE, "stage": "train", "number": 1, "step": 4000}


def test_a_rollback_is_known_until_an_attempt_follows_it_or_it_is_undone() -> None:
    facts = fold([*WHOLE, BACK])
    assert facts.rolled_back_to == 4000
    assert facts.newest_event == Event.CHAIN_FAILED, "it says nothing of where the run stands"
    kept = to_plain(facts)
    assert from_plain(kept).rolled_back_to == 4000
    del kept["rolled_back_to"]  # of an earlier version
    assert from_plain(kept).rolled_back_to is None
    assert fold([*WHOLE, BACK, {**BACK, "event": Event.ROLLBACK_UNDONE}]).rolled_back_to is None
    assert fold([*WHOLE, BACK, LAUNCH, ATTEMPT]).rolled_back_to is None
