"""Which checkpoint a resumed stage finds: by parsed step, never by name order, and whether it is whole. Pure.

`step-9000` comes before `step-10000`. What has a step and is known to be incomplete is named, never chosen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Checkpoint(NamedTuple):
    """A file or folder that looks like a checkpoint. step: the last number in its name. whole: True with a proof of it,
    False with a proof against it, None: its format tells nothing. says: the proof, or what was looked at.
    """

    path: str
    step: int
    size_bytes: int
    whole: bool | None
    says: str


class Choice(NamedTuple):
    """chosen: the newest that is not known to be incomplete; None: there is none. passed_over: newer ones that are."""

    chosen: Checkpoint | None
    passed_over: tuple[Checkpoint, ...]


_STEP = r"(\d+)(?=\D*$)"
_HALF = (".tmp", ".part", ".partial", ".incomplete", ".download")


def step_of(path: str) -> int | None:
    """The last number in the last part of a path, its extension left out; None where there is none."""
    name = path.rstrip("/").rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    name = stem if dot and not extension.isdigit() else name
    found = re.search(_STEP, name)
    return int(found[1]) if found and len(found[1]) <= 15 else None


def is_half_written(path: str) -> bool:
    """Whether the name itself says that it is not finished."""
    return path.endswith(_HALF) or ".tmp" in path.rpartition("/")[2]


def choose(found: Iterable[Checkpoint]) -> Choice:
    """The newest by step. Of two with the same step the one with a proof goes first."""
    ranked = sorted(found, key=lambda one: (one.step, one.whole is True, one.path), reverse=True)
    chosen = next((one for one in ranked if one.whole is not False), None)
    limit = chosen.step if chosen else -1
    return Choice(chosen, tuple(one for one in ranked if one.whole is False and one.step >= limit)[:5])


def checkpoint_to_dict(one: Checkpoint) -> dict[str, Any]:
    return one._asdict()
