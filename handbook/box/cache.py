"""What a handbook keeps between two builds: each run's last look and its records, so that a page can be written of a
box that does not answer. One JSON file beside the patrol's memory; it may be removed at any time.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from handbook.box.records import RawRecords
from onbox.contract.names import name_problem
from onbox.contract.readings import plain
from onbox.named_tuple import NamedTuple
from onbox.system.files import read_file, replace_file
from onbox.system.ownership import make_own_folder
from patrol.memory.codec import run_look_from_data

if TYPE_CHECKING:
    from patrol.snapshot import RunLook

FILE = "handbook-records.json"
SCHEMA = 1


class KeptRun(NamedTuple):
    """look: the last one that saw it; None: none did. key: what the records depend on, as that look had it; None: they
    were never read. records_at: when they were.
    """

    look: RunLook | None
    seen_at: float | None
    key: str | None = None
    records_at: float | None = None
    raw: RawRecords | None = None


class Store(NamedTuple):
    """runs: by (box, run)."""

    runs: dict[tuple[str, str], KeptRun]


def load(folder: str) -> Store:
    """What is kept; nothing where there is no file, or none that can be understood."""
    try:
        data = json.loads(read_file(os.path.join(folder, FILE)) or b"{}")
        runs = {(one["box"], one["run"]): _run(one) for one in data.get("runs", []) if not name_problem(one["run"])}
        return Store(runs)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Store({})


def _run(one: dict[str, Any]) -> KeptRun:
    raw = one.get("raw")
    return KeptRun(
        look=run_look_from_data(one["look"]),
        seen_at=one.get("seen_at"),
        key=one.get("key"),
        records_at=one.get("records_at"),
        raw=None if raw is None else RawRecords(**{key: raw[key] for key in RawRecords._fields}),
    )


def save(folder: str, store: Store) -> None:
    """Raises StateNotWritten."""
    runs = [{"box": box, "run": run, **plain(one)} for (box, run), one in sorted(store.runs.items())]
    make_own_folder(folder)
    text = json.dumps({"schema": SCHEMA, "runs": runs}, separators=(",", ":"))
    replace_file(os.path.join(folder, FILE), text.encode("ascii"), durable=False)
