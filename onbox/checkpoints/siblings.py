"""What the other checkpoints beside it tell of one whose own files do not say whether it is finished."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.checkpoints.kinds import KINDS
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onbox.checkpoints.select import Checkpoint

PROOFS = tuple(dict.fromkeys(name for kind in KINDS for name in kind.last))
FILES = 5000  # of one folder; with more it is not compared
FULL_SIZE_SEEN = 2  # files of one size: that of a format whose size varies is not the same by chance
ALIKE = 0.9  # sizes differ a little: compression, text


class _Shape(NamedTuple):
    """Names of the files in a folder, and how long they are together."""

    names: frozenset[str]
    bytes: int

    def is_like(self, other: _Shape) -> bool:
        return self.names == other.names and ALIKE * other.bytes <= self.bytes


def compare_with_others(folder: str, found: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Three things are told from its neighbours, which lie in the same folder.

    A folder whose weights can be read, but without the file that most of the others end with, is not finished. And one
    in which nothing says that it is finished, is so if a later one has the same files: the newest never counts, because
    it may be under way. And of files that are all of one size the newest was cut off, if it is shorter.
    """
    folders: dict[str, list[Checkpoint]] = {}
    for one in found:
        if (one.whole or one.unproven) and os.path.isdir(os.path.join(folder, one.path)):
            folders.setdefault(os.path.dirname(one.path.rstrip("/")), []).append(one)
    told = {one.path: one for beside in folders.values() for one in _compare(folder, beside)}
    told |= {one.path: one for one in _cut_off(folder, found)}
    return [told.get(one.path, one) for one in found]


def _cut_off(folder: str, found: Sequence[Checkpoint]) -> Iterable[Checkpoint]:
    """The newest file of each folder and ending that is shorter than all the others, where these agree."""
    kinds: dict[tuple[str, str], list[Checkpoint]] = {}
    for one in found:
        if one.whole is None and one.size_bytes and not os.path.isdir(os.path.join(folder, one.path)):
            kinds.setdefault((os.path.dirname(one.path), os.path.splitext(one.path)[1]), []).append(one)
    for alike in kinds.values():
        newest = max(alike, key=lambda one: one.step)
        others = [one.size_bytes for one in alike if one.step < newest.step]
        if len(others) >= FULL_SIZE_SEEN and newest.size_bytes < min(others) == max(others):
            says = (
                f"it has {newest.size_bytes:,} bytes, each of the {len(others)} before it {others[0]:,}: it was cut off"
            )
            yield newest._replace(whole=False, says=says)


def _compare(folder: str, beside: Sequence[Checkpoint]) -> Iterable[Checkpoint]:
    yield from _without_proof(folder, [one for one in beside if one.whole])
    yield from _followed(folder, [one for one in beside if one.unproven])


def _without_proof(folder: str, found: Sequence[Checkpoint]) -> Iterable[Checkpoint]:
    proofs = {one.path: _proof_in(os.path.join(folder, one.path)) for one in found}
    without = [one for one in found if not proofs[one.path]]
    if 2 * len(without) > len(found):
        return
    for one in without:
        yield one._replace(whole=False, says=f"no {max(proofs.values())} in it, which the others have")


def _proof_in(path: str) -> str:
    return next((name for name in PROOFS if os.path.lexists(os.path.join(path, name))), "")


def _followed(folder: str, found: Sequence[Checkpoint]) -> Iterable[Checkpoint]:
    """The newest first; each is compared with the next one after it that it is like."""
    later: list[tuple[int, _Shape]] = []
    for one in sorted(found, key=lambda one: one.step, reverse=True):
        with suppress(OSError):
            shape = _shape(os.path.join(folder, one.path))
            like = next((step for step, other in later if shape.is_like(other) and step > one.step), None)
            if like is not None:
                says = f"nothing in it says whether it is finished, but step {like} after it has the same files"
                yield one._replace(whole=None, says=says, unproven=False)
            if shape.names:
                later.append((one.step, shape))


def _shape(path: str) -> _Shape:
    names: set[str] = set()
    size, places = 0, [path]
    while places and len(names) <= FILES:
        with os.scandir(places.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    places.append(entry.path)
                    continue
                names.add(os.path.relpath(entry.path, path))
                size += entry.stat(follow_symlinks=False).st_size
    return _Shape(frozenset(names) if len(names) <= FILES else frozenset(), size)
