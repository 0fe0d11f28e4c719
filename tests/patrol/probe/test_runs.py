"""Runs that a real `onbox chain` left, or that something spoilt, as the probe sees them under each shell."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from onbox.contract.progress import Progress
from onbox.contract.readings import Absent, Unseen
from onbox.logs.cursor import Cursor
from onbox.logs.progress import ProgressReader
from onbox.model.boxes import BoxSettings
from onbox.runs import room
from onbox.series.point import Point
from onbox.system.files import read_file
from patrol.memory.run_memory import LogPlace
from patrol.probe.box import runs as box_runs
from patrol.probe.managed.progress import progress_of, told_by_status
from patrol.snapshot import NOT_ASKED, Artifacts, Cells, Failure, LogLook, RemovedRun, RunLook
from tests.box import Box, is_running, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.patrol.probe.local_sh import LocalBox
from tests.series_line import series_line

GO_ON = "n=0; while [ ! -e go ]; do n=$((n+1)); echo step $n/1000 loss 0.5; sleep 0.05; done; echo Training completed."


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Box]:
    folder = tmp_path / "my 'project'"
    folder.mkdir()
    made = Box(folder, "my-project")
    yield made
    made.end_everything()


def look(box: LocalBox, project: Box) -> RunLook:
    seen = box.look(BoxSettings("gpu1", "gpu1", project=str(project.project)))
    assert not isinstance(seen.runs, Absent | Unseen), seen.runs
    assert seen.sections_unseen == () or all(name in ("kernel", "gpus") for name, _ in seen.sections_unseen)
    (run,) = seen.runs
    return run


def test_a_running_run_is_seen_alive_and_its_quiet_look_is_small(box: LocalBox, project: Box) -> None:
    project.onbox("chain", "-d", "prep=echo hi", f"train={GO_ON}")
    wait_until(lambda: "step" in project.log("train"), "the second stage to speak")
    wait_until(
        lambda: b'"stage": "train"' in (read_file(str(project.state / "status.json"), 4096) or b""), "a heartbeat"
    )
    first = look(box, project)
    assert (first.run, first.managed, first.stage, first.attempt) == ("my-project", True, "train", 1)
    assert (first.runner_alive, first.stage_alive, first.stages_done, first.stages_total) == (True, True, 1, 2)
    assert (first.claimed_state, first.outcome) == ("running", Absent("the run is open"))
    assert isinstance(first.log, LogLook)
    assert first.log.last_line.startswith("step "), "a line that was written meanwhile is not shown by half"
    assert first.log.last_line.endswith("/1000 loss 0.5")
    assert isinstance(first.progress, Progress)
    assert first.progress.exact_max == 1000
    again = look(box, project)
    moving = [field for field in RunLook._fields if isinstance(getattr(again, field), float)]  # ages, rates, forecasts
    kept = [field for field in RunLook._fields if field not in (*moving, "log", "progress")]
    assert [getattr(again, field) for field in kept] == [getattr(first, field) for field in kept]
    assert box.traffic.down_bytes < 6000


@pytest.mark.parametrize(
    ("runner", "stage", "current"), [(True, True, 3.0), (False, False, 3.0), (False, True, 7.0)], ids=str
)
def test_what_a_pattern_of_the_users_own_has_told_last_counts_while_nothing_moves_on(
    *, runner: bool, stage: bool, current: float
) -> None:
    """Of a run that has ended it is what `onbox status` says, too; a stage that outlives its runner has moved on."""
    fields = {"stage": "train", "attempt": 1, "progress": {"current": 3, "exact_max": 5, "unit": "step", "rule": "own"}}
    look = RunLook("r", managed=True, place="", stage="train", attempt=1, runner_alive=runner, stage_alive=stage)
    look = look._replace(heartbeat_age_seconds=1.0)
    reader = ProgressReader()
    reader.feed(b"step 6/9 loss 0.5\nstep 7/9 loss 0.4\n")
    place = LogPlace("a.log", Cursor(1, 1, 36, ""), progress=reader.state())
    log = LogLook("a.log", Cursor(1, 1, 36, ""), "same", 36, 1.0, 0, 0, "step 7/9 loss 0.4")
    seen = progress_of(told_by_status(look, fields), {}, place, log)
    assert isinstance(seen, Progress)
    assert seen.current == current


@pytest.mark.parametrize("state_dir", [False, True], ids=["no state directory", "an empty one"])
def test_processes_of_a_run_whose_directory_was_removed_are_seen(
    box: LocalBox, project: Box, *, state_dir: bool
) -> None:
    if state_dir:
        project.state.parent.mkdir()
    live = [
        subprocess.Popen(["sleep", "600"], env={**os.environ, "ONBOX_RUN_DIR": str(folder)})
        for folder in (project.state, project.state / "cells" / "1", project.project / "elsewhere")
    ]
    asked = BoxSettings("gpu1", "gpu1", project=str(project.project))
    try:
        seen = box.look(asked)
        assert (seen.runs, seen.removed) == ((), (RemovedRun(project.run, tuple(sorted(p.pid for p in live[:2]))),))
        project.state.mkdir(parents=True)
        (project.state / "run.json").write_text("{}\n")
        assert box.look(asked).removed == ()
    finally:
        for one in live:
            one.kill()
            one.wait()


def test_a_place_without_room_is_seen_with_the_run(
    box: LocalBox, project: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.state.mkdir(parents=True)
    (project.state / "run.json").write_text("{}\n")
    assert look(box, project).room is None
    monkeypatch.setattr(room, "LEAST_BYTES", 1 << 62)  # more than any disk has
    short = look(box, project).room
    assert short is not None
    assert short.path == f"{project.project}/.onbox"
    assert 0 < short.bytes_free <= os.statvfs(project.project).f_blocks * os.statvfs(project.project).f_frsize


def new_points(box: LocalBox, project: Box) -> list[float | None]:
    """The steps of the points that one look brings."""
    seen = box.look(BoxSettings("gpu1", "gpu1", project=str(project.project)))
    return [point.step for _, points in seen.series for point in points]


def test_new_points_of_the_series_come_once_and_the_first_look_is_bounded(box: LocalBox, project: Box) -> None:
    project.onbox("chain", "train=true")
    file = project.state / "series.jsonl"
    points = [Point(1e9 + step, "train", 1, step=float(step), loss=0.5, memory_bytes=1 << 30) for step in range(500)]
    file.write_bytes(b"".join(map(series_line, points[:400])))
    first = new_points(box, project)
    assert first == [float(step) for step in range(400 - len(first), 400)]
    assert 50 < len(first) < 200
    assert new_points(box, project) == []
    with file.open("ab") as series:
        series.write(b"".join(map(series_line, points[400:403])) + series_line(points[403])[:40])
    assert new_points(box, project) == [400.0, 401.0, 402.0]
    with file.open("ab") as series:
        series.write(series_line(points[403])[40:])
    assert new_points(box, project) == [403.0], "the rest of a line that was being written"
    thinned = project.state / "beside"
    thinned.write_bytes(b"".join(map(series_line, points[0:404:4] + points[404:406])))
    thinned.rename(file)
    assert new_points(box, project)[-2:] == [404.0, 405.0]
    assert box.traffic.down_bytes < 30_000


def test_what_the_boxs_detectors_find_is_in_the_look(one_box: LocalBox, project: Box) -> None:
    (project.project / "onbox.toml").write_text("[run]\nname = 'my-project'\nsample_every = '100ms'\n")
    project.onbox("chain", "-d", "train=while [ ! -e go ]; do echo step 5/9 loss nan; sleep 0.05; done")
    project.wait_for_event("detected")
    wait_until(lambda: isinstance(look(one_box, project).detected, tuple) and look(one_box, project).detected, "it")
    told = look(one_box, project).detected
    assert not isinstance(told, Absent | Unseen)
    assert [one.detector for one in told] == ["loss-not-finite"]
    assert "loss is nan at step 5" in told[0].proof


def test_an_ended_run_says_how(box: LocalBox, project: Box) -> None:
    project.onbox("chain", "train=echo step 5/5")
    done = look(box, project)
    assert (done.outcome, done.runner_alive, done.stage_alive, done.stages_done) == ("chain_done", False, False, 1)
    assert done.done == f"CHAIN_DONE of {done.run_id}"
    assert done.took_seconds == project.status()["elapsed_seconds"]
    project.onbox("chain", "--redo", "train", "train=echo Traceback; no-such-program")
    failed = look(box, project)
    assert (failed.outcome, failed.done) == ("chain_failed", Absent("no CHAIN_DONE"))
    assert isinstance(failed.failure, Failure)
    assert (failed.failure.source, failed.failure.stage) == ("marker", "train")
    assert isinstance(failed.ended_age_seconds, float)
    assert failed.ended_age_seconds < 60


def test_what_the_runner_has_seen_of_artifacts_is_told_while_it_lives(one_box: LocalBox, project: Box) -> None:
    stage = f'cmd = "echo weights >best.npz; {GO_ON}"\nartifacts = ["best.npz"]\nstall_after = "4s"\n'
    (project.project / "onbox.toml").write_text(f'[run]\nsample_every = "1s"\n[stages.train]\n{stage}')
    started = project.onbox("chain", "-d", "--launch-check", "0.2")
    assert started.returncode == 0, started.stderr
    wait_until((project.state / "status.json").exists, "a heartbeat")
    status = project.state / "status.json"
    wait_until(lambda: (json.loads(status.read_text()).get("artifacts") or {}).get("count") == 1, "the runner's look")
    seen = look(one_box, project).artifacts
    assert isinstance(seen, Artifacts)
    assert (seen.files, seen.bytes_total, isinstance(seen.newest_age_seconds, float)) == (1, 8, True)
    os.kill(project.runner_pid(), signal.SIGKILL)
    wait_until(lambda: look(one_box, project).runner_alive is False, "the runner to be gone")
    assert look(one_box, project).artifacts == NOT_ASKED, "an old word says nothing of those that came since"


def test_a_killed_runner_leaves_a_live_stage_and_then_nothing(box: LocalBox, project: Box) -> None:
    project.onbox("chain", "-d", f"train={GO_ON}")
    status = project.state / "status.json"
    wait_until(lambda: status.exists() and json.loads(status.read_text()).get("keeper"), "a heartbeat with the keeper")
    keeper = json.loads((project.state / "status.json").read_text())["keeper"]["pid"]
    project.kill_runner()
    seen = look(box, project)
    assert (seen.runner_alive, seen.stage_alive, seen.outcome) == (False, True, Absent("the run is open"))
    os.kill(keeper, signal.SIGKILL)
    wait_until(lambda: not is_running(keeper), "the keeper to be gone")
    seen = look(box, project)
    assert seen.stage_alive is True  # the command inherited the lock
    assert seen.unseen_end == ""
    (project.project / "go").touch()
    wait_until(lambda: project.status()["state"] == "interrupted", "the stage to end by itself")
    seen = look(box, project)
    assert (seen.runner_alive, seen.stage_alive, seen.outcome) == (False, False, Absent("the run is open"))
    assert (seen.stage_signs, "says that the work is done" in seen.unseen_end) == (("END_MISSED",), True)


def test_a_new_run_of_the_same_name_inherits_nothing(box: LocalBox, project: Box) -> None:
    project.onbox("chain", "train=echo epoch step 77/99; false")
    old = look(box, project)
    project.run_program(["rm", "-rf", str(project.state)])
    project.onbox("chain", "train=echo step 1/3")
    new = look(box, project)
    assert new.run_id != old.run_id
    assert isinstance(new.failure, Absent)
    assert (new.outcome, new.progress.exact_max) == ("chain_done", 3)  # type: ignore[union-attr]


def test_declared_limits_and_retries_are_told(box: LocalBox, project: Box) -> None:
    (project.project / "onbox.toml").write_text(
        f'[stages.train]\ncmd = "{GO_ON}"\nstall_after = "7m"\nmin_duration = "5s"\n'
    )
    project.onbox("chain", "-d")
    seen = look(box, project)
    assert (seen.stall_after_seconds, seen.retries) == (420.0, 0)
    assert look(box, project).stall_after_seconds == 420.0  # run.json was not sent again
    assert b"stall_after" not in box.answer


@pytest.mark.parametrize(
    "spoil",
    ["", "{", "[1, 2]", '{"run_id": 5, "at": [], "progress": {"current": 1e999}}', "\x00\xff" * 50, "[" * 99999],
)
def test_a_spoilt_file_is_unseen_and_never_a_crash(one_box: LocalBox, project: Box, spoil: str) -> None:
    project.onbox("chain", "train=echo step 5/5; false")
    for name in ("status.json", "lock", "markers/CHAIN_FAILED", "markers/train_FAILED", "events.jsonl", "run.json"):
        path = project.state / name
        whole = path.read_bytes()
        path.write_text(spoil, encoding="latin-1")
        one_box.forget()
        seen = look(one_box, project)
        assert seen.run == "my-project"
        if name == "markers/train_FAILED":
            assert isinstance(seen.failure, Unseen)
        if name == "run.json":
            assert isinstance(seen.run_id, Unseen)
        if name == "status.json":
            assert isinstance(seen.claimed_state, Unseen)
        path.write_bytes(whole)


def test_a_huge_status_does_not_come(one_box: LocalBox, project: Box) -> None:
    project.onbox("chain", "train=true")
    with (project.state / "status.json").open("wb") as file:
        file.write(b'{"last_line": "')
        file.truncate(100 << 20)
    seen = look(one_box, project)
    assert isinstance(seen.claimed_state, Unseen)
    assert seen.outcome == "chain_done"
    assert one_box.traffic.down_bytes < 40_000


def test_another_boot_or_host_is_no_proof_of_life_or_death(one_box: LocalBox, project: Box) -> None:
    project.onbox("chain", "-d", f"train={GO_ON}")
    pid = project.kill_runner()
    lock = project.state / "lock"
    holder = json.loads(lock.read_text())
    lock.write_text(json.dumps({**holder, "pid": os.getpid(), "start_ticks": 1}) + "\n")
    assert look(one_box, project).runner_alive is False  # the pid is another process's now
    assert pid != os.getpid()


def test_a_lock_on_the_same_inode_of_another_disk_is_not_ours() -> None:
    def held(device: int, word: str) -> bool | None:
        found = box_runs._stat(["lock", str(device), "7", "0", "0", word])
        assert found is not None
        return found.held

    assert [held(0xFE00, "fe:00"), held(0xFE00, "fe:01"), held(0x18, "00:1f"), held(0xFE00, "-")] == [
        True,
        None,
        True,
        None,
    ]
    assert [held(0xFE00, "flock1"), held(0xFE00, "flock0"), held(0xFE00, "flock127")] == [True, False, None]


def test_another_look_at_the_same_moment_is_not_taken_for_a_runner(box: LocalBox, project: Box) -> None:
    assert project.onbox("chain", "a=true").returncode == 0
    with (project.state / "lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        assert look(box, project).runner_alive is False


def test_of_many_runs_the_newest_are_looked_at(box: LocalBox, tmp_path: Path) -> None:
    for number in range(40):
        folder = tmp_path / "p" / ".onbox" / f"run-{number:02}"
        folder.mkdir(parents=True)
        for name in ("run.json", "status.json"):
            (folder / name).write_text("{}")
        os.utime(folder / "status.json", (1_700_000_000 + 60 * (number * 7 % 40),) * 2)
    asked = BoxSettings("gpu1", "gpu1", project=str(tmp_path / "p"))
    seen = box.unhurried().look(asked)
    assert not isinstance(seen.runs, Absent | Unseen)
    newest = {f"run-{number:02}" for number in range(40) if number * 7 % 40 >= 8}
    assert ({run.run for run in seen.runs}, seen.runs_left_out) == (newest, 8)
    assert "runs" not in dict(seen.sections_unseen)


def test_no_project_is_unseen_and_no_run_is_none(box: LocalBox, tmp_path: Path) -> None:
    seen = box.look(BoxSettings("gpu1", "gpu1", project=str(tmp_path / "nowhere")))
    assert isinstance(seen.runs, Unseen)
    assert dict(seen.sections_unseen)["runs"].startswith("no such project")
    assert box.look(BoxSettings("gpu1", "gpu1", project=str(tmp_path))).runs == ()


@pytest.mark.parametrize("name", ["-rf", "a b", "$(touch PWNED)", "new\nline", "*", "run.json"])
def test_hostile_run_directories_do_no_harm(box: LocalBox, tmp_path: Path, name: str) -> None:
    folder = tmp_path / ".onbox" / name
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    (folder / "logs").mkdir()
    (folder / "logs" / "$(touch PWNED).log").write_text("x")
    (folder / "markers").mkdir()
    (folder / "markers" / ".a b.slot").write_text("slot 1 x ../../.. 1\nkeeper x\n")
    seen = box.look(BoxSettings("gpu1", "gpu1", project=str(tmp_path)))
    assert not isinstance(seen.runs, Absent | Unseen)
    assert not list(tmp_path.rglob("PWNED"))
    if name == "run.json":
        assert [run.run for run in seen.runs] == [name]
    else:
        assert seen.runs == ()
        assert "1 left out, not a run's name" in dict(seen.sections_unseen)["runs"]


def test_what_another_chain_of_the_same_name_left_does_not_count(box: LocalBox, project: Box) -> None:
    """Its markers lie beside those of the chain that is there now, and so does its failure."""
    lost = "test -e lost && echo RuntimeError: shape mismatch >&2 && exit 1; echo loss nan"
    stages = ("prep=echo epoch 3/10", "train=true", f"test={lost}")
    assert project.onbox("chain", *stages).returncode == 0
    (project.project / "lost").touch()
    assert project.onbox("chain", "--redo", "test", *stages).returncode == 1
    project.onbox("chain", "-d", "train=true", f"eval={GO_ON}")
    wait_until(lambda: "step" in project.log("eval"), "the second stage of the other chain to speak")
    seen = look(box, project)
    assert (seen.stages_done, seen.stages_total) == (1, 2)
    assert isinstance(seen.failure, Absent)
    assert {one.stage for one in seen.stage_results} <= {"train"}
    (project.project / "go").touch()
    project.wait_for_marker("CHAIN_DONE")
    seen = look(box, project)
    assert (seen.stages_done, seen.stages_total) == (2, 2)
    assert {one.stage for one in seen.finished} in ({"train", "eval"}, {"eval"}), "a first look reads a part"
    assert project.onbox("chain", *stages[:2]).returncode == 0
    assert look(box, project).stage != "eval", "that nothing had to run again makes no stage of another chain its own"


def test_a_sweep_is_one_run_that_counts_its_cells(box: LocalBox, project: Box) -> None:
    command = "echo '{\"acc\": 0.{n}}' >m-{n}.json; test {n} != 2 || { echo 'Error: step 37/900 of it'; exit 1; }"
    words = ("--name", "digits", "--metrics", "m-{n}.json", "--sort", "-acc", "n=1..3", "--", command)
    assert project.onbox("sweep", *words).returncode == 1
    seen = look(box, project)
    assert (seen.stages_done, seen.stages_total) == (2, 3)
    rows = (("n=3", "done", "0.3"), ("n=1", "done", "0.1"), ("n=2", "failed", "code_error"))
    assert seen.cells == Cells("2/3, 1 failed: code_error · best 0.3 cell n=3", 2, 3, rows)
    assert isinstance(seen.progress, Progress), "of its cells, whatever their logs count"
    assert (seen.progress.current, seen.progress.exact_max, seen.progress.unit) == (2.0, 3, "cells")
    failure = seen.failure
    assert not isinstance(failure, Absent | Unseen)
    assert (failure.stage, failure.failure_class, failure.retry_allowed) == ("SWEEP", "code_error", False)


def test_the_proof_of_a_sweeps_end_is_its_own(box: LocalBox, project: Box) -> None:
    assert project.onbox("sweep", "--name", "digits", "n=1..3", "--", "true {n}").returncode == 0
    done = look(box, project)
    assert done.done == f"SWEEP_DONE of {done.run_id}"
