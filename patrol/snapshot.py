"""What one look at a box brought, as values. Pure: `probe/` makes them, `decide/` judges them.

Every field that a look may miss is a `Maybe`: the value, `Absent` (looked, there is none) or `Unseen` (could not look,
and why). Ages are by the box's own clock, so that a wrong clock on either side cannot make an old thing young.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

from onbox.contract.readings import Absent, Maybe, observed
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.contract.progress import Progress
    from onbox.logs.cursor import Cursor
    from onbox.model.boxes import Billing, StopAt
    from onbox.model.tracker import TrackerIdentity
    from onbox.runs.journal import StageResult
    from onbox.runs.room import RunRoom
    from onbox.series.point import Point
    from onbox.trackers.reading import TrackerRun
    from onbox.trackers.trackio_db import Alert
    from onbox.triage.repeats import AttemptEnd
    from patrol.memory.run_records import RecordText
    from patrol.memory.transfers import Home

NOT_ASKED = Absent("not asked for")


class Unreachable(NamedTuple):
    """No answer that can be believed came from the box. Nothing is known of its runs by this.

    at: local time, seconds since the epoch. reason: a key of `reach.REASONS` (dns, refused, timeout, banner, auth,
    host_key, closed, cut, late, shell, ...). detail: the proving words, redacted, one line.
    """

    box: str
    at: float
    reason: str
    detail: str


class BoxIdentity(NamedTuple):
    """Who answered. clock_skew_seconds: the box's clock less ours, give or take clock_error_seconds: what is less than
    that is no difference.
    """

    hostname: str
    boot_id: Maybe[str]
    uptime_seconds: Maybe[float]
    clock_seconds: float
    clock_skew_seconds: float
    clock_error_seconds: float = 0.0


class MemoryLook(NamedTuple):
    """Memory of the cgroup level with the least room. held: current less what the kernel can drop.

    limit_bytes: Absent where no level has a limit. oom_kills_total: of the group, since it was made.
    """

    held_bytes: Maybe[int]
    limit_bytes: Maybe[int]
    oom_kills_total: Maybe[int]
    host_available_bytes: Maybe[int]
    host_total_bytes: Maybe[int]


class Pressure(NamedTuple):
    """Stall shares in percent over 60 s (PSI `some`); of_host: no group's own numbers were there."""

    memory_percent: Maybe[float]
    io_percent: Maybe[float]
    cpu_percent: Maybe[float]
    of_host: bool


class DiskLook(NamedTuple):
    """One file system that a run touches. Bytes free are those for a plain user, bytes_total those and what is
    used: without what the file system keeps for root. inodes: Absent where not counted."""

    mount: str
    bytes_free: int
    bytes_total: int
    inodes_free: Maybe[int]
    inodes_total: Maybe[int]


class GpuLook(NamedTuple):
    """One GPU as nvidia-smi tells it."""

    number: int
    utilization_percent: Maybe[int]
    memory_used_bytes: Maybe[int]
    memory_total_bytes: Maybe[int]
    temperature_celsius: Maybe[int]
    trouble: str = ""  # why it is not fit for work, as the driver says it; empty: nothing is known against it


class KernelFault(NamedTuple):
    """A line of the kernel's log since the last look: an Xid or an OOM kill. uptime_seconds: when, since boot."""

    kind: str  # "xid" | "oom"
    line: str
    uptime_seconds: Maybe[float]
    xid: Maybe[int] = NOT_ASKED


class LogLook(NamedTuple):
    """What the look at a run's log brought. cursor: to go on from. event: as in `onbox.logs.cursor.Look`.

    written_age_seconds: since its last write. skipped_bytes: new bytes that were left out to stay within the limit.
    last_line: redacted, printable, bounded; "" where the log is empty.
    """

    path: str
    cursor: Cursor
    event: str
    bytes_total: int
    written_age_seconds: float
    new_bytes: int
    skipped_bytes: int
    last_line: str


