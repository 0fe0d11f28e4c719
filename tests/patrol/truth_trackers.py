"""The truth table's rows on experiment trackers."""

from __future__ import annotations

from typing import Any

from onbox.contract.readings import Absent, Unseen
from onbox.contract.states import RunState
from onbox.model.tracker import TrackerIdentity
from onbox.trackers.reading import TrackerRun
from onbox.trackers.trackio_db import Alert
from patrol.snapshot import NOT_ASKED, RunLook, TrackerLook
from patrol.verdict import Severity
from tests.patrol.case import Case
from tests.patrol.makers import NOW, artifacts, done, log, on_engine, run, watched

OK, WARNING, CRITICAL = Severity.OK, Severity.WARNING, Severity.CRITICAL
OLD = 3 * 3600.0
NOBODY = Unseen("W&B's server: no answer within 3 s")


def at_wandb(age: float | None = 20.0, *, step: float = 4600.0, state: str | None = None, **changes: Any) -> TrackerRun:
    """As W&B's file tells of it. age: of the newest point."""
    at = None if age is None else NOW - age
    return TrackerRun("wandb", "abc12345", "try-7", "digits", state, step, False, at, 0.41, True)._replace(**changes)


def tracked(disk: Any = NOT_ASKED, **changes: Any) -> TrackerLook:
    place = "/root/digits/wandb/run-20261121_033423-abc12345"
    identity = TrackerIdentity(
        "wandb", "abc12345", "try-7", "lab", "digits", "https://wandb.ai/lab/digits/runs/abc12345", place
    )
    return TrackerLook("train", identity, (), disk)._replace(**changes)


def logs_to(*looks: TrackerLook, **changes: Any) -> RunLook:
    return run(trackers=looks)._replace(**changes)


def ended(*looks: TrackerLook, **changes: Any) -> RunLook:
    return done(trackers=looks)._replace(**changes)


OFFLINE = tracked(at_wandb(600.0, state="finished"), synced=False)
OFFLINE = OFFLINE._replace(
    identity=OFFLINE.identity._replace(place="/root/digits/wandb/offline-run-20261121_033423-abc12345")
)
TRACKIO = TrackerLook("train", TrackerIdentity("trackio", None, "try-7", None, "digits", None, "/root/t/digits.db"))
SPIKE = Alert(NOW - 300.0, "warn", "loss spike", "loss > 50% above trend", 4590.0)
AWAY = tracked(Unseen("no permission to read its files"))
RESUMED: dict[str, Any] = {"attempt": 2, "stage_began_age_seconds": 3600.0}

