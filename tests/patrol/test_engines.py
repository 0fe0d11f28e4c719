"""Runs that were handed to Ray or Iris, and where their engine is asked: by our own configuration, never by a box's."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from onbox.backends.base import Job, JobState
from onbox.backends.cluster import ClusterJob, Endpoint
from onbox.backends.table import cluster_of
from onbox.config.parse import Config
from onbox.contract.readings import Absent, Unseen
from onbox.model.boxes import BoxSettings
from patrol.config.settings import Settings
from patrol.engines import endpoint as places_of
from patrol.engines.handed import end_on_record, known_job, with_end, with_told
from patrol.memory import run_journal as journal
from patrol.memory.run_manifest import Manifest
from patrol.memory.run_memory import RunMemory
from patrol.snapshot import RunLook, Scheduler
from tests.patrol.makers import NOW, dead, done

RAY = Endpoint("ray", "http://127.0.0.1:8265")
FROZEN = {"address": "http://127.0.0.1:9999", "token": "env:SECRET_OF_OURS"}


def settings(**backends: dict[str, object]) -> Settings:
    config = Config("x", backends=MappingProxyType({name: MappingProxyType(table) for name, table in backends.items()}))
    return Settings("/p", None, config, "/s", ("ssh",))


def test_a_foreign_box_never_says_where_our_token_goes() -> None:
    box = BoxSettings("b", "b", project="/p")
    assert places_of.of_run(settings(ray={}), box, "ray", FROZEN) is None
    ours = settings(ray={"address": "http://127.0.0.1:8265"})
    assert places_of.of_run(ours, box, "ray", FROZEN) == RAY
    here = BoxSettings("b", "b", project="/p", backend="local")
    assert places_of.of_run(ours, here, "ray", FROZEN) == Endpoint("ray", "http://127.0.0.1:9999", "env:SECRET_OF_OURS")
    assert places_of.checked("ray", {"address": "http://u:pw@h", "token": "literal"}) == {}


def records(*events: tuple[str, dict[str, Any]]) -> bytes:
    import json

    lines = [{"schema": 1, "at": "2026-11-21T05:00:00.000Z", "event": event, **fields} for event, fields in events]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


SUBMITTED = (
    ("job_submitting", {"stage": None, "backend": "ray", "name": "digits-1"}),
    ("job_submitted", {"stage": None, "backend": "ray", "name": "digits-1", "job_id": "digits-1", "session": "s1"}),
)


def place(*events: tuple[str, dict[str, Any]], apart: bool = False) -> RunMemory:
    read = journal.take_in(journal.nothing_read(1), 0, (records(*(events or SUBMITTED)),), 0)
    return RunMemory(journal=read, manifest=Manifest(engine="ray", is_apart=apart))


def word(state: JobState, native: str, **changes: Any) -> ClusterJob:
    return ClusterJob(Job("digits-1", state, native, **changes))


def weighed(told: ClusterJob | None, where: RunMemory, look: RunLook | None = None) -> RunLook:
    known = known_job(where)
    assert not isinstance(known, Unseen)
    return with_told(look or dead(), known, told, RAY, where, NOW)[0]


def scheduler(look: RunLook) -> Scheduler:
    assert isinstance(look.scheduler, Scheduler), look.scheduler
    return look.scheduler


def test_the_journal_names_the_job() -> None:
    known = known_job(place())
    assert not isinstance(known, Unseen)
    assert (known.job_id, known.session) == ("digits-1", "s1")
    assert isinstance(known_job(RunMemory()), Unseen)


def test_a_marker_and_succeeded_are_success_and_one_alone_is_none() -> None:
    succeeded = word(JobState.SUCCEEDED, "SUCCEEDED")
    assert scheduler(weighed(succeeded, place(), done())).run_state == "done"
    assert scheduler(weighed(succeeded, place())).rule == "success-without-marker"
    failed = word(JobState.FAILED, "FAILED", failure_class="host_oom")
    assert scheduler(weighed(failed, place(), done())).rule == "done-but-job-not"


def test_on_another_disk_the_word_alone_is_success() -> None:
    look = weighed(word(JobState.SUCCEEDED, "SUCCEEDED"), place(apart=True))
    assert look.done == "ray says SUCCEEDED"


def test_a_head_that_was_restarted_has_lost_the_job_and_nothing_is_dead() -> None:
    look = weighed(ClusterJob(Absent("the head (session s2) does not know this job")), place())
    assert scheduler(look).rule == "forgotten"
    assert "may live on" in scheduler(look).says
    alive = weighed(ClusterJob(Absent("the head (session s2) does not know this job")), place(), dead(stage_alive=True))
    assert isinstance(alive.scheduler, Unseen)


def test_an_unknown_word_is_could_not_look() -> None:
    assert isinstance(weighed(word(JobState.UNKNOWN, "HIBERNATING"), place()).scheduler, Unseen)


def test_an_end_that_was_heard_is_kept() -> None:
    where = place()
    known = known_job(where)
    assert not isinstance(known, Unseen)
    where = with_end(where, known, Job("digits-1", JobState.STOPPED, "STOPPED"))
    kept = end_on_record(where, known)
    assert kept.ended is not None
    assert (
        scheduler(
            weighed(None, where, None) if kept is known else with_told(dead(), kept, None, RAY, where, NOW)[0]
        ).native_state
        == "STOPPED"
    )


def test_an_end_of_an_earlier_launch_is_history() -> None:
    end = ("chain_failed", {"at": "2026-11-21T04:00:00.000Z"})
    where = place(end, *SUBMITTED)
    look = weighed(word(JobState.RUNNING, "RUNNING"), where, dead(outcome="chain_failed"))
    assert isinstance(look.outcome, Absent)


def test_the_new_id_is_read_from_either_stream() -> None:
    assert (
        cluster_of("ray").read_new_id(0, "\x1b[32mJob 'raysubmit_A1' submitted successfully\x1b[0m", "")
        == "raysubmit_A1"
    )
    assert cluster_of("iris").read_new_id(0, "", "I1121 Job submitted: /ada/llm-2") == "/ada/llm-2"
    assert cluster_of("ray").read_new_id(1, "Job 'raysubmit_A1' submitted successfully", "") is None
    assert cluster_of("ray").read_new_id(0, "", "") is None
