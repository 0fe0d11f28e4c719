"""A chain on a real Slurm: jobs, markers, stop, requeue, resume, and what happens when Slurm does not answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from onbox.backends.base import Job, JobState
from onbox.backends.slurm.probe import FUNCTIONS, parse_probe
from onbox.contract.readings import Absent, Unseen
from tests.box import Box, wait_for_words, wait_until
from tests.slurm_cluster import SlurmCluster, why_not

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")

TRAIN = "echo resume=$ONBOX_RESUME >> ran; until test -e go; do sleep 0.05; done; echo x > best.npz"
EVAL = "echo eval >> ran; echo y > results.csv"


@pytest.fixture
def slurm_box(box: Box, cluster: SlurmCluster) -> Iterator[Box]:
    box.env |= {"SLURM_CONF": str(cluster.conf), "PATH": f"{cluster.env['PATH']}"}
    yield box
    cluster.run("scancel", "-u", "root")


def configure(box: Box, train: str = TRAIN, **sbatch: object) -> None:
    options = {"mem": "100M", "time": "10", **sbatch}
    (box.project / "onbox.toml").write_text(
        '[run]\nname = "digits"\nbackend = "slurm"\ngrace = "5s"\n[slurm]\nsbatch = '
        "{ "
        + ", ".join(f"{key} = {json.dumps(value)}" for key, value in options.items())
        + " }\n"
        + f'[stages.train]\ncmd = {json.dumps(train)}\nartifacts = ["best.npz"]\n'
        + f'[stages.eval]\ncmd = {json.dumps(EVAL)}\nartifacts = ["results.csv"]\n'
    )


def wait_for_ran(box: Box, *lines: str) -> None:
    wait_until(lambda: box.ran == list(lines), f"{lines}", 60)


def states(box: Box) -> dict[str, str]:
    return {stage["name"]: stage["state"] for stage in box.status()["stages"]}


def test_a_chain_becomes_jobs_that_depend_on_each_other(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    (slurm_box.project / "go").touch()
    done = slurm_box.onbox("chain", "train", "eval")
    assert done.returncode == 0, done.stdout + done.stderr
    assert slurm_box.markers == ["CHAIN_DONE", "eval_DONE", "train_DONE"]
    assert slurm_box.ran == ["resume=0", "eval"]
    status = slurm_box.status()
    assert status["state"] == "done"
    ended = ["COMPLETED", "COMPLETED"]
    wait_until(lambda: [job["native_state"] for job in slurm_box.status()["jobs"]] == ended, "Slurm to have ended them")
    shown = cluster.run("scontrol", "show", "job", slurm_box.job_id("eval")).stdout
    assert "TimeLimit=00:10:00" in shown
    assert slurm_box.events("job_submitted")[1]["after"] == [slurm_box.job_id("train")]
    again = slurm_box.onbox("chain")
    assert again.returncode == 0
    assert len(slurm_box.events("job_submitted")) == 2


def test_backend_on_the_command_line_needs_no_file(slurm_box: Box) -> None:
    done = slurm_box.onbox("chain", "train=echo x > best", "--backend", "slurm", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[0])["jobs"][0]["stage"] == "train"


def test_a_failed_stage_ends_the_chain(slurm_box: Box) -> None:
    configure(slurm_box, train="python3 -c 'raise KeyError(\"lr\")'")
    assert slurm_box.onbox("chain").returncode == 1
    status = slurm_box.status()
    assert status["state"] == "failed"
    assert status["failure"]["failure_class"] == "code_error"
    assert states(slurm_box) == {"train": "failed", "eval": "pending"}
    assert [job["rule"] for job in status["jobs"]] == ["failed", "never-ran"]
    assert slurm_box.markers == ["CHAIN_FAILED", "train_FAILED"]


def test_stop_and_resume(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    assert slurm_box.onbox("chain", "-d").returncode == 0
    wait_for_ran(slurm_box, "resume=0")
    stopped = slurm_box.onbox("stop")
    assert stopped.returncode == 0, stopped.stderr
    assert slurm_box.status()["state"] == "stopped"
    wait_until(lambda: not cluster.run("squeue", "-h").stdout, "the queue to be empty")
    assert slurm_box.onbox("resume", "-d").returncode == 0
    wait_for_ran(slurm_box, "resume=0", "resume=1")
    (slurm_box.project / "go").touch()
    followed = slurm_box.onbox("resume")
    assert followed.returncode == 0, followed.stdout + followed.stderr
    assert len(slurm_box.events("job_submitted")) == 4


def test_resume_never_submits_a_second_live_copy(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    cluster.run("scontrol", "update", "PartitionName=main", "State=DOWN")
    try:
        slurm_box.onbox("chain", "-d")
        assert slurm_box.status()["state"] == "pending"
        before = len(cluster.jobs())
        for words in (["resume", "-d"], ["chain", "-d"]):
            again = slurm_box.onbox(*words)
            assert again.returncode == 0
            assert "at work already" in again.stdout
        other = slurm_box.onbox("chain", "-d", "train=true")
        assert other.returncode == 75
        local = slurm_box.onbox("chain", "-d", "--backend", "local")
        assert local.returncode == 75
        assert len(cluster.jobs()) == before
        slurm_box.onbox("stop")
        assert slurm_box.status()["state"] == "stopped"
    finally:
        cluster.run("scontrol", "update", "PartitionName=main", "State=UP")


def test_a_submitter_that_is_killed_submits_nothing_twice(slurm_box: Box, cluster: SlurmCluster) -> None:
    """Killed with Slurm's answer in its hands: the job is found by its name, and the rest of the chain follows it."""
    configure(slurm_box)
    tools = slurm_box.project / "tools"
    tools.mkdir()
    (tools / "sbatch").write_text(f'#!/bin/sh\nPATH={cluster.env["PATH"]} sbatch "$@"\nkill -KILL "$PPID"\n')
    (tools / "sbatch").chmod(0o755)
    env = {**slurm_box.env, "PATH": f"{tools}:{slurm_box.env['PATH']}"}
    cluster.run("scontrol", "update", "PartitionName=main", "State=DOWN")
    try:
        assert slurm_box.onbox("chain", "-d", env=env).returncode == -signal.SIGKILL
        assert [event["event"] for event in slurm_box.events()] == ["job_submitting"]
        (tools / "sbatch").unlink()  # resume brings back the PATH of the start
        assert slurm_box.onbox("resume", "-d").returncode == 0
    finally:
        cluster.run("scontrol", "update", "PartitionName=main", "State=UP")
    (slurm_box.project / "go").touch()
    done = slurm_box.onbox("chain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert slurm_box.ran == ["resume=0", "eval"]
    assert slurm_box.events("job_submitted")[1]["after"] == [slurm_box.job_id("train")]


def test_a_requeued_job_resumes_and_keeps_its_log(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    slurm_box.onbox("chain", "-d")
    wait_for_ran(slurm_box, "resume=0")
    cluster.run("scontrol", "requeue", slurm_box.job_id("train"))
    wait_until(lambda: slurm_box.events("stage_interrupted"), "the interruption to be on record")
    (slurm_box.project / "go").touch()
    done = slurm_box.onbox("chain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert slurm_box.ran == ["resume=0", "resume=1", "eval"]
    assert [job["restarts"] for job in slurm_box.status()["jobs"]] == [1, 0]
    said = slurm_box.onbox("logs", "train", "--job").stdout
    assert "attempt 1" in said
    assert "attempt 2, resuming" in said


def test_a_warning_of_the_time_limit_puts_it_back_into_the_queue(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box, requeue=True)
    slurm_box.onbox("chain", "-d")
    wait_for_ran(slurm_box, "resume=0")
    cluster.run("scancel", "--batch", "--signal=USR1", slurm_box.job_id("train"))
    wait_for_ran(slurm_box, "resume=0", "resume=1")
    assert slurm_box.events("chain_interrupted")[0]["reason"] == "the job's time limit is near"
    (slurm_box.project / "go").touch()
    assert slurm_box.onbox("chain").returncode == 0


def test_a_job_that_a_person_cancelled_is_interrupted(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box, requeue=True)
    slurm_box.onbox("chain", "-d")
    wait_for_ran(slurm_box, "resume=0")
    cluster.run("scancel", slurm_box.job_id("train"))
    wait_until(lambda: slurm_box.status()["state"] == "interrupted", "the run to be interrupted")
    ended = ["CANCELLED", "CANCELLED"]
    wait_until(lambda: [job["native_state"] for job in slurm_box.status()["jobs"]] == ended, "Slurm to have ended them")
    assert slurm_box.status()["next_command"] == "onbox resume --dry-run digits"  # somebody's decision


def test_ctrl_c_ends_the_jobs(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    viewer = slurm_box.start("chain")
    wait_for_words(viewer, ": RUNNING")  # it follows: Ctrl-C has its meaning
    wait_for_ran(slurm_box, "resume=0")
    viewer.send_signal(signal.SIGINT)
    assert viewer.wait(60) == 4
    assert slurm_box.status()["state"] == "stopped"
    wait_until(lambda: not cluster.run("squeue", "-h").stdout, "the queue to be empty")


def test_resume_inline_runs_here_once_no_job_lives(slurm_box: Box) -> None:
    configure(slurm_box)
    slurm_box.onbox("chain", "-d")
    wait_for_ran(slurm_box, "resume=0")
    refused = slurm_box.onbox("resume", "--inline")
    assert refused.returncode == 75
    slurm_box.onbox("stop")
    (slurm_box.project / "go").touch()
    here = slurm_box.onbox("resume", "--inline")
    assert here.returncode == 0, here.stdout + here.stderr
    assert slurm_box.ran == ["resume=0", "resume=1", "eval"]


def test_a_controller_that_hangs_is_could_not_look(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    slurm_box.onbox("chain", "-d")
    wait_for_ran(slurm_box, "resume=0")
    pid = cluster.pid_of("slurmctld")
    slurm_box.kill_runner()
    os.kill(pid, signal.SIGSTOP)
    try:
        status = slurm_box.status()
        assert status["state"] == "unknown"
        assert {job["state"] for job in status["jobs"]} == {None}
        refused = slurm_box.onbox("resume", "-d")
        assert refused.returncode == 69
        assert "nothing was started" in refused.stderr
    finally:
        os.kill(pid, signal.SIGCONT)
    assert len(slurm_box.events("job_submitted")) == 2


def test_a_refused_job_leaves_nothing_in_the_queue(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    text = (slurm_box.project / "onbox.toml").read_text() + 'sbatch = { partition = "no-such" }\n'
    (slurm_box.project / "onbox.toml").write_text(text)
    refused = slurm_box.onbox("chain", "-d")
    assert refused.returncode == 69
    assert "invalid partition" in refused.stderr.lower()
    wait_until(lambda: not cluster.run("squeue", "-h").stdout, "the queue to be empty")


def test_the_probe_tells_what_the_controller_knows(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    slurm_box.onbox("chain", "-d")
    ids = [slurm_box.job_id("train"), slurm_box.job_id("eval"), "999999"]
    wait_for_ran(slurm_box, "resume=0")
    done = subprocess.run(
        ["sh", "-s", "--", *ids],
        input=FUNCTIONS + 'onbox_slurm "$@"\n',
        env=cluster.env,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    words = parse_probe(done.stdout, ids)
    assert [word.state for word in words.values() if isinstance(word, Job)] == [JobState.RUNNING, JobState.PENDING]
    assert isinstance(words["999999"], Absent)
    assert not any(isinstance(word, Unseen) for word in words.values())


@pytest.mark.alone
def test_a_marker_beside_an_oom_kill_is_no_success(box: Box, tmp_path: Path) -> None:
    try:
        cluster = SlurmCluster(cgroup=True)
    except (AssertionError, OSError) as error:
        pytest.skip(f"no Slurm with cgroups here: {error}")
    try:
        box.env |= {"SLURM_CONF": str(cluster.conf), "PATH": f"{cluster.env['PATH']}"}
        eats = "python3 -c 'x = bytearray(400 << 20)' || true; echo x > best.npz"
        configure(box, train=eats)
        assert box.onbox("chain").returncode == 1
        status = box.status()
        assert "train_DONE" in box.markers
        assert (status["state"], status["failure"]["failure_class"]) == ("failed", "host_oom")
        refused = box.onbox("resume", "-d")
        assert refused.returncode == 78
        assert "--redo train" in refused.stderr
        assert box.onbox("chain", "--accept-done", "train").returncode == 0
    finally:
        cluster.close()
