"""What a box is asked for: its sections with their values, from the configuration and from what is known of before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.model.engines import ON_BOX
from onbox.named_tuple import NamedTuple
from patrol.memory.run_manifest import NOT_READ
from patrol.probe import trackers
from patrol.probe.box.logs import ATTACH_BYTES
from patrol.probe.script import SectionCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.model.boxes import BoxSettings, Watch
    from patrol.memory.run_memory import LogPlace, Memories, RunMemory

RUN_LOG_BYTES = 2048  # of a log whose runner reads it itself
NEW_BYTES = 49152  # of all watched logs together
SAFE_PLACES = ("/", "/tmp", "/dev/shm")


class Ask(NamedTuple):
    """One look. calls: in the order in which the box works them off: what may hang or last long comes last. engine:
    whose commands are asked there; "" for none.
    """

    calls: tuple[SectionCall, ...]
    state_dir: str
    engine: str = ""


def plan(box: BoxSettings, state_dir: str, known: Memories, silent_seconds: float | None = None) -> Ask:
    """The sections for a box. state_dir: as configured, below the project unless absolute. silent_seconds: after so
    long without a look the box shall tell it; None: this look leaves no trace.
    """
    runs = known.runs
    state = below(box.project, state_dir)
    engine = _engine_of(box, runs)
    calls = [SectionCall("identity")]
    if box.project is not None:
        if engine:
            calls.append(
                SectionCall("jobs", (box.project, state_dir, engine))
            )  # before the markers that it is weighed with
        calls.append(SectionCall("runs", (box.project, state_dir, str(RUN_LOG_BYTES), *_known_runs(runs))))
    if box.project is not None and silent_seconds is not None:
        calls.append(SectionCall("patrolled", (box.project, state_dir, f"{silent_seconds:.0f}")))
    for at, watch in enumerate(box.watches):
        calls += _watch_calls(box, watch, at, runs.get(watch.name))
    if box.backend in ON_BOX and box.watches:
        calls.append(SectionCall("queue", (box.backend,)))
    calls.append(SectionCall("memory", (state, *_known_pids(runs))))
    touched = dict.fromkeys(path for path in (box.project, *_folders(box)) if path)
    if touched:
        calls.append(SectionCall("run_disk", (*touched, *SAFE_PLACES)))
    calls.append(SectionCall("disk", SAFE_PLACES, spare=bool(touched)))
    calls.append(SectionCall("kernel", (str(int(known.box.kernel_seconds or 0)),)))
    calls.append(SectionCall("gpus"))
    calls += trackers.calls(runs)
    if box.project is not None:
        told = [
            name for name, run in runs.items() if run.manifest is not None and run.results_of == run.manifest.run_id
        ]
        calls.append(SectionCall("left", (box.project, state_dir, *told)))
    if box.results:
        calls.append(SectionCall("results", tuple(below(box.project, pattern) for pattern in box.results)))
    calls += [SectionCall(f"count.{at}", (below(box.project, count.remote),)) for at, count in enumerate(box.counts)]
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


def _watch_calls(box: BoxSettings, watch: Watch, at: int, known: RunMemory | None) -> list[SectionCall]:
    calls = []
    if watch.log is not None:
        path = below(box.project, watch.log)
        share = max(1024, NEW_BYTES // max(1, sum(1 for other in box.watches if other.log)))
        log = known.log if known is not None and known.log is not None and known.log.path == path else None
        cap = ATTACH_BYTES if known is None and share == NEW_BYTES else share
        calls.append(SectionCall(f"log.{at}", (path, *_log_values(log), str(cap))))
    if watch.process is not None:
        calls.append(SectionCall(f"processes.{at}", (watch.process,)))
    if watch.session is not None:
        calls.append(SectionCall(f"session.{at}", (watch.session,)))
    if watch.artifacts:
        calls.append(SectionCall(f"artifacts.{at}", tuple(below(box.project, pattern) for pattern in watch.artifacts)))
    if watch.done_file is not None:
        calls.append(SectionCall(f"artifacts.{at}.done", (below(box.project, watch.done_file),)))
    return calls


def _log_values(log: LogPlace | None) -> tuple[str, str, str, str]:
    """INODE OFFSET CHECKSUM MTIME, as `p_log` takes them."""
    if log is None:
        return ("0", "0", "0", "0")
    return (str(log.cursor.inode), str(log.cursor.offset), str(log.checksum), str(log.mtime))


def _known_runs(runs: Mapping[str, RunMemory]) -> list[str]:
    words: list[str] = []
    for name, run in runs.items():
        if run.manifest is not None and run.journal is not None:
            is_read = run.manifest.id != NOT_READ
            inode, offset = (run.journal.inode, run.journal.offset) if is_read else (0, 0)
            words += [name, f"{run.manifest.id}:{run.marks}", str(inode), str(offset)]
            words += [run.log.path if run.log is not None else "-", *_log_values(run.log)]
            words.append(f"{run.series.inode}.{run.series.offset}")
    return words


def _engine_of(box: BoxSettings, runs: Mapping[str, RunMemory]) -> str:
    """The engine whose commands are asked on the box: as configured, or of a run that an earlier look saw there."""
    if box.backend in ON_BOX:
        return box.backend
    return next((run.engine for run in runs.values() if run.engine in ON_BOX), "")


def _known_pids(runs: Mapping[str, RunMemory]) -> list[str]:
    return [str(pid) for run in runs.values() for pid in run.pids][:8]
