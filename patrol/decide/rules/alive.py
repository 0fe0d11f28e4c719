"""Rules for runs whose processes live, wait, or have not begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import observed
from onbox.contract.states import RunState
from onbox.model.units import counted
from onbox.triage.classes import REMEDIES
from patrol.decide.phrases import ago, else_known, how_far, log_command, quote, signals, status_command, word
from patrol.decide.remote_command import here
from patrol.decide.rules.end import DONE, NO_OUTCOME, NO_PROCESS, NOT_DONE, STOP_REACHED, If, Row
from patrol.decide.trend import flap_percent, slow_rate
from patrol.liveness import Presence
from patrol.verdict import Severity

if TYPE_CHECKING:
    from patrol.decide.run_scene import RunScene


def _quiet_but_at_work(scene: RunScene) -> bool:
    """The box's own monitor, which also sees CPU time, is fresh, looks for stalls and claims none."""
    look = scene.look
    watches = look.managed and observed(look.stall_after_seconds) is not None and observed(look.runner_alive) is True
    fresh = scene.heartbeat_age is not None and not scene.heartbeat_stale
    return watches and fresh and observed(look.claimed_state) == RunState.RUNNING.value


def _baseline(scene: RunScene) -> float | None:
    limits = scene.limits
    return slow_rate(
        scene.rates,
        baseline_ticks=limits.baseline_ticks,
        slow_ticks=limits.slow_ticks,
        slow_percent=limits.slow_percent,
    )


def _flaps(scene: RunScene) -> bool:
    limit = scene.limits.flap_end_percent if scene.before.was_flapping else scene.limits.flap_percent
    return flap_percent(scene.was_ill) > limit


ALIVE = If("one of its processes is alive", lambda s: s.alive)
RUNNER_GONE = If("its runner is gone, its stage is alive", lambda s: s.presence is Presence.ORPHAN)
ALL_OLD = If("every signal was seen, and all are older than stall_after", lambda s: s.all_signals_old)
NOT_ALL_OLD = If("a signal is young, or was not seen", lambda s: not s.all_signals_old)
NOT_AT_WORK = If("the box's own monitor does not say that it is at work", lambda s: not _quiet_but_at_work(s))
JUST_STARTED = If(
    "its attempt is younger than start_grace, and its live runner does not call it stalled",
    lambda s: (
        s.attempt_age_seconds is not None
        and s.attempt_age_seconds <= s.limits.start_grace_seconds
        and not (observed(s.look.claimed_state) == RunState.STALLED.value and observed(s.look.runner_alive) is True)
    ),
)
WAITS = If(
    "its live runner says what it waits for",
    lambda s: observed(s.look.waiting_for) is not None and s.presence is Presence.ALIVE,
)
LOST_LOSS = If(
    "its newest loss is not a number, or its box finds that",
    lambda s: s.loss_is_lost or bool(s.found("loss-not-finite")),
)
SLOW = If(
    "its box finds it slow; where none looks, the last slow_ticks rates are all below the baseline",
    lambda s: _baseline(s) is not None if s.found("slow") is None else bool(s.found("slow")),
)
RETRIED = If("its stage was retried `retries` times or more", lambda s: s.look.retries >= s.limits.retries_count)
FLAPS = If("it changed between well and ill too often", _flaps)
HEARTBEAT_STALE = If(
    "its heartbeat is older than two of its cadences, and more than 10 s late", lambda s: s.heartbeat_stale
)
RUNNER_LIVES = If("its runner is alive", lambda s: observed(s.look.runner_alive) is True)
UNDECLARED = If("no process is declared to look for", lambda s: s.presence is Presence.UNDECLARED)
LOG_FRESH = If(
    "a signal is younger than stall_after", lambda s: any(age <= s.stall_seconds for age in s.signal_ages.values())
)
SIGNALS = If("a log or artifacts were seen", lambda s: bool(s.signal_ages))
ENGINE_TROUBLES = If(
    "its engine tells of a dead node, a lost owner or a demand that it cannot meet",
    lambda s: s.engine is not None and bool(s.engine.troubles),
)
STANDS = If("it made no progress since the last look", lambda s: not s.steps_go_on)
ONLY_ENGINE = If(
    "its engine alone says that it runs: no process and no fresh log, artifact or heartbeat was seen",
    lambda s: (
        s.engine is not None
        and True not in (s.look.runner_alive, s.look.stage_alive)
        and not any(age <= s.stall_seconds for age in s.signal_ages.values())
        and (s.heartbeat_age is None or s.heartbeat_stale)
    ),
)
LINGERS = If(
    "its proof of success is older than linger",
    lambda s: (observed(s.look.ended_age_seconds) or 0.0) > s.limits.linger_seconds,
)


