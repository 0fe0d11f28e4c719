"""Which run a command is about: `BOX/RUN` of the command line, as a box of the configuration and a run's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.exits import Exit
from onbox.contract.names import name_problem
from onbox.errors import Trouble
from patrol.config.configured import choose_boxes, split_run
from patrol.memory.store import Memory

if TYPE_CHECKING:
    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings


def one_run(settings: Settings, word: str) -> tuple[BoxSettings, str]:
    """The box and the run's name; a box alone stands for its only known run. Raises Trouble."""
    box_name, run = split_run(word)
    (box,) = choose_boxes(settings, [box_name])
    if box.is_cluster:
        text = f"{box.name} is a cluster ({box.backend}): its jobs' files are on disks that the patrol does not reach"
        raise Trouble(Exit.USAGE, f"{text}; this needs a box with ssh")
    if run is None:
        run = _only_run(settings, box)
    if (problem := name_problem(run)) is not None:
        raise Trouble(Exit.USAGE, f"{run!r} is not a run's name: {problem}")
    return box, run


def _only_run(settings: Settings, box: BoxSettings) -> str:
    known = sorted(run for name, run in Memory(settings.state).recall().runs if name == box.name and run)
    if len(known) == 1:
        return known[0]
    names = ", ".join(f"{box.name}/{run}" for run in known)
    what = f"{box.name} has {len(known)} known runs: {names}" if known else f"no run of {box.name} is known yet"
    raise Trouble(Exit.USAGE, f"{what}; name one, as {box.name}/RUN")
