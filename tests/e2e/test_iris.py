"""A chain on a real Iris controller with one local worker. Behind `scripts/test --engines`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.box import Box, wait_until
from tests.ports import free_port
from tests.sshd import Sshd, need_sshd

if TYPE_CHECKING:
    from collections.abc import Iterator

IRIS = os.environ.get("ONBOX_TEST_IRIS")
pytestmark = pytest.mark.skipif(IRIS is None, reason="needs a real Iris: scripts/test --engines")

CONFIG = """\
platform: {local: }
controller: {local: {port: 0}}
worker_provider: {}
scale_groups:
  cpu:
    num_vms: 1
    resources: {cpu: 2, ram: 8GB, disk: 20GB, device_type: cpu, device_variant: cpu, capacity_type: on-demand}
    buffer_slices: 0
    max_slices: 1
    slice_template: {num_vms: 1, local: }
"""


class Controller:
    """One of our own, with one local worker, at `url`."""

    def __init__(self, folder: Path) -> None:
        assert IRIS is not None
        (folder / "local.yaml").write_text(CONFIG)
        log = folder / "start.log"
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                ["timeout", "-k", "10", "900", IRIS, "--config", "local.yaml", "cluster", "start", "--local"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        pattern = r"Controller started at (http://[0-9.:]+)"
        wait_until(lambda: re.search(pattern, log.read_text()), "the controller to answer", 120)
        found = re.search(pattern, log.read_text())
        assert found is not None
        self.url = found[1]

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(60)


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a controller of our own."""
    made = Controller(tmp_path_factory.mktemp("iris"))
    yield made.url
    made.close()


@pytest.fixture
def python() -> Iterator[str]:
    """This interpreter by a path outside /tmp: a local worker takes paths below /tmp for its own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        link = Path(folder) / "prefix"
        link.symlink_to(sys.prefix)
        yield str(link / "bin" / "python")


def configure(box: Box, controller: str, python: str, train: str) -> None:
    (box.project / "onbox.toml").write_text(
        '[run]\nname = "digits"\nbackend = "iris"\n'
        f'[iris]\ncontroller = "{controller}"\ncommand = "{IRIS}"\nonbox = "{python} -m onbox"\n'
        f'args = ["-e", "PYTHONPATH", "{box.env["PYTHONPATH"]}"]\n'
        f"[stages.train]\ncmd = '''{train}'''\n"
    )


def test_submit_follow_done(box: Box, controller: str, python: str) -> None:
    configure(box, controller, python, "echo trained")
    done = box.onbox("chain", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    status = box.status()
    assert (status["state"], status["jobs"][0]["native_state"]) == ("done", "SUCCEEDED")
    assert "chain        done" in box.onbox("logs", "--job").stdout


def test_a_failure_is_told_with_the_tasks_exit_code(box: Box, controller: str, python: str) -> None:
    configure(box, controller, python, "exit 3")
    assert box.onbox("chain", timeout=120).returncode == 1
    job = box.status()["jobs"][0]
    assert (job["native_state"], job["exit_code"]) == ("FAILED", 1)


def test_stop_and_resume_under_a_new_id(box: Box, controller: str, python: str) -> None:
    configure(box, controller, python, "sleep 20")
    assert box.onbox("chain", "-d").returncode == 0
    wait_until(lambda: box.status()["state"] == "running", "the job to run", 60)
    assert "at work already" in box.onbox("resume", "-d").stdout
    assert box.onbox("stop").returncode == 0
    assert box.status()["state"] == "stopped"
    assert box.onbox("resume", "-d").returncode == 0
    assert len({event["job_id"] for event in box.events("job_submitted")}) == 2
    box.onbox("stop")


def test_a_controller_that_is_gone_is_could_not_look(box: Box, controller: str, python: str) -> None:
    configure(box, controller, python, "sleep 5")
    assert box.onbox("chain", "-d").returncode == 0
    manifest = box.state / "run.json"
    manifest.write_text(manifest.read_text().replace(controller, "http://127.0.0.1:9"))
    status = box.status()
    assert status["state"] == "unknown"
    assert "connection refused" in status["jobs"][0]["unknown"]
    assert box.onbox("resume", "-d").returncode == 69


# -- from outside: patrol and sentinel


def command(box: Box, package: str, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**box.env, "XDG_STATE_HOME": str(box.project.parent / "patrol-state")}
    return subprocess.run(
        [sys.executable, "-m", package, *words], cwd=box.project, env=env, capture_output=True, text=True, timeout=150,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def ticked(box: Box, name: str) -> dict[str, Any]:
    names = [one for one in ("here", "iris") if f"[boxes.{one}]" in (box.project / "onbox.toml").read_text()]
    done = command(box, "patrol", "tick", "--json", *names)
    assert done.stdout, done.stderr
    found: dict[str, Any] = next(one for one in json.loads(done.stdout)["runs"] if one["run"] in (name, None, ""))
    return found


def wait_for_rule(box: Box, name: str, *rules: str) -> dict[str, Any]:
    said: dict[str, Any] = {}

    def fits() -> bool:
        said.clear()
        said.update(ticked(box, name))
        return said["rule"] in rules

    wait_until(fits, f"one of {rules}, not {said.get('rule')}", 120)
    return said


def waited(box: Box, *words: str) -> tuple[int, dict[str, Any]]:
    done = command(box, "sentinels", "wait", "--json", "--interval", "1s", *words)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def submit(box: Box, url: str, name: str, script: str, *options: str) -> str:
    assert IRIS is not None
    place = box.project / "workspace"
    place.mkdir(exist_ok=True)
    words = [IRIS, "--controller-url", url, "job", "run", "--no-wait", "--job-name", name, *options, "--", "sh", "-c"]
    done = subprocess.run([*words, script], cwd=place, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def cluster(box: Box, url: str, *jobs: str) -> None:
    watch = ", ".join(f'{{ job = "{job}" }}' for job in jobs)
    (box.project / "onbox.toml").write_text(f'[boxes.iris]\nbackend = "iris"\naddress = "{url}"\nwatch = [{watch}]\n')


def test_a_run_that_was_handed_over_is_judged_by_the_controllers_word(box: Box, controller: str, python: str) -> None:
    """Its disk is another one: what is known of it here is Iris's word and log."""
    configure(box, controller, python, "for i in 1 2 3 4 5 6; do echo step $i/6 loss 0.5; sleep 1; done")
    path = box.project / "onbox.toml"
    path.write_text(f'{path.read_text()}[boxes.here]\nbackend = "local"\nproject = "{box.project}"\n')
    assert box.onbox("chain", "-d").returncode == 0
    first = ticked(box, "digits")
    assert first["state"] in ("pending", "running"), first["line"]
    assert wait_for_rule(box, "digits", "healthy", "just-started", "unconfirmed")["state"] == "running"
    code, data = waited(box, "here:digits", "--timeout", "90s")
    assert (code, data["outcome"]) == (0, "landed"), data
    done = wait_for_rule(box, "digits", "done")
    assert "iris says SUCCEEDED" in done["say"]


