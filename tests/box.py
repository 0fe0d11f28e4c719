"""A project on a box, driven only through the command line and the files that it leaves."""

from __future__ import annotations

import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from onbox.system.process import find_tree
from tests import warm

if TYPE_CHECKING:
    from collections.abc import Callable

ONBOX = [sys.executable, "-m", "onbox"]
REPOSITORY = Path(__file__).resolve().parent.parent
STATE_HOME = ".state"  # beside the project: what is known of other projects is of this test alone
BOUND_SECONDS = 60.0  # far beyond what anything takes; reached on a busy machine only by what hangs

T = TypeVar("T")


def wait_until(condition: Callable[[], T], what: str, bound_seconds: float = BOUND_SECONDS) -> T:
    """Poll until `condition` holds; fail with what was waited for. Half of the time is left to what is waited for: a
    condition may be a whole command.
    """
    deadline = time.monotonic() + bound_seconds
    while True:
        asked = time.monotonic()
        if value := condition():
            return value
        now = time.monotonic()
        if now > deadline:
            raise AssertionError(f"not within {bound_seconds:g} s: {what}")
        time.sleep(max(0.01, now - asked))


class Box:
    """One project folder; `run` is the run's name (the folder's, without configuration)."""

    def __init__(self, project: Path, run: str = "digits") -> None:
        self.project, self.run = project, run
        self.tag = f"ONBOX_TEST={project}"
        self.started: list[subprocess.Popen[str]] = []
        name, _, value = self.tag.partition("=")
        self.env = {**os.environ, name: value, "PYTHONPATH": str(REPOSITORY)}
        self.env.setdefault("XDG_STATE_HOME", os.fspath(project.parent / STATE_HOME))

    @property
    def state(self) -> Path:
        return self.project / ".onbox" / self.run

    @property
    def markers(self) -> list[str]:
        """Names of the markers that lie there now."""
        folder = self.state / "markers"
        return (
            sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else []
        )

    @property
    def ran(self) -> list[str]:
        """The words that stages wrote into the file `ran`, in their order."""
        path = self.project / "ran"
        return path.read_text().split() if path.exists() else []

    def job_id(self, stage: str = "train") -> str:
        """Of the newest job of a stage."""
        return str([event["job_id"] for event in self.events("job_submitted") if event["stage"] == stage][-1])

    def marker(self, name: str) -> dict[str, Any]:
        data: dict[str, Any] = json.loads((self.state / "markers" / name).read_text())
        return data

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        path = self.state / "events.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        records = [json.loads(line) for line in lines]
        return [record for record in records if kind is None or record["event"] == kind]

    def onbox(self, *words: str, timeout: float = 120.0, **settings: Any) -> subprocess.CompletedProcess[str]:
        """Run `onbox` to its end."""
        settings.setdefault("env", self.env)
        settings.setdefault("cwd", self.project)
        return warm.run([*ONBOX, *words], timeout=timeout, **settings)

    def start(self, *words: str, **settings: Any) -> subprocess.Popen[str]:
        """Start `onbox` and leave it running."""
        settings.setdefault("env", self.env)
        started = subprocess.Popen(
            [*ONBOX, *words],
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            **settings,
        )
        self.started.append(started)
        return started

    def status(self) -> dict[str, Any]:
        result = self.onbox("status", "--json")
        assert result.returncode == 0, result.stderr
        data: dict[str, Any] = json.loads(result.stdout)
        return data

    def runner_pid(self) -> int:
        """The pid of the live runner, once it has signed the lock."""

        def signed() -> int | None:
            try:
                return int(json.loads((self.state / "lock").read_text())["pid"])
            except (OSError, ValueError):
                return None

        return wait_until(signed, "a runner that signed the lock") or 0

    def kill_runner(self) -> int:
        """kill -9 of the runner, waited for."""
        pid = self.runner_pid()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_running(pid), f"pid {pid} to be gone")
        return pid

    def remove(self, folder: Path) -> None:
        """A folder of a run that may be alive: its runner writes into it meanwhile."""

        def gone() -> bool:
            shutil.rmtree(folder, ignore_errors=True)
            return not folder.exists()

        wait_until(gone, f"{folder} to be gone")

    def run_program(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        """Any program, in the project and with its environment."""
        return subprocess.run(
            words,
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            env=self.env,
            cwd=self.project,
        )

    def wait_for_file(self, name: str) -> None:
        wait_until((self.project / name).exists, f"the file {name}")

    def wait_for_event(self, kind: str) -> None:
        wait_until(lambda: self.events(kind), f"the event {kind}")

    def wait_for_log(self, text: str, stage: str = "train") -> None:
        wait_until(lambda: text in self.log(stage), f"{text!r} in the log of {stage}")

    def log(self, stage: str = "train") -> str:
        path = self.state / "logs" / f"{stage}.log"
        return path.read_text() if path.exists() else ""

    def wait_for_marker(self, name: str) -> dict[str, Any]:
        wait_until(lambda: name in self.markers, f"the marker {name}")
        return self.marker(name)

    def processes(self) -> list[int]:
        """Every live process that was started below this project's environment."""
        return [entry.identity.pid for entry in find_tree(None, self.tag.encode())]

    def wait_until_gone(self, pids: list[int]) -> None:
        """Until these processes, and all of the project, hold nothing any more. One that exits has no environment from
        some moment on, by which it is found, and still has its files and locks.
        """
        wait_until(lambda: not self.processes() and all(map(holds_nothing, pids)), "its runner to be gone")

    def _stages(self) -> list[int]:
        """Live processes of its runs' stages, also of a run that was resumed over ssh, in another environment."""
        runs = self.project.glob(".onbox/*/run.json")
        known = [find_tree(None, f"ONBOX_RUN_DIR={path.parent}".encode()) for path in runs]
        return [entry.identity.pid for tree in known for entry in tree]

    def end_everything(self) -> None:
        for _ in range(50):
            pids = self.processes() or self._stages()
            if not pids:
                break
            end_at_once(pids)
            time.sleep(0.02)
        for started in self.started:
            started.communicate(timeout=BOUND_SECONDS)


def holds_nothing(pid: int) -> bool:
    """Whether it is gone, or waits only to be asked for its exit code."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def end_at_once(pids: list[int]) -> None:
    """As a power cut does: all are held first, or one would see another's end and write it down."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def wait_for_words(started: subprocess.Popen[str], words: str) -> None:
    """Read what a started process says until `words` were among it."""
    assert started.stdout is not None
    said, fd, deadline = b"", started.stdout.fileno(), time.monotonic() + BOUND_SECONDS
    while words.encode() not in said:
        readable, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
        piece = os.read(fd, 65536) if readable else b""
        assert piece, f"not said: {words!r}; said: {said!r}"
        said += piece


def is_running(pid: int) -> bool:
    """Whether a process (not a zombie) has this pid."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(") ")[2][0] not in "ZX"


def python(code: str) -> str:
    """A shell line that runs Python code."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"