def _say_lost(scene: RunScene) -> str:
    proof = scene.found("loss-not-finite")
    return f"{quote(proof)}; {how_far(scene)}" if proof else f"its newest loss is not a number; {how_far(scene)}"


def _say_slow(scene: RunScene) -> str:
    if proof := scene.found("slow"):
        return f"{quote(proof)}; {how_far(scene)}"
    baseline, rate = _baseline(scene) or 0.0, scene.rates[-1] if scene.rates else 0.0
    less = 100 * (1 - rate / baseline) if baseline else 0.0
    slower = f"{less:.0f}% slower than its own {baseline:.3g} steps/s for {scene.limits.slow_ticks} ticks"
    return f"{slower} ({rate:.3g} now); {how_far(scene)}"


def _say_stalled(scene: RunScene) -> str:
    busy = f"; a GPU shows {scene.gpu_percent}%, which is not progress" if (scene.gpu_percent or 0) > 50 else ""
    return (
        f"alive, but every signal is old: {signals(scene)} (limit {ago(scene.stall_seconds)}){busy}; {how_far(scene)}"
    )


def _engine_troubles(scene: RunScene) -> str:
    return "; ".join(quote(one, 120) for one in scene.engine.troubles[:3]) if scene.engine is not None else ""


HEARTBEAT = Row(
    "heartbeat-stale", Severity.WARNING, RunState.RUNNING, (RUNNER_LIVES, NO_OUTCOME, HEARTBEAT_STALE),
    lambda s: f"the monitor on the box has been silent for {ago(s.heartbeat_age)} (limit {ago(s.heartbeat_limit_seconds)}); of the run: {else_known(s)}",
    "a stale monitor is told apart from an unhealthy run: more than two cadences, and more than a busy box delays it",
    remedy=lambda s: "See whether the runner hangs or its disk is full; the stage itself is not affected.",
    command=status_command,
)  # fmt: skip

RUNNER_IS_GONE = Row(
    "runner-gone", Severity.WARNING, RunState.RUNNING, (RUNNER_GONE, NOT_DONE),
    lambda s: f"its runner is gone, stage {word(observed(s.look.stage) or '?', 40)} goes on; {how_far(s)}",
    "the stage is well; until a runner is back nobody notices its stall or its timeout",
    remedy=lambda s: "Resume: it takes over the live stage and starts nothing twice.", command=status_command,
    resume=lambda s: s.look.managed,
)  # fmt: skip


