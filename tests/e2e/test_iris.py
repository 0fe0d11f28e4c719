"""A chain on a real Iris controller with one local worker. Behind `scripts/test --engines`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.box import Box, wait_until

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


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a controller of our own."""
    assert IRIS is not None
    folder = tmp_path_factory.mktemp("iris")
    (folder / "local.yaml").write_text(CONFIG)
    log = folder / "start.log"
    with log.open("wb") as file:
        started = subprocess.Popen(
            ["timeout", "-k", "10", "900", IRIS, "--config", "local.yaml", "cluster", "start", "--local"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
    pattern = r"Controller started at (http://[0-9.:]+)"
    wait_until(lambda: re.search(pattern, log.read_text()), "the controller to answer", 60)
    found = re.search(pattern, log.read_text())
    assert found is not None
    yield found[1]
    started.terminate()
    started.wait(60)


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
