"""`sentinel` as a user runs it, against boxes that are real sshds on loopback."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sentinels.judge.conditions.marker import CLOCK_GRAIN_SECONDS
from sentinels.judge.outcome import SentinelExit
from tests import warm
from tests.box import BOUND_SECONDS, REPOSITORY, wait_until

SENTINEL = [sys.executable, "-m", "sentinels"]


class Waiters:
    """Waits of one user: a folder for their register, an ssh command, and everything that was started."""

    def __init__(self, folder: Path, ssh: tuple[str, ...] = ("false",), engine: str = "any") -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[str]] = []
        self.env = {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "XDG_STATE_HOME": str(folder / "state"),
            "ONBOX_SSH_COMMAND": shlex.join(ssh),
            "SENTINEL_ENGINE": engine,
        }

    def start(self, *words: str, **settings: Any) -> subprocess.Popen[str]:
        """Start `sentinel` and leave it running; it is begun once it has said so in its register."""
        settings.setdefault("env", self.env)
        settings.setdefault("cwd", self.folder)
        settings.setdefault("stdin", subprocess.DEVNULL)
        started = subprocess.Popen(
            [*SENTINEL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings
        )
        self.started.append(started)
        return started

    def run(self, *words: str, timeout: float = BOUND_SECONDS, **settings: Any) -> subprocess.CompletedProcess[str]:
        """Run `sentinel` to its end."""
        if not settings:
            return warm.run([*SENTINEL, *words], timeout=timeout, env=self.env, cwd=self.folder)
        started = self.start(*words, **settings)
        out, err = started.communicate(timeout=timeout)
        return subprocess.CompletedProcess(started.args, started.returncode, out, err)

    def time_out(self, *words: str, **settings: Any) -> subprocess.CompletedProcess[str]:
        """Run a wait for what does not come. One that ended before its first look ends as unreachable, which says
        nothing on a busy machine: it is given more time.
        """
        for limit in ("3s", "12s"):
            ended = self.run(*words, "--timeout", limit, **settings)
            if ended.returncode != SentinelExit.UNREACHABLE:
                return ended
        return self.run(*words, "--timeout", "40s", **settings)

    def end(self, waiter: subprocess.Popen[str], timeout: float = BOUND_SECONDS) -> dict[str, Any]:
        """The JSON that a waiter ended with."""
        out, err = waiter.communicate(timeout=timeout)
        assert out, err
        data: dict[str, Any] = json.loads(out)
        assert data["exit_code"] == waiter.returncode
        return data

    def entries(self) -> list[dict[str, Any]]:
        """What the register says of every wait now."""
        folder = Path(self.env["XDG_STATE_HOME"], "onbox", "sentinels")
        texts = []
        for path in folder.glob("*.json"):
            with suppress(FileNotFoundError):  # a wait that has just ended takes its entry away
                texts.append(path.read_text())
        return [json.loads(text) for text in texts if text]

    def wait_for_look(self, what: str = "last_contact") -> None:
        """Until a wait has looked at everything once. what: the part of its entry that must have come of it."""
        wait_until(lambda: any(any(entry[what].values()) for entry in self.entries()), "the wait to look")

    def close(self) -> None:
        for started in self.started:
            if started.poll() is None:
                started.send_signal(signal.SIGCONT)
                started.kill()
            started.communicate()


def land(path: Path, text: str = "") -> float:
    """Put a marker in place in one step, as onbox does; when it landed."""
    beside = path.with_name(path.name + ".tmp")
    beside.write_text(text)
    beside.rename(path)
    return time.time()


def land_before(path: Path, text: str = "") -> None:
    """Put a marker in place that is older than a wait which begins now, by more than the grain of a file's times."""
    land(path, text)
    time.sleep(5 * CLOCK_GRAIN_SECONDS)


__all__ = ["SENTINEL", "Waiters", "land", "land_before", "wait_until"]