class Failure(NamedTuple):
    """Why a run failed, as its FAILED marker tells (source "marker") or as triage reads its log ("log").

    retry_allowed: whether the same configuration may run again by itself; None: not known. traceback: the
    attempt's last one, whole and redacted, at most 50 lines; () where its log holds none. signal, oom_kills: as its
    marker tells; None: it does not. rule: of triage, that found the class.
    """

    failure_class: str
    remedy: str
    retry_allowed: bool | None
    signature: str
    proof: str
    where: str
    source: str
    stage: str = ""
    confidence: str = ""
    traceback: tuple[str, ...] = ()
    signal: int | None = None
    oom_kills: int | None = None
    rule: str = ""


class Artifacts(NamedTuple):
    """The files of a run's artifact patterns. newest_age_seconds: Absent where there is none."""

    files: int
    bytes_total: int
    newest_age_seconds: Maybe[float]


class ResultFile(NamedTuple):
    """A small file of results as it lies on the box: at most 4 KiB of it. whole: there was no more."""

    path: str
    text: str
    whole: bool


class FileCount(NamedTuple):
    """Files below a declared directory on both sides, and their bytes (completeness is never `test -d`)."""

    remote: str
    local: str
    remote_count: Maybe[int]
    local_count: Maybe[int]
    remote_bytes: Maybe[int] = NOT_ASKED
    local_bytes: Maybe[int] = NOT_ASKED


class Scheduler(NamedTuple):
    """What an engine's scheduler says of a run, by the job that makes the run's state.

    job_state: a word of `onbox.backends.base.JobState`; "forgotten" where the engine does not know the job any more.
    native_state, reason: the engine's own words. rule, run_state: what `onbox.runs.engine_word` makes of it and of the
    stages' markers, a word of `RunState`; "" for a job of which only the name is known. failure_class: where the
    engine's word proves one. says: all of it in words. troubles: what speaks against a job that it runs (a dead node, a
    demand that cannot be met), in its own words. held: it waits until a person releases it.
    """

    engine: str
    job_id: str
    job_state: str
    native_state: str
    reason: str = ""
    note: str = ""
    rule: str = ""
    run_state: str = ""
    stage: str = ""
    failure_class: str | None = None
    restarts: int = 0
    says: str = ""
    troubles: tuple[str, ...] = ()
    held: bool = False


class TrackerLook(NamedTuple):
    """A run of a stage at its experiment tracker. stage: "" for a run that onbox did not start.

    drift: how it is not the one that is meant, as the box recorded it when it began. disk: as its files on the box tell
    of it; disk_before: at the look before. server: as the tracker's server tells of it, where it is asked. alerts: what
    the program told its tracker, newest first. synced: whether an offline run has been sent; None: not known.
    of_this_attempt: whether the running attempt has announced it; else it is of the one before.
    """

    stage: str
    identity: TrackerIdentity
    drift: tuple[str, ...] = ()
    disk: Maybe[TrackerRun] = NOT_ASKED
    disk_before: TrackerRun | None = None
    server: Maybe[TrackerRun] = NOT_ASKED
    alerts: tuple[Alert, ...] = ()
    synced: bool | None = None
    of_this_attempt: bool = True


class Cells(NamedTuple):
    """Of a sweep: how its cells stand, in one line, and some of them (cell, state, metric or failure class). warnings:
    what speaks against cells that are done.
    """

    text: str
    done: int = 0
    total: int = 0
    rows: tuple[tuple[str, ...], ...] = ()
    warnings: tuple[str, ...] = ()


class Detected(NamedTuple):
    """What the box's own detectors find in a run. detector: its name. proof: figures, steps and times."""

    detector: str
    proof: str


class FinishedStage(NamedTuple):
    """A stage that is done: how long all its attempts took, and how long they should, by declaration."""

    stage: str
    seconds: float
    expected_seconds: float | None = None


