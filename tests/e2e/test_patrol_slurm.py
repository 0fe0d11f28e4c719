"""A patrol over one ssh connection to the login node of a real Slurm: what it says of a run that is with the engine."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.box import wait_until
from tests.patrolled import Patrolled
from tests.slurm_cluster import SlurmCluster, why_not
from tests.sshd import Sshd, need_sshd

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from tests.box import Box

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")

TRAIN = "until test -e go; do echo step 1/100 loss 0.5; sleep 0.05; done; echo x > best.npz"
NAME = "login/digits"


@pytest.fixture
def place(tmp_path: Path, cluster: SlurmCluster) -> Iterator[Patrolled]:
    """The login node: an sshd whose sessions find this cluster."""
    yield from at_login_node(tmp_path, cluster)
    cluster.run("scancel", "-u", "root")


def at_login_node(tmp_path: Path, cluster: SlurmCluster) -> Iterator[Patrolled]:
    need_sshd()
    sshd = Sshd(tmp_path / "ssh", shell=f"env SLURM_CONF={cluster.conf} PATH={cluster.env['PATH']} sh -c")
    made = Patrolled(tmp_path, sshd)
    box = made.add_box("login", 'backend = "slurm"')
    box.env |= {"SLURM_CONF": str(cluster.conf), "PATH": cluster.env["PATH"]}
    yield made
    made.end_everything()
    sshd.close()


def submit(place: Patrolled, train: str = TRAIN, **sbatch: object) -> Box:
    box = place.boxes["login"]
    options = ", ".join(f"{key} = {json.dumps(value)}" for key, value in {"mem": "100M", **sbatch}.items())
    (box.project / "onbox.toml").write_text(
        f'[run]\nname = "digits"\nbackend = "slurm"\ngrace = "5s"\n[slurm]\nsbatch = {{ {options} }}\n'
        f"[stages.train]\ncmd = {json.dumps(train)}\n"
        '[stages.eval]\ncmd = "true"\n'
    )
    done = box.onbox("chain", "-d")
    assert done.returncode == 0, done.stderr
    return box


def said_of(place: Patrolled) -> dict[str, Any]:
    """One tick, by one connection."""
    before = place.sshd.logins()
    said = place.tick()[NAME]
    assert place.sshd.logins() == before + 1
    return said


def wait_for(place: Patrolled, *rules: str) -> dict[str, Any]:
    said = said_of(place)

    def fits() -> bool:
        said.update(said_of(place))
        return said["rule"] in rules

    wait_until(fits, f"one of {rules}")
    return said


def test_waits_runs_and_is_done(place: Patrolled, cluster: SlurmCluster) -> None:
    cluster.run("scontrol", "update", "PartitionName=main", "State=DOWN")
    try:
        box = submit(place)
        waits = said_of(place)
        assert (waits["rule"], waits["state"]) == ("capacity-wait", "pending"), waits["line"]
        assert "PENDING" in waits["line"]
    finally:
        cluster.run("scontrol", "update", "PartitionName=main", "State=UP")
    box.wait_for_log("step 1/100")
    runs = wait_for(place, "healthy", "just-started")
    assert runs["state"] == "running"
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    done = wait_for(place, "done")
    assert done["state"] == "done"


def test_the_word_is_the_engines_where_no_process_is_visible(place: Patrolled, cluster: SlurmCluster) -> None:
    """The runner's lock is signed by another machine, and it is not held here."""
    box = submit(place)
    box.wait_for_log("step 1/100")
    lock = box.state / "lock"
    holder = json.loads(lock.read_text()) | {"host": "node-7", "pid": 2**22 - 1, "start_ticks": 1}
    lock.unlink()  # the runner holds the old one: nothing here knows of a lock
    lock.write_text(json.dumps(holder))
    for slot in (box.state / "markers").glob(".*.slot"):
        text = slot.read_text()
        slot.unlink()
        slot.write_text(text.replace("keeper ", "keeper 9"))
    assert said_of(place)["state"] == "running"
    cluster.run("scancel", "--signal=KILL", "--full", box.job_id())
    failed = wait_for(place, "failed-on-engine", "interrupted-by-engine", "failed")
    assert failed["state"] in ("failed", "interrupted")


