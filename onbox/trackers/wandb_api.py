"""W&B's server, asked without the wandb package: the question as data, the answer as a run. Pure.

`POST {base}/graphql` with basic authentication, user `api` and the key as password. Summary and configuration are JSON
in a text. The server's state lags: a box that was killed stays `running` until its heartbeats have been missed for
long.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from onbox.contract.json_text import parse_json, parse_object
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.trackers.reading import TrackerRun, loss_of, number

QUERY = """\
query Run($project: String!, $entity: String!, $name: String!) {
  project(name: $project, entityName: $entity) {
    run(name: $name) { name displayName state heartbeatAt summaryMetrics historyLineCount }
  }
}"""


def question(entity: str, project: str, run_id: str) -> dict[str, Any]:
    """The body of the request."""
    return {"query": QUERY, "variables": {"entity": entity, "project": project, "name": run_id}}


def parse_answer(status: int, text: str, project: str) -> Maybe[TrackerRun]:
    """The run in the answer. `Absent`: the server answers and has no such run."""
    if status in (401, 403):
        return Unseen(f"HTTP {status}: the key is not accepted")
    try:
        data = parse_json(text)
    except ValueError:
        return Unseen(f"HTTP {status}: the answer is not JSON, or not complete")
    if status != 200 or not isinstance(data, dict) or data.get("errors"):
        return Unseen(f"HTTP {status}: the server refused the question")
    told = data.get("data")
    found = told.get("project") if isinstance(told, dict) else None
    run = found.get("run") if isinstance(found, dict) else None
    if not isinstance(run, dict):
        return Absent("the server has no such run")
    return _run(run, project)


def _run(data: dict[str, Any], project: str) -> TrackerRun:
    metrics = data.get("summaryMetrics")
    summary = (parse_object(metrics) if isinstance(metrics, str) else None) or {}
    own = number(summary.get("global_step")) is None
    at = number(summary.get("_timestamp"))
    beat = _seconds(data.get("heartbeatAt"))
    return TrackerRun(
        "wandb",
        _text(data.get("name")),
        _text(data.get("displayName")),
        project,
        str(data["state"]).lower() if data.get("state") else None,
        number(summary.get("_step" if own else "global_step")),
        own,
        beat if at is None else at,
        loss_of(summary),
        bool(summary),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _seconds(text: object) -> float | None:
    """A time of the server, with or without a zone (then UTC)."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
