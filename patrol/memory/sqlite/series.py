"""The points of a run's series in the store: added by each look, bounded, read by whoever draws them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onbox.series.point import parse_point, point_to_dict
from patrol.memory.sqlite.schema import KEPT_POINTS_PER_RUN

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from onbox.series.point import Point


def read(db: sqlite3.Connection, box: str, run: str, since: float) -> list[Point]:
    """The points of a run that are younger than `since`, oldest first."""
    query = "SELECT point FROM series WHERE box = ? AND run = ? AND at > ? ORDER BY at"
    found = (parse_point(text.encode()) for (text,) in db.execute(query, (box, run, since)))
    return [point for point in found if point is not None]


def add(db: sqlite3.Connection, box: str, run: str, points: Sequence[Point]) -> None:
    """Keep these; one that is there already is written again. Of too many, every other of the older half is dropped."""
    rows = [(box, run, point.at, json.dumps(point_to_dict(point), separators=(",", ":"))) for point in points]
    db.executemany("INSERT OR REPLACE INTO series VALUES (?, ?, ?, ?)", rows)
    times = [at for (at,) in db.execute("SELECT at FROM series WHERE box = ? AND run = ? ORDER BY at", (box, run))]
    if len(times) > KEPT_POINTS_PER_RUN:
        dropped = times[1 : len(times) // 2 : 2]
        db.executemany("DELETE FROM series WHERE box = ? AND run = ? AND at = ?", [(box, run, at) for at in dropped])
