"""Which run a command is about: one that was seen, or the one that the configuration names and nobody launched yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbook.page.facts import RunFacts
from handbook.page.phrases import safe
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from patrol.decide.remote_command import Way, way_to

if TYPE_CHECKING:
    from handbook.page.facts import HandbookFacts
    from patrol.config.settings import Settings

NOT_LAUNCHED = "not-launched"


def about_run(word: str | None, facts: HandbookFacts, planned: RunFacts | None = None) -> RunFacts:
    """The run that is meant. planned: may be meant before its launch. Raises Trouble with the names there are."""
    runs = [run for run in facts.runs if run.run]
    if planned is not None and planned.run not in (run.run for run in runs):
        runs += [planned] if word is not None or not runs else []
    meant = [run for run in runs if word in (None, run.run, run.name)]
    if len(meant) == 1:
        return meant[0]
    names = ", ".join(run.name for run in runs) or "none: `handbook resume` looks"
    named = safe(word or "", 80)
    said = "which run" if word is None else f"{named!r} is on several boxes" if meant else f"no run {named!r}"
    raise Trouble(Exit.USAGE, f"{said}; --run one of: {names}")


def planned_run(settings: Settings) -> RunFacts | None:
    """The run that onbox.toml names, as it is before its launch: its record begins then. None: it names no stage and no
    box. Where several boxes are configured it belongs to none of them yet.
    """
    config = settings.config
    if settings.config_path is None or not (config.stages or config.boxes):
        return None
    box = config.boxes[0] if len(config.boxes) == 1 else None
    return RunFacts(
        box=box.name if box else "",
        run=config.run_name,
        managed=True,
        state="pending",
        rule=NOT_LAUNCHED,
        says="it was not launched yet",
        severity="ok",
        since=None,
        seen_at=None,
        remedy="",
        look="",
        way=way_to(box, settings.ssh_command) if box else Way("", None, settings.folder),
        place="",
        project=(box.project if box and box.project else settings.folder),
    )
