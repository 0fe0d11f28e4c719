"""What is remembered of a box and its runs, as JSON and back: a pair of functions for each record. Pure.

A record that another version wrote in another shape is left out, and what it told is read once more; the others stay.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, TypeVar

from onbox.logs.cursor import Cursor
from onbox.logs.progress import ProgressReader
from onbox.outside import safe_text
from onbox.redact import MASK, redact
from onbox.trackers.reading import run_from_list
from patrol.memory import run_journal as journal
from patrol.memory import run_manifest as manifest
from patrol.memory.run_memory import (
    BoxMemory,
    Handed,
    JudgedText,
    LogChange,
    LogPlace,
    Memories,
    RunMemory,
    SeriesPlace,
    TrackerMemory,
    Watched,
    WatchedJob,
)
from patrol.snapshot import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onbox.trackers.reading import TrackerRun

    T = TypeVar("T")

SCHEMA = 2  # 1 was one bag of facts under `reader`
BOX = ""  # the name under which what is known of the box itself is kept
_OTHER_SHAPE = (KeyError, TypeError, ValueError, AttributeError)


def texts_of(memories: Memories, kept: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What the store keeps, by run. kept: what it holds now."""
    yield BOX, _dump({"boot_id": memories.box.boot_id, "kernel_seconds": memories.box.kernel_seconds})
    for run, memory in memories.runs.items():
        yield run, run_to_text(memory, kept.get(run))


def memories_of(texts: Mapping[str, str]) -> Memories:
    """The inverse. What cannot be understood is left out."""
    box, runs = BoxMemory(), {}
    for name, text in texts.items():
        data = _load(text)
        if name == BOX:
            box = _part(data, _box) or box
        elif (memory := _part(data, _run)) is not None:
            runs[name] = memory
    return Memories(box, runs)


def run_to_text(memory: RunMemory, kept: str | None = None) -> str:
    """What the log's lines hold of secrets stays out of the store. kept: the text that is there now; where nothing is
    new it is the text again, and is not searched again: that takes 4 ms of a box's 10.
    """
    text = _dump(_run_plain(memory))
    if text == kept or memory.log is None:
        return text
    return _dump(_run_plain(memory._replace(log=_masked(memory.log))))


