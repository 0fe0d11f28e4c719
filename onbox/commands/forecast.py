"""`onbox resume --dry-run`: what would happen, and nothing that does."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from onbox.chain.forecast import as_data, checkpoint_words, foretell, in_words
from onbox.chain.plan import Action
from onbox.contract.exits import Exit
from onbox.redact import one_line, redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.chain.forecast import StageForecast
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import FrozenStage, RunHead

SHOWN = 20
_CODES = {"refuse": Exit.CONFIG}


def _words(stage: StageForecast, would: str) -> str:
    return "is alive" if would == "attach" and stage.action is Action.ADOPT else stage.action.value


def tell_forecast(paths: RunPaths, head: RunHead, stages: Sequence[FrozenStage], *, as_json: bool) -> int:
    """Print it; 0 where `onbox resume` may be typed, 78 where it would refuse."""
    forecast = foretell(paths, head, stages)
    if as_json:
        print(json.dumps(as_data(head.run, head.run_id, forecast)))
        return _CODES.get(forecast.would, Exit.DONE)
    lines = [f"run {os.path.basename(paths.root)}: {in_words(forecast)}"]
    lines += [f"  {one.name:<12} {_words(one, forecast.would)}" for one in forecast.stages[:SHOWN]]
    if len(forecast.stages) > SHOWN:
        lines.append(f"  … and {len(forecast.stages) - SHOWN} stages more")
    if forecast.stage is not None:
        lines.append(f"  checkpoint   {checkpoint_words(forecast.checkpoint)}")
    lines += [f"  MISSING      {path}, which stage {stage} had written" for stage, path in forecast.missing]
    if forecast.missing:
        names = dict.fromkeys(stage for stage, _ in forecast.missing)
        lines.append("  to make it again: onbox chain " + " ".join(f"--redo {name}" for name in names))
    lines.append("  nothing was changed by this look")
    for line in lines:
        print(redact(one_line(line)))
    return _CODES.get(forecast.would, Exit.DONE)