class RunLook(NamedTuple):
    """One run as it was seen. managed: onbox started it (then its own records speak), else it is only watched.

    run_id, stage, attempt, claimed_state, waiting_for: what its records say; a claim is not proof of life.
    runner_alive: the process that keeps the chain; Absent for a watched run. stage_alive: the command itself, of a
    watched run any process, tmux or screen session that belongs to it. Both by pid and start time and boot, never by a
    name alone.
    stages_done, stages_total: of the chain; 0 of 0 for a watched run. stage_began_age_seconds: of the current attempt.
    outcome: the event of the chain's end record (chain_done, chain_failed, gate_refused, chain_stopped,
    chain_interrupted); Absent while it is open. done: the proof of success: CHAIN_DONE of this very run, or a line of
    this attempt's log that matches done_regex; the value says which. reason: of the end, in words.
    heartbeat_age_seconds: of status.json. heartbeat_every_seconds: how often it is renewed.
    retries: how often the current stage was retried. rolled_back_to: the step, while no attempt has followed: what the
    log shows until then was given up. undelivered: notices that wait in the outbox.
    given_up: those that no target took.
    ends: bad ends of its attempts, as its journal tells, oldest first. same_step: as in [detect].
    python: the interpreter on the box that has onbox, as recorded at its start. onbox: how onbox is called there.
    expected_seconds: how long its current stage lasts by declaration, and whole_expected_seconds all of it; earlier
    runs' times are in the memory. finished: its stages that are done. stage_first_began_age_seconds: of the current
    stage's first attempt.
    scheduler: the word of the engine that the run was handed to; NOT_ASKED for a run that is with none.
    log_words: the command, run here, that shows the log of a job at its engine; () for a log of the box's.
    can_resubmit: whether the configuration says how a job of a cluster is submitted anew. submitted_age_seconds: since
    an engine took it.
    trackers: its stages' runs at experiment trackers, as far as they are known.
    keeps_checkpoints: whether its stage declares what it writes, so that a resume can tell what it goes on from.
    cells: of a sweep, whose stages are counted by its cells.
    stop_at: where a person wants the watch to end; None: nowhere. began_age_seconds: of the first launch since the
    chain was last done, without the time between launches; launches: of all. steps_per_second: by the runner's own
    readings. timeout_seconds: of its stage. stage_results: of the stages that are done. resume_command: what starts a
    watched run again.
    lost: of a finished run, what its stages' conditions miss of what its DONE markers vouch for, in words. home: what a
    pull brought here of this very run; None: nothing that is whole.
    detected: what the runner's detectors find now; NOT_ASKED where none ran, or its word is old.
    kernel facts (OOM kills) of the run's own cgroup are in the box's `memory`.
    """

    run: str
    managed: bool
    place: str  # run directory, or the log of a watched run
    run_id: Maybe[str] = Absent("no id")
    stage: Maybe[str] = Absent("no stage")
    attempt: Maybe[int] = Absent("no attempt")
    stages_done: int = 0
    stages_total: int = 0
    claimed_state: Maybe[str] = Absent("no status")
    runner_alive: Maybe[bool] = NOT_ASKED
    stage_alive: Maybe[bool] = NOT_ASKED
    outcome: Maybe[str] = Absent("the run is open")
    reason: str = ""
    done: Maybe[str] = Absent("no proof of success")
    ended_age_seconds: Maybe[float] = Absent("not ended")
    heartbeat_age_seconds: Maybe[float] = NOT_ASKED
    heartbeat_every_seconds: float = 30.0
    stage_began_age_seconds: Maybe[float] = Absent("no attempt")
    stall_after_seconds: Maybe[float] = NOT_ASKED
    waiting_for: Maybe[str] = Absent("waits for nothing")
    retries: int = 0
    rolled_back_to: float | None = None
    ends: tuple[AttemptEnd, ...] = ()
    same_step: float | None = None
    failure: Maybe[Failure] = Absent("no failure")
    progress: Maybe[Progress] = Absent("no progress shown")
    log: Maybe[LogLook] = NOT_ASKED
    artifacts: Maybe[Artifacts] = NOT_ASKED
    undelivered: Maybe[int] = NOT_ASKED
    given_up: Maybe[int] = NOT_ASKED
    notify_trouble: str = ""
    scheduler: Maybe[Scheduler] = NOT_ASKED
    expected_seconds: Maybe[float] = NOT_ASKED
    python: Maybe[str] = Absent("not recorded")
    onbox: tuple[str, ...] = ("onbox",)
    log_words: tuple[str, ...] = ()
    can_resubmit: bool = False
    submitted_age_seconds: Maybe[float] = NOT_ASKED
    trackers: tuple[TrackerLook, ...] = ()
    keeps_checkpoints: Maybe[bool] = NOT_ASKED
    stop_at: StopAt | None = None
    results: tuple[ResultFile, ...] = ()
    began_age_seconds: Maybe[float] = NOT_ASKED
    launches: int = 0
    steps_per_second: Maybe[float] = NOT_ASKED
    resume_command: str = ""
    timeout_seconds: Maybe[float] = NOT_ASKED
    stage_results: tuple[StageResult, ...] = ()
    lost: Maybe[tuple[str, ...]] = NOT_ASKED
    home: Home | None = None
    cells: Maybe[Cells] = Absent("it is not a sweep")
    whole_expected_seconds: Maybe[float] = NOT_ASKED
    stage_first_began_age_seconds: Maybe[float] = NOT_ASKED
    finished: tuple[FinishedStage, ...] = ()
    detected: Maybe[tuple[Detected, ...]] = NOT_ASKED
    failed_were_skipped: bool = False  # of a sweep: a person skipped each failed cell after its end
    rechecked: bool = False  # the stage at which it ended was judged again since, and is DONE
    room: RunRoom | None = None  # where it writes and there is none at this moment; None: nothing is known against it
    unseen_end: str = ""  # what was seen of an end that nobody recorded, and that is no mere cut-off
    stage_signs: tuple[str, ...] = ()  # of a run at rest: names of what a resume finds of its stage
    told_seconds: float | None = None  # how long the run took, all its launches together, by the record of its end

    @property
    def took_seconds(self) -> float | None:
        """How long a run took that has ended; None: not known."""
        began, ended = observed(self.began_age_seconds), observed(self.ended_age_seconds)
        if self.told_seconds is not None and self.told_seconds >= 0 and ended is not None:
            return self.told_seconds
        return None if began is None or ended is None or began < ended else began - ended


