"""Some stages of a run that has more of them: the others stay a part of it, and must be done."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.state.frozen_run import read_stages
from onbox.chain.state.slots import read_marker
from onbox.contract.markers import Marker

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from onbox.contract.paths import RunPaths
    from onbox.model.manifest import Stage
    from onbox.runs.start_command import StartCommand


def with_the_others(
    paths: RunPaths, typed: StartCommand, asked: Sequence[Stage], settled: Collection[str]
) -> tuple[Sequence[Stage], str]:
    """The stages to run, and those of the run that were not asked for, as they are frozen: they are skipped.

    settled: stages on which the user has said a word (--accept-done, --redo). The text: why these
    must not take the place of the run's stages: one that was not asked for is not done; "": they may.
    """
    if not typed.stages or not os.path.exists(paths.manifest):
        return asked, ""
    try:
        frozen = [one.stage for one in read_stages(paths)]
    except (OSError, ValueError):
        return asked, ""  # a damaged definition: the start tells what to do about it
    now = {stage.name: stage for stage in asked}
    others = [stage.name for stage in frozen if stage.name not in now]
    if not others or not now.keys() <= {stage.name for stage in frozen}:
        return asked, ""
    open_ones = [name for name in others if name not in settled and not _is_done(paths, name)]
    if not open_ones:
        return [now.get(stage.name, stage) for stage in frozen], ""
    return asked, _refusal(frozen, typed, list(now), open_ones)


def without_what_comes_before(
    paths: RunPaths, typed: StartCommand, asked: Sequence[Stage], configured: Sequence[Stage], settled: Collection[str]
) -> str:
    """Why a run that is not there yet must not begin with these stages: onbox.toml has others before them; "": it may.

    Stages that are typed with a command of their own (NAME=COMMAND), or a run that is named, are a person's word.
    """
    if not typed.stages or any("=" in word for word in typed.stages) or os.path.exists(paths.manifest):
        return ""
    names = [stage.name for stage in configured]
    wanted = [stage.name for stage in asked if stage.name in names]
    last = max((names.index(name) for name in wanted), default=0)
    before = [name for name in names[:last] if name not in wanted and name not in settled]
    if not before:
        return ""
    return (
        f"nothing was started: onbox.toml has {', '.join(before[:8])} before {wanted[-1]}, and it is not done\n"
        f"  all of it, in order:                  {typed._replace(stages=()).again()}\n"
        f"  {', '.join(wanted[:4])} alone, as a separate run:  {_alone(typed, wanted[0])}"
    )


def _is_done(paths: RunPaths, stage: str) -> bool:
    return isinstance(read_marker(paths.done(stage)), Marker)


def _alone(typed: StartCommand, stage: str) -> str:
    return typed._replace(run=f"{typed.run}-{stage}").again()


def _refusal(frozen: Sequence[Stage], typed: StartCommand, asked: Sequence[str], open_ones: Sequence[str]) -> str:
    plural = "stages" if len(open_ones) > 1 else "stage"
    verb = "are" if len(open_ones) > 1 else "is"
    every = " ".join(stage.name for stage in frozen[:8]) + (" …" if len(frozen) > 8 else "")
    accept = [word for name in open_ones for word in ("--accept-done", name)]
    return (
        f"nothing was started: run {typed.run} is {every}, and {plural} {', '.join(open_ones[:8])} {verb} not done\n"
        f"  continue all of it, in order:         {typed.resume()}\n"
        f"  {', '.join(asked[:4])} alone, as a separate run:  {_alone(typed, asked[0])}\n"
        f"  accept the results that are there:    {typed.again(*accept)}"
    )
