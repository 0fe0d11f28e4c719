"""The decision table over an engine's word and the run directory, row by row."""

from __future__ import annotations

import pytest

from onbox.backends.base import Job, JobState
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.contract.states import RunState, StageState
from onbox.runs.engine_word import TABLE, SeenStage, judge_run, judge_stage

FORGOTTEN, DOWN = Absent("not known"), Unseen("controller down")


def job(state: JobState, words: str = "WORDS", failure_class: str | None = None) -> Job:
    return Job("7", state, words, failure_class=failure_class)


CASES: list[tuple[str, StageState, StageState, Maybe[Job]]] = [
    ("could-not-look", StageState.UNKNOWN, StageState.DONE, DOWN),
    ("could-not-look", StageState.UNKNOWN, StageState.RUNNING, DOWN),
    ("done-and-forgotten", StageState.DONE, StageState.DONE, FORGOTTEN),
    ("done", StageState.DONE, StageState.DONE, job(JobState.SUCCEEDED)),
    ("done-but-job-ending", StageState.RUNNING, StageState.DONE, job(JobState.ENDING)),
    ("done-but-job-not", StageState.FAILED, StageState.DONE, job(JobState.FAILED, "OUT_OF_MEMORY", "host_oom")),
    ("done-but-job-not", StageState.FAILED, StageState.DONE, job(JobState.STOPPED)),
    ("lost", StageState.UNKNOWN, StageState.RUNNING, FORGOTTEN),
    ("forgotten", StageState.UNKNOWN, StageState.PENDING, FORGOTTEN),
    ("forgotten", StageState.FAILED, StageState.FAILED, FORGOTTEN),
    ("forgotten", StageState.INTERRUPTED, StageState.INTERRUPTED, FORGOTTEN),
    ("unknown-word", StageState.UNKNOWN, StageState.PENDING, job(JobState.UNKNOWN)),
    ("waits", StageState.PENDING, StageState.INTERRUPTED, job(JobState.PENDING)),
    ("runs", StageState.RUNNING, StageState.PENDING, job(JobState.RUNNING)),
    ("runs", StageState.STALLED, StageState.STALLED, job(JobState.RUNNING)),
    ("ends", StageState.RUNNING, StageState.INTERRUPTED, job(JobState.ENDING)),
    ("never-ran", StageState.PENDING, StageState.PENDING, job(JobState.BLOCKED)),
    ("success-without-marker", StageState.FAILED, StageState.INTERRUPTED, job(JobState.SUCCEEDED)),
    ("interrupted", StageState.INTERRUPTED, StageState.RUNNING, job(JobState.INTERRUPTED)),
    ("interrupted", StageState.INTERRUPTED, StageState.PENDING, job(JobState.STOPPED)),
    ("failed-by-engine", StageState.FAILED, StageState.INTERRUPTED, job(JobState.FAILED, failure_class="host_oom")),
    ("failed", StageState.FAILED, StageState.PENDING, job(JobState.FAILED)),
    ("failed", StageState.INTERRUPTED, StageState.INTERRUPTED, job(JobState.FAILED)),
]


@pytest.mark.parametrize(("rule", "state", "disk", "word"), CASES)
def test_each_row(rule: str, state: StageState, disk: StageState, word: Maybe[Job]) -> None:
    verdict = judge_stage(SeenStage("slurm", "7", disk, word))
    assert (rule, state) == (verdict.rule, verdict.state)


def test_rows_have_names_of_their_own_and_are_all_tried() -> None:
    names = [row.rule for row in TABLE]
    assert len(names) == len(set(names))
    assert set(names) - {rule for rule, *_ in CASES} == {"no-job", "done-elsewhere", "unexplained"}


def test_a_marker_is_not_success_where_the_job_was_killed() -> None:
    verdict = judge_stage(
        SeenStage("slurm", "7", StageState.DONE, job(JobState.FAILED, "OUT_OF_MEMORY", failure_class="host_oom"))
    )
    assert verdict.failure_class == "host_oom"
    assert "OUT_OF_MEMORY" in verdict.text


def test_without_a_job_the_disk_speaks() -> None:
    assert judge_stage(SeenStage("slurm", None, StageState.INTERRUPTED, FORGOTTEN)).state is StageState.INTERRUPTED


def test_a_job_with_another_disk_needs_no_marker_here() -> None:
    seen = SeenStage("ray", "7", StageState.PENDING, job(JobState.SUCCEEDED), apart=True)
    assert judge_stage(seen).state is StageState.DONE


@pytest.mark.parametrize(
    ("run", "stages", "disk"),
    [
        (RunState.DONE, [StageState.DONE, StageState.DONE], RunState.DONE),
        (RunState.FAILED, [StageState.FAILED, StageState.PENDING], RunState.FAILED),
        (RunState.UNKNOWN, [StageState.UNKNOWN, StageState.PENDING], RunState.RUNNING),
        (RunState.RUNNING, [StageState.RUNNING, StageState.PENDING], RunState.RUNNING),
        (RunState.STALLED, [StageState.RUNNING, StageState.PENDING], RunState.STALLED),
        (RunState.PENDING, [StageState.DONE, StageState.PENDING], RunState.PENDING),
        (RunState.STOPPED, [StageState.INTERRUPTED, StageState.PENDING], RunState.STOPPED),
        (RunState.INTERRUPTED, [StageState.INTERRUPTED, StageState.PENDING], RunState.INTERRUPTED),
    ],
)
def test_the_run_is_what_its_stages_make_of_it(run: RunState, stages: list[StageState], disk: RunState) -> None:
    assert run is judge_run(stages, disk)
