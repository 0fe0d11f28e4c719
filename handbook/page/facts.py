"""What a handbook tells, as values. Pure; `gather.py` brings them together, `render.py` writes them down.

Every text is safe already (redacted, one line, bounded). What is not known is `Unseen` with its reason, never a guess.
Times are seconds since the epoch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from patrol.decide.remote_command import Way

NOT_READ = Unseen("its records were not read yet")
SCHEMA = 1


class DoneStage(NamedTuple):
    """How a stage that is done ended, as its marker says. step: where its counter stood; None: it showed none.

    artifacts: `(path, bytes)`, the first ones; artifact_count: of all. tracker: link, id or name. warnings: what spoke
    against the success and did not prevent it.
    """

    attempt: int
    exit_code: int | None
    took_seconds: float | None
    progress: Maybe[str]
    step: float | None = None
    artifacts: tuple[tuple[str, int | None], ...] = ()
    artifact_count: int = 0
    tracker: str = ""
    warnings: tuple[str, ...] = ()


class StageFacts(NamedTuple):
    """One stage of a chain, in order. gates, conditions: in words. state: done, failed, running, pending, ..."""

    name: str
    command: str
    state: str
    gates: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    fingerprint: str = ""
    note: str = ""
    end: Maybe[DoneStage] = Absent("it is not done")


class MarkerFacts(NamedTuple):
    """A marker's path and meaning. there: Unseen where nobody looked."""

    path: str
    means: str
    there: Maybe[bool]
    note: str = ""


class LaunchFacts(NamedTuple):
    """One start of a runner. differences: to the launch before it, each as a line."""

    number: int
    at: str
    host: str
    code: str
    differences: tuple[str, ...] = ()


class FailureFacts(NamedTuple):
    """An open failure. retry_allowed: None: its class does not say."""

    stage: str
    failure_class: str
    proof: str
    remedy: str
    where: str = ""
    retry_allowed: bool | None = None


class IdentityFacts(NamedTuple):
    """Which code, which configuration, where. environment: names only. tracker: id or link, as the log shows it."""

    code: str
    chain_fingerprint: str
    config: str
    host: str
    onbox: str
    environment: tuple[str, ...] = ()
    tracker: str = ""


class PassedFacts(NamedTuple):
    """A checkpoint that is newer than the one to go on from, and does not count. fault: `incomplete`, `unproven`
    (nothing in it says whether it is finished), `foreign` (certainly not of this run), `given up`.
    """

    path: str
    step: int
    fault: str
    says: str


class ResultFacts(NamedTuple):
    """A small text file that a stage left, as it lies there. whole: there was no more of it."""

    stage: str
    path: str
    text: str
    whole: bool


class TrackerFacts(NamedTuple):
    """A stage's run at an experiment tracker. finished: whether it has its end and its last values there. drift: how it
    is not the one that is meant. sent: whether an offline run was sent; None: not known.
    """

    stage: str
    says: str
    finished: Maybe[bool]
    drift: tuple[str, ...] = ()
    sent: bool | None = None


class ResumeFacts(NamedTuple):
    """What `onbox resume` would do, as the box foretold it. would: see `onbox.chain.dry_run`; "": not known.

    checkpoint: what the stage continues from, in words. whole: whether that is complete; None: not known, or there is
    none. missing: results that are gone although their stage is done. changed: what differs between the frozen
    definition and onbox.toml on the box. refused: newer checkpoints that are certainly of another lineage: a resume
    refuses while they lie there. step, path: of the checkpoint; None, "": there is none. newest: it alone, in words.
    passed: newer ones that do not count, highest step first. results: of a run that is done.
    """

    would: str
    says: str
    stage: str
    checkpoint: str
    whole: bool | None
    missing: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    step: int | None = None
    path: str = ""
    newest: str = ""
    passed: tuple[PassedFacts, ...] = ()
    results: tuple[ResultFacts, ...] = ()


