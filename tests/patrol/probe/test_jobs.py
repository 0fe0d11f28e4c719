"""Runs that are with Slurm, as a probe sees them: their jobs by their journals, and the engine's word."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from onbox.contract.readings import Absent, Unseen
from onbox.model.boxes import BoxSettings
from patrol.snapshot import NOT_ASKED, RunLook, Scheduler
from tests.box import BOUND_SECONDS
from tests.patrol.probe.test_bounds import fake

if TYPE_CHECKING:
    from pathlib import Path

    from tests.patrol.probe.local_sh import LocalBox

FORGOTTEN = "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"


def job(event: str, stage: str, job_id: str | None = None, **fields: object) -> dict[str, object]:
    record = {"event": event, "stage": stage, "backend": "slurm", "name": f"digits-{stage}-1", **fields}
    return record if job_id is None else {**record, "job_id": job_id}


def submitted(stage: str, job_id: str) -> list[dict[str, object]]:
    return [job("job_submitting", stage), job("job_submitted", stage, job_id)]


def make_run(box: LocalBox, *records: dict[str, object], run: str = "digits", markers: tuple[str, ...] = ()) -> Path:
    """A run that was handed to Slurm; nothing of it lives here."""
    box.env["PATH"] = f"{box.folder}/bin:{box.env['PATH']}"
    folder = box.folder / ".onbox" / run
    for name in ("markers", "jobs"):
        (folder / name).mkdir(parents=True)
    head = {"schema": 1, "run": run, "run_id": "R1", "project": "/p", "chain_fingerprint": "a" * 16, "stage_count": 2}
    text = json.dumps({**head, "backend": {"name": "slurm"}})[:-1] + ', "stages": [\n]}\n'
    (folder / "run.json").write_text(text)
    stamped = ({"schema": 1, "at": "2026-11-21T05:00:00.000Z", **record} for record in records)
    lines = (json.dumps(record, separators=(",", ":")) + "\n" for record in stamped)
    (folder / "events.jsonl").write_text("".join(lines))
    for name in markers:
        (folder / "markers" / name).write_text("{}\n")
    return folder


def look(box: LocalBox, backend: str = "slurm") -> RunLook:
    seen = box.look(BoxSettings("login", "login", project=str(box.folder), backend=backend))
    assert not isinstance(seen.runs, Absent | Unseen)
    return seen.runs[0]


def squeue(box: LocalBox, *rows: tuple[str, str, str]) -> None:
    """Shows these jobs, and has them asked for by id."""
    lines = "".join(
        f"printf '%-24s%-24s%-64s%-12s%-12s%-80s\\n' {job_id} {state} {reason} 0 0 '(null)'\n"
        for job_id, state, reason in rows
    )
    fake(box.folder, "squeue", f'echo "$@" >>"{box.folder}/asked"\n{lines}')
    fake(box.folder, "scontrol", FORGOTTEN)
    fake(box.folder, "sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1")


def word(run: RunLook) -> Scheduler:
    assert isinstance(run.scheduler, Scheduler), run.scheduler
    return run.scheduler


def test_the_word_is_about_the_job_that_makes_the_state(box: LocalBox) -> None:
    squeue(box, ("7", "RUNNING", "None"), ("8", "PENDING", "Dependency"))
    make_run(box, *submitted("train", "7"), *submitted("eval", "8"))
    found = word(look(box))
    assert (found.job_id, found.stage, found.job_state, found.run_state) == ("7", "train", "running", "running")
    assert "-j 7,8 " in (box.folder / "asked").read_text()


def test_a_job_whose_end_is_on_record_is_not_asked_for_again(box: LocalBox) -> None:
    squeue(box, ("9", "PENDING", "Priority"))
    ended = job("job_ended", "train", "7", state="interrupted", native_state="TIMEOUT", reason="TimeLimit")
    make_run(box, *submitted("train", "7"), ended, *submitted("train", "9"))
    assert word(look(box)).native_state == "PENDING"
    assert "-j 9 " in (box.folder / "asked").read_text()


def test_a_marker_beside_an_oom_kill(one_box: LocalBox) -> None:
    squeue(one_box, ("7", "OUT_OF_MEMORY", "OutOfMemory"))
    make_run(one_box, *submitted("train", "7"), markers=("train_DONE",))
    found = word(look(one_box))
    assert (found.rule, found.run_state, found.failure_class) == ("done-but-job-not", "failed", "host_oom")


def test_a_blocked_job_tells_of_a_failure_that_slurm_has_forgotten(one_box: LocalBox) -> None:
    squeue(one_box, ("8", "PENDING", "DependencyNeverSatisfied"))
    make_run(one_box, *submitted("train", "7"), *submitted("eval", "8"))
    assert word(look(one_box)).rule == "never-ran"


@pytest.mark.parametrize(("markers", "rule"), [((), "forgotten"), (("train_DONE",), "done-and-forgotten")])
def test_an_empty_answer_alone_proves_nothing(one_box: LocalBox, markers: tuple[str, ...], rule: str) -> None:
    squeue(one_box)
    make_run(one_box, *submitted("train", "7"), markers=markers)
    assert word(look(one_box)).rule == rule


def test_no_slurm_on_the_path_is_could_not_look(one_box: LocalBox) -> None:
    fake(one_box.folder, "squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1")
    fake(one_box.folder, "scontrol", "echo 'Unable to contact slurm controller' >&2; exit 1")
    make_run(one_box, *submitted("train", "7"))
    assert isinstance(look(one_box).scheduler, Unseen)


def test_commands_that_hang_cost_their_own_bound_only(box: LocalBox) -> None:
    for name in ("squeue", "scontrol", "sacct"):
        fake(box.folder, name, "exec sleep 200")
    make_run(box, *submitted("train", "7"))
    began = time.monotonic()
    run = look(box)
    assert time.monotonic() - began < BOUND_SECONDS
    assert isinstance(run.scheduler, Unseen)
    assert run.run_id == "R1"


def test_hostile_journals_reach_no_command(box: LocalBox) -> None:
    squeue(box)
    bad = submitted("train", "$(touch x)") + submitted("eval", "8;touch y") + submitted("more", "-o")
    make_run(box, *bad, *submitted("last", "5"))
    look(box)
    assert (box.folder / "asked").read_text().split("-O")[0].split()[-1] == "5"
    assert not {"x", "y"} & {path.name for path in box.folder.rglob("*")}


def test_a_directory_that_is_not_called_as_a_run_harms_no_other(box: LocalBox) -> None:
    squeue(box, ("7", "RUNNING", "None"))
    make_run(box, *submitted("train", "7"), run="a b'$(id)")
    make_run(box, *submitted("train", "7"))
    assert word(look(box)).job_state == "running"


def test_a_box_that_is_not_declared_with_slurm_is_asked_at_the_second_look(one_box: LocalBox) -> None:
    squeue(one_box, ("7", "RUNNING", "None"))
    make_run(one_box, *submitted("train", "7"))
    assert isinstance(look(one_box, "ssh").scheduler, Unseen)
    assert word(look(one_box, "ssh")).job_state == "running"


def test_a_run_without_jobs_is_judged_by_its_processes(one_box: LocalBox) -> None:
    squeue(one_box)
    make_run(one_box)
    assert look(one_box).scheduler == NOT_ASKED


def test_an_end_before_the_newest_submission_is_history(one_box: LocalBox) -> None:
    squeue(one_box, ("9", "PENDING", "Resources"))
    stopped: dict[str, object] = {"event": "chain_stopped", "at": "2026-11-21T04:00:00.000Z"}
    make_run(one_box, stopped, *submitted("train", "9"))
    run = look(one_box)
    assert isinstance(run.outcome, Absent)
    assert word(run).job_state == "pending"
