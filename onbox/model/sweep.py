"""What is frozen of a sweep: its settings, the stages with their placeholders, and its cells. Pure.

Records are `NamedTuple`s: the runner loads this module at every start.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from onbox.digest import sha256_hex
from onbox.model.manifest import stage_from_dict, stage_to_dict
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.model.manifest import Stage

NAME_LIMIT = 120
SAME_FAILURES = 10
GATE_WAIT_SECONDS = 7 * 86400.0  # as a stage's wait_for: longer than any training that is waited for

PARAMETER = r"[A-Za-z_][A-Za-z0-9_.-]{0,63}"
_PLAIN_VALUE = r"[A-Za-z0-9._+%-]*"  # and no "@", which stands before the digest

Values = tuple[tuple[str, str], ...]


class SweepSettings(NamedTuple):
    """jobs: how many cells run at once; None: as many as there are cards for. gpus: cards for each cell; 0: it gets
    none of its own. max_failures: the sweep ends when more cells than that have failed; None: it never does for that.
    same_failures: it ends when so many in a row failed in the same way; 0: it never does for that.
    metrics_file: a cell's JSON file with numbers, with placeholders. metrics_regex: of its last stage's log, the last
    match counts, each named group a metric. sort: the metric that orders the table, "-NAME" for the largest first.
    gate_wait_seconds: how long a cell waits for room, memory or a card before the sweep ends.
    """

    jobs: int | None = 1
    gpus: int = 0
    max_failures: int | None = None
    same_failures: int = SAME_FAILURES
    metrics_file: str | None = None
    metrics_regex: str | None = None
    sort: str = ""
    gate_wait_seconds: float = GATE_WAIT_SECONDS


class Cell(NamedTuple):
    """One cell. number: its place in the list of cells, from 1. origin: where it was written down, for people."""

    number: int
    name: str
    values: Values
    priority: int = 0
    origin: str = ""


class Frozen(NamedTuple):
    """A sweep as frozen. queue: the file of its cells, an absolute path; None: it has none."""

    settings: SweepSettings
    template: tuple[Stage, ...]
    queue: str | None = None


def cell_name(values: Values) -> str:
    """A name for people that is a folder's name, too: `lr=1e-3,seed=2`. Different values never share one."""
    told = ",".join(f"{key}={value}" for key, value in values)
    is_plain = all(re.fullmatch(_PLAIN_VALUE, value) for _, value in values)
    if is_plain and len(told) <= NAME_LIMIT:
        return told
    digest = sha256_hex(repr(values).encode("utf-8", "surrogatepass"))[:12]
    readable = re.sub(r"[^A-Za-z0-9._+%=,-]+", "_", told)[: NAME_LIMIT - 20]
    return f"{readable}@{digest}"


def frozen_to_dict(frozen: Frozen) -> dict[str, Any]:
    return {
        "settings": frozen.settings._asdict(),
        "template": [stage_to_dict(stage) for stage in frozen.template],
        "queue": frozen.queue,
    }


def frozen_from_dict(data: Mapping[str, Any]) -> Frozen:
    """The inverse; unknown fields are ignored. Raises KeyError, TypeError, ValueError."""
    settings = {key: value for key, value in data["settings"].items() if key in SweepSettings._fields}
    template = tuple(stage_from_dict(one) for one in data["template"])
    return Frozen(SweepSettings(**settings), template, data.get("queue"))


def cell_to_dict(cell: Cell) -> dict[str, Any]:
    told = {"n": cell.number, "cell": cell.name, "values": [list(pair) for pair in cell.values]}
    return {**told, "priority": cell.priority, "from": cell.origin}


def cell_from_dict(data: Mapping[str, Any]) -> Cell:
    """The inverse. Raises KeyError, TypeError, ValueError."""
    values: Sequence[Sequence[str]] = data["values"]
    pairs = tuple((str(key), str(value)) for key, value in values)
    return Cell(int(data["n"]), str(data["cell"]), pairs, int(data.get("priority", 0)), str(data.get("from", "")))
