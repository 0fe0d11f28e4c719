"""Rules on a run's experiment tracker: a second opinion, told beside what is known of the run itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import observed
from onbox.contract.states import RunState
from patrol.decide import tracker_view as view
from patrol.decide.phrases import clean, else_known, log_command, quote, status_command, word
from patrol.decide.rules.alive import ALIVE
from patrol.decide.rules.end import DONE, NO_OUTCOME, NOT_DONE, If, Row
from patrol.verdict import Severity

if TYPE_CHECKING:
    from patrol.decide.run_scene import RunScene

NOT_JUST_STARTED = If(
    "its attempt is older than start_grace",
    lambda s: s.attempt_age_seconds is None or s.attempt_age_seconds > s.limits.start_grace_seconds,
)
NO_SIGNALS = If("no sign of progress was seen", lambda s: not s.signal_ages)


def _says(what: str, *rules: str) -> If:
    return If(f"its tracker {what}", lambda s: view.says(s, *rules))


STANDS_STILL = _says("shows no new point for longer than stall_after, or no run", "stale", "missing")


def _opinion(scene: RunScene) -> str:
    found, tracker = view.opinion(scene), view.current(scene)
    return clean(f"{tracker.identity.tracker}: {found.text}", 200) if found is not None and tracker is not None else ""


def _link(scene: RunScene) -> str:
    tracker = view.current(scene)
    where = (tracker.identity.url or tracker.identity.place) if tracker is not None else None
    return f" ({word(where, 120)})" if where else ""


def _say_alert(scene: RunScene) -> str:
    found = view.loud_alerts(scene)
    if not found:
        return ""
    first, more = found[0], f" and {len(found) - 1} more" if len(found) > 1 else ""
    step = "" if first.step is None else f" at step {first.step:g}"
    return f"the program told its tracker: {quote(f'{first.title}: {first.text}', 160)}{step}{more}"


def _sync_command(scene: RunScene) -> str:
    found = view.unsynced(scene)
    return scene.way.there(("wandb", "sync", "--", found[0].identity.place or "")) if found else ""


UNCONFIRMED = Row(
    "unproven", Severity.WARNING, RunState.RUNNING, (ALIVE, NO_SIGNALS, NOT_JUST_STARTED, STANDS_STILL),
    lambda s: f"running, unconfirmed: no log or artifact could be seen, and {_opinion(s)}; {else_known(s)}",
    "that a process or a scheduler says RUNNING is not evidence of progress; the tracker is the only other one here, and it does not move",
    remedy=lambda s: "Look yourself whether it works; nothing is done about it.", command=log_command,
)  # fmt: skip

TRACKER_FLAGS: tuple[Row, ...] = (
    Row(
        "tracker-drift", Severity.CRITICAL, None,
        (NOT_DONE, NO_OUTCOME, If("its run at the tracker is not the one that is meant", lambda s: bool(view.drifts(s)))),
        lambda s: f"{quote('; '.join(view.drifts(s)), 300)}{_link(s)}",
        "a run that goes on in the wrong place spoils the history of another one: told at once",
        remedy=lambda s: "Compare `[tracker]` with what the program passes to its tracker; nothing is stopped for it.",
        command=status_command,
    ),
    Row(
        "tracker-stale", Severity.WARNING, None, (ALIVE, NOT_DONE, NOT_JUST_STARTED, STANDS_STILL),
        lambda s: f"{_opinion(s)}{_link(s)}",
        "timestamps and steps at a tracker must move; it alone never makes a run stalled",
        remedy=lambda s: "Look at the log, and see whether the tracker's own process is alive.", command=log_command,
    ),
    Row(
        "tracker-lags", Severity.OK, None, (ALIVE, NOT_DONE, NOT_JUST_STARTED, _says("lags behind a log that moves", "tracker-lags")),
        _opinion,
        "the log is nearer to the run than the tracker: it may not be syncing, the run is well",
    ),
    Row(
        "tracker-catching-up", Severity.OK, None, (ALIVE, NOT_DONE, _says("still shows the attempt before", "catching-up")),
        _opinion,
        "after a resume the steps since the checkpoint come again: lines of the log suffice until the tracker moves",
    ),
    Row(
        "tracker-steps-back", Severity.WARNING, None, (ALIVE, _says("went back in steps without a resume", "steps-went-back")),
        _opinion,
        "two processes that log to one run, or a restart that nobody recorded",
        remedy=lambda s: "See who else logs to this run.", command=status_command,
    ),
    Row(
        "tracker-ended", Severity.WARNING, None,
        (ALIVE, NOT_DONE, NOT_JUST_STARTED,
         If("its tracker says failed, crashed or killed",
            lambda s: (t := view.current(s)) is not None
            and (run := observed(view.best(t)[0])) is not None and run.state in ("failed", "crashed", "killed"))),
        lambda s: f"{_opinion(s)}, yet one of its processes is alive",
        "the tracker lost its connection, or its own process died: metrics are being lost",
        remedy=lambda s: "See whether the tracker's own process is alive; its state lags behind by minutes.", command=log_command,
    ),
    Row(
        "tracker-loss-lost", Severity.WARNING, None,
        (ALIVE, If("the newest loss at its tracker is not a number", lambda s: view.lost_loss(s) is not None),
         If("its log does not say so already", lambda s: not s.loss_is_lost)),
        lambda s: f"the newest loss at its tracker is {view.lost_loss(s)}{_link(s)}",
        "a run whose log shows no loss may still diverge",
        remedy=lambda s: "See its curves; stop it yourself if it diverged.", command=log_command,
    ),
    Row(
        "tracker-alert", Severity.WARNING, None,
        (If("its program sent the tracker a warning within the last two cadences", lambda s: bool(view.loud_alerts(s))),),
        _say_alert,
        "trackio's alerts are read from its own files: better than a pattern in a log",
        remedy=lambda s: "Read it; the program itself thought it worth a person's look.", command=log_command,
    ),
    Row(
        "tracker-unfinished", Severity.WARNING, None,
        (DONE, If("its run at W&B lacks its end or its summary", lambda s: bool(view.unfinished(s)))),
        lambda s: f"done, but its run at W&B has no end or no summary: {word(view.unfinished(s)[0].identity.run_id or '?', 60)}",
        "a success whose final metrics are missing is not fit to be sealed",
        remedy=lambda s: "Upload the run (`wandb sync DIRECTORY` on the box), then compare the final metrics with the log's.",
        command=status_command,
    ),
    Row(
        "tracker-unsynced", Severity.OK, None,
        (DONE, If("its run at W&B was offline and has not been sent", lambda s: bool(view.unsynced(s)))),
        lambda s: f"its metrics are only on this box: {word(view.unsynced(s)[0].identity.place or '', 160)}",
        "what is not sent is lost with the box",
        remedy=lambda s: "Send it before the box is given back.", command=_sync_command,
    ),
    Row(
        "tracker-unseen", Severity.OK, None, (If("its tracker could not be looked at", lambda s: view.unasked(s) is not None),),
        lambda s: f"no second opinion: {quote(view.unasked(s) or '', 160)}",
        "a tracker that cannot be asked says nothing about the run",
    ),
)  # fmt: skip
