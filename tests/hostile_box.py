"""Boxes whose owner lies: real sshd, real runs, and an answer that is whatever the test makes of it.

`place.lie(SOURCE)` says how the box answers from then on (`hostile_shell.py` has the functions that SOURCE may hold);
`place.patrol`, `tick`, `handbook`, `sentinel` are the commands as a user types them.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests import warm
from tests.box import Box
from tests.handbooked import Handbooked
from tests.sshd import Sshd, need_sshd

if TYPE_CHECKING:
    from collections.abc import Iterator

SHELL = Path(__file__).with_name("hostile_shell.py")
SENTINEL = [sys.executable, "-m", "sentinels"]
TOLD = ("section-unseen", "runs-left-out")
HONEST_CHAIN = """
[run]
name = "digits"
[stages.train]
cmd = "echo step 5/5 loss 0.25; echo x >best.npz"
artifacts = ["best.npz"]
[stages.eval]
cmd = "echo accuracy 0.97 >results.txt"
"""

# Starts the words behind it and says the peak of their memory and their time into a file. From a process that is small
# itself: a child's peak begins with what its parent had when it was forked.
MEASURE = """
import os, resource, subprocess, sys, time
began = time.monotonic()
code = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
told = f"{used.ru_maxrss} {time.monotonic() - began} {used.ru_utime + used.ru_stime}"
open(sys.argv[1], "w").write(told)
sys.exit(code)
"""


class Measured(NamedTuple):
    """A command that has ended. peak_mib: resident memory of the largest process below it. cpu_seconds: of all."""

    done: subprocess.CompletedProcess[str]
    peak_mib: float
    seconds: float
    cpu_seconds: float


def honest_project(folder: Path) -> Path:
    """A project with a run `digits` that onbox has finished; made once, never changed (`copy_project`)."""
    project = folder / "digits"
    project.mkdir()
    (project / "onbox.toml").write_text(HONEST_CHAIN)
    box = Box(project)
    done = box.onbox("chain")
    assert done.returncode == 0, done.stdout + done.stderr
    return project


class Hostile(Handbooked):
    """A local folder with the boxes gpu1 and gpu2, at both of which the honest project lies. A lie is one box's alone.

    lies: beside sshd's files. project: on the boxes.
    """

    def __init__(self, folder: Path, sshd: Sshd, lies: Path, project: Path) -> None:
        super().__init__(folder, sshd)
        self.lies, self.project = lies, project
        self.env["ONBOX_SSH_COMMAND"] = " ".join(sshd.ssh(extra=each_says_its_name("gpu1", "gpu2")))
        self.know("gpu1", project)

    def know(self, name: str, project: Path, more: str = "") -> None:
        """Write a box into onbox.toml."""
        self.tables[name] = f'[boxes.{name}]\nhost = "{name}"\nproject = "{project}"\n{more}\n'
        self.write()

    def write(self) -> None:
        """With the flags of what was seen of a box; those of its resources stay off."""
        super().write()
        path = self.local / "onbox.toml"
        text = path.read_text()
        for flag in TOLD:
            text = text.replace(f'[[patrol.rules]]\nname = "{flag}"\nenabled = false\n', "")
        path.write_text(text)

    def know_two(self) -> None:
        """gpu2 beside gpu1: honest, unless told otherwise."""
        self.know("gpu2", self.project)

    def copy_project(self, name: str = "gpu1") -> Path:
        """The project once more, for a test that changes what lies on the box's disk."""
        mine = self.folder / "boxes" / name / "digits"
        shutil.copytree(self.project, mine, symlinks=True)
        self.know(name, mine)
        return mine

    def lie(self, source: str, box: str = "gpu1") -> None:
        (self.lies / f"{box}.py").write_text(textwrap.dedent(source))

    def sentinel(self, *words: str, timeout: float = 90.0) -> subprocess.CompletedProcess[str]:
        return warm.run([*SENTINEL, *words], env=self.env, cwd=self.local, timeout=timeout)

    def measure(self, *words: str, timeout: float = 180.0, **settings: Any) -> Measured:
        """Run `patrol`, `handbook`, `sentinels` with its words, and see what it costs."""
        told = self.folder / "measured"
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-IS", "-c", MEASURE, told, sys.executable, "-m", *words],
            env=self.env,
            cwd=self.local,
            check=False,
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            **settings,
        )
        peak_kib, seconds, cpu_seconds = map(float, told.read_text().split())
        assert seconds <= time.monotonic() - began
        return Measured(done, peak_kib / 1024, seconds, cpu_seconds)


def each_says_its_name(*boxes: str) -> str:
    """Lines of an ssh_config: the one account behind all aliases knows which of them was meant."""
    return "".join(f"Host {box}\n  SetEnv ONBOX_TEST_BOX={box}\n" for box in boxes)


def hostile(folder: Path, project: Path) -> Iterator[Hostile]:
    """For a fixture."""
    need_sshd()
    lies = folder / "lies"
    lies.mkdir()
    shell = shlex.join([sys.executable, "-IS", os.fspath(SHELL), os.fspath(lies)])
    sshd = Sshd(folder / "ssh", options=("AcceptEnv ONBOX_TEST_BOX", f"ForceCommand exec {shell}"))
    made = Hostile(folder, sshd, lies, project)
    yield made
    made.end_everything()
    sshd.close()
