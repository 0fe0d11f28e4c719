"""A local side with its own memory and configuration, whose boxes are projects behind a real sshd.

The flags of a box's resources are off: the box is the machine that runs the tests, and other tests fill disks and have
processes killed for memory.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onbox.system.lock import is_locked
from patrol.act.look_again import LOCK
from patrol.decide.table import BOX_FLAGS
from tests import warm
from tests.box import REPOSITORY, Box, wait_until
from tests.sshd import Sshd, need_sshd

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATROL = [sys.executable, "-m", "patrol"]
TRAIN = "train=until test -e go; do echo step 1/100 loss 0.5; sleep 0.1; done; echo step 100/100 loss 0.5"


class Patrolled:
    """`boxes`: by alias. Everything is driven through the command line."""

    def __init__(self, folder: Path, sshd: Sshd) -> None:
        self.folder, self.sshd = folder, sshd
        self.local = folder / "local"
        self.local.mkdir()
        self.home = folder / "home-of-cron"
        self.home.mkdir()
        self.boxes: dict[str, Box] = {}
        self.tables: dict[str, str] = {}
        self.head = ""
        self.env = {
            **os.environ,
            "PYTHONPATH": os.fspath(REPOSITORY),
            "XDG_STATE_HOME": os.fspath(folder / "state"),
            "ONBOX_SSH_COMMAND": " ".join(sshd.ssh()),
        }
        self.env.pop("SSH_AUTH_SOCK", None)

    def add_box(self, name: str, more: str = "", *, run: str = "digits") -> Box:
        """A box with a project of its own."""
        project = self.folder / "boxes" / name / run
        project.mkdir(parents=True)
        box = Box(project, run)
        self.boxes[name] = box
        self.tables[name] = f'[boxes.{name}]\nhost = "{name}"\nproject = {json.dumps(os.fspath(project))}\n{more}\n'
        self.write()
        return box

    def write(self) -> None:
        quiet = "".join(f'[[patrol.rules]]\nname = "{rule.name}"\nenabled = false\n' for rule in BOX_FLAGS)
        (self.local / "onbox.toml").write_text("\n".join([self.head, quiet, *self.tables.values()]))

    @property
    def state(self) -> Path:
        (found,) = (self.folder / "state" / "onbox").glob("local-*")
        return found

    def patrol(self, *words: str, timeout: float = 90.0, **settings: Any) -> subprocess.CompletedProcess[str]:
        settings.setdefault("env", self.env)
        settings.setdefault("cwd", self.local)
        return warm.run([*PATROL, *words], timeout=timeout, **settings)

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*PATROL, *words],
            env=self.env,
            cwd=self.local,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def tick(self, *words: str) -> Mapping[str, dict[str, Any]]:
        """What a tick says, by `box/run` or box."""
        done = self.patrol("tick", "--json", *words)
        assert done.stdout, done.stderr
        data = json.loads(done.stdout)
        assert done.returncode == data["exit_code"], done.stderr
        return {"/".join(filter(None, (one["box"], one["run"]))): one for one in data["runs"]}

    def rules(self, *words: str) -> dict[str, str]:
        return {name: one["rule"] for name, one in self.tick(*words).items()}

    def wait_for_rule(self, name: str, rule: str) -> None:
        wait_until(lambda: self.rules().get(name) == rule, f"{name} to be {rule}, not {self.rules().get(name)}")

    def looks_to_come(self) -> list[int]:
        """Processes that wait for their look after a resume, by pid."""
        here = os.fsencode(self.local)
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):  # it has ended since it was listed
                words = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
                if b"--after" in words and any(word.startswith(here) for word in words):
                    found.append(int(pid))
        return found

    def end_looks_to_come(self) -> None:
        wait_until(self._no_look_is_left, "the looks to come to be ended")

    def _no_look_is_left(self) -> bool:
        """Whether none waits; those that do are ended. One that was killed holds its turn until the kernel has taken it
        apart.
        """
        if is_one_just_started():
            return False
        looks = self.looks_to_come()
        for pid in looks:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        turns = (self.folder / "state" / "onbox").glob(f"local-*/{LOCK}")
        return not looks and not any(is_locked(os.fspath(turn)) for turn in turns)

    def end_everything(self) -> None:
        self.end_looks_to_come()
        for box in self.boxes.values():
            box.end_everything()


def is_one_just_started() -> bool:
    """Whether a Python has just been started, so that its command cannot be read yet: for a moment after the call that
    starts it has returned, it is empty.
    """
    here = os.path.realpath(sys.executable)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # a thread of the kernel, or it has ended
            of_python = os.readlink(f"/proc/{pid}/exe") == here
            if of_python and not Path("/proc", pid, "cmdline").read_bytes():
                return True
    return False


@contextmanager
def patrolled(
    tmp_path: Path, kind: type[Patrolled] | None = None, *, inside: tuple[str, ...] = ()
) -> Iterator[Patrolled]:
    """What was started there is ended, also where a test or a fixture fails. inside: as of `Sshd`."""
    need_sshd()
    sshd = Sshd(tmp_path / "ssh", inside=inside)
    made = (kind or Patrolled)(tmp_path, sshd)
    try:
        yield made
    finally:
        made.end_everything()
        sshd.close()


def start_chain(box: Box, *stages: str) -> None:
    done = box.onbox("chain", "-d", "--launch-check", "0.2", *(stages or (TRAIN,)))
    assert done.returncode in (0, 1), done.stderr


def running(box: Box) -> Box:
    start_chain(box)
    box.wait_for_log("step 1/100")
    return box
