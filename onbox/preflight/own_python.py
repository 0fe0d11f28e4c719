"""Whether a stage's `python` is the one that onbox was installed for, and for nothing else (uv tool, uvx, pipx)."""

from __future__ import annotations

import os
import re
import shlex
from importlib import metadata
from typing import TYPE_CHECKING

from onbox.chain.command.command_files import find_program_in
from onbox.preflight.report import CheckResult, passed, warned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.model.manifest import Stage
    from onbox.preflight.report import CheckFacts

_PYTHON = re.compile(r"(?:.*/)?python[0-9.]*")
_NAME = re.compile(r"[A-Za-z0-9._-]+")
INSTALLERS = frozenset({"pip", "setuptools", "wheel", "uv"})


def check_python(facts: CheckFacts) -> Iterator[CheckResult]:
    """Where onbox has an environment of its own, a stage that runs there finds none of the project's packages."""
    if facts.packages():
        return
    folder = os.path.dirname(facts.python)
    for stage in facts.stages:
        found = _python_of(stage, facts)
        if found is not None and os.path.dirname(found) == folder:
            yield warned(
                "python",
                f"stage {stage.name} would run with onbox's own {found}, where only onbox is installed",
                "activate your environment first, or name its python in cmd: /PATH/TO/VENV/bin/python …",
            )
            return
    if facts.stages:
        yield passed("python", "no stage runs with onbox's own python")


def _python_of(stage: Stage, facts: CheckFacts) -> str | None:
    """The python that the command begins with, where it lies; None: it begins with something else."""
    try:
        words = list(stage.cmd) if isinstance(stage.cmd, tuple) else shlex.split(stage.cmd, comments=True)
    except ValueError:
        return None
    first = next((word for word in words if "=" not in word.partition("/")[0] and word not in ("exec", "env")), "")
    if not _PYTHON.fullmatch(first):
        return None
    path = dict(stage.env).get("PATH", facts.environ.get("PATH", os.defpath))
    return find_program_in(first, path, os.path.join(facts.folder, stage.cwd))


def other_packages() -> frozenset[str]:
    """What is installed beside onbox, what it needs, and what installs."""
    known: set[str] = set()
    todo = ["onbox"]
    while todo:
        name = _plain(todo.pop())
        if name not in known:
            known.add(name)
            todo += _needs(name)
    there = {_plain(str(one.metadata["Name"])) for one in metadata.distributions()}
    return frozenset(there - known - INSTALLERS)


def _needs(name: str) -> list[str]:
    try:
        wanted = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []
    unwanted = re.compile(r"extra == .(?:example|docs|test)\b")
    return [found[0] for one in wanted if not unwanted.search(one) and (found := _NAME.match(one))]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
