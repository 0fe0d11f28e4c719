"""A run's own records as a look brings them where its markers changed: run.json, the newest lines of its journal, and
every marker. Kept without secrets. Pure.
"""

from __future__ import annotations

import json

from onbox.contract.json_text import parse_object
from onbox.contract.names import name_problem
from onbox.named_tuple import NamedTuple
from patrol.memory.scrub import scrub_lines

MARKERS_LIMIT = 400


class RecordText(NamedTuple):
    """manifest: run.json. launches: the journal's `chain_started` lines; events: its other ones. markers: by name."""

    manifest: str
    launches: str
    events: str
    markers: dict[str, str]


def record_of(manifest: bytes, launches: bytes, events: bytes, markers: dict[str, bytes]) -> RecordText:
    """From what the box sent: nothing of it is kept before secrets are masked."""
    named = [
        (path.rpartition("/")[2], data)
        for path, data in list(markers.items())[:MARKERS_LIMIT]
        if path.endswith(("_DONE", "_FAILED"))
    ]
    return RecordText(
        _text(manifest),
        _text(launches),
        _text(events),
        {name: _text(data) for name, data in named if name_problem(name) is None},
    )


def _text(data: bytes) -> str:
    return scrub_lines(data.decode("utf-8", "replace"))


def record_to_text(record: RecordText) -> str:
    return json.dumps(record._asdict(), separators=(",", ":"))


def record_from_text(text: str) -> RecordText | None:
    """None for what is none."""
    data = parse_object(text) or {}
    manifest, launches, events = (data.get(name) for name in ("manifest", "launches", "events"))
    markers = data.get("markers")
    if not (isinstance(manifest, str) and isinstance(launches, str) and isinstance(events, str)):
        return None
    known = markers if isinstance(markers, dict) else {}
    return RecordText(manifest, launches, events, {str(name): str(one) for name, one in known.items()})