class RemovedRun(NamedTuple):
    """A run whose directory is not there, while processes of it live."""

    run: str
    pids: tuple[int, ...]


class BoxLook(NamedTuple):
    """Everything that one probe brought. sections_unseen: `{section: why}`, so that nobody takes silence
    for health.

    runs_left_out: how many older runs the project holds beside them. removed: those whose directory is gone and whose
    processes live. records: by run, of those whose markers changed;
    they are kept apart from the look, and so are the new points of each run in series. billing: how it is paid for, by
    the configuration; None: no price is known. counts: of declared directories, here and there. runs: Unseen when the
    project could not be looked at; () when it holds no run. taken_seconds: how long it took.
    """

    box: str
    at: float
    identity: Maybe[BoxIdentity]
    runs: Maybe[tuple[RunLook, ...]]
    memory: Maybe[MemoryLook] = NOT_ASKED
    pressure: Maybe[Pressure] = NOT_ASKED
    disks: Maybe[tuple[DiskLook, ...]] = NOT_ASKED
    gpus: Maybe[tuple[GpuLook, ...]] = NOT_ASKED
    kernel_faults: Maybe[tuple[KernelFault, ...]] = NOT_ASKED
    sections_unseen: tuple[tuple[str, str], ...] = ()
    taken_seconds: float = 0.0
    onbox_on_path: Maybe[bool] = NOT_ASKED
    runs_left_out: int = 0
    removed: tuple[RemovedRun, ...] = ()
    records: tuple[tuple[str, RecordText], ...] = ()
    series: tuple[tuple[str, tuple[Point, ...]], ...] = ()
    billing: Billing | None = None
    counts: tuple[FileCount, ...] = ()


Snapshot = Union[BoxLook, Unreachable]  # noqa: UP007 - evaluated at run time, on Python 3.10 too
