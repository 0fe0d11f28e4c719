"""Who patrols what on this machine: two patrols of one run would log in, alarm and resume in turns.

Each patrol that a timer fires leaves a note of what it looks at in its own state folder; nothing is left on a box. A
note counts while its patrol is armed: its line is in the crontab, or a timer began a tick of it lately.
"""

from __future__ import annotations

import json
import os
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.cron.crontab import read_crontab
from onbox.errors import Trouble
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.files import StateNotWritten, read_file, replace_file
from patrol.timer.cron_line import ids_in
from patrol.timer.heartbeat import CADENCES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings

FILE = "claims.json"
SCHEMA = 1


class Claim(NamedTuple):
    """What one patrol looks at. id: the name of its state folder. places: of `place_of`, with the owner's name or "".

    at: when it said so. cadence_seconds: of its schedule.
    """

    id: str
    config: str
    at: float
    cadence_seconds: float
    places: dict[str, str]


def place_of(box: BoxSettings) -> str:
    """What is looked at, as it is written (but for a slash at its end): the project there, else the watched things
    themselves.
    """
    if box.project:
        things = [box.project.rstrip("/") or "/"]
    else:
        things = [f"{w.log} {w.process} {w.session} {w.artifacts} {w.job}" for w in box.watches]
    return " ".join(("localhost" if box.backend == "local" else box.host, *things))


def write_claim(settings: Settings, now: float, cadence_seconds: float) -> None:
    """Raises StateNotWritten."""
    places = {place_of(box): box.owner or "" for box in settings.config.boxes}
    where = settings.config_path or settings.folder
    data = Claim(os.path.basename(settings.state), where, now, cadence_seconds, places)._asdict()
    text = json.dumps({"schema": SCHEMA, **data}).encode("ascii") + b"\n"
    replace_file(os.path.join(settings.state, FILE), text, durable=False)


def drop_claim(settings: Settings) -> None:
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(settings.state, FILE))


def doubles(settings: Settings, scheduled: Callable[[], Sequence[str]], now: float) -> list[str]:
    """One line for each box that another armed patrol of this account looks at: its id, and the way to hand over.

    scheduled: the ids whose lines are in the crontab; asked only where it matters.
    """
    found = _overlaps(settings)
    if not found:
        return []
    armed = set(scheduled())
    return [
        _line(box, claim)
        for box, claim in found
        if claim.id in armed or 0 <= now - claim.at <= CADENCES * claim.cadence_seconds
    ]


def _overlaps(settings: Settings) -> list[tuple[BoxSettings, Claim]]:
    above, own = os.path.split(settings.state)
    try:
        ids = sorted(id_ for id_ in os.listdir(above) if id_ != own)
    except OSError:
        return []
    claims = [claim for id_ in ids if (claim := _read(os.path.join(above, id_, FILE))) is not None]
    return [(box, claim) for box in settings.config.boxes for claim in claims if place_of(box) in claim.places]


def _line(box: BoxSettings, claim: Claim) -> str:
    owner = claim.places[place_of(box)]
    whose = f", owner {safe_line(owner)}" if owner else ""
    where = safe_line(claim.config)
    return (
        f"{box.name} ({safe_line(place_of(box))}) is patrolled already by {safe_line(claim.id)} ({where}{whose});"
        f" to hand it over: patrol uninstall -c {shlex.quote(where)}"
    )


def _read(path: str) -> Claim | None:
    try:
        data = json.loads(read_file(path, 1 << 20) or b"")
        return Claim(**{key: data[key] for key in Claim._fields})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def ids_scheduled() -> list[str]:
    """Every patrol that has a line in the crontab; [] where that cannot be known."""
    try:
        return ids_in(read_crontab())
    except Trouble:
        return []


def claim_or_tell(settings: Settings, now: float, cadence: float) -> list[str]:
    """For a tick by a timer: say what is ours, and tell what is another's, too."""
    with suppress(StateNotWritten):  # the memory's trouble tells of a disk that is full
        write_claim(settings, now, cadence)
    return doubles(settings, ids_scheduled, now)
