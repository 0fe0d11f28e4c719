"""The jobs of a run, from its journal; and their submission, against an engine of the test's own."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from onbox.backends.base import Done, EngineRefused, Job, JobState, Order, Submitted
from onbox.chain.jobs.job_view import ask
from onbox.chain.jobs.submit import Desk, NotTaken, Planned, Unanswered, job_name
from onbox.contract.events import Event, parse_events, render_event
from onbox.contract.paths import RunPaths
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.runs.jobs import Jobs, KnownJob, job_of_record, record_of_end, replay_jobs
from onbox.system.journal import Journal, read_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

GONE, DOWN = Absent("not known"), Unseen("down")


def record(event: str, stage: str | None = "train", **fields: Any) -> dict[str, Any]:
    return {"event": event, "stage": stage, "backend": "slurm", "at": "2026-11-21T05:11:20.123Z", **fields}


SUBMITTING = record(Event.JOB_SUBMITTING, name="digits-train-1")
SUBMITTED = record(Event.JOB_SUBMITTED, name="digits-train-1", job_id="17")
ENDED = record(Event.JOB_ENDED, job_id="17", state="succeeded", native_state="COMPLETED")


def test_an_intent_without_an_answer_is_a_job_that_may_exist() -> None:
    assert replay_jobs([SUBMITTING]).of["train"].job_id is None


def test_a_job_is_open_until_its_end_is_on_record() -> None:
    assert [job.job_id for job in replay_jobs([SUBMITTING, SUBMITTED]).open] == ["17"]
    assert replay_jobs([SUBMITTING, SUBMITTED, ENDED]).open == []


def test_the_end_of_an_older_job_is_not_that_of_a_newer_one() -> None:
    newer = [SUBMITTING, {**SUBMITTED, "job_id": "18"}]
    assert len(replay_jobs([SUBMITTING, SUBMITTED, *newer, ENDED]).open) == 1


@pytest.mark.parametrize("event", [Event.JOB_REFUSED, Event.STAGE_REDO, Event.DONE_ACCEPTED])
def test_a_refusal_or_a_persons_word_drops_the_job(event: str) -> None:
    assert replay_jobs([SUBMITTING, SUBMITTED, record(event)]).of == {}


def test_a_runner_without_a_job_makes_ended_jobs_history() -> None:
    jobs = replay_jobs([SUBMITTING, SUBMITTED, ENDED, record(Event.CHAIN_STARTED, None)])
    assert jobs.of == {}
    assert jobs.submissions == 1


def test_a_job_whose_onbox_began_is_known_as_such() -> None:
    assert replay_jobs([SUBMITTING, SUBMITTED, record(Event.CHAIN_STARTED, None, job="slurm:17")]).of["train"].began


def test_an_end_is_read_back_as_it_was_put_on_record() -> None:
    known = KnownJob("train", "slurm", "digits-train-1", "17")
    for word in (Job("17", JobState.FAILED, "OUT_OF_MEMORY", "OutOfMemory", "", "host_oom", 137, 1), GONE):
        assert word == job_of_record(record_of_end(known, word))


def test_names_are_used_once_and_say_what_it_is() -> None:
    assert job_name("digits", "train", "20261121-3aa1641a", 7) == "digits-train-3aa1641a-7"
    assert job_name("digits", "", "20261121-3aa1641a", 8) == "digits-3aa1641a-8"


class Engine:
    """An engine whose answers a test sets: `launches` in order, `words` by id, `found` by name."""

    name, per_stage, forgets = "slurm", True, True
    files: Mapping[str, str] = MappingProxyType({})

    def __init__(self) -> None:
        self.launches: list[Submitted | EngineRefused | Unseen] = []
        self.words: dict[str, Maybe[Job]] = {}
        self.found: Maybe[str] = GONE
        self.orders: list[Order] = []
        self.stopped: list[str] = []

    def launch(self, order: Order) -> Submitted | EngineRefused | Unseen:
        self.orders.append(order)
        return self.launches.pop(0)

    def look(self, job_ids: Sequence[str]) -> dict[str, Maybe[Job]]:
        return {job_id: self.words.get(job_id, GONE) for job_id in job_ids}

    def find(self, name: str) -> Maybe[str]:
        return self.found

    def logs(self, job_id: str, *, lines: int) -> Maybe[str]:
        return GONE

    def stop(self, job_id: str, *, urgent: bool) -> Done | EngineRefused | Unseen:
        self.stopped.append(job_id)
        return Done()


PLANNED = [Planned(stage, Order("", ("true",), "/")) for stage in ("train", "eval")]


def desk(folder: Path, engine: Engine, *, apart: bool = False) -> Desk:
    paths = RunPaths(str(folder))
    return Desk(paths, engine, replay_jobs(parse_events(read_lines(paths.journal))), apart=apart)


def events(folder: Path) -> list[str]:
    return [str(found["event"]) for found in parse_events(read_lines(f"{folder}/events.jsonl")) if found]  # type: ignore[call-overload]


def test_each_job_comes_after_the_one_before_it(tmp_path: Path) -> None:
    engine = Engine()
    engine.launches = [Submitted("17"), Submitted("18")]
    taken = desk(tmp_path, engine).submit(PLANNED, "digits", "20261121-3aa1641a")
    assert [job.job_id for job in taken] == ["17", "18"]
    assert [order.after for order in engine.orders] == [(), ("17",)]
    assert events(tmp_path) == ["job_submitting", "job_submitted"] * 2


def test_all_are_taken_or_none(tmp_path: Path) -> None:
    engine = Engine()
    engine.launches = [Submitted("17"), EngineRefused("no such partition")]
    with pytest.raises(NotTaken, match="no such partition"):
        desk(tmp_path, engine).submit(PLANNED, "digits", "r-1")
    assert engine.stopped == ["17"]


def test_a_lost_answer_is_looked_for_by_name_at_once(tmp_path: Path) -> None:
    engine = Engine()
    engine.launches, engine.found = [DOWN], "17"
    taken = desk(tmp_path, engine).submit(PLANNED[:1], "digits", "r-1")
    assert [job.job_id for job in taken] == ["17"]


def test_a_lost_answer_that_cannot_be_looked_for_stays_open(tmp_path: Path) -> None:
    engine = Engine()
    engine.launches, engine.found = [DOWN], DOWN
    with pytest.raises(Unanswered):
        desk(tmp_path, engine).submit(PLANNED[:1], "digits", "r-1")
    engine.found = "17"
    engine.words = {"17": Job("17", JobState.PENDING, "PENDING")}
    assert desk(tmp_path, engine).settle() == {"train": engine.words["17"]}


def submitted(folder: Path, engine: Engine) -> None:
    engine.launches = [Submitted("17")]
    desk(folder, engine).submit(PLANNED[:1], "digits", "r-1")


def test_nothing_is_settled_while_the_engine_is_silent(tmp_path: Path) -> None:
    engine = Engine()
    submitted(tmp_path, engine)
    engine.words = {"17": DOWN}
    with pytest.raises(Unanswered):
        desk(tmp_path, engine).settle()


def test_an_end_is_asked_for_once(tmp_path: Path) -> None:
    engine = Engine()
    submitted(tmp_path, engine)
    engine.words = {"17": Job("17", JobState.FAILED, "OUT_OF_MEMORY", failure_class="host_oom")}
    assert desk(tmp_path, engine).settle() == {}
    jobs = replay_jobs(parse_events(read_lines(f"{tmp_path}/events.jsonl")))
    engine.words = {"17": GONE}
    word = ask(engine, jobs)["train"].word
    assert isinstance(word, Job)
    assert word.failure_class == "host_oom"


def test_a_job_that_can_never_run_is_removed_from_the_queue(tmp_path: Path) -> None:
    engine = Engine()
    submitted(tmp_path, engine)
    engine.words = {"17": Job("17", JobState.BLOCKED, "PENDING", "DependencyNeverSatisfied")}
    assert desk(tmp_path, engine).settle() == {}
    assert engine.stopped == ["17"]


def test_a_state_that_is_not_known_counts_as_alive(tmp_path: Path) -> None:
    engine = Engine()
    submitted(tmp_path, engine)
    engine.words = {"17": Job("17", JobState.UNKNOWN, "TELEPORTED")}
    assert list(desk(tmp_path, engine).settle()) == ["train"]


def test_a_lost_job_elsewhere_is_over_only_by_a_persons_word(tmp_path: Path) -> None:
    engine = Engine()
    engine.forgets = False
    submitted(tmp_path, engine)
    with pytest.raises(Unanswered, match="--forget-jobs"):
        desk(tmp_path, engine, apart=True).settle()
    assert desk(tmp_path, engine, apart=True).settle(forget=True) == {}


def test_a_restarted_engine_has_lost_the_job_not_ended_it() -> None:
    jobs = Jobs()
    jobs.of["train"] = KnownJob("train", "slurm", "n", "17", session="session_1")
    word = ask(Engine(), jobs)["train"].word
    assert isinstance(word, Absent)
    assert "may live on" in word.why


def test_what_others_journal_in_between_stays(tmp_path: Path) -> None:
    engine = Engine()
    submitted(tmp_path, engine)
    engine.words = {"17": Job("17", JobState.SUCCEEDED, "COMPLETED")}
    ours = desk(tmp_path, engine)
    ours.settle()
    other = Journal(f"{tmp_path}/events.jsonl")
    other.append(render_event(record(Event.DONE_ACCEPTED)))
    other.close()
    ours.note(record(Event.JOB_REFUSED))
    assert events(tmp_path)[-2:] == ["done_accepted", "job_refused"]
