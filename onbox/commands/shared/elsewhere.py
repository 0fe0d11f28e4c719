"""Live runs of this project that its state directory does not show: another directory, or one that was removed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.command.environment import run_dir_assignment
from onbox.chain.state.run_registry import live_of_project_outside
from onbox.contract.exits import Exit
from onbox.contract.paths import CONFIG_FILE, RunPaths
from onbox.errors import Trouble
from onbox.outside import safe_line
from onbox.runs.removed import way_on
from onbox.system.process import carriers_below

if TYPE_CHECKING:
    from collections.abc import Sequence


def refuse_alive_elsewhere(paths: RunPaths, project: str) -> None:
    """Raises Trouble where the run of this name lives in another state directory: this would be its second copy."""
    name, state_dir = os.path.basename(paths.root), os.path.dirname(paths.root)
    for other in live_of_project_outside(project, state_dir, os.environ, name):
        why = f"nothing was started: run {name} of this project is alive in {_shown(other, project)}"
        ways = f"to go on with it: {_setting(other, project)}; for another run beside it: another name below [run]"
        raise Trouble(Exit.ANOTHER_RUNNER, f"{why}\n  {ways}")


def unseen_alive(project: str, state_dir: str) -> str:
    """What is to be said of live runs of the project that its state directory does not show; "": none is known."""
    removed = removed_and_alive(state_dir)
    if removed:
        return "\n".join(removed_under_it(root, pids) for root, pids in removed.items())
    others = live_of_project_outside(project, state_dir, os.environ)
    return "\n".join(
        f"no run in {safe_line(state_dir)}, but run {os.path.basename(one.root)} of this project is alive in "
        f"{_shown(one, project)}\n  to see it: {_setting(one, project)}"
        for one in others
    )


def removed_and_alive(state_dir: str) -> dict[str, list[int]]:
    """The places of runs below the state directory that are not there any more, with their live processes."""
    above = os.path.join(os.path.abspath(state_dir), "")
    found: dict[str, list[int]] = {}
    for folder, pids in carriers_below(run_dir_assignment(above)).items():
        root = os.path.join(above, os.fsdecode(folder).split("/", 1)[0])  # a cell's lies in its sweep's
        if not os.path.exists(RunPaths(root).manifest):
            found.setdefault(root, []).extend(pids)
    return found


def removed_under_it(root: str, pids: Sequence[int]) -> str:
    """What is said of a run whose state directory is gone, and of which processes are alive."""
    return (
        f"{root} is not there, but processes of a run in this place are alive: its state was removed under it\n"
        f"  {way_on(pids)}"
    )


def _shown(paths: RunPaths, project: str) -> str:
    folder = os.path.dirname(paths.root)
    near = os.path.relpath(folder, project)
    return safe_line(folder if near.startswith("..") else near)


def _setting(paths: RunPaths, project: str) -> str:
    return f'state_dir = "{_shown(paths, project)}" below [run] in {CONFIG_FILE}'
