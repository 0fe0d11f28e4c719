"""A chain on a real Ray, by the REST interface of its dashboard: submit, look, stop, resume, a head that is restarted.

Behind `scripts/test --engines`. The head runs in a network namespace of its own: it listens on every address.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.box import ONBOX, Box, wait_until
from tests.ports import free_port

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
        self.gcs_port, self.port = (
            free_port(),
            free_port(),
        )  # Ray looks for heads of the same port in the whole process table
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

    def kill(self) -> None:
        """kill -9 of everything that `ray start` began; what runs as a job lives on."""
        for pid in self.pids():
            os.kill(pid, signal.SIGKILL)
        assert self.head is not None
        self.head.wait(60)

    def pids(self) -> list[int]:
        """Ray's own processes: they name their folder, or its port."""
        marks = (f"{self.folder}/", f"--port={self.gcs_port} ", f":{self.gcs_port}")
        found = []
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            ray = "ray start" in words or "/ray/" in words or words.startswith("ray::")
            if entry.name.isdigit() and ray and any(mark in words for mark in marks):
                found.append(int(entry.name))
        return found

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


def test_submit_stop_with_grace_resume(box: Box, head: Head) -> None:
    configure(head, box)
    assert onbox(head, box, "chain", "-d").returncode == 0
    wait_until(lambda: box.ran == ["resume=0"], "the stage to begin", 60)
    assert "RUNNING" in onbox(head, box, "status").stdout
    assert "at work already" in onbox(head, box, "resume", "-d").stdout
    assert onbox(head, box, "stop").returncode == 0
    assert box.ran == ["resume=0", "saved"]
    assert "STOPPED" in onbox(head, box, "status").stdout
    (box.project / "go").touch()
    resumed = onbox(head, box, "resume")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert box.ran == ["resume=0", "saved", "resume=1", "eval"]
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
    wait_until(lambda: box.ran == ["resume=0"], "the stage to begin", 60)
    head.stop()
    down = onbox(head, box, "status")
    assert "UNKNOWN" in down.stdout
    assert "could not look" in down.stdout
    head.start()
    found = onbox(head, box, "status").stdout
    assert "its processes live on" in found, found
    onbox(head, box, "resume", "-d")
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    assert box.ran == ["resume=0", "eval"]


# -- from outside: patrol and sentinel


def patrol(head: Head, box: Box, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**box.env, "XDG_STATE_HOME": str(box.project.parent / "patrol-state")}
    return head.run([sys.executable, "-m", "patrol", *words], env=env, cwd=box.project)


def ticked(head: Head, box: Box, name: str) -> dict[str, Any]:
    names = [one for one in ("here", "ray") if f"[boxes.{one}]" in (box.project / "onbox.toml").read_text()]
    done = patrol(head, box, "tick", "--json", *names)
    assert done.stdout, done.stderr
    return next(one for one in json.loads(done.stdout)["runs"] if one["run"] in (name, None, ""))


def wait_for_rule(head: Head, box: Box, name: str, *rules: str) -> dict[str, Any]:
    said: dict[str, Any] = {}

    def fits() -> bool:
        said.clear()
        said.update(ticked(head, box, name))
        return said["rule"] in rules

    wait_until(fits, f"one of {rules}", 120)
    return said


def here(head: Head, box: Box, more: str = "") -> None:
    """The project on this very machine, and beside it the cluster as a box of its own."""
    path = box.project / "onbox.toml"
    path.write_text(f'{path.read_text()}[boxes.here]\nbackend = "local"\nproject = "{box.project}"\n{more}')


def cluster(head: Head, box: Box, *jobs: str, token: str = TOKEN) -> None:
    (box.project / "token").write_text(token)
    watch = ", ".join(f'{{ job = "{job}" }}' for job in jobs)
    (box.project / "onbox.toml").write_text(
        f'[boxes.ray]\nbackend = "ray"\naddress = "http://127.0.0.1:{head.port}"\n'
        f'token = "file:{box.project}/token"\nwatch = [{watch}]\n'
    )


def submit(head: Head, job: str, entrypoint: str) -> None:
    assert RAY is not None
    address = f"http://127.0.0.1:{head.port}"
    words = [RAY, "job", "submit", "--address", address, "--submission-id", job, "--no-wait", "--", "sh", "-c"]
    done = head.run([*words, entrypoint])
    assert done.returncode == 0, done.stdout + done.stderr


def sentinel(head: Head, box: Box, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        head.inside([sys.executable, "-m", "sentinels", "wait", "--json", *words]),
        env={**box.env, "XDG_STATE_HOME": str(box.project.parent / "patrol-state")},
        cwd=box.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )


