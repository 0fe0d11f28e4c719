"""The newest complete checkpoint of the running stage, and how many there are: looked at again where one changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.checkpoints.on_disk import LOOKED_AT, candidates
from onbox.checkpoints.select import is_half_written, step_of
from onbox.checkpoints.wholeness import examine
from onbox.named_tuple import NamedTuple
from onbox.system.clock import cpu_seconds, monotonic
from onbox.system.time_limit import TooLong, time_limit

if TYPE_CHECKING:
    from onbox.model.manifest import Stage

LOOK_SECONDS = 5.0
SHARE = 1000  # a look that took a second of a core is not repeated for so many


class Complete(NamedTuple):
    """step, at: of the newest complete checkpoint; None: there is none. checkpoints: complete ones, at most 64."""

    step: int | None = None
    at: float | None = None
    checkpoints: int = 0


class CheckpointWatch:
    """One stage at a time. A checkpoint whose time and size have not changed is not examined again."""

    def __init__(self, stage: Stage, project: str) -> None:
        self._stage, self._project = stage, project
        self._folder = os.path.normpath(os.path.join(project, stage.cwd))
        self._known: dict[str, tuple[tuple[int, ...], bool]] = {}
        self._next = 0.0

    @property
    def is_declared(self) -> bool:
        """Whether anything says where checkpoints lie."""
        gate, artifacts = self._stage.gates.checkpoints, self._stage.artifacts
        return any(one.has_wildcard for one in artifacts) or (gate is not None and gate.path not in (".", ""))

    def look(self) -> Complete | None:
        """As of now. None: it was not looked: nothing is declared, it cannot be seen, or the look before took long."""
        if not self.is_declared or monotonic() < self._next:
            return None
        began = cpu_seconds()
        try:
            with time_limit(LOOK_SECONDS):
                return self._look()
        except (OSError, TooLong):
            return None
        finally:
            self._next = monotonic() + SHARE * (cpu_seconds() - began)

    def _look(self) -> Complete:
        known: dict[str, tuple[tuple[int, ...], bool]] = {}
        complete: list[tuple[int, float]] = []
        steps = {path: step for path in candidates(self._stage, self._folder) if (step := step_of(path)) is not None}
        for path in sorted(steps, key=lambda path: steps[path], reverse=True)[:LOOKED_AT]:
            place = os.path.join(self._folder, path)
            try:
                mark = _mark(place)
                before = self._known.get(path)
                if before is not None and before[0] == mark:
                    whole = before[1]
                else:
                    is_folder = os.path.isdir(place)
                    proof = False if is_half_written(path) else examine(place, self._stage.checkpoints)[0]
                    whole = proof is True or (proof is None and not is_folder)
            except FileNotFoundError:
                continue
            known[path] = (mark, whole)
            if whole:
                complete.append((steps[path], mark[0] / 1e9))
        self._known = known
        newest = max(complete, default=None)
        return Complete() if newest is None else Complete(*newest, len({step for step, _ in complete}))


def _mark(path: str) -> tuple[int, ...]:
    """Changes when the checkpoint does: of a folder, with each file in it."""
    seen = os.stat(path)
    if not os.path.isdir(path):
        return seen.st_mtime_ns, seen.st_size
    inside = [entry.stat(follow_symlinks=False) for entry in os.scandir(path)]
    return (
        max([seen.st_mtime_ns, *(one.st_mtime_ns for one in inside)]),
        sum(one.st_size for one in inside),
        len(inside),
    )
