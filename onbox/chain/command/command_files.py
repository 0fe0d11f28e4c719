"""The programs and script files that a stage's command names, and whether they are there."""

from __future__ import annotations

import os
import shlex
from functools import cache
from typing import TYPE_CHECKING

from onbox.chain.command.keeper import command_argv

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onbox.model.manifest import Stage

_INTERPRETERS = ("python", "bash", "sh", "perl", "Rscript", "julia")
SCRIPTS = (".py", ".sh", ".bash", ".zsh", ".pl", ".R", ".jl", ".lua")
_CONFIGS = (".yaml", ".yml", ".toml", ".ini", ".cfg")


def what_is_missing(stage: Stage, folder: str, environ: Mapping[str, str]) -> Iterator[str]:
    """The folder, program or script without which the stage cannot start, in words. What a shell line calls is not
    known before it runs.
    """
    if not os.path.isdir(folder):
        yield f"its cwd {folder} is not there"
        return
    path = dict(stage.env).get("PATH", environ.get("PATH", os.defpath))
    words = command_argv(stage.cmd, lambda name: find_program_in(name, path, folder))
    if find_program_in(words[0], path, folder) is None:
        if "/" not in words[0]:
            yield f"no program {words[0]!r} on PATH"
        elif os.path.exists(os.path.join(folder, words[0])):
            yield f"{words[0]!r} is not executable (chmod +x)"
        else:
            yield f"no program {words[0]!r} in {folder}"
        return
    script = _script_of(words)
    if script and not os.path.exists(os.path.join(folder, script)):
        yield f"no file {script!r} in {folder}"


def files_of(stage: Stage, folder: str) -> list[str]:
    """The scripts and configuration files that the command names (`train.py --config run.yaml`, `conf=run.yaml`) and
    that are there, as it names them. A .json may be a result: it counts behind a word that says configuration.
    """
    try:
        words = list(stage.cmd) if isinstance(stage.cmd, tuple) else shlex.split(stage.cmd, comments=True)
    except ValueError:
        return []
    found = dict.fromkeys(
        name
        for before, word in zip(["", *words], words, strict=False)
        if _is_code((name := word.rpartition("=")[2].strip(";&|()<>")), before + word.rpartition("=")[0])
    )
    return [name for name in found if os.path.isfile(os.path.join(folder, name))]


def _is_code(name: str, behind: str) -> bool:
    of_config = any(part in behind.lower() for part in ("conf", "cfg"))
    return name.endswith(SCRIPTS + _CONFIGS) or (of_config and name.endswith(".json"))


def _script_of(words: list[str]) -> str | None:
    """The script that an interpreter is told to run; None if it is none, or code and modules (-c, -m) instead."""
    if not os.path.basename(words[0]).startswith(_INTERPRETERS):
        return None
    for word in words[1:]:
        if word.startswith("-") and word != "-" and word[1] in "cme":
            return None
        if not word.startswith("-"):
            return word
    return None


@cache
def find_program_in(name: str, path: str, folder: str) -> str | None:
    """Where a program lies, looked up as execvp(3) would from the stage's folder."""
    places = [folder] if "/" in name else [os.path.join(folder, place) for place in path.split(os.pathsep)]
    for place in places:
        found = os.path.join(place, name)
        if os.access(found, os.X_OK) and not os.path.isdir(found):
            return found
    return None