TRACKER_CASES: tuple[Case, ...] = (
    Case("trains, its points at the tracker are fresh", "healthy", OK, RunState.RUNNING, "nothing to tell", logs_to(tracked(at_wandb()))),
    Case("trains, prints nothing for hours, logs to its tracker", "healthy", OK, RunState.RUNNING, "a point at the tracker is a sign of progress", logs_to(tracked(at_wandb()), log=log(OLD), artifacts=artifacts(OLD))),
    Case("hangs; log, checkpoints and tracker stand still", "stalled", CRITICAL, RunState.STALLED, "all signs are old, the tracker agrees", logs_to(tracked(at_wandb(OLD)), log=log(OLD), artifacts=artifacts(OLD)), flags=("tracker-stale",)),
    Case("its checkpoints move, log and tracker stand still", "healthy", OK, RunState.RUNNING, "the tracker alone never makes it stalled", logs_to(tracked(at_wandb(OLD)), log=log(OLD)), flags=("tracker-stale",)),
    Case("trains, its tracker stopped syncing", "healthy", OK, RunState.RUNNING, "the log is nearer to the run", logs_to(tracked(at_wandb(OLD), disk_before=at_wandb(OLD))), flags=("tracker-lags",)),
    Case("goes on from a checkpoint, its tracker still shows the attempt before", "healthy", OK, RunState.RUNNING, "catching up: the log suffices until the tracker moves", logs_to(tracked(at_wandb(OLD)), **RESUMED), flags=("tracker-catching-up",)),
    Case("goes on from a checkpoint and repeats its steps", "healthy", OK, RunState.RUNNING, "steps that come again after a resume are not trouble", logs_to(tracked(at_wandb(20.0, step=4000.0), disk_before=at_wandb(1800.0)), **RESUMED)),
    Case("its new attempt has told of no run at the tracker, an hour after it began", "healthy", OK, RunState.RUNNING, "after catching up it must appear", logs_to(tracked(of_this_attempt=False), **RESUMED), flags=("tracker-stale",)),
    Case("its new attempt began ten minutes ago", "healthy", OK, RunState.RUNNING, "not there yet is not trouble", logs_to(tracked(of_this_attempt=False), attempt=2, stage_began_age_seconds=600.0)),
    Case("two processes log to its run", "healthy", OK, RunState.RUNNING, "steps went back without a resume", logs_to(tracked(at_wandb(20.0, step=10.0), disk_before=at_wandb(1800.0))), flags=("tracker-steps-back",)),
    Case("logs to another run than is meant", "healthy", OK, RunState.RUNNING, "the stage is well, the history is not", logs_to(tracked(at_wandb(), drift=("the run id is abc12345, meant is digits-7",))), flags=("tracker-drift",)),
    Case("its files are of another run than its start told", "healthy", OK, RunState.RUNNING, "a saved link proves nothing", logs_to(tracked(at_wandb(run_id="xyz"))), flags=("tracker-drift",)),
    Case("its tracker's process crashed, it trains on", "healthy", OK, RunState.RUNNING, "metrics are being lost", logs_to(tracked(at_wandb(state="failed"))), flags=("tracker-ended",)),
    Case("the server thinks that it crashed, its files go on", "healthy", OK, RunState.RUNNING, "the files are nearer", logs_to(tracked(at_wandb(), server=at_wandb(OLD, state="crashed")))),
    Case("diverged, which only its tracker shows", "healthy", OK, RunState.RUNNING, "a flag: the log shows a loss that is a number", logs_to(tracked(at_wandb(loss="nan"))), flags=("tracker-loss-lost",)),
    Case("its program warned its tracker five minutes ago", "healthy", OK, RunState.RUNNING, "alerts are polled where they lie", logs_to(TRACKIO._replace(disk=at_wandb(tracker="trackio", run_id=None), alerts=(SPIKE,))), flags=("tracker-alert",)),
    Case("its program warned its tracker yesterday", "healthy", OK, RunState.RUNNING, "old news", logs_to(TRACKIO._replace(disk=at_wandb(tracker="trackio", run_id=None), alerts=(SPIKE._replace(at_seconds=NOW - 86400),)))),
    Case("trains; W&B's server does not answer", "healthy", OK, RunState.RUNNING, "it says nothing about the run", logs_to(tracked(server=NOBODY)), flags=("tracker-unseen",)),
    Case("trains; its tracker's files may not be read", "healthy", OK, RunState.RUNNING, "it says nothing about the run", logs_to(AWAY), flags=("tracker-unseen",)),
    Case("hangs; W&B's server does not answer", "stalled", CRITICAL, RunState.STALLED, "neither for it nor against it", logs_to(tracked(server=NOBODY), log=log(OLD), artifacts=artifacts(OLD)), flags=("tracker-unseen",)),
    Case("its job is RUNNING, its log is out of sight, its tracker stands still", "unproven", WARNING, RunState.RUNNING, "running, unconfirmed", logs_to(tracked(server=at_wandb(OLD)), scheduler=on_engine("RUNNING"), log=Absent("no log yet"), artifacts=NOT_ASKED), flags=("tracker-stale",)),
    Case("its job is RUNNING, its log is out of sight, its tracker moves", "healthy", OK, RunState.RUNNING, "confirmed by the run at the tracker", logs_to(tracked(server=at_wandb()), scheduler=on_engine("RUNNING"), log=Absent("no log yet"), artifacts=NOT_ASKED)),
    Case("started by hand, silent log, its tracker moves", "healthy", OK, RunState.RUNNING, "a watched run's tracker counts as well", watched(log=log(OLD), trackers=(tracked(at_wandb(), stage=""),))),
    Case("finished, its run at W&B too", "done", OK, RunState.DONE, "nothing is missing", ended(tracked(at_wandb(600.0, state="finished")))),
    Case("finished, W&B never got its end", "done", OK, RunState.DONE, "a success without its summary is not fit to be sealed", ended(tracked(at_wandb(600.0))), flags=("tracker-unfinished",)),
    Case("finished, its run at W&B has no summary", "done", OK, RunState.DONE, "each of the two is needed", ended(tracked(at_wandb(600.0, state="finished", has_summary=False))), flags=("tracker-unfinished",)),
    Case("finished offline, nothing was sent", "done", OK, RunState.DONE, "its metrics are lost with the box", ended(OFFLINE), flags=("tracker-unsynced",)),
    Case("finished offline and sent", "done", OK, RunState.DONE, "safe", ended(OFFLINE._replace(synced=True))),
)  # fmt: skip
