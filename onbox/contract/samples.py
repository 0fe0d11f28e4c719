"""A sample: the numbers of one snapshot as one flat record for samples.jsonl. What was not seen is left out. Pure.

Also what of a stage's samples is worth keeping for ever: its peaks and lows.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import parse_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SCHEMA = 1

Sample = dict[str, Any]


def render_sample(sample: Mapping[str, Any]) -> bytes:
    """One line."""
    return json.dumps({"schema": SCHEMA, **sample}, separators=(",", ":")).encode("ascii") + b"\n"


def parse_samples(lines: Iterable[bytes]) -> list[Sample]:
    """The samples among the lines; half lines and junk (a full disk, a crash) are passed over."""
    found = []
    for line in lines:
        sample = parse_object(line)
        if sample is not None and isinstance(sample.get("at"), str):
            found.append({key: value for key, value in sample.items() if _is_sound(key, value)})
    return found


_TEXTS = ("at", "stage")


def _is_sound(key: str, value: Any) -> bool:
    """Whether a field is of the shape that its readers count on; somebody may have edited the file."""
    if key == "disks":
        return isinstance(value, dict) and all(isinstance(room, list) and _is_room(room) for room in value.values())
    if key == "gpus":
        return isinstance(value, list) and all(isinstance(gpu, dict) for gpu in value)
    if key in _TEXTS:
        return isinstance(value, str)
    return _is_number(value) or isinstance(value, dict)  # a dict: of a newer writer


def _is_room(room: list[Any]) -> bool:
    return (
        len(room) == 4
        and all(_is_number(one) for one in room[:2])
        and all(one is None or _is_number(one) for one in room[2:])
    )


def _is_number(value: Any) -> bool:
    """A finite number; booleans are flags and count, too."""
    return isinstance(value, int | float) and math.isfinite(value)


class Peaks:
    """Highest and lowest values over the samples of one attempt. `data` is ready for a marker; unseen is left out."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}

    def take(self, sample: Mapping[str, Any]) -> None:
        """Take in one sample. Parts of another shape (a file that somebody edited) are passed over."""
        self.data["samples"] = self.data.get("samples", 0) + 1
        for key, source in _HIGHEST.items():
            self._keep(self.data, key, sample.get(source), max)
        disks, gpus = sample.get("disks"), sample.get("gpus")
        for mount, room in disks.items() if isinstance(disks, dict) else ():
            if isinstance(room, list) and len(room) == 4:
                lows = self.data.setdefault("disks", {}).setdefault(mount, {})
                self._keep(lows, "min_bytes_free", room[0], min)
                self._keep(lows, "min_inodes_free", room[2], min)
        for gpu in gpus if isinstance(gpus, list) else ():
            if isinstance(gpu, dict):
                used = gpu.get("memory_used_bytes")
                self._keep(self.data.setdefault("peak_gpu_memory_bytes", {}), str(gpu.get("number")), used, max)

    @staticmethod
    def _keep(data: dict[str, Any], key: str, value: Any, better: Any) -> None:
        if isinstance(value, int | float):
            data[key] = better(data[key], value) if key in data else value


_HIGHEST = {
    "peak_working_set_bytes": "memory_working_set_bytes",
    "memory_limit_bytes": "memory_limit_bytes",
    "peak_tree_rss_bytes": "tree_rss_bytes",
    "peak_processes": "tree_processes",
    "peak_threads": "tree_threads",
}


def peaks_of(samples: Iterable[Mapping[str, Any]]) -> Peaks:
    peaks = Peaks()
    for sample in samples:
        peaks.take(sample)
    return peaks
