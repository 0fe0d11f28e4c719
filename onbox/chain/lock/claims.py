"""Which files the live runs beside this one write: two runs must not earn their DONE by one file."""

from __future__ import annotations

import os
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from onbox.chain.state.run_registry import is_live, live_outside
from onbox.contract.paths import CELLS_FOLDER, RunPaths
from onbox.contract.runfile import parse_head, parse_stages
from onbox.model.manifest import folder_of
from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic, pause
from onbox.system.files import LINE_LIMIT_BYTES, lines_of, open_plain
from onbox.system.lock import try_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onbox.model.manifest import Artifact, Stage


STARTING = ".starting"
PATIENCE_SECONDS = 20.0
LOOK_SECONDS = 0.01


class ArtifactClaim(NamedTuple):
    """A stage of a run and an artifact that it writes, as an absolute path or pattern."""

    run: str
    stage: str
    path: str
    is_glob: bool


class Claimed(Exception):
    """A live run writes one of these artifacts."""

    def __init__(self, own: ArtifactClaim, other: ArtifactClaim) -> None:
        self.own, self.other = own, other
        super().__init__(f"{own.path}: {other.run}")


@contextmanager
def one_start_at_a_time(paths: RunPaths) -> Iterator[None]:
    """Of two runs that start at the same moment the second one sees what the first has claimed."""
    place = os.path.join(os.path.dirname(paths.root), STARTING)
    fd, deadline = try_lock(place), monotonic() + PATIENCE_SECONDS
    while fd is None and monotonic() < deadline:
        pause(LOOK_SECONDS)  # no event tells that a lock is free, and the other start takes a moment
        fd = try_lock(place)
    try:
        yield
    finally:
        if fd is not None:
            os.close(fd)


def claims_of(run: str, project: str, stages: Iterable[Stage]) -> Iterator[ArtifactClaim]:
    """What the stages of a run write."""
    for stage in stages:
        folder = folder_of(project, stage)
        for artifact in stage.artifacts:
            yield ArtifactClaim(run, stage.name, _absolute(folder, artifact), artifact.is_glob)


def _absolute(folder: str, artifact: Artifact) -> str:
    return os.path.normpath(os.path.join(os.path.realpath(folder), artifact.pattern))


def refuse_claimed(paths: RunPaths, project: str, stages: Iterable[Stage]) -> None:
    """Raises Claimed where another run that is alive writes what one of the stages is to write."""
    own = list(claims_of(os.path.basename(paths.root), project, stages))
    if not own:
        return
    others = [other for root in _live_others(paths) for other in _claims_at(root)]
    for mine in own:
        for other in others:
            if _meet(mine, other):
                raise Claimed(mine, other)


def _live_others(paths: RunPaths) -> Iterator[RunPaths]:
    """Beside it, and those of this user that lie elsewhere: another name or another `state_dir` makes no other file."""
    state_dir, own = os.path.split(paths.root)
    for run in live_outside(state_dir, os.environ):
        yield run
        yield from _live_cells(run)
    for entry in sorted(os.scandir(state_dir), key=lambda one: one.name):
        other = RunPaths(entry.path)
        if entry.name != own and os.path.exists(other.manifest):
            if is_live(other):
                yield other
            yield from _live_cells(other)


def _live_cells(sweep: RunPaths) -> Iterator[RunPaths]:
    """The live chains below a sweep: each of its cells is one."""
    try:
        entries = list(os.scandir(f"{sweep.root}/{CELLS_FOLDER}"))
    except OSError:
        return  # it is not a sweep
    for entry in entries:
        cell = RunPaths(entry.path)
        if os.path.exists(cell.manifest) and is_live(cell):
            yield cell


def _claims_at(paths: RunPaths) -> Iterator[ArtifactClaim]:
    try:
        with open_plain(paths.manifest) as file:
            head = parse_head(file.readline(LINE_LIMIT_BYTES))
            yield from claims_of(head.run, head.project, (one.stage for one in parse_stages(lines_of(file))))
    except (OSError, ValueError):
        return  # its definition is being written, or cannot be read: nothing is known to speak against this start


def _meet(one: ArtifactClaim, other: ArtifactClaim) -> bool:
    """Whether both may write one file. Of two different patterns that is not known: then they may not."""
    if one.is_glob and other.is_glob:
        return one.path == other.path
    if one.is_glob or other.is_glob:
        pattern, path = (one.path, other.path) if one.is_glob else (other.path, one.path)
        return fnmatchcase(path, pattern)
    return one.path == other.path