def _masked(log: LogPlace) -> LogPlace:
    progress = log.progress
    if progress is not None:  # it keeps back the last lines
        progress = {key: _kept(value) if isinstance(value, str) else value for key, value in progress.items()}
    window = _kept(log.window.decode("latin-1")).encode("latin-1", "replace")
    held = _kept(log.held.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    return log._replace(progress=progress, window=window, held=held)


def _kept(text: str) -> str:
    """Text of a log, masked, and otherwise as it was: it is read on from there. Where colours hide a secret from the
    mask, they go.
    """
    masked, shown = redact(text), safe_text(text)
    return shown if shown.count(MASK) > masked.count(MASK) else masked


def _dump(data: dict[str, Any]) -> str:
    return json.dumps({"schema": SCHEMA, **data}, separators=(",", ":"))


def _load(text: str) -> Any:
    try:
        data = json.loads(text)
        return _of_schema_1(data) if data["schema"] == 1 else data
    except _OTHER_SHAPE:
        return None


def _part(data: Any, read: Callable[[Any], T]) -> T | None:
    """What `read` makes of it; None where there is nothing, or it has another shape."""
    if data is None:
        return None
    try:
        return read(data)
    except _OTHER_SHAPE:
        return None


# -- a pair for each record


def _box(data: Any) -> BoxMemory:
    boot_id, seconds = data["boot_id"], data["kernel_seconds"]
    return BoxMemory(None if boot_id is None else str(boot_id), None if seconds is None else float(seconds))


def _run_plain(memory: RunMemory) -> dict[str, Any]:
    """Only what there is."""
    data = {
        "log": None if memory.log is None else _log_plain(memory.log),
        "manifest": None if memory.manifest is None else manifest.to_plain(memory.manifest),
        "journal": None if memory.journal is None else journal.plain_of(memory.journal),
        "handed": None if memory.handed == Handed() else memory.handed._asdict(),
        "watched": None if memory.watched == Watched() else _watched_plain(memory.watched),
        "job": None if memory.job is None else memory.job._asdict(),
        "pids": list(memory.pids) or None,
        "trackers": {stage: one._asdict() for stage, one in memory.trackers.items()} or None,
        "marks": memory.marks or None,
        "results_of": memory.results_of or None,
        "series": list(memory.series) if memory.series != SeriesPlace() else None,
    }
    return {name: part for name, part in data.items() if part is not None}


def _run(data: Any) -> RunMemory:
    is_managed = "journal" in data
    return RunMemory(
        log=_part(data.get("log"), _log),
        manifest=_part(data.get("manifest"), manifest.from_plain) or (manifest.Manifest() if is_managed else None),
        journal=journal.place_of(data["journal"]) or journal.nothing_read(0) if is_managed else None,
        handed=_part(data.get("handed"), _handed) or Handed(),
        watched=_part(data.get("watched"), _watched) or Watched(),
        job=_part(data.get("job"), _job),
        pids=_part(data.get("pids"), lambda pids: tuple(map(int, pids))) or (),
        trackers=_part(data.get("trackers"), _trackers) or {},
        marks=str(data.get("marks") or ""),
        results_of=str(data.get("results_of") or ""),
        series=_part(data.get("series"), lambda place: SeriesPlace(*map(int, place))) or SeriesPlace(),
    )


def _log_plain(log: LogPlace) -> dict[str, Any]:
    held = b64encode(log.held).decode("ascii")
    return {**log._asdict(), "cursor": list(log.cursor), "window": log.window.decode("latin-1"), "held": held}


def _log(data: Any) -> LogPlace:
    device, inode, offset, before = data["cursor"]
    progress = data["progress"]
    if progress is not None and not ProgressReader.is_state(progress):
        raise ValueError("another version read this log: what it knew of it would be lost behind the cursor")
    return LogPlace(
        path=str(data["path"]),
        cursor=Cursor(int(device), int(inode), int(offset), str(before)),
        window=data["window"].encode("latin-1", "replace"),
        held=b64decode(data["held"]),
        progress=dict(progress) if progress is not None else None,
        mtime=int(data["mtime"]),
        checksum=int(data["checksum"]),
    )


def _handed(data: Any) -> Handed:
    ended = data["ended"]
    return Handed(None if ended is None else dict(ended), str(data["log_of"]), _part(data["log"], _change))


def _watched_plain(watched: Watched) -> dict[str, Any]:
    judged = watched.judged
    if judged is None:
        return watched._asdict()
    failure = None if judged.failure is None else judged.failure._asdict()
    return {**watched._asdict(), "judged": {**judged._asdict(), "failure": failure}}


def _watched(data: Any) -> Watched:
    done = data["done"]
    return Watched(
        processes=tuple(map(str, data["processes"])),
        at_home=data["at_home"] is True,
        done=None if done is None else str(done),
        judged=_part(data["judged"], _judged),
    )


def _judged(data: Any) -> JudgedText:
    """Raises where it was kept in another shape: then it is judged anew."""
    failure = data["failure"]
    if failure is not None:
        if not set(failure) <= set(Failure._fields):  # what came later has its default
            raise KeyError("the failure of another version")
        failure = Failure(**{**failure, "traceback": tuple(failure["traceback"])})
    return JudgedText(int(data["crc"]), int(data["length"]), data["alive"], failure)


def _job(data: Any) -> WatchedJob:
    submitted_at = data["submitted_at"]
    return WatchedJob(
        configured=str(data["configured"]),
        job_id=str(data["job_id"]),
        seen=data["seen"] is True,
        session=str(data["session"]),
        restarts=int(data["restarts"]),
        submitted_at=None if submitted_at is None else float(submitted_at),
        log=_part(data["log"], _change),
    )


def _change(data: Any) -> LogChange:
    crc, size, at = data
    return LogChange(int(crc), int(size), float(at))


def _trackers(data: Any) -> dict[str, TrackerMemory]:
    found = {stage: _part(one, _tracker) for stage, one in data.items()}
    return {stage: one for stage, one in found.items() if one is not None}


def _tracker(data: Any) -> TrackerMemory:
    synced = data["synced"]
    return TrackerMemory(
        key=str(data["key"]),
        file=str(data["file"]),
        start=int(data["start"]),
        synced=synced if isinstance(synced, bool) else None,
        run=_tracker_run(data["run"]),
        server=_tracker_run(data["server"]),
        after_end=int(data["after_end"]),
    )


def _tracker_run(data: Any) -> TrackerRun | None:
    if data is None:
        return None
    return run_from_list(data)


# -- what earlier versions wrote


def _of_schema_1(data: Any) -> dict[str, Any]:
    """One bag of facts beside the log's place, as 0.1.0 and its successors wrote it, in today's shape. It holds the ids
    of jobs that were submitted anew, and last words that engines have forgotten since.
    """
    bag = data["reader"]
    judged, change = bag.get("judged"), _part(bag, _change_of_schema_1)
    afar = bag.get("afar") or {}
    upgraded: dict[str, Any] = {
        "log": {**_LOG_1, **{key: bag[key] for key in _LOG_1 if key in bag}, **_without(data, "schema", "reader")},
        "handed": {
            "ended": bag.get("engine_end"),
            "log_of": afar.get("job", ""),
            "log": _part(afar, _change_of_schema_1),
        },
        "watched": {
            "processes": bag.get("processes", ()),
            "at_home": bag.get("at_home"),
            "done": bag.get("done"),
            "judged": _part(judged, _judged_of_schema_1),
        },
        "pids": bag.get("pids"),
        "trackers": {
            stage: {**TrackerMemory("")._asdict(), **_without(one, "state")}
            for stage, one in (bag.get("trackers") or {}).items()
        },
        "marks": bag.get("marks"),
        "boot_id": bag.get("boot_id"),
        "kernel_seconds": bag.get("kernel_seconds"),
    }
    if "journal" in bag:
        upgraded |= {"journal": bag["journal"], "manifest": _part(bag.get("manifest"), _manifest_of_schema_1)}
    if "configured" in bag:
        known = {key: bag[key] for key in WatchedJob._fields if key in bag}
        upgraded["job"] = {**WatchedJob("", bag["job"])._asdict(), **known, "log": change}
    if not data["path"]:
        upgraded["log"] = None
    return upgraded


_LOG_1: Mapping[str, Any] = {"window": "", "progress": None, "mtime": 0, "checksum": 0}


def _without(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in names}


def _change_of_schema_1(bag: Any) -> tuple[int, int, float]:
    crc, size = bag["log"]
    return crc, size, bag["log_moved_at"]


def _judged_of_schema_1(judged: Any) -> dict[str, Any]:
    (_, crc, length, alive), failure = judged
    return {"crc": crc, "length": length, "alive": alive, "failure": failure}


def _manifest_of_schema_1(bag: Any) -> dict[str, Any]:
    """Only who the run is and with which engine: the file itself is asked for once more."""
    known = manifest.Manifest(run_id=str(bag.get("run_id") or ""), engine=str(bag.get("backend") or ""))
    return manifest.to_plain(known)