def ended(waiting: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    text, _ = waiting.communicate(timeout=150)
    return waiting.returncode, json.loads(text)


def test_a_run_that_was_handed_over_is_judged_with_the_heads_word(box: Box, head: Head) -> None:
    configure(head, box)
    here(head, box)
    assert onbox(head, box, "chain", "-d").returncode == 0
    wait_until(lambda: box.ran == ["resume=0"], "the stage to begin", 60)
    assert ticked(head, box, "digits")["state"] == "running"
    waiting = sentinel(head, box, "here:digits", "--interval", "1s", "--timeout", "100s")
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    assert wait_for_rule(head, box, "digits", "done")["state"] == "done"
    assert ended(waiting)[0] == 0


def test_a_run_on_another_disk_is_known_by_the_head_alone(box: Box, head: Head, tmp_path: Path) -> None:
    """`project`: the chain runs from there, and nothing of it is seen here."""
    configure(head, box)
    there = tmp_path / "there"
    there.mkdir()
    text = (box.project / "onbox.toml").read_text()
    (there / "onbox.toml").write_text(text.replace('backend = "ray"\n', ""))
    words = f'onbox = "env PYTHONPATH={box.env["PYTHONPATH"]} {sys.executable} -m onbox"\nproject = "{there}"\n'
    (box.project / "onbox.toml").write_text(text.replace("cpus = 1\n", f"cpus = 1\n{words}"))
    here(head, box)
    started = onbox(head, box, "chain", "-d")
    assert started.returncode == 0, started.stderr
    said = wait_for_rule(head, box, "digits", "unconfirmed", "healthy", "just-started")
    assert said["state"] == "running"
    waiting = sentinel(head, box, "here:digits", "--interval", "1s", "--timeout", "100s")
    wait_until((there / "ran").exists, "the stage to begin there", 60)
    (there / "go").touch()
    done = wait_for_rule(head, box, "digits", "done")
    assert "ray says SUCCEEDED" in done["say"]
    code, data = ended(waiting)
    assert (code, data["outcome"]) == (0, "landed"), data


def test_jobs_of_a_cluster(box: Box, head: Head) -> None:
    submit(head, "moves", f"until test -e {box.project}/go; do echo step 1/9 loss 0.5; sleep 0.2; done")
    submit(head, "fails", "python3 -c 'raise KeyError(1)'")
    cluster(head, box, "moves")
    assert wait_for_rule(head, box, "moves", "healthy", "just-started")["state"] == "running"
    waiting = sentinel(head, box, "ray:moves", "--interval", "1s", "--timeout", "100s")
    (box.project / "go").touch()
    assert ended(waiting)[0] == 0
    assert wait_for_rule(head, box, "moves", "done")["state"] == "done"
    cluster(head, box, "fails")
    said = wait_for_rule(head, box, "fails", "failed-on-engine")
    assert "KeyError" in json.dumps(said)
    code, data = ended(sentinel(head, box, "ray:fails"))
    assert (code, data["detail"]["failure_class"]) == (1, "code_error")


def test_a_refused_token_is_could_not_look(box: Box, head: Head) -> None:
    cluster(head, box, "any", token="wrong")
    said = ticked(head, box, "any")
    assert (said["rule"], said["state"]) == ("unreachable", "unknown")
    assert "engine_token" in said["say"]
    assert ended(sentinel(head, box, "ray:any", "--timeout", "60s"))[0] == 69


def test_a_head_that_is_frozen_killed_and_restarted(box: Box, head: Head) -> None:
    """The job lives through all of it, and nobody ever calls it dead."""
    submit(head, "lives", f"until test -e {box.project}/go; do sleep 0.2; done; touch {box.project}/ended")
    cluster(head, box, "lives")
    wait_for_rule(head, box, "lives", "unconfirmed", "healthy", "just-started")
    waiting = sentinel(head, box, "ray:lives", "--interval", "1s", "--timeout", "140s")
    frozen = [pid for pid in head.pids() if "dashboard.py" in (Path("/proc") / str(pid) / "cmdline").read_text()]
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    said = ticked(head, box, "lives")
    assert "engine_late" in said["say"], said["line"]
    head.kill()
    said = ticked(head, box, "lives")
    assert (said["rule"], said["state"]) == ("unreachable", "unknown")
    assert "tunnel: " in said["say"]
    head.start()
    said = ticked(head, box, "lives")
    assert (said["rule"], said["state"]) == ("forgotten", "unknown"), said["line"]
    assert "restarted" in said["say"]
    code, data = ended(waiting)
    assert (code, data["outcome"]) == (69, "unreachable"), data
    assert not (box.project / "ended").exists()
    (box.project / "go").touch()
