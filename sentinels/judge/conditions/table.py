"""Which condition a target has, and which of them belong together. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sentinels.judge.conditions.artifact import ArtifactCondition
from sentinels.judge.conditions.log import LogCondition
from sentinels.judge.conditions.marker import MarkerCondition
from sentinels.judge.conditions.process import ProcessCondition
from sentinels.judge.conditions.program import ProgramCondition
from sentinels.judge.conditions.run import RunCondition
from sentinels.targets import Target, TargetKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sentinels.judge.conditions.base import Arming, WaitCondition
    from sentinels.judge.conditions.program import WatchedProgram

CONDITIONS: Mapping[TargetKind, type[WaitCondition]] = {
    TargetKind.MARKER: MarkerCondition,
    TargetKind.RUN: RunCondition,
    TargetKind.LOG: LogCondition,
    TargetKind.ARTIFACT: ArtifactCondition,
    TargetKind.PROCESS: ProcessCondition,
}


def make_conditions(
    target: Target, path: str, arming: Arming, program: WatchedProgram | None = None
) -> list[WaitCondition]:
    """The conditions of a target at its full path: one, or for a stage's marker in a run directory also its run, or of
    a watched job also its processes.
    """
    made = [CONDITIONS[target.kind](target, path, arming)]
    if program is not None:
        made.append(ProgramCondition(target, path, arming, program, made[0]))
    folder, _, name = path.rpartition("/")
    if target.kind is TargetKind.MARKER and not target.fails and name.endswith("_DONE") and folder.endswith("/markers"):
        made.append(RunCondition(target, folder.removesuffix("/markers"), arming, companion=True))
    return made


def with_processes(items: Sequence[tuple[int, WaitCondition]]) -> list[tuple[int, WaitCondition]]:
    """All on one box, its processes first: what is older than one that lives is known to be so when it is seen."""
    processes = [(number, one) for number, one in items if isinstance(one, ProcessCondition)]
    others = [(number, one) for number, one in items if not isinstance(one, ProcessCondition)]
    for _, condition in others:
        condition.beside = [one for _, one in processes]
    return [*processes, *others]
