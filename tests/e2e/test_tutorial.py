"""The tutorial, typed as it stands: every command runs, and every line that it shows is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from tests.box import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

PAGE = REPOSITORY / "docs/tutorial.md"
CODE = re.compile(r"  # exit code (\d+)$")
WARNED = {"patrol": (0, 1, 2), "handbook": (0, 1, 2)}  # of this machine: other tests fill its disks


class Step(NamedTuple):
    """One command, with the lines of its here-document, and what it is said to print."""

    command: str
    shown: tuple[str, ...]

    @property
    def codes(self) -> tuple[int, ...]:
        told = CODE.search(self.command)
        return (int(told[1]),) if told else WARNED.get(self.command.split()[0], (0,))


def steps() -> list[Step]:
    found: list[Step] = []
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            document = re.fullmatch(r"(.*<<'(\w+)'\n.*?^\2\n)(.*)", part, re.MULTILINE | re.DOTALL)
            first, _, rest = part.partition("\n")
            command, shown = (document[1], document[3]) if document else (first, rest)
            found.append(Step(command, tuple(shown.splitlines())))
    return found


def pattern_of(line: str) -> str:
    """Numbers are of that day; `…` stands for whatever comes there."""
    return re.sub(r"\d+(?:\\\.\d+)?", r"\\d+(?:\\.\\d+)?", re.escape(line)).replace("…", ".*")


def test_the_tutorial_is_true(tmp_path: Path) -> None:
    folder = tmp_path
    env = {name: value for name, value in os.environ.items() if not name.startswith("ONBOX")}
    env |= {
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / ".state"),
        "PATH": f"{os.path.dirname(sys.executable)}:{env['PATH']}",
    }
    assert len(steps()) > 15
    for step in steps():
        done = subprocess.run(
            ["bash", "-c", step.command],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode in step.codes, (step.command, done.stdout)
        for line in step.shown:
            assert re.search(pattern_of(line), done.stdout), (step.command, line, done.stdout)
        folder = tmp_path / "digits"
