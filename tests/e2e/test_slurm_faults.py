"""What a cluster and its people do to a chain: answers that are lost, banners, limits, holds, cancels, other users."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.box import ONBOX, REPOSITORY, Box, wait_until
from tests.e2e.test_slurm import configure, states, wait_for_ran
from tests.slurm_cluster import SlurmCluster, takes_long, why_not

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")


@pytest.fixture
def slurm_box(box: Box, cluster: SlurmCluster) -> Iterator[Box]:
    box.env |= {"SLURM_CONF": str(cluster.conf), "PATH": f"{cluster.env['PATH']}"}
    yield box
    cluster.run("scontrol", "update", "PartitionName=main", "State=UP")
    cluster.run("scancel", "-u", "root")


@pytest.fixture
def folder_for_all() -> Iterator[Path]:
    """Where other users may go, too; pytest's own folders are closed to them."""
    with tempfile.TemporaryDirectory(prefix="onbox-user-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def put_tool(box: Box, cluster: SlurmCluster, name: str, body: str) -> None:
    """A site's wrapper around a command of Slurm; `real` in its body is the command itself."""
    tools = box.project / "tools"
    tools.mkdir(exist_ok=True)
    real = shutil.which(name, path=cluster.env["PATH"])
    (tools / name).write_text(f'#!/bin/sh\nreal() {{ {real} "$@"; }}\n{body}\n')
    (tools / name).chmod(0o755)
    box.env["PATH"] = f"{tools}:{cluster.env['PATH']}"


def put_stages(box: Box, count: int, name: str = "stage{}") -> list[str]:
    names = [name.format(number) for number in range(count)]
    text = '[run]\nname = "digits"\nbackend = "slurm"\n[slurm]\nsbatch = { mem = "20M" }\n'
    text += "".join(
        f"[stages.{json.dumps(one)}]\ncmd = {json.dumps('echo ' + str(at) + ' >>ran')}\n"
        for at, one in enumerate(names)
    )
    (box.project / "onbox.toml").write_text(text)
    return names


LOST = """\
real "$@" >/dev/null
echo "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation" >&2
exit 1
"""
BANNERS = """\
echo "=== Welcome to the cluster ==="
echo "sbatch: lua: your account has 500 hours left" >&2
real "$@"; code=$?
echo "Job accepted by the site's plugin"
echo "see https://hpc.example/docs" >&2
exit $code
"""


def test_banners_of_the_site_on_every_command(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    for name in ("sbatch", "squeue", "scontrol", "scancel"):
        put_tool(slurm_box, cluster, name, BANNERS)
    submitted = slurm_box.onbox("chain", "-d")
    assert submitted.returncode == 0, submitted.stderr
    wait_for_ran(slurm_box, "resume=0")
    assert [job["native_state"] for job in slurm_box.status()["jobs"]] == ["RUNNING", "PENDING"]
    (slurm_box.project / "go").touch()
    done = slurm_box.onbox("chain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert slurm_box.ran == ["resume=0", "eval"]
    assert slurm_box.onbox("stop").returncode in (0, 3)


def test_an_answer_that_is_lost_is_found_again(slurm_box: Box, cluster: SlurmCluster) -> None:
    """The controller took the job, and the answer never came: submitted once, and the chain goes on behind it."""
    configure(slurm_box)
    (slurm_box.project / "go").touch()
    put_tool(slurm_box, cluster, "sbatch", LOST)
    done = slurm_box.onbox("chain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert slurm_box.ran == ["resume=0", "eval"]


def test_a_limit_that_takes_only_a_part_takes_nothing(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    limit = (
        'case "$*" in *dependency*)\n'
        'echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2\n'
        'echo "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit)" >&2\n'
        'exit 1;; esac\nreal "$@"'
    )
    cluster.run("scontrol", "update", "PartitionName=main", "State=DOWN")
    put_tool(slurm_box, cluster, "sbatch", limit)
    refused = slurm_box.onbox("chain", "-d")
    assert refused.returncode == 69
    assert "QOSMaxSubmitJobPerUserLimit" in refused.stderr
    wait_until(lambda: not cluster.run("squeue", "-h").stdout, "the queue to be empty")
    shutil.rmtree(slurm_box.project / "tools")
    cluster.run("scontrol", "update", "PartitionName=main", "State=UP")
    (slurm_box.project / "go").touch()
    assert slurm_box.onbox("chain").returncode == 0


def test_a_held_job_is_told_and_goes_on_when_released(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    cluster.run("scontrol", "update", "PartitionName=main", "State=DOWN")
    slurm_box.onbox("chain", "-d")
    assert "PartitionDown" in slurm_box.onbox("status").stdout
    cluster.run("scontrol", "hold", slurm_box.job_id("train"))
    cluster.run("scontrol", "update", "PartitionName=main", "State=UP")
    wait_until(lambda: "held" in slurm_box.onbox("status").stdout, "the hold to be told")
    cluster.run("scontrol", "release", slurm_box.job_id("train"))
    (slurm_box.project / "go").touch()
    assert slurm_box.onbox("chain").returncode == 0


def test_a_stage_in_the_middle_that_is_cancelled(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    with (slurm_box.project / "onbox.toml").open("a") as file:
        file.write('[stages.report]\ncmd = "echo report >> ran"\n')
    slurm_box.onbox("chain", "-d")
    wait_for_ran(slurm_box, "resume=0")
    cluster.run("scancel", slurm_box.job_id("eval"))
    wait_until(lambda: states(slurm_box)["eval"] == "interrupted", "the cancel to be told")
    (slurm_box.project / "go").touch()
    wait_until(lambda: states(slurm_box)["train"] == "done", "the first stage to end")
    done = slurm_box.onbox("resume")
    assert done.returncode == 0, done.stdout + done.stderr
    assert slurm_box.ran == ["resume=0", "eval", "report"]


def test_a_stage_that_is_cancelled_while_it_waits_alone(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    cluster.run("scontrol", "update", "PartitionName=main", "State=DOWN")
    slurm_box.onbox("chain", "-d")
    cluster.run("scancel", slurm_box.job_id("train"))
    wait_until(lambda: states(slurm_box) == {"train": "interrupted", "eval": "pending"}, "the cancel to be told")
    cluster.run("scontrol", "update", "PartitionName=main", "State=UP")
    (slurm_box.project / "go").touch()
    done = slurm_box.onbox("resume")
    assert done.returncode == 0, done.stdout + done.stderr
    assert slurm_box.ran == ["resume=0", "eval"]


def test_a_path_with_spaces_percents_and_umlauts(tmp_path: Path, cluster: SlurmCluster) -> None:
    project = tmp_path / "mein 'Projekt' 100%j ü $(x)"
    project.mkdir()
    box = Box(project)
    box.env |= {"SLURM_CONF": str(cluster.conf), "PATH": f"{cluster.env['PATH']}"}
    configure(box)
    (project / "go").touch()
    done = box.onbox("chain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert box.ran == ["resume=0", "eval"]
    assert "attempt 1" in box.onbox("logs", "train", "--job").stdout


def test_a_path_that_slurm_cannot_write_to_is_refused(tmp_path: Path, cluster: SlurmCluster) -> None:
    """In a file name with a backslash Slurm fills in no job id (sbatch(1), "filename pattern")."""
    project = tmp_path / "a\\b"
    project.mkdir()
    box = Box(project)
    box.env |= {"SLURM_CONF": str(cluster.conf), "PATH": f"{cluster.env['PATH']}"}
    configure(box)
    refused = box.onbox("chain", "-d")
    assert refused.returncode == 69
    assert "state_dir" in refused.stderr


@takes_long
def test_thirty_stages(slurm_box: Box) -> None:
    put_stages(slurm_box, 30)
    done = slurm_box.onbox("chain", timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert slurm_box.ran == [str(number) for number in range(30)]


def test_a_long_name_is_found_by_its_name(slurm_box: Box, cluster: SlurmCluster) -> None:
    (name,) = put_stages(slurm_box, 1, "s" * 60 + "{}")
    put_tool(slurm_box, cluster, "sbatch", LOST)
    done = slurm_box.onbox("chain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert name in slurm_box.events("job_submitted")[0]["name"]


def test_from_inside_a_job(slurm_box: Box, cluster: SlurmCluster) -> None:
    """What the outer job was given is not what the stages get, and their own srun works."""
    configure(slurm_box, train="env | grep ^SLURM_ | sort >inner; srun --overlap true; echo x >best.npz; echo t >>ran")
    outer = ["sbatch", "--parsable", "--wait", "--mem-per-cpu=30M", "--ntasks=1", "-o", f"{slurm_box.project}/outer"]
    words = " ".join(ONBOX)
    line = f"cd {slurm_box.project}; export SLURM_STEP_GRES=gpu:9 SLURM_TRES_PER_TASK=cpu:7; {words} chain -d"
    done = subprocess.run(
        [*outer, "--wrap", line], env=slurm_box.env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, (slurm_box.project / "outer").read_text()
    finished = slurm_box.onbox("chain")
    inner = dict(row.split("=", 1) for row in (slurm_box.project / "inner").read_text().splitlines())
    assert finished.returncode == 0, finished.stdout + finished.stderr + slurm_box.onbox("logs", "train").stdout
    assert inner["SLURM_JOB_ID"] == slurm_box.job_id("train")
    assert inner["SLURM_MEM_PER_NODE"] == "100"
    assert not {"SLURM_MEM_PER_CPU", "SLURM_STEP_GRES", "SLURM_TRES_PER_TASK", "SLURM_NTASKS"} & inner.keys(), inner


def test_variables_of_sbatch_in_the_users_shell(slurm_box: Box) -> None:
    """Defaults of the user's own count; what would make a submission another one does not."""
    configure(slurm_box)
    (slurm_box.project / "go").touch()
    taste = {"SBATCH_WAIT": "1", "SBATCH_ARRAY_INX": "0-3", "SBATCH_JOB_NAME": "mine", "SBATCH_PARTITION": "high"}
    taste |= {
        "SBATCH_OUTPUT": "/nowhere/%j",
        "SBATCH_ERROR": "/nowhere/%j",
        "SBATCH_OPEN_MODE": "t",
        "SBATCH_DEBUG": "1",
    }
    taste |= {"SQUEUE_USERS": "nobody", "SQUEUE_STATES": "PD", "SQUEUE_FORMAT": "%i", "SLURM_TIME_FORMAT": "relative"}
    slurm_box.env |= taste
    done = slurm_box.onbox("chain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert slurm_box.ran == ["resume=0", "eval"]


def test_a_user_who_is_nobody_special(folder_for_all: Path, cluster: SlurmCluster) -> None:
    user = pwd.getpwnam("nobody")
    project = folder_for_all / "theirs"
    project.mkdir()
    os.chown(project, user.pw_uid, user.pw_gid)
    box = Box(project)
    box.env |= {"SLURM_CONF": str(cluster.conf), "PATH": cluster.env["PATH"], "HOME": str(project), "USER": "nobody"}
    configure(box)
    box.env["PYTHONPATH"] = str(REPOSITORY)
    as_user: dict[str, Any] = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def onbox(*words: str) -> subprocess.CompletedProcess[str]:
        argv = ["/usr/bin/python3", "-m", "onbox", *words]
        return subprocess.run(
            argv, env=box.env, cwd=project, capture_output=True, text=True, timeout=120, check=False, **as_user
        )

    if onbox("--version").returncode != 0:
        pytest.skip("no python here that another user may run onbox with")
    started = onbox("chain", "-d")
    assert started.returncode == 0, started.stdout + started.stderr
    wait_for_ran(box, "resume=0")
    assert onbox("stop").returncode == 0
    (project / "go").touch()
    resumed = onbox("resume")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert box.ran == ["resume=0", "resume=1", "eval"]
    assert (project / "best.npz").stat().st_uid == user.pw_uid


def test_check_asks_the_real_controller(slurm_box: Box, cluster: SlurmCluster) -> None:
    configure(slurm_box)
    text = (slurm_box.project / "onbox.toml").read_text()
    (slurm_box.project / "onbox.toml").write_text(
        text + 'sbatch = { gres = "gpu:9" }\n[stages.big]\ncmd = "true"\nsbatch = { mem = "9T" }\n'
    )
    cluster.run("scontrol", "update", "PartitionName=main", "State=DOWN")
    before = len(cluster.jobs())
    results = {one["check"]: one for one in json.loads(slurm_box.onbox("check", "--json").stdout)["results"]}
    assert "22.05" in results["slurm"]["seen"] or "slurm" in results["slurm"]["seen"]
    verdicts = {
        check: one["verdict"]
        for check, one in results.items()
        if check.startswith(("sbatch", "partition", "controller", "shared"))
    }
    assert verdicts == {
        "controller": "PASS",
        "sbatch train": "PASS",
        "sbatch eval": "FAIL",
        "sbatch big": "FAIL",
        "partition main": "WARN",
        "shared disk": "PASS",
    }
    assert "gres" in results["sbatch eval"]["seen"]
    assert len(cluster.jobs()) == before
