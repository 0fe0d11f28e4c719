"""A local side with a handbook, and a newcomer who has nothing but its text."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests import warm
from tests.box import REPOSITORY
from tests.patrolled import Patrolled, patrolled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box

HANDBOOK = [sys.executable, "-m", "handbook"]


class Handbooked(Patrolled):
    """A patrolled place whose boxes have `onbox` in the project's own environment, as a rented box often has it."""

    def add_box(self, name: str, more: str = "", *, run: str = "digits") -> Box:
        box = super().add_box(name, more, run=run)
        program = box.project / ".venv" / "bin" / "onbox"
        program.parent.mkdir(parents=True)
        tag = shlex.quote(box.tag)
        program.write_text(
            f"#!/bin/sh\nexport PYTHONPATH={shlex.quote(str(REPOSITORY))} {tag}\n"
            f'exec {shlex.quote(sys.executable)} -m onbox "$@"\n'
        )
        program.chmod(0o755)
        return box

    def handbook(self, *words: str, **settings: Any) -> subprocess.CompletedProcess[str]:
        settings.setdefault("env", self.env)
        settings.setdefault("cwd", self.local)
        return warm.run([*HANDBOOK, *words], timeout=120, **settings)

    def build(self) -> str:
        """The page, after a look at every box."""
        done = self.handbook("build", "--look")
        assert done.returncode == 0, done.stderr
        return (self.local / "HANDBOOK.md").read_text()


@contextmanager
def handbooked(tmp_path: Path) -> Iterator[Handbooked]:
    """As `patrolled`."""
    with patrolled(tmp_path, Handbooked) as made:
        assert isinstance(made, Handbooked)
        yield made


class Newcomer:
    """Somebody in a fresh directory that holds only the page, who types what stands there and nothing else."""

    def __init__(self, place: Handbooked, folder: Path, page: str) -> None:
        self.place, self.folder, self.page = place, folder, page
        folder.mkdir()
        (folder / "HANDBOOK.md").write_text(page)

    def first_command(self) -> str:
        """The block at the top."""
        found = re.search(r"```sh\n(.*)\n```", self.page)
        assert found
        return found[1]

    def command(self, run: str, word: str = "next") -> str:
        """The command of a run, as it stands in its part of the page."""
        _, _, part = self.page.partition(f"\n## {run}: ")
        part, _, _ = part.partition("\n## ")
        found = re.search(rf"^- \*\*{word}\*\* (`+) ?(.*?) ?\1", part, re.MULTILINE)
        assert found, f"no {word} of {run} in:\n{part}"
        return found[2]

    def type(self, command: str) -> subprocess.CompletedProcess[str]:
        """In the directory that the page names, with the programs of this installation."""
        folder = shlex.split(self.first_command())[1]
        path = f"{os.path.dirname(sys.executable)}{os.pathsep}{self.place.env['PATH']}"
        return subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env={**self.place.env, "PATH": path},
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
