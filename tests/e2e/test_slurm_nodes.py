"""More than one node: a real NODE_FAIL, what it leaves alive, and the requeue after it.

Each node is a slurmd of its own on this machine, so that what a lost node goes on doing is there to be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.box import wait_until
from tests.e2e.test_slurm import configure, states, wait_for_ran
from tests.sentinels.waiter import Waiters
from tests.slurm_cluster import SlurmCluster, takes_long, why_not

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box

pytestmark = [takes_long, pytest.mark.skipif(why_not() is not None, reason=why_not() or "")]

LOST_SECONDS = 60  # until a node that was killed is told as down


@pytest.fixture
def cluster() -> Iterator[SlurmCluster]:
    made = SlurmCluster(nodes=2, node_timeout_seconds=5)
    yield made
    made.close()


@pytest.fixture
def slurm_box(box: Box, cluster: SlurmCluster) -> Iterator[Box]:
    box.env |= {"SLURM_CONF": str(cluster.conf), "PATH": f"{cluster.env['PATH']}"}
    yield box
    box.end_everything()


def node_of(cluster: SlurmCluster, job: str) -> str:
    return cluster.run("squeue", "-h", "-j", job, "-o", "%N").stdout.strip()


def test_a_lost_node_is_told_and_its_living_stage_is_not_doubled(
    slurm_box: Box, cluster: SlurmCluster, tmp_path: Path
) -> None:
    configure(slurm_box, requeue=False)
    (slurm_box.project / "onbox.toml").write_text(
        (slurm_box.project / "onbox.toml").read_text()
        + f'[boxes.here]\nbackend = "local"\nproject = "{slurm_box.project}"\n'
    )
    slurm_box.onbox("chain", "-d")
    wait_for_ran(slurm_box, "resume=0")
    waiters = Waiters(slurm_box.project)
    waiters.env |= {"SLURM_CONF": str(cluster.conf), "PATH": cluster.env["PATH"]}
    waiters.env["XDG_STATE_HOME"] = str(tmp_path / "state")
    waiter = waiters.start("wait", "here:digits", "--json", "--timeout", "100s")
    cluster.kill_node(node_of(cluster, slurm_box.job_id("train")))
    try:
        end = waiters.end(waiter, 110)
        assert (end["outcome"], end["detail"]["failure_class"]) == ("stopped", "preempted"), end
        assert "NODE_FAIL" in end["say"]
    finally:
        waiters.close()
    job = slurm_box.status()["jobs"][0]
    assert (job["native_state"], job["failure_class"]) == ("NODE_FAIL", "preempted")
    again = slurm_box.onbox("resume", "-d")
    assert (again.returncode, len(slurm_box.events("job_submitted"))) == (0, 2), again.stdout + again.stderr
    assert "at work already" in again.stdout
    assert slurm_box.ran == ["resume=0"]
    (slurm_box.project / "go").touch()
    wait_until(lambda: states(slurm_box)["train"] == "done" or "train_DONE" in slurm_box.markers, "its stage to end")


def test_a_requeue_after_a_lost_node_waits_for_what_lives_there(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box, requeue=True)
    slurm_box.onbox("chain", "-d")
    wait_for_ran(slurm_box, "resume=0")
    job = slurm_box.job_id("train")
    node = node_of(cluster, job)
    cluster.kill_node(node)
    cluster.run("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=lost")
    wait_until(lambda: slurm_box.status()["jobs"][0]["restarts"] == 1, "the job to be requeued", LOST_SECONDS)
    wait_until(lambda: slurm_box.status()["jobs"][0]["native_state"] != "PENDING", "it to begin again", LOST_SECONDS)
    assert slurm_box.ran == ["resume=0"]
    (slurm_box.project / "go").touch()
    done = slurm_box.onbox("chain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert slurm_box.ran == ["resume=0", "eval"]
