"""Some stages of a run that has more of them: the others stay a part of it, and must be done."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from onbox.chain.state.frozen_run import read_stages
from onbox.chain.state.slots import read_marker
from onbox.contract.markers import Marker

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from onbox.contract.paths import RunPaths
    from onbox.model.manifest import Stage


def with_the_others(
    paths: RunPaths, words: Sequence[str], asked: Sequence[Stage], settled: Collection[str]
) -> tuple[Sequence[Stage], str]:
    """The stages to run, and those of the run that were not asked for, as they are frozen: they are skipped.

    words: as typed. settled: stages on which the user has said a word (--accept-done, --redo). The text: why these
    must not take the place of the run's stages: one that was not asked for is not done; "": they may.
    """
    if not words or not os.path.exists(paths.manifest):
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
    return asked, _refusal(paths, frozen, words, list(now), open_ones)


def without_what_comes_before(
    paths: RunPaths, words: Sequence[str], asked: Sequence[Stage], configured: Sequence[Stage], settled: Collection[str]
) -> str:
    """Why a run that is not there yet must not begin with these stages: onbox.toml has others before them; "": it may.

    Stages that are typed with a command of their own (NAME=COMMAND), or a run that is named, are a person's word.
    """
    if not words or any("=" in word for word in words) or os.path.exists(paths.manifest):
        return ""
    names = [stage.name for stage in configured]
    wanted = [stage.name for stage in asked if stage.name in names]
    last = max((names.index(name) for name in wanted), default=0)
    before = [name for name in names[:last] if name not in wanted and name not in settled]
    if not before:
        return ""
    run = os.path.basename(paths.root)
    alone = shlex.join(["onbox", "chain", "--run", f"{run}-{wanted[0]}", *words])
    return (
        f"nothing was started: onbox.toml has {', '.join(before[:8])} before {wanted[-1]}, and it is not done\n"
        "  all of it, in order:                  onbox chain\n"
        f"  {', '.join(wanted[:4])} alone, as a separate run:  {alone}"
    )


def _is_done(paths: RunPaths, stage: str) -> bool:
    return isinstance(read_marker(paths.done(stage)), Marker)


def _refusal(
    paths: RunPaths, frozen: Sequence[Stage], words: Sequence[str], asked: Sequence[str], open_ones: Sequence[str]
) -> str:
    run = os.path.basename(paths.root)
    plural = "stages" if len(open_ones) > 1 else "stage"
    verb = "are" if len(open_ones) > 1 else "is"
    every = " ".join(stage.name for stage in frozen[:8]) + (" …" if len(frozen) > 8 else "")
    alone = shlex.join(["onbox", "chain", "--run", f"{run}-{asked[0]}", *words])
    accept = " ".join(f"--accept-done {name}" for name in open_ones[:4])
    return (
        f"nothing was started: run {run} is {every}, and {plural} {', '.join(open_ones[:8])} {verb} not done\n"
        f"  continue all of it, in order:         onbox resume {run}\n"
        f"  {', '.join(asked[:4])} alone, as a separate run:  {alone}\n"
        f"  accept the results that are there:    {shlex.join(['onbox', 'chain', *words])} {accept}"
    )
