"""What is remembered of a box and of its runs between two looks, so that only what is new is sent. Pure.

Each record is written by one owner, named below. All are values: a look makes new ones. `run_codec.py` turns them into
JSON for the store and back. What decisions rest on is kept apart from them, in `history.py`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.logs.cursor import Cursor
    from onbox.trackers.reading import TrackerRun
    from patrol.memory.run_journal import JournalPlace
    from patrol.memory.run_manifest import Manifest
    from patrol.snapshot import Failure


class LogPlace(NamedTuple):
    """How far a log was read, and what its lines have shown (`patrol/probe/log_memory.py`).

    window: the newest whole lines. held: the beginning of a line that is not whole yet. progress: the state of
    `logs.progress.ProgressReader`; None: it begins anew. mtime, checksum: as the box told them.
    """

    path: str
    cursor: Cursor
    window: bytes = b""
    held: bytes = b""
    progress: Mapping[str, Any] | None = None
    mtime: int = 0
    checksum: int = 0


class JudgedText(NamedTuple):
    """What triage found in a text, known by its checksum and length, with or without a live process. failure: None: it
    found none.
    """

    crc: int
    length: int
    alive: bool | None
    failure: Failure | None


class Watched(NamedTuple):
    """A run that onbox did not start (`patrol/probe/watched.py`). processes: `PID:START_TICKS` of those seen last.
    at_home: one of its processes was seen to work in the project. done: the line that proved success.
    """

    processes: tuple[str, ...] = ()
    at_home: bool = False
    done: str | None = None
    judged: JudgedText | None = None


class LogChange(NamedTuple):
    """A log that comes without times: what it was when it was last seen to change, and when (local time)."""

    crc: int
    size: int
    at: float


class WatchedJob(NamedTuple):
    """A job on a cluster that somebody submitted (`patrol/engines/watched.py`, `resubmit.py`). configured: its id in
    onbox.toml. job_id: of the newest submission by this patrol. seen: the engine knew it once, in that session.
    """

    configured: str
    job_id: str
    seen: bool = False
    session: str = ""
    restarts: int = 0
    submitted_at: float | None = None
    log: LogChange | None = None


class Handed(NamedTuple):
    """A run of onbox that an engine has (`patrol/engines/handed.py`). ended: the engine's last word, as the journal
    records one: engines forget. log: of the job log_of, where the engine holds it.
    """

    ended: Mapping[str, Any] | None = None
    log_of: str = ""
    log: LogChange | None = None


class TrackerMemory(NamedTuple):
    """A run at a tracker (`patrol/probe/trackers.py`), known by its key. file, start: which file was read, and from
    where the next look reads it. synced: whether an offline run was sent. after_end: looks since its stage ended.
    """

    key: str
    file: str = "0.0.0"
    start: int = 0
    synced: bool | None = None
    run: TrackerRun | None = None
    server: TrackerRun | None = None
    after_end: int = 0


_NO_TRACKERS: Mapping[str, TrackerMemory] = MappingProxyType({})


class SeriesPlace(NamedTuple):
    """How far a run's series.jsonl was read; its points are in the store (`patrol/memory/sqlite/series.py`)."""

    inode: int = 0
    offset: int = 0


class RunMemory(NamedTuple):
    """One run. manifest, journal, handed: of a run that onbox started. watched: of one that it did not start. job: of
    a job on a cluster. pids: of processes whose control groups are looked at. trackers: by stage. marks: how
    the box tells whether the run's records have changed. results_of: id of the run whose small results came already.
    """

    log: LogPlace | None = None
    manifest: Manifest | None = None
    journal: JournalPlace | None = None
    handed: Handed = Handed()
    watched: Watched = Watched()
    job: WatchedJob | None = None
    pids: tuple[int, ...] = ()
    trackers: Mapping[str, TrackerMemory] = _NO_TRACKERS
    marks: str = ""
    results_of: str = ""
    series: SeriesPlace = SeriesPlace()

    @property
    def engine(self) -> str:
        """The engine that the run was handed to; "" for none."""
        return self.manifest.engine if self.manifest is not None else ""


class BoxMemory(NamedTuple):
    """The box itself (`patrol/probe/take.py`). kernel_seconds: uptime up to which its kernel's log was read in the boot
    of boot_id; None: not yet.
    """

    boot_id: str | None = None
    kernel_seconds: float | None = None


class Memories(NamedTuple):
    """A box and its runs, by name."""

    box: BoxMemory
    runs: dict[str, RunMemory]


def nothing_remembered() -> Memories:
    return Memories(BoxMemory(), {})