def test_jobs_of_a_cluster(box: Box, controller: str) -> None:
    moves = submit(box, controller, "moves", "for i in $(seq 50); do echo step $i/50 loss 0.5; sleep 1; done")
    fails = submit(box, controller, "fails", "python3 -c 'raise KeyError(1)'")
    killed = submit(box, controller, "killed", "kill -9 $$")
    waits = submit(box, controller, "waits", "true", "--cpu", "64")
    cluster(box, controller, moves, fails, killed, waits)
    assert wait_for_rule(box, "moves", "healthy", "just-started")["state"] == "running"
    assert "KeyError" in json.dumps(wait_for_rule(box, "fails", "failed-on-engine"))
    assert wait_for_rule(box, "killed", "failed-on-engine")["state"] == "failed"
    pending = wait_for_rule(box, "waits", "capacity-wait")
    assert "Insufficient CPU" in pending["say"] or "Unsatisfied" in pending["say"]
    assert waited(box, "iris:moves", "--timeout", "90s")[0] == 0
    code, data = waited(box, "iris:fails", "--timeout", "90s")
    assert (code, data["detail"]["failure_class"]) == (1, "code_error")
    assert waited(box, "iris:waits", "--timeout", "3s")[0] == 124
    stop = subprocess.run([str(IRIS), "--controller-url", controller, "job", "stop", waits], check=False, timeout=60)
    assert stop.returncode == 0
    assert waited(box, "iris:waits", "--timeout", "60s")[1]["outcome"] == "stopped"


def test_a_tunnel_that_is_down_is_told_from_a_controller_that_is(box: Box, tmp_path: Path) -> None:
    need_sshd()
    controller = Controller(tmp_path)
    sshd = Sshd(tmp_path / "ssh")
    port = free_port()
    there = controller.url.removeprefix("http://")
    words = [*sshd.ssh(), "-N", "-o", "ExitOnForwardFailure=yes", "-L", f"127.0.0.1:{port}:{there}", "gpu1"]
    tunnel = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        job = submit(box, controller.url, "lives", "sleep 60")
        cluster(box, f"http://127.0.0.1:{port}", job)
        assert wait_for_rule(box, "lives", "unconfirmed", "just-started", "healthy")["state"] == "running"
        controller.close()
        said = ticked(box, "lives")
        assert (said["rule"], said["state"]) == ("unreachable", "unknown")
        assert "engine_down: " in said["say"], said["line"]
        assert "the tunnel is up" in said["say"]
        tunnel.terminate()
        tunnel.wait(10)
        said = ticked(box, "lives")
        assert "tunnel: " in said["say"], said["line"]
        code, data = waited(box, "iris:lives", "--timeout", "3s")
        assert (code, data["outcome"]) == (69, "unreachable")
    finally:
        for process in (tunnel, controller.process):
            if process.poll() is None:
                process.terminate()
                process.wait(60)
        sshd.close()
