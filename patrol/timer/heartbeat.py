"""The patrol's own sign of life: one file, written at the beginning and at the end of every tick, whatever comes of it.

It does not depend on the memory: a patrol whose memory cannot be written is alive, and says so here.
"""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

from onbox.named_tuple import NamedTuple
from onbox.system.files import read_file, replace_file

if TYPE_CHECKING:
    from onbox.cron.schedule import Schedule

from onbox.cron.schedule import cadence_seconds, last_due, next_due

FILE = "heartbeat.json"
SCHEMA = 1
CADENCES = 2  # silent for longer than so many: stale


class Heartbeat(NamedTuple):
    """ended_at, exit_code: None while the tick runs, or when it was killed. trouble: of the tick itself, in words.
    timer_at: when a timer last began a tick; None: never. config: the file that it looks after; "": none.
    """

    began_at: float
    pid: int
    ended_at: float | None = None
    exit_code: int | None = None
    boxes: int = 0
    runs: int = 0
    trouble: str = ""
    timer_at: float | None = None
    config: str = ""


def write_heartbeat(folder: str, heartbeat: Heartbeat) -> None:
    """Raises StateNotWritten."""
    text = json.dumps({"schema": SCHEMA, **heartbeat._asdict()}).encode("ascii") + b"\n"
    replace_file(os.path.join(folder, FILE), text, durable=False)


def read_heartbeat(folder: str) -> Heartbeat | None:
    """None if no tick ever ran, or the file cannot be understood."""
    try:
        data = json.loads(read_file(os.path.join(folder, FILE), 1 << 16) or b"")
        found = Heartbeat(**{key: value for key, value in data.items() if key in Heartbeat._fields})
    except (OSError, ValueError, TypeError, AttributeError):
        return None
    return found if _is_sound(found) else None


def _is_sound(found: Heartbeat) -> bool:
    """Whether every field is what it is called: the file may have been touched by hand, or be of another version."""
    numbers = (found.began_at, found.pid, found.boxes, found.runs)
    optional = (found.ended_at, found.exit_code, found.timer_at)
    given = (*numbers, *(value for value in optional if value is not None))
    return (
        isinstance(found.trouble, str)
        and isinstance(found.config, str)
        and all(isinstance(value, int | float) and math.isfinite(value) for value in given)
    )


class PatrolStanding(NamedTuple):
    """How the patrol itself does. stale: silent for more than two cadences; None: it never ticked. timer_stale: the
    same of the ticks that a timer began; None: it never began one. missed: how many times the schedule was due since
    the timer's last tick, the one that may be running left out.
    """

    next_due_at: float | None
    cadence_seconds: float
    stale: bool | None
    timer_stale: bool | None
    missed: int


def stand(heartbeat: Heartbeat | None, schedule: Schedule, now: float) -> PatrolStanding:
    """Judge the patrol's own silence."""
    cadence = cadence_seconds(schedule, now)
    upcoming = next_due(schedule, now)
    if heartbeat is None:
        return PatrolStanding(upcoming, cadence, None, None, 0)
    limit = CADENCES * cadence
    timer_at = heartbeat.timer_at
    return PatrolStanding(
        next_due_at=upcoming,
        cadence_seconds=cadence,
        stale=now - heartbeat.began_at > limit,
        timer_stale=None if timer_at is None else now - timer_at > limit,
        missed=0 if timer_at is None else _missed(schedule, timer_at, now),
    )


def _missed(schedule: Schedule, since: float, now: float) -> int:
    """Times that it was due, counted at most up to 1000. cron starts within the minute."""
    count = 0
    due = last_due(schedule, now - 60)
    while due is not None and due > since + 60 and count < 1000:
        count += 1
        due = last_due(schedule, due - 60)
    return count


def as_data(heartbeat: Heartbeat | None, standing: PatrolStanding) -> dict[str, Any]:
    """For `--json`."""
    return {"last_tick": heartbeat._asdict() if heartbeat else None, **standing._asdict()}
