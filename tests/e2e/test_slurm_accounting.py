"""A Slurm with accounting (a real slurmdbd and its database): ended jobs that the controller has forgotten."""

from __future__ import annotations

import json
import os
import shutil
import signal
from typing import TYPE_CHECKING

import pytest

from tests.box import wait_until
from tests.e2e.test_slurm import configure, states, wait_for_ran
from tests.slurm_cluster import SlurmCluster, takes_long, why_not

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.box import Box

pytestmark = [
    takes_long,
    pytest.mark.skipif(why_not(accounting=True) is not None, reason=why_not(accounting=True) or ""),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[SlurmCluster]:
    made = SlurmCluster(accounting=True)
    yield made
    made.close()


@pytest.fixture
def slurm_box(box: Box, cluster: SlurmCluster) -> Iterator[Box]:
    box.env |= {"SLURM_CONF": str(cluster.conf), **{name: cluster.env[name] for name in ("PATH", "MYSQL_UNIX_PORT")}}
    # There from the start on: `onbox resume` brings back the PATH of the start.
    (box.project / "tools").mkdir()
    box.env["PATH"] = f"{box.project}/tools:{box.env['PATH']}"
    yield box
    cluster.run("scancel", "-u", "root")


def forget(box: Box, cluster: SlurmCluster) -> None:
    """From now on the controller says of every job that it does not know it, as it does after MinJobAge."""
    tools = box.project / "tools"
    unknown = 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1'
    for name in ("squeue", "scontrol"):
        real = shutil.which(name, path=cluster.env["PATH"])
        text = f'#!/bin/sh\ncase "$*" in *" -j "* | "show job"*) {unknown};; esac\nexec {real} "$@"\n'
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)


def sacct_says(cluster: SlurmCluster, job: str, state: str) -> bool:
    return state in cluster.run("sacct", "-n", "-P", "-X", "-j", job, "-o", "State").stdout


def test_a_cancelled_job_is_told_after_it_was_forgotten(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    slurm_box.onbox("chain", "-d")
    wait_for_ran(slurm_box, "resume=0")
    train = slurm_box.job_id("train")
    cluster.run("scancel", "--signal=KILL", "--full", train)
    wait_until(lambda: sacct_says(cluster, train, "CANCELLED"), "the end to be on record")
    forget(slurm_box, cluster)
    assert states(slurm_box)["train"] == "interrupted"
    assert slurm_box.status()["jobs"][0]["native_state"] == "CANCELLED"
    (slurm_box.project / "go").touch()
    shutil.rmtree(slurm_box.project / "tools")
    done = slurm_box.onbox("resume")
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_accounting_that_hangs_is_could_not_look(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    slurm_box.onbox("chain", "-d")
    wait_for_ran(slurm_box, "resume=0")
    train = slurm_box.job_id("train")
    cluster.run("scancel", "--signal=KILL", "--full", train)
    wait_until(lambda: sacct_says(cluster, train, "CANCELLED"), "the end to be on record")
    forget(slurm_box, cluster)
    pid = cluster.pid_of("slurmdbd")
    os.kill(pid, signal.SIGSTOP)
    try:
        assert slurm_box.status()["jobs"][0]["state"] is None
        refused = slurm_box.onbox("resume", "-d")
        assert (refused.returncode, "nothing was started" in refused.stderr) == (69, True)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert len(slurm_box.events("job_submitted")) == 2


def test_check_tells_of_the_accounting(slurm_box: Box) -> None:
    configure(slurm_box)
    results = {one["check"]: one for one in json.loads(slurm_box.onbox("check", "--json").stdout)["results"]}
    assert results["accounting"]["seen"] == "ended jobs are on record"
