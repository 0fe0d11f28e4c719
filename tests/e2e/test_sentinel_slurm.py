"""Waiting for a run that is with a real Slurm: between its jobs, and in the queue, no process of it is anywhere."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.box import wait_until
from tests.e2e.test_sentinel_runs import LIMIT, also_by_a_shell, armed
from tests.sentinels.waiter import Waiters
from tests.slurm_cluster import SlurmCluster, takes_long, why_not

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")

WAITS = "echo begins >>ran; until test -e go; do sleep 0.02; done"


@pytest.fixture
def engine() -> str:
    """Which program looks on the box."""
    return "python"


@pytest.fixture
def waiters(engine: str, tmp_path: Path, box: Box, cluster: SlurmCluster) -> Iterator[Waiters]:
    box.env |= {"SLURM_CONF": str(cluster.conf), "PATH": cluster.env["PATH"]}
    made = Waiters(box.project, engine=engine)
    made.env |= {"SLURM_CONF": str(cluster.conf), "PATH": cluster.env["PATH"]}
    made.env["XDG_STATE_HOME"] = str(tmp_path / "state")
    yield made
    made.close()
    cluster.run("scancel", "-u", "root")


REQUEUED = 'sbatch = { mem = "100M", requeue = true }'


def submit(box: Box, train: str = WAITS, slurm: str = REQUEUED) -> None:
    (box.project / "onbox.toml").write_text(
        f'[run]\nname = "digits"\nbackend = "slurm"\ngrace = "5s"\n[slurm]\n{slurm}\n'
        f'[stages.train]\ncmd = {json.dumps(train)}\n[stages.eval]\ncmd = "true"\n'
        f'[boxes.here]\nbackend = "local"\nproject = "{box.project}"\n'
    )
    assert box.onbox("chain", "-d").returncode == 0


def begun(box: Box, times: int) -> None:
    path = box.project / "ran"
    wait_until(lambda: path.exists() and len(path.read_text().split()) >= times, f"the stage to begin {times} times")


@also_by_a_shell
def test_a_run_lands_across_queue_jobs_and_a_requeue(box: Box, waiters: Waiters, cluster: SlurmCluster) -> None:
    cluster.run("scontrol", "update", "PartitionName=main", "State=DOWN")
    try:
        submit(box)
        waiter = waiters.start("wait", "here:digits", *LIMIT)
        armed(waiters)
    finally:
        cluster.run("scontrol", "update", "PartitionName=main", "State=UP")
    begun(box, 1)
    (job,) = (event["job_id"] for event in box.events("job_submitted") if event["stage"] == "train")
    cluster.run("scontrol", "requeue", str(job))
    begun(box, 2)
    assert waiter.poll() is None
    (box.project / "go").touch()
    end = waiters.end(waiter)
    assert (end["outcome"], end["detail"]["rule"]) == ("landed", "landed")


def test_a_failure_on_a_node_is_told(box: Box, waiters: Waiters) -> None:
    submit(box, f"{WAITS}; python3 -c 'raise KeyError(1)'")
    waiter = waiters.start("wait", "here:digits", *LIMIT)
    armed(waiters)
    (box.project / "go").touch()
    end = waiters.end(waiter)
    assert (end["outcome"], end["detail"].get("failure_class")) == ("failed", "code_error"), end


def test_a_stop_ends_the_wait_and_a_new_submission_is_waited_for(box: Box, waiters: Waiters) -> None:
    submit(box)
    begun(box, 1)
    waiter = waiters.start("wait", "here:digits", *LIMIT)
    armed(waiters)
    assert box.onbox("stop").returncode == 0
    assert waiters.end(waiter)["outcome"] == "stopped"
    assert box.onbox("resume", "-d").returncode == 0
    again = waiters.start("wait", "here:digits", *LIMIT)
    begun(box, 2)
    assert again.poll() is None
    (box.project / "go").touch()
    assert waiters.end(again)["outcome"] == "landed"


@also_by_a_shell
def test_a_job_that_is_killed_at_once_leaves_no_record_and_is_told(
    box: Box, waiters: Waiters, cluster: SlurmCluster
) -> None:
    submit(box, WAITS)
    begun(box, 1)
    waiter = waiters.start("wait", "here:digits", *LIMIT)
    armed(waiters)
    cluster.run("scancel", "--signal=KILL", "--full", box.job_id())
    end = waiters.end(waiter)
    assert (end["outcome"], end["detail"]["rule"]) in {
        ("failed", "ended_on_engine"),
        ("stopped", "ended_on_engine"),
    }, end
    assert f"job {box.job_id()}" in end["say"]


@takes_long
def test_a_hard_time_limit_is_told(box: Box, waiters: Waiters, cluster: SlurmCluster) -> None:
    """Slurm looks for jobs that are over their limit every half a minute."""
    submit(box, slurm='sbatch = { mem = "100M", requeue = false }\nlead = "0s"')
    begun(box, 1)
    waiter = waiters.start("wait", "here:digits", "--json", "--timeout", "100s")
    armed(waiters)
    cluster.run("scontrol", "update", f"JobId={box.job_id()}", "EndTime=now")
    end = waiters.end(waiter, 110)
    assert (end["outcome"], end["detail"].get("failure_class")) == ("stopped", "time_limit"), json.dumps(end)
    assert "TIMEOUT" in end["say"], end


@takes_long
def test_a_controller_that_is_away_ends_nothing(box: Box, waiters: Waiters, cluster: SlurmCluster) -> None:
    cluster.run("scontrol", "update", "PartitionName=main", "State=DOWN")
    submit(box)
    pid = cluster.pid_of("slurmctld")
    os.kill(pid, signal.SIGSTOP)
    try:
        end = waiters.end(waiters.start("wait", "here:digits", "--json", "--timeout", "60s"), 150)
        assert end["outcome"] == "timed-out", end
        assert "could not look" in json.dumps(end), end
    finally:
        os.kill(pid, signal.SIGCONT)
        cluster.run("scontrol", "update", "PartitionName=main", "State=UP")


def test_a_held_job_is_shown_and_ends_nothing(box: Box, waiters: Waiters, cluster: SlurmCluster) -> None:
    cluster.run("scontrol", "update", "PartitionName=main", "State=DOWN")
    try:
        submit(box)
        cluster.run("scontrol", "hold", box.job_id())
        end = waiters.end(waiters.start("wait", "here:digits", "--json", "--timeout", "8s"))
        assert end["outcome"] == "timed-out"
        assert "held" in json.dumps(end), end
    finally:
        cluster.run("scontrol", "update", "PartitionName=main", "State=UP")
        cluster.run("scontrol", "release", box.job_id())


def test_short_looks_ask_the_engine_too(box: Box, waiters: Waiters) -> None:
    submit(box)
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    end = waiters.end(waiters.start("wait", "here:digits", *LIMIT, "--interval", "1s"))
    assert (end["outcome"], end["detail"]["rule"]) == ("landed", "landed")


@pytest.mark.alone
def test_a_marker_beside_an_oom_kill_does_not_land(box: Box, tmp_path: Path) -> None:
    try:
        cluster = SlurmCluster(cgroup=True)
    except (AssertionError, OSError) as error:
        pytest.skip(f"no Slurm with cgroups here: {error}")
    waiters = Waiters(box.project)
    waiters.env |= {"XDG_STATE_HOME": str(tmp_path / "state"), "SLURM_CONF": str(cluster.conf)}
    waiters.env["PATH"] = cluster.env["PATH"]
    try:
        box.env |= {"SLURM_CONF": str(cluster.conf), "PATH": cluster.env["PATH"]}
        submit(box, "echo begins >>ran; python3 -c 'x = bytearray(400 << 20)' || true")
        end = waiters.end(waiters.start("wait", "here:digits", *LIMIT))
        assert (end["outcome"], end["detail"]["failure_class"]) == ("failed", "host_oom"), end
        assert "OUT_OF_MEMORY" in end["say"]
    finally:
        waiters.close()
        cluster.close()
