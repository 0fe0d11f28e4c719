"""Which checkpoint a resumed stage finds: by parsed step, never by name order, and whether it is whole. Pure.

`step-9000` comes before `step-10000`. What has a step and is known to be incomplete is named, never chosen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable


class Checkpoint(NamedTuple):
    """A file or folder that looks like a checkpoint. step: the last number in its name. whole: True with a proof of it,
    False with a proof against it, None: its format tells nothing. says: the proof, or what was looked at. against: why
    nobody should go on from it though it may be whole; "": nothing is known. refused: and that is certain. unproven:
    nothing in the folder says whether it is finished; it is passed over, because one that is half written looks the
    same.
    """

    path: str
    step: int
    size_bytes: int
    whole: bool | None
    says: str
    against: str = ""
    refused: bool = False
    unproven: bool = False


class Choice(NamedTuple):
    """chosen: the newest that is not known to be incomplete, or of another lineage; None: there is none. passed_over:
    newer ones that are.
    """

    chosen: Checkpoint | None
    passed_over: tuple[Checkpoint, ...]

    @property
    def refused(self) -> tuple[Checkpoint, ...]:
        """Newer ones that are certainly of another lineage: a stage that takes the newest would go on from them."""
        return tuple(one for one in self.passed_over if one.refused)


# `epoch=09-val_loss=0.25`, `step_300_loss_0.12`: what counts stands behind a word; the last number is often a metric
_COUNTED = (
    lazy(r"(?i)(?<![a-z])steps?[-_=.]?(\d+)"),
    lazy(r"(?i)(?<![a-z])iter(?:ation)?s?[-_=.]?(\d+)"),
    lazy(r"(?i)(?<![a-z])updates?[-_=.]?(\d+)"),
    lazy(r"(?i)(?<![a-z])epochs?[-_=.]?(\d+)"),
    lazy(r"(?i)(?<![a-z])(?:ckpt|checkpoint)s?[-_=.]?(\d+)"),
)
_NUMBER = lazy(r"(?<![\d.])(\d+)(?!\d|\.\d)|(?i:(?<=[a-z_-]\.)(\d+)$)")
_SHARD = re.compile(r"\d-of-\d|rank_?\d")
WILD = re.compile(r"[*?\[]")
_HALF = (".tmp", ".part", ".partial", ".incomplete", ".download")
HALF = "its name says that it is not finished"
_UNDER_WAY = (".tmp", "orbax-checkpoint-tmp")


def step_of(path: str) -> int | None:
    """The step in the last part of a path, its extension left out: the number behind a word that counts (step, iter,
    epoch, …), else the last number that is no decimal fraction; None where there is none.
    """
    name = path.rstrip("/").rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    name = stem if dot and not extension.isdigit() else name
    counted = next((found[-1] for word in _COUNTED if (found := word.findall(name))), None)
    digits = counted or next((one[1] or one[2] for one in reversed(list(_NUMBER.finditer(name)))), "")
    return int(digits) if 0 < len(digits) <= 15 else None


def is_half_written(path: str) -> bool:
    """Whether the name itself says that it is not finished."""
    return path.endswith(_HALF) or any(word in path.rstrip("/").rpartition("/")[2] for word in _UNDER_WAY)


def holder_of_step(path: str, pattern: str) -> str:
    """The checkpoint that a path matched by an artifact's pattern is, or lies in.

    `ckpt/checkpoint-*/model.safetensors` names the weights; the number stands in the folder's name.
    """
    holder = path
    while step_of(holder) is None or _SHARD.search(holder.rpartition("/")[2]):
        holder, pattern = holder.rpartition("/")[0], pattern.rpartition("/")[0]
        if not holder or not WILD.search(pattern.rpartition("/")[2]):
            return path
    return holder


def choose(found: Iterable[Checkpoint]) -> Choice:
    """The newest by step. Of two with the same step the one with a proof goes first."""
    ranked = sorted(found, key=lambda one: (one.step, one.whole is True, one.path), reverse=True)
    chosen = next((one for one in ranked if one.whole is not False and not one.against), None)
    limit = chosen.step if chosen else -1
    passed = (one for one in ranked if one is not chosen and (one.whole is False or one.against) and one.step >= limit)
    return Choice(chosen, tuple(passed)[:5])