class RecordFacts(NamedTuple):
    """A run's logbook. last_at: of the newest entry by hand, else of the first launch; None: neither is known. due_at:
    when the next one is; None: nothing is, the run has ended. sealed_at: when this very run was sealed; None: never.
    owner, owner_since: to whom it was handed over last; "", None: it never was.
    """

    last_at: float | None
    by_hand: bool
    due_at: float | None
    sealed_at: float | None = None
    owner: str = ""
    owner_since: float | None = None


class RunFacts(NamedTuple):
    """One run. seen_at: the last look that saw it; None: never. since: when its rule first fired without a break.

    severity: ok, warning, critical, unknown. further: `(rule, says)` of what else is the matter. onbox: the words of
    the program on the box. signs: as the patrol saw them (`onbox.runs.signs.Sign`). look: the command for what its
    worst rule says to look at, "" for nothing. last_known: of a run that was not seen, what it was before, in words.
    waiting: notices in its outbox. records_at: when run.json, journal and markers were last read. rollback: the newest
    one that holds, in words; "": none. disk: to look at where there is no room, for a shell in the project.
    """

    box: str
    run: str
    managed: bool
    state: str
    rule: str
    says: str
    severity: str
    since: float | None
    seen_at: float | None
    remedy: str
    look: str
    way: Way
    place: str
    onbox: tuple[str, ...] = ("onbox",)
    signs: tuple[str, ...] = ()
    last_known: str = ""
    run_id: str = ""
    project: str = ""
    stage: Maybe[str] = Absent("no stage")
    attempt: Maybe[int] = Absent("no attempt")
    stages_done: int = 0
    stages_total: int = 0
    progress: Maybe[str] = Absent("no progress was shown")
    further: tuple[tuple[str, str], ...] = ()
    acknowledged: bool = False
    failure: Maybe[FailureFacts] = Absent("none")
    log: Maybe[str] = Absent("no log yet")
    stages: Maybe[tuple[StageFacts, ...]] = NOT_READ
    markers: tuple[MarkerFacts, ...] = ()
    launches: tuple[LaunchFacts, ...] = ()
    identity: Maybe[IdentityFacts] = NOT_READ
    resume: Maybe[ResumeFacts] = NOT_READ
    notify: Maybe[str] = NOT_READ
    waiting: Maybe[int] = Absent("nobody gets messages")
    records_at: float | None = None
    trackers: tuple[TrackerFacts, ...] = ()
    record: RecordFacts = RecordFacts(None, by_hand=False, due_at=None)
    rollback: str = ""
    disk: str = "."

    @property
    def name(self) -> str:
        return "/".join(filter(None, (self.box, self.run)))


class BoxFacts(NamedTuple):
    """One box. reached_at: the last time; None: never. trouble: why it was not reached at the last look; "": it was."""

    name: str
    host: str
    project: str
    backend: str
    owner: str
    recover: str
    reached_at: float | None
    trouble: str
    clocks: tuple[str, ...] = ()


class WatchFacts(NamedTuple):
    """Who watches. cron: this patrol's crontab line; Absent: none; Unseen: could not look. waiters: local sentinels and
    transfers, one line each, where somebody looked for them; they are told, never written into the page, because a
    moment later that would be false.
    """

    schedule: str
    cron: Maybe[str]
    last_tick_at: float | None
    next_due_at: float | None
    stale: bool | None
    trouble: str = ""
    waiters: Maybe[tuple[str, ...]] = Unseen("not looked for")


class HandbookFacts(NamedTuple):
    """Everything of one handbook. folder: of the project, here. as_of: time of the newest look; None: nobody ever
    looked. good_until: two cadences later. old: how old the facts were when this was put together, in words, where that
    is more than two cadences; "": they were not. here: it describes this very machine (a box), not boxes from outside.
    python: of such a box, the interpreter that has onbox; "": not known.
    """

    title: str
    folder: str
    as_of: float | None
    good_until: float | None
    old: str
    here: bool
    boxes: tuple[BoxFacts, ...]
    runs: tuple[RunFacts, ...]
    watch: WatchFacts
    troubles: tuple[str, ...] = ()
    logbook: str = "logbook"
    python: str = ""
