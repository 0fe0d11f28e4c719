"""A point as its line in series.jsonl."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onbox.series.point import SCHEMA, point_to_dict

if TYPE_CHECKING:
    from onbox.series.point import Point


def series_line(point: Point) -> bytes:
    return json.dumps({"schema": SCHEMA, **point_to_dict(point)}, separators=(",", ":")).encode("ascii") + b"\n"
