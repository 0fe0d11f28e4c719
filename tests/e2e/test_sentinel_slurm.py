"""Waiting for a run that is with a real Slurm: between its jobs, and in the queue, no process of it is anywhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.box import wait_until
from tests.e2e.test_sentinel_runs import LIMIT, armed
from tests.sentinels.waiter import Waiters
from tests.slurm_cluster import SlurmCluster, why_not

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")

WAITS = "echo begins >>ran; until test -e go; do sleep 0.02; done"


@pytest.fixture(scope="module")
def cluster() -> Iterator[SlurmCluster]:
    made = SlurmCluster()
    yield made
    made.close()


@pytest.fixture(params=["python", "sh"])
def waiters(request: pytest.FixtureRequest, tmp_path: Path, box: Box, cluster: SlurmCluster) -> Iterator[Waiters]:
    box.env |= {"SLURM_CONF": str(cluster.conf), "PATH": cluster.env["PATH"]}
    made = Waiters(box.project, engine=request.param)
    made.env["XDG_STATE_HOME"] = str(tmp_path / "state")
    yield made
    made.close()
    cluster.run("scancel", "-u", "root")


def submit(box: Box, train: str = WAITS) -> None:
    (box.project / "onbox.toml").write_text(
        '[run]\nname = "digits"\nbackend = "slurm"\ngrace = "5s"\n[slurm]\nsbatch = { mem = "100M", requeue = true }\n'
        f'[stages.train]\ncmd = {json.dumps(train)}\n[stages.eval]\ncmd = "true"\n'
        f'[boxes.here]\nbackend = "local"\nproject = "{box.project}"\n'
    )
    assert box.onbox("chain", "-d").returncode == 0


def begun(box: Box, times: int) -> None:
    path = box.project / "ran"
    wait_until(lambda: path.exists() and len(path.read_text().split()) >= times, f"the stage to begin {times} times")


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
    assert (end["outcome"], end["detail"]["failure_class"]) == ("failed", "code_error")


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
