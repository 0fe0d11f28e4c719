"""A box without ssh: the real script under a real shell of this machine, as sshd would start it."""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from onbox.config.parse import Config
from onbox.model.boxes import BoxSettings, PatrolSettings
from patrol.config.settings import Settings
from patrol.memory.run_memory import nothing_remembered
from patrol.probe.take import take
from patrol.snapshot import BoxLook
from patrol.ssh.client import Answer, NoAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


F_SETPIPE_SZ = 1031  # fcntl(2); not every build of Python names it
SHELLS = {"dash": ("dash",), "bash": ("bash", "--posix"), "busybox": ("busybox", "ash")}


def shell_params() -> list[object]:
    return [
        pytest.param(
            words, id=name, marks=() if shutil.which(words[0]) else pytest.mark.skip(f"no {words[0]} on this machine")
        )
        for name, words in SHELLS.items()
    ]


class Traffic(NamedTuple):
    up_bytes: int
    down_bytes: int
    cpu_seconds: float
    seconds: float


class LocalBox:
    """Asks a shell; remembers what was seen and what traffic there was. env: of the login, added to a bare one."""

    def __init__(self, folder: Path, shell: tuple[str, ...] = ("sh",), env: Mapping[str, str] | None = None) -> None:
        self.shell = shell
        self.env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), **(env or {})}
        self.folder = folder
        self.memories = nothing_remembered()
        self.traffic = Traffic(0, 0, 0.0, 0.0)
        self.last_pid = 0
        self.slow_seconds = 0.0  # how long nobody reads the answer
        self.answer = b""
        self.errors = b""

    def ask(self, stdin: bytes, end_mark: bytes, deadline_seconds: float) -> Answer | NoAnswer:
        """Read up to the end mark only, as over a link."""
        began = time.monotonic()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        shell = subprocess.Popen(
            [*self.shell, "-s"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env,
            cwd=self.folder,
            start_new_session=True,
        )
        self.last_pid = shell.pid
        assert shell.stdin
        assert shell.stdout
        assert shell.stderr
        shell.stdin.write(stdin)
        shell.stdin.close()
        if self.slow_seconds:
            fcntl.fcntl(shell.stdout, F_SETPIPE_SZ, 4096)
            time.sleep(self.slow_seconds)  # that is the case, not a wait for something
        lines = []
        with shell.stdout, shell.stderr:
            for line in shell.stdout:
                if line.startswith(end_mark):
                    break
                lines.append(line)
            code = shell.wait(deadline_seconds)
            os.set_blocking(shell.stderr.fileno(), False)
            self.errors = shell.stderr.read() or b""
        self.answer = b"".join(lines)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        seconds = time.monotonic() - began
        self.traffic = Traffic(len(stdin), len(self.answer) + len(end_mark), cpu, seconds)
        return Answer(self.answer, code, seconds, 0.0)

    def unhurried(self) -> LocalBox:
        """The same box, whose `sleep` takes an hour: a look counts its time by it, so that nothing is late."""
        slow = self.folder / "slow"
        slow.mkdir()
        (slow / "sleep").write_text("#!/bin/sh\nPATH=${PATH#*:} exec sleep 3600\n")
        (slow / "sleep").chmod(0o755)
        return LocalBox(self.folder, self.shell, {"PATH": f"{slow}:{self.env['PATH']}"})

    def forget(self) -> None:
        """As if no look had been taken before."""
        self.memories = nothing_remembered()

    def look(self, box: BoxSettings, deadline_seconds: float = 30.0) -> BoxLook:
        """One look, with what is remembered of the look before it."""
        settings = settings_for(self.folder, deadline_seconds)
        look, self.memories = take(box, settings, self.memories, self.ask, time.time())
        assert isinstance(look, BoxLook), look
        return look


def settings_for(folder: Path, deadline_seconds: float = 30.0) -> Settings:
    config = Config("project", patrol=PatrolSettings(deadline_seconds=deadline_seconds))
    return Settings(str(folder), None, config, str(folder / "state"), ("ssh",))
