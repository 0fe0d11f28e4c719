"""trackio's database (SQLite, one per project): the program that reads it beside the run, its answer as a run. Pure.

trackio keeps no state: whether a run lives is told by its newest time alone, and points that are logged in one batch
share one. Checked on trackio 0.43.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from onbox.contract.json_text import parse_object
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.named_tuple import NamedTuple
from onbox.trackers.reading import TrackerRun, loss_of, number

ALERTS_LIMIT = 5

# `python3 -I -S -c PROGRAM DATABASE RUN_NAME`, for any python since 3.6. Read-only; where nobody has the database open
# (no write-ahead log), not even its shared memory is made. The newest rows come first by their keys, so that a run that
# lives is found at once, however long the table. Metrics are bytes in newer versions.
PROGRAM = """\
import json, os, sqlite3, sys
path, name = sys.argv[1:3]
def text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
try:
    if not os.path.exists(path):
        print(json.dumps({"absent": "no such database"}))
        sys.exit(0)
    how = "mode=ro" if os.path.exists(path + "-wal") else "mode=ro&immutable=1"
    for old, new in (("%", "%25"), ("?", "%3f"), ("#", "%23")):
        path = path.replace(old, new)
    base = sqlite3.connect("file:%s?%s" % (path, how), uri=True, timeout=1)
    row = base.execute("SELECT run_id, run_name, step, timestamp, substr(metrics, 1, 20000) FROM metrics"
                       " WHERE run_name = ? ORDER BY id DESC LIMIT 1", (name,)).fetchone()
    found = []
    if base.execute("SELECT 1 FROM sqlite_master WHERE name = 'alerts'").fetchone():
        found = base.execute("SELECT timestamp, level, substr(title, 1, 200), substr(text, 1, 300), step FROM alerts"
                             " WHERE run_name = ? ORDER BY id DESC LIMIT 5", (name,)).fetchall()
    print(json.dumps({"row": row and [text(one) for one in row], "alerts": [[text(one) for one in a] for a in found]}))
except sqlite3.Error as error:
    print(json.dumps({"trouble": str(error)}))
"""


class Alert(NamedTuple):
    """What a program told its tracker by `trackio.alert`. level: info, warn or error."""

    at_seconds: float | None
    level: str
    title: str
    text: str
    step: float | None = None


class TrackioRun(NamedTuple):
    """alerts: newest first, at most five."""

    run: Maybe[TrackerRun]
    alerts: tuple[Alert, ...] = ()


def parse_answer(text: str, project: str | None) -> TrackioRun:
    """What PROGRAM said. Text of a box: nothing of it is believed beyond its type."""
    data = parse_object(text)
    if data is None:
        return TrackioRun(Unseen("the box's python did not read trackio's database"))
    if isinstance(data.get("trouble"), str):
        return TrackioRun(Unseen(f"trackio's database: {data['trouble'][:120]}"))
    if isinstance(data.get("absent"), str):
        return TrackioRun(Absent(data["absent"][:120]))
    alerts = data.get("alerts")
    rows = alerts[:ALERTS_LIMIT] if isinstance(alerts, list) else []
    return TrackioRun(_run(data.get("row"), project), tuple(_alert(row) for row in rows if _is_row(row, 5)))


def _is_row(row: object, length: int) -> bool:
    return isinstance(row, list) and len(row) == length


def _run(row: Any, project: str | None) -> Maybe[TrackerRun]:
    if row is None:
        return Absent("trackio has no point of this run")
    if not _is_row(row, 5):
        return Unseen("trackio's database: an answer that makes no sense")
    run_id, name, step, at, metrics = row
    logged = (parse_object(metrics) if isinstance(metrics, str) else None) or {}
    own = number(logged.get("global_step")) is None
    return TrackerRun(
        "trackio",
        run_id if isinstance(run_id, str) and run_id else None,
        name if isinstance(name, str) else None,
        project,
        None,
        number(step) if own else number(logged.get("global_step")),
        own,
        seconds(at),
        loss_of(logged),
        None,
    )


def _alert(row: list[Any]) -> Alert:
    at, level, title, text, step = row
    words = [str(one)[:300] if one is not None else "" for one in (level, title, text)]
    return Alert(seconds(at), words[0].lower(), words[1], words[2], number(step))


def seconds(value: object) -> float | None:
    """A time in ISO 8601, with or without a zone (then UTC), since the epoch."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
