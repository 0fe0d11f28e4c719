"""Which checkpoints in a folder that several runs of a project use are of another run, by when they were written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.resume_source import stage_records
from onbox.chain.state.frozen_run import read_head, read_stages
from onbox.checkpoints.on_disk import candidates, real_path
from onbox.contract.events import Event
from onbox.contract.paths import RunPaths
from onbox.model.manifest import folder_of
from onbox.system.clock import parse_utc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def written_by_others(paths: RunPaths, written: Mapping[str, float], own: Sequence[float]) -> dict[str, str]:
    """By path, the run whose attempt was the last to begin before it was written. written: when, by real path. own:
    when this run's attempts began. Raises OSError, ValueError where another run cannot be read.
    """
    found: dict[str, str] = {}
    for other in _beside(paths):
        for path, began in _attempts_at(other, written):
            last_own = max((at for at in own if at <= written[path]), default=0.0)
            if any(last_own < at <= written[path] for at in began):
                found[path] = os.path.basename(other.root)
    return found


def _beside(paths: RunPaths) -> Iterator[RunPaths]:
    state_dir, own = os.path.split(paths.root)
    for name in sorted(os.listdir(state_dir)):
        other = RunPaths(os.path.join(state_dir, name))
        if name != own and os.path.exists(other.manifest):
            yield other


def _attempts_at(other: RunPaths, written: Mapping[str, float]) -> Iterator[tuple[str, list[float]]]:
    """Paths that are also where a stage of the other run has its checkpoints, and when its attempts began."""
    head = read_head(other)
    for frozen in read_stages(other) if head is not None else ():
        folder = folder_of(head.project, frozen.stage) if head is not None else ""
        there = {real_path(os.path.join(folder, path)) for path in candidates(frozen.stage, folder)}
        shared = there & written.keys()
        if shared:
            records = stage_records(other, frozen.stage.name)
            times = [parse_utc(str(one.get("at"))) for one in records if one["event"] == Event.ATTEMPT_STARTED]
            yield from ((path, [at for at in times if at is not None]) for path in sorted(shared))
