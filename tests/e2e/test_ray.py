"""A chain on a real Ray, by the REST interface of its dashboard: submit, look, stop, resume, a head that is restarted.

Behind `scripts/test --engines`. The head runs in a network namespace of its own: it listens on every address.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.box import ONBOX, Box, wait_until
from tests.slurm_cluster import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator
RAY = os.environ.get("ONBOX_TEST_RAY")
TOKEN = "test-token-0123456789abcdef"

pytestmark = pytest.mark.skipif(
    RAY is None or os.geteuid() != 0 or shutil.which("unshare") is None,
    reason="needs a real Ray: scripts/test --engines, as root",
)


class Head:
    """One head; `run` runs a program beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.gcs_port, self.port = free_ports(2)  # Ray looks for heads of the same port in the whole process table
        self.env = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}
        self.space = subprocess.Popen(
            ["unshare", "-n", "sh", "-c", "ip link set lo up; exec sleep 900"], stdin=subprocess.DEVNULL
        )
        self.head: subprocess.Popen[bytes] | None = None
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        assert RAY is not None
        words = ["start", "--head", "--block", "--node-ip-address=127.0.0.1", f"--port={self.gcs_port}"]
        words += ["--dashboard-host=127.0.0.1", f"--dashboard-port={self.port}", "--num-cpus=2"]
        words += ["--object-store-memory=100000000", f"--temp-dir={self.folder}", "--disable-usage-stats"]
        log = (self.folder.parent / "head.log").open("ab")
        self.head = subprocess.Popen(
            self.inside(["timeout", "-k", "10", "900", RAY, *words]),
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        log.close()
        ask = f"import urllib.request as u; u.urlopen(u.Request('http://127.0.0.1:{self.port}/api/version', headers="
        ask += f"{{'Authorization': 'Bearer {TOKEN}'}}), timeout=2)"
        try:
            wait_until(lambda: self.run(["python3", "-c", ask]).returncode == 0, "the head to answer", 120)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{(self.folder.parent / 'head.log').read_text()[-2000:]}") from error

    def inside(self, argv: list[str]) -> list[str]:
        return ["nsenter", "-t", str(self.space.pid), "-n", *argv]

    def run(self, argv: list[str], **settings: Any) -> subprocess.CompletedProcess[str]:
        settings.setdefault("env", self.env)
        words = self.inside(argv)
        return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, **settings)

    def stop(self) -> None:
        assert self.head is not None
        self.head.terminate()
        self.head.wait(60)

    def close(self) -> None:
        self.stop()
        self.space.kill()
        self.space.wait()


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:  # short: it holds sockets
        made = Head(Path(folder) / "tmp")
        yield made
        made.close()


def configure(head: Head, box: Box) -> None:
    (box.project / "token").write_text(TOKEN)
    (box.project / "onbox.toml").write_text(
        '[run]\nname = "digits"\nbackend = "ray"\ngrace = "20s"\n'
        f'[ray]\naddress = "http://127.0.0.1:{head.port}"\ntoken = "file:{box.project}/token"\ncpus = 1\n'
        "[stages.train]\ncmd = '''echo resume=$ONBOX_RESUME >> ran; trap \"sleep 5; echo saved >> ran; exit 9\" TERM; "
        "until test -e go; do sleep 0.05; done; echo x > best.npz'''\n"
        'artifacts = ["best.npz"]\n[stages.eval]\ncmd = "echo eval >> ran"\n'
    )


def onbox(head: Head, box: Box, *words: str) -> subprocess.CompletedProcess[str]:
    return head.run([*ONBOX, *words], env=box.env, cwd=box.project)


def ran(box: Box) -> list[str]:
    path = box.project / "ran"
    return path.read_text().split() if path.exists() else []


def test_submit_stop_with_grace_resume(box: Box, head: Head) -> None:
    configure(head, box)
    assert onbox(head, box, "chain", "-d").returncode == 0
    wait_until(lambda: ran(box) == ["resume=0"], "the stage to begin", 60)
    assert "RUNNING" in onbox(head, box, "status").stdout
    assert "at work already" in onbox(head, box, "resume", "-d").stdout
    assert onbox(head, box, "stop").returncode == 0
    assert ran(box) == ["resume=0", "saved"]
    assert "STOPPED" in onbox(head, box, "status").stdout
    (box.project / "go").touch()
    resumed = onbox(head, box, "resume")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert ran(box) == ["resume=0", "saved", "resume=1", "eval"]
    assert box.markers == ["CHAIN_DONE", "eval_DONE", "train_DONE"]
    assert len({event["job_id"] for event in box.events("job_submitted")}) == 2
    assert "attempt 2, resuming" in onbox(head, box, "logs", "--job").stdout


def test_a_failure_is_a_failure(box: Box, head: Head) -> None:
    configure(head, box)
    failed = onbox(head, box, "chain", "train=exit 3")
    assert failed.returncode == 1
    assert "FAILED" in onbox(head, box, "status").stdout


def test_a_wrong_token_is_could_not_look(box: Box, head: Head) -> None:
    configure(head, box)
    (box.project / "token").write_text("wrong")
    refused = onbox(head, box, "chain", "-d")
    assert refused.returncode == 69
    assert "token" in refused.stderr
    assert TOKEN not in refused.stderr


def test_a_restarted_head_has_lost_the_job_and_nothing_runs_twice(box: Box, head: Head) -> None:
    configure(head, box)
    onbox(head, box, "chain", "-d")
    wait_until(lambda: ran(box) == ["resume=0"], "the stage to begin", 60)
    head.stop()
    down = onbox(head, box, "status")
    assert "UNKNOWN" in down.stdout
    assert "could not look" in down.stdout
    head.start()
    assert "its processes may live on" in onbox(head, box, "status").stdout
    onbox(head, box, "resume", "-d")
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    assert ran(box) == ["resume=0", "eval"]
