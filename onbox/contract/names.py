"""Names of runs and stages: which are allowed, and which cannot be combined with each other. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.contract.paths import CHAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NAME_LIMIT = 80
NAME_WANTED = 'a name of at most 80 letters, digits, ".", "_" and "-" that begins with a letter or digit'

_NAME = rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{NAME_LIMIT - 1}}}"
_MARKER_ENDINGS = ("_DONE", "_FAILED")


def name_problem(name: str) -> str | None:
    """Why `name` cannot name a run or a box: what is wanted instead. None: it can."""
    return None if re.fullmatch(_NAME, name) else NAME_WANTED


def stage_name_problem(name: str) -> str | None:
    """Why `name` cannot name a stage: what is wanted instead. None: it can.

    Markers are `<stage>_DONE` and `CHAIN_DONE`, so a stage may not be called as the chain's marker is, and its name
    may not look like a marker itself.
    """
    if name.upper() == CHAIN:
        return f"free as a stage's name: {CHAIN}_DONE and {CHAIN}_FAILED are the markers of the whole chain"
    if name.endswith(_MARKER_ENDINGS):
        return "free as a stage's name: what ends in _DONE or _FAILED is a marker"
    return name_problem(name)


def log_name_clashes(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs (stage, other) of which `other` is `<stage>.<digits>`.

    logs/<stage>.<n>.log is the log of attempt n and logs/<other>.log points to the newest log of `other`: for
    "train" and "train.1" both are logs/train.1.log.
    """
    known = set(names)
    for other in sorted(known):
        stage, _, number = other.rpartition(".")
        if number.isdecimal() and stage in known:
            yield stage, other


def run_name_from(directory_name: str) -> str:
    """A run name made of a directory's name: itself where it is a valid name already, else with "-" for what is not
    allowed. Never empty (then "run"), at most 80 characters.
    """
    if re.fullmatch(_NAME, directory_name):
        return directory_name
    allowed = re.sub(r"[^A-Za-z0-9._-]+", "-", directory_name)
    begun = re.sub(r"^[^A-Za-z0-9]+", "", allowed)
    return begun[:NAME_LIMIT].rstrip("-") or "run"
