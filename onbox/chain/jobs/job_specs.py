"""What is handed to an engine: a frozen run's stages as orders. Pure."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from onbox.backends.base import Order
from onbox.backends.table import stages_of
from onbox.chain.command.environment import frozen_environment
from onbox.chain.jobs.submit import Planned
from onbox.contract.runfile import is_apart
from onbox.model.engines import BY_NAME
from onbox.runs.jobs import WHOLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import RunHead
    from onbox.model.manifest import Stage


# Variables by which a job on another machine with the same disk finds what this shell would. Not the GPUs: those are
# the engine's to give.
HANDED_ON = ("PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "LD_LIBRARY_PATH", "PYTHONPATH", "LANG", "TZ")


def frozen_words(python: str, run_dir: str, stage: str | None) -> tuple[str, ...]:
    """The command of a job that sees this disk: one stage of the frozen run, or (None) all of it, in its process."""
    words = (python, "-X", "utf8", "-m", "onbox", "chain", "--inline", "--frozen", run_dir)
    return words if stage is None else (*words, stage)


def stage_orders(paths: RunPaths, head: RunHead, stages: Sequence[Stage], python: str) -> list[Planned]:
    """For an engine that joins jobs: one order for each stage, in their order."""
    settings = head.data["backend"]
    engine = stages_of(settings["name"])
    found = []
    for stage in stages:
        # Not in the project: python -m would find a module there that is called onbox.
        order = Order("", frozen_words(python, paths.root, stage.name), paths.root)
        found.append(Planned(stage.name, engine.fit(order, stage, paths.jobs, settings, head.settings.grace_seconds)))
    return found


def chain_order(paths: RunPaths, head: RunHead, stages: Sequence[Stage], python: str) -> Planned:
    """For an engine that runs the chain as one job: by its frozen run where the job sees this disk, else by the
    project that lies where it runs.
    """
    settings = head.data.get("backend") or {}
    if not is_apart(settings):
        found = frozen_environment(head.data)
        env = tuple((name, found[name]) for name in HANDED_ON if name in found)
        return Planned(WHOLE, Order("", frozen_words(python, paths.root, None), paths.root, env=env))
    words = (*shlex.split(str(settings.get("onbox") or "onbox")), "chain", "--inline", "--run", head.run)
    names = [_stage_word(stage, configured=head.data.get("config") is not None) for stage in stages]
    # An engine that takes the project along packs it where the job is submitted; another is told where it lies there.
    folder = head.project if BY_NAME[settings["name"]].takes_project else str(settings["project"])
    return Planned(WHOLE, Order("", (*words, *names), folder))


def _stage_word(stage: Stage, *, configured: bool) -> str:
    """A stage as a word of `onbox chain`: its name where the configuration travels along, else with its command."""
    return stage.name if configured or not isinstance(stage.cmd, str) else f"{stage.name}={stage.cmd}"