LIVING: tuple[Row, ...] = (
    Row(
        "ending", Severity.OK, RunState.RUNNING, (DONE, ALIVE, If("the proof is younger than linger", lambda s: not LINGERS.holds(s))),
        lambda s: f"its proof of success is there, but some of its processes are still alive ({quote(observed(s.look.done) or '', 60)})",
        "a run with a marker and a live process is not finished; a runner needs a moment to deliver its notices",
    ),
    Row(
        "lingering", Severity.WARNING, RunState.RUNNING, (DONE, ALIVE, LINGERS),
        lambda s: f"proof of success since {ago(observed(s.look.ended_age_seconds))}, but a process is still alive and may hold the GPU",
        "a finished process should not hold what is paid for by the hour",
        remedy=lambda s: "See what the process still does; if it is only a leftover, end it by its pid.", command=status_command,
    ),
    Row(
        "waiting", Severity.OK, RunState.RUNNING, (ALIVE, WAITS, NOT_DONE),
        lambda s: f"waits for {word(observed(s.look.waiting_for) or '', 80)}",
        "a bounded wait is the chain's own doing, not a stall",
    ),
    Row(
        "loss-lost", Severity.CRITICAL, RunState.DEGRADED, (ALIVE, LOST_LOSS),
        _say_lost,
        "it burns time without learning (divergence)",
        remedy=lambda s: REMEDIES["divergence"], command=log_command,
    ),
    Row(
        "stop-point", Severity.WARNING, RunState.RUNNING, (ALIVE, STOP_REACHED, NOT_ALL_OLD),
        lambda s: f"reached the stopping point that was set ({s.stop_reached}), and is still running; {how_far(s)}",
        "the person who set it wants to know; the patrol stops nothing, but it may stop watching here",
        remedy=lambda s: "Stop it, or take `stop_at` out of onbox.toml.", command=status_command,
    ),
    Row(
        "just-started", Severity.OK, RunState.RUNNING, (ALIVE, JUST_STARTED),
        lambda s: f"its attempt began {ago(s.attempt_age_seconds)} ago; {how_far(s)}",
        "signals of the attempt before prove nothing about this one",
    ),
    Row(
        "stalled", Severity.CRITICAL, RunState.STALLED, (ALIVE, ALL_OLD, NOT_AT_WORK),
        _say_stalled,
        "alive is not progress: every signal must be old, and none unseen",
        remedy=lambda s: REMEDIES["hang_stall"], command=log_command,
    ),
    Row(
        "quiet", Severity.WARNING, RunState.DEGRADED, (ALIVE, ALL_OLD),
        lambda s: f"{signals(s)}, but the box's own monitor sees it at work; {how_far(s)}",
        "a long evaluation prints nothing; the monitor on the box also sees CPU time",
        remedy=lambda s: "Look at its log; raise `stall_after` if such pauses are normal for it.", command=log_command,
    ),
    RUNNER_IS_GONE,
    Row(
        "throughput-collapse", Severity.WARNING, RunState.DEGRADED, (ALIVE, SLOW),
        _say_slow,
        "compared with its own history, over several ticks: a checkpoint or an evaluation is not a collapse",
        remedy=lambda s: "Look for a neighbour on the box, throttling, a slow data source.", command=status_command,
    ),
    Row(
        "engine-degraded", Severity.WARNING, RunState.DEGRADED, (ALIVE, ENGINE_TROUBLES, STANDS),
        lambda s: f"{_engine_troubles(s)}; {how_far(s)}",
        "the job's own state is RUNNING all the while that a node is dead or its tasks wait for what the cluster lacks",
        remedy=lambda s: "See whether it still moves; a person must give the cluster what it lacks, nothing is changed from here.",
        command=log_command,
    ),
    Row(
        "degraded", Severity.WARNING, RunState.DEGRADED, (ALIVE, RETRIED),
        lambda s: f"stage {word(observed(s.look.stage) or '?', 40)} was retried {counted(s.look.retries, 'time')}; {how_far(s)}",
        "it goes on, but its budget of retries is being used up",
        remedy=lambda s: "Read why the earlier attempts failed before the budget ends.", command=log_command,
    ),
    Row(
        "flapping", Severity.WARNING, RunState.DEGRADED, (ALIVE, FLAPS),
        lambda s: f"changed between well and ill in {flap_percent(s.was_ill):.0f}% of the last ticks (weighted)",
        "the 21-sample weighted window that Nagios uses; one message instead of one per change",
        remedy=lambda s: "See its history for what changes; the thresholds may be too tight.",
        command=lambda s: here("patrol", "history", f"{s.box.box}/{s.look.run}"),
    ),
    HEARTBEAT,
    Row(
        "signals-unseen", Severity.UNKNOWN, RunState.RUNNING,
        (ALIVE, If("none of its signals could be looked at", lambda s: bool(s.unseen_signals) and not s.signal_ages)),
        lambda s: f"it is alive; whether it makes progress is not known: could not look at {', '.join(s.unseen_signals)}",
        "without a signal that was seen, alive says nothing about progress",
        remedy=lambda s: "Look yourself; a hung mount is the usual cause.", command=status_command,
    ),
    Row(
        "unconfirmed", Severity.OK, RunState.RUNNING, (ALIVE, ONLY_ENGINE),
        lambda s: f"running, unconfirmed: {quote(s.engine.says, 100) if s.engine else ''}; nothing else of it was seen to move",
        "an engine says RUNNING from a job's placement to its end, even if it hangs",
        remedy=lambda s: "The next look shows whether its log moves; until then look at its log or its tracker.",
        command=log_command,
    ),
    Row(
        "healthy", Severity.OK, RunState.RUNNING, (ALIVE,),
        how_far,
        "it is alive, and no rule above found anything wrong",
    ),
    Row(
        "moving", Severity.OK, RunState.RUNNING, (UNDECLARED, LOG_FRESH),
        lambda s: f"{signals(s)}; no process is declared to look for; {how_far(s)}",
        "fresh signals without a declared process: something writes",
        remedy=lambda s: "Declare `process` or `session`, so that its death can be seen.",
    ),
    Row(
        "silent", Severity.WARNING, RunState.UNKNOWN, (UNDECLARED, SIGNALS),
        lambda s: f"{signals(s)}; no process is declared, so dead and stalled cannot be told apart",
        "an old log line never proves the present, and silence alone never proves death",
        remedy=lambda s: "Declare `process` or `session`; look yourself meanwhile.", command=log_command,
    ),
    Row(
        "pending", Severity.OK, RunState.PENDING, (NO_PROCESS, NO_OUTCOME, NOT_DONE),
        lambda s: "it has not started yet",
        "no attempt, no log, no process: there is nothing that could have died",
    ),
    Row(
        "unclear", Severity.UNKNOWN, RunState.UNKNOWN, (),
        lambda s: f"no rule fits what was seen; {else_known(s)}",
        "the default: nothing certain is known",
        remedy=lambda s: "Look yourself.", command=status_command,
    ),
)  # fmt: skip