def test_a_failed_stage_is_told_with_its_class(place: Patrolled) -> None:
    submit(place, "python3 -c 'raise KeyError(\"lr\")'").wait_for_marker("CHAIN_FAILED")
    said = said_of(place)
    assert (said["rule"], said["state"]) == ("failed", "failed"), said["line"]
    assert "code_error" in said["say"]


def test_a_requeued_job_waits_and_is_not_dead(place: Patrolled, cluster: SlurmCluster) -> None:
    box = submit(place, requeue=True)
    box.wait_for_log("step 1/100")
    cluster.run("scontrol", "requeuehold", box.job_id())
    said = wait_for(place, "held")
    assert said["state"] == "pending"
    cluster.run("scontrol", "release", box.job_id())
    (box.project / "go").touch()
    wait_for(place, "done")


def test_a_cancelled_job_is_interrupted_at_the_first_look(place: Patrolled, cluster: SlurmCluster) -> None:
    box = submit(place)
    box.wait_for_log("step 1/100")
    cluster.run("scancel", box.job_id())
    said = wait_for(place, "interrupted-by-engine")
    assert "CANCELLED" in said["line"]


def test_a_controller_that_hangs_is_could_not_look(place: Patrolled, cluster: SlurmCluster) -> None:
    box = submit(place)
    box.wait_for_log("step 1/100")
    box.kill_runner()
    pid = cluster.pid_of("slurmctld")
    os.kill(pid, signal.SIGSTOP)
    try:
        for _ in range(3):
            said = said_of(place)
            assert said["state"] in ("unknown", "running"), said["line"]
            assert said["rule"] in ("could-not-look", "runner-gone", "just-started"), said["line"]
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_job_that_slurm_has_forgotten(place: Patrolled, cluster: SlurmCluster) -> None:
    """The controller answers and knows nothing: with CHAIN_DONE it is done, without a marker nobody knows."""
    box = submit(place)
    box.wait_for_log("step 1/100")
    (box.project / "go").touch()
    wait_for(place, "done")
    journal = box.state / "events.jsonl"
    text = journal.read_text()
    for number, stage in enumerate(("train", "eval")):
        text = text.replace(f'"job_id":"{box.job_id(stage)}"', f'"job_id":"99999{number}"')
        text = text.replace(f'"after":["{box.job_id(stage)}"]', f'"after":["99999{number}"]')
    journal.write_text(text)
    assert said_of(place)["rule"] == "done"
    kept = [line for line in text.splitlines() if '"event":"job_' in line]
    journal.write_text("\n".join(kept) + "\n")
    for marker in (box.state / "markers").iterdir():
        marker.unlink()
    said = said_of(place)
    assert (said["rule"], said["state"]) == ("forgotten", "unknown"), said["line"]


def test_a_box_that_is_not_declared_with_slurm(place: Patrolled) -> None:
    """The run's own definition says that it is with Slurm: it is never dead for want of a process."""
    place.tables["login"] = place.tables["login"].replace('backend = "slurm"', "")
    place.write()
    box = submit(place)
    box.wait_for_log("step 1/100")
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    wait_until(lambda: said_of(place)["rule"] == "done", "it to be asked at the second look")


@pytest.mark.alone
def test_a_marker_beside_an_oom_kill_is_no_success(tmp_path: Path) -> None:
    try:
        cluster = SlurmCluster(cgroup=True)
    except (AssertionError, OSError) as error:
        pytest.skip(f"no Slurm with cgroups here: {error}")
    try:
        for place in at_login_node(tmp_path, cluster):
            box = submit(place, "python3 -c 'x = bytearray(400 << 20)' || true")
            box.wait_for_marker("train_DONE")
            said = wait_for(place, "failed-on-engine")
            assert said["state"] == "failed"
            assert "OUT_OF_MEMORY" in said["say"]
    finally:
        cluster.close()
