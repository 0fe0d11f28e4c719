"""What a box is asked for: its sections with their values, from the configuration and from what is known of before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onbox.contract.engines import ON_BOX
from onbox.logs.cursor import Cursor
from patrol.probe import trackers
from patrol.probe.box_logs import ATTACH_BYTES
from patrol.probe.journal import place_of
from patrol.probe.script import Call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.boxes import BoxSettings, Watch
    from patrol.before import LogPlace

BOX = ""  # the key under which places hold what is known of the box itself
RUN_LOG_BYTES = 2048  # of a log whose runner reads it itself
NEW_BYTES = 49152  # of all watched logs together
SAFE_PLACES = ("/", "/tmp", "/dev/shm")


class Ask(NamedTuple):
    """One look. calls: in the order in which the box works them off: what may hang or last long comes last. engine:
    whose commands are asked there; "" for none.
    """

    calls: tuple[Call, ...]
    state_dir: str
    engine: str = ""


def plan(box: BoxSettings, state_dir: str, places: Mapping[str, LogPlace]) -> Ask:
    """The sections for a box. state_dir: as configured, below the project unless absolute."""
    state = below(box.project, state_dir)
    engine = _engine_of(box, places)
    calls = [Call("identity")]
    if box.project is not None:
        if engine:
            calls.append(Call("jobs", (box.project, state_dir, engine)))  # before the markers that it is weighed with
        calls.append(Call("runs", (box.project, state_dir, str(RUN_LOG_BYTES), *_known_runs(places))))
    for at, watch in enumerate(box.watches):
        calls += _watch_calls(box, watch, at, places)
    if box.backend in ON_BOX and box.watches:
        calls.append(Call("queue", (box.backend,)))
    calls.append(Call("memory", (state, *_known_pids(places))))
    touched = dict.fromkeys(path for path in (box.project, *_folders(box)) if path)
    if touched:
        calls.append(Call("run_disk", (*touched, *SAFE_PLACES)))
    calls.append(Call("disk", SAFE_PLACES, spare=bool(touched)))
    calls.append(Call("kernel", (str(int(_fact(places, "kernel_seconds"))),)))
    calls.append(Call("gpus"))
    calls += trackers.calls(places)
    if box.results:
        calls.append(Call("results", tuple(below(box.project, pattern) for pattern in box.results)))
    calls += [Call(f"count.{at}", (below(box.project, count.remote),)) for at, count in enumerate(box.counts)]
    return Ask(tuple(calls), state, engine)


def below(folder: str | None, path: str) -> str:
    """A path of the box: as it is if it is absolute or begins at the home directory, else below the project."""
    if path.startswith(("/", "~")) or folder is None:
        return path
    return f"{folder.rstrip('/')}/{path}"


def _folders(box: BoxSettings) -> list[str]:
    """The directories of watched logs."""
    logs = [below(box.project, watch.log) for watch in box.watches if watch.log]
    return [log.rpartition("/")[0] or "/" for log in logs]


def _watch_calls(box: BoxSettings, watch: Watch, at: int, places: Mapping[str, LogPlace]) -> list[Call]:
    calls = []
    if watch.log is not None:
        path = below(box.project, watch.log)
        share = max(1024, NEW_BYTES // max(1, sum(1 for other in box.watches if other.log)))
        known = places.get(watch.name)
        cap = ATTACH_BYTES if known is None and share == NEW_BYTES else share
        calls.append(Call(f"log.{at}", (path, *_log_values(known, path), str(cap))))
    if watch.process is not None:
        calls.append(Call(f"processes.{at}", (watch.process,)))
    if watch.session is not None:
        calls.append(Call(f"session.{at}", (watch.session,)))
    if watch.artifacts:
        calls.append(Call(f"artifacts.{at}", tuple(below(box.project, pattern) for pattern in watch.artifacts)))
    if watch.done_file is not None:
        calls.append(Call(f"artifacts.{at}.done", (below(box.project, watch.done_file),)))
    return calls


def _log_values(place: LogPlace | None, path: str) -> tuple[str, str, str, str]:
    """INODE OFFSET CHECKSUM MTIME, as `p_log` takes them."""
    if place is None or place.path != path:
        return ("0", "0", "0", "0")
    _, inode, offset, _ = place.cursor
    return (str(inode), str(offset), str(int(place.reader.get("checksum", 0))), str(int(place.reader.get("mtime", 0))))


def _known_runs(places: Mapping[str, LogPlace]) -> list[str]:
    words: list[str] = []
    for name, place in places.items():
        journal = place.reader.get("journal")
        if name and isinstance(journal, dict):
            manifest = place.reader.get("manifest", {})
            known = (manifest.get("id", "0"), journal.get("inode", 0), journal.get("offset", 0))
            if place_of(journal) is None or "targets" not in manifest:  # of another version: all of it once more
                known = ("0", 0, 0)
            words += [name, *map(str, known), place.path or "-", *_log_values(place, place.path)]
    return words


def _engine_of(box: BoxSettings, places: Mapping[str, LogPlace]) -> str:
    """The engine whose commands are asked on the box: as configured, or of a run that an earlier look saw there."""
    if box.backend in ON_BOX:
        return box.backend
    seen = (place.reader.get("manifest", {}).get("backend") for place in places.values())
    return next((name for name in seen if name in ON_BOX), "")


def _known_pids(places: Mapping[str, LogPlace]) -> list[str]:
    pids = [pid for place in places.values() for pid in place.reader.get("pids", ())]
    return [str(int(pid)) for pid in pids][:8]


def _fact(places: Mapping[str, LogPlace], name: str) -> float:
    place = places.get(BOX)
    value = place.reader.get(name, 0) if place is not None else 0
    return float(value) if isinstance(value, int | float) else 0.0


def cursor_of(place: LogPlace | None) -> Cursor | None:
    return None if place is None else Cursor(*place.cursor)
