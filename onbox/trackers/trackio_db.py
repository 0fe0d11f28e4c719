"""trackio's database (SQLite, one per project): the question as SQL, its row as a run. Pure.

Open it read-only (`file:PATH?mode=ro`). trackio keeps no state: whether a run lives is told by its newest time alone,
and points that are logged in one batch share one.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Maybe
from onbox.trackers.reading import TrackerRun

if TYPE_CHECKING:
    from collections.abc import Sequence

# One parameter: the run's name. json_extract: the user's own step, where there is one.
NEWEST = """\
SELECT run_id, run_name, step, timestamp, json_extract(metrics, '$.global_step')
FROM metrics WHERE run_name = ? ORDER BY step DESC, timestamp DESC LIMIT 1"""
ALERTS = (
    "SELECT timestamp, level, title, text, step FROM alerts WHERE run_name = ? AND timestamp > ? ORDER BY timestamp"
)


def parse_newest(row: Sequence[object] | None, project: str) -> Maybe[TrackerRun]:
    """The run in the row of NEWEST; `Absent` where there is no row."""
    if row is None:
        return Absent("trackio has no point of this run")
    run_id, name, step, at, own = row
    value = own if isinstance(own, int | float) else step
    return TrackerRun(
        "trackio",
        str(run_id) if run_id else None,
        str(name),
        project,
        None,
        float(value) if isinstance(value, int | float) else None,
        not isinstance(own, int | float),
        _seconds(str(at)),
    )


def _seconds(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
