"""What an engine's word means for a wait: only its own end word ends one, and never one look that failed."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.backends.base import Job, JobState
from onbox.backends.cluster import ClusterJob, ClusterLook, Endpoint, JobLog, NoLook
from onbox.contract.readings import Absent, Unseen
from patrol.ssh.client import SshTarget
from sentinels.judge.conditions.base import Arming
from sentinels.judge.jobs import Asked, JobCondition
from sentinels.judge.outcome import Outcome, WaitFinding
from sentinels.link.job_channel import Asking, JobChannel
from sentinels.targets import parse_target
from tests.box import wait_until
from tests.patrol.cluster_looks import ray_told

NOW = 1_795_000_000.0
ASKED = Asked(Endpoint("ray", "http://127.0.0.1:8265"), "x")


def waits(stall_after: float | None = None, seen_in: str | None = None) -> JobCondition:
    return JobCondition(
        parse_target("ray1:x"), ASKED, Arming(stall_after_seconds=stall_after, new_only=False), seen_in=seen_in
    )


def look(told: ClusterJob, session: str = "s1") -> ClusterLook:
    return ClusterLook(session, {"x": told})


def says(state: JobState, **fields: Any) -> ClusterLook:
    return look(ClusterJob(Job("x", state, state.name, **fields)))


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        (JobState.PENDING, None),
        (JobState.RUNNING, None),
        (JobState.ENDING, None),
        (JobState.UNKNOWN, None),
        (JobState.SUCCEEDED, Outcome.LANDED),
        (JobState.FAILED, Outcome.FAILED),
        (JobState.BLOCKED, Outcome.FAILED),
        (JobState.INTERRUPTED, Outcome.STOPPED),
        (JobState.STOPPED, Outcome.STOPPED),
    ],
)
def test_only_an_end_ends_it(state: JobState, outcome: Outcome | None) -> None:
    found = waits().hear(says(state), NOW)
    assert (found.outcome if found else None) is outcome


def test_every_state_was_asked_for() -> None:
    assert len(JobState) == 9, "a new one needs its row above"


def test_a_failure_is_told_with_what_the_log_proves() -> None:
    log = JobLog("step 1\nValueError: bad shape\n")
    told = ClusterJob(Job("x", JobState.FAILED, "FAILED", exit_code=1), log=log)
    found = waits().hear(look(told), NOW)
    assert found is not None
    assert found.detail["exit_code"] == 1
    assert "ValueError: bad shape" in found.say


def test_a_captured_answer_of_a_failed_job_ends_the_wait() -> None:
    """Of a real head."""
    found = waits().hear(look(ray_told("ray_api_job_bad.json")), NOW)
    assert found is not None
    assert found.outcome is Outcome.FAILED


@pytest.mark.parametrize(
    "found", [NoLook("engine_down", "refused"), look(ClusterJob(Unseen("garbled"))), look(ClusterJob(Absent("404")))]
)
def test_what_could_not_be_seen_or_is_not_there_yet_is_a_note_and_no_end(found: Any) -> None:
    condition = waits()
    assert [condition.hear(found, NOW) for _ in range(5)] == [None] * 5
    assert condition.note


def test_a_job_that_was_seen_and_is_gone_twice_can_never_be_told_of() -> None:
    condition, gone = waits(), look(ClusterJob(Absent("404")), "s1")
    condition.hear(says(JobState.RUNNING), NOW)
    assert condition.hear(gone, NOW) is None
    condition.hear(says(JobState.RUNNING), NOW)
    assert condition.hear(gone, NOW) is None, "seen again in between: counted anew"
    found = condition.hear(gone, NOW)
    assert found is not None
    assert (found.outcome, found.detail["reason"]) == (Outcome.UNREACHABLE, "lost_by_engine")
    assert "somebody removed it there" in found.say


def test_a_head_that_was_restarted_is_named_as_the_cause() -> None:
    condition = waits(seen_in="s1")
    gone = look(ClusterJob(Absent("404")), "s2")
    condition.hear(gone, NOW)
    found = condition.hear(gone, NOW)
    assert found is not None
    assert "its head was restarted" in found.say


def test_what_a_wait_before_this_one_saw_counts() -> None:
    before, after = waits(), waits()
    before.hear(says(JobState.RUNNING), NOW)
    after.recall(before.memory())
    gone = look(ClusterJob(Absent("404")), "s1")
    assert [after.hear(gone, NOW), after.hear(gone, NOW)][1] is not None


@pytest.mark.parametrize(("age", "ends"), [(1700.0, False), (1900.0, True)])
def test_a_running_job_whose_log_is_quiet_for_too_long_stalls(age: float, *, ends: bool) -> None:
    told = ClusterJob(Job("x", JobState.RUNNING, "RUNNING"), log=JobLog("step 1\n", written_at=NOW - age, size=7))
    found = waits(stall_after=1800.0).hear(look(told), NOW)
    assert (found is not None and found.outcome is Outcome.STALLED) is ends


def test_a_job_that_waits_in_the_queue_does_not_stall() -> None:
    told = ClusterJob(Job("x", JobState.PENDING, "PENDING"), log=JobLog("", written_at=NOW - 1e6))
    assert waits(stall_after=60.0).hear(look(told), NOW) is None


# -- the channel: asked in a thread, heard by the loop


def heard(channel: JobChannel, ask: Any) -> list[tuple[int, WaitFinding]]:
    ident, _, asked = channel._next_item() or pytest.fail("nothing to ask")
    channel._asked_for, channel.asking = (ident, asked), Asking(ask)
    asking = channel.asking
    wait_until(lambda: asking.found is not None, "an answer")
    return channel.read(asking)


def test_a_look_that_breaks_is_could_not_look_and_the_wait_goes_on() -> None:
    channel = JobChannel(SshTarget("ray1", None), [(0, waits())])
    assert heard(channel, lambda: 1 / 0) == []
    assert channel.contact.in_sight is False
    assert "ZeroDivisionError" in channel.detail


def test_jobs_of_one_engine_are_asked_for_in_turn_until_they_have_ended() -> None:
    channel = JobChannel(SshTarget("ray1", None), [(0, waits()), (1, waits())])
    ((number, _),) = heard(channel, lambda: says(JobState.SUCCEEDED))
    assert (number, channel.looked) == (0, False)
    ((number, _),) = heard(channel, lambda: says(JobState.FAILED))
    assert (number, channel.looked, channel._next_item()) == (1, True, None)


@pytest.mark.parametrize(
    ("reason", "once", "lasting"),
    [("engine_token", False, True), ("engine_down", False, False), ("engine_down", True, True)],
)
def test_waiting_goes_on_where_it_can_help(reason: str, *, once: bool, lasting: bool) -> None:
    channel = JobChannel(SshTarget("ray1", None), [(0, waits())], once=once)
    heard(channel, lambda: NoLook(reason, "x"))
    assert channel.lasting is lasting
