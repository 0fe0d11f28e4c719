"""Rules for runs that have ended, or may have: an end record, a proof of success, or no process any more."""

from __future__ import annotations

from onbox.contract.events import Event
from onbox.contract.paths import SWEEP
from onbox.contract.readings import Unseen, observed
from onbox.contract.states import RunState
from onbox.model.units import counted
from onbox.triage.classes import REMEDIES, RULE_REMEDIES, may_repeat
from patrol.decide.phrases import (
    NO_PROGRESS,
    ago,
    counts_of_cells,
    else_known,
    failure_remedy,
    failure_words,
    how_far,
    log_command,
    quote,
    status_command,
    word,
)
from patrol.decide.rule import Condition, Rule
from patrol.decide.run_scene import RunScene
from patrol.liveness import Presence, is_queued
from patrol.memory.update_history import acknowledgement
from patrol.verdict import Severity

Row = Rule[RunScene]
If = Condition[RunScene]


def _may_resume(scene: RunScene) -> bool:
    """Nothing speaks against the same configuration once more: no class that forbids it, no repeated failure, no end
    that was missed and may be a good one.
    """
    known = scene.look.managed or scene.look.can_resubmit
    if isinstance(scene.look.failure, Unseen) or not known or scene.stop_reached or scene.look.unseen_end:
        return False
    if scene.repeated.times >= scene.limits.repeat_count:
        return False
    failure = scene.failure
    if failure is None:
        return True
    return failure.retry_allowed is not False and may_repeat(failure.failure_class, own_word=failure.retry_allowed)


def _named(stage: str | None) -> str:
    return "the sweep" if stage == SWEEP else f"stage {word(stage or '?', 40)}"


def _proven_dead(scene: RunScene) -> bool:
    """Seen so in two looks, or proof that no race can explain it: a reboot, or a heartbeat that ended long ago."""
    return (
        scene.gone_looks >= scene.limits.gone_looks or scene.rebooted or (scene.look.managed and scene.heartbeat_stale)
    )


def _began(scene: RunScene) -> bool:
    """It was at work at some time: an attempt is recorded, or an earlier look saw it."""
    look = scene.look
    if look.managed:
        return observed(look.attempt) is not None
    return (
        scene.before.last_seen_at is not None or observed(look.log) is not None or observed(look.artifacts) is not None
    )


def _writer(scene: RunScene) -> str:
    """The sign that is younger than the last look, which had found no process already, with its age; "": there is none.

    From the end of that look to the beginning of this one: a look that takes long makes nothing young.
    """
    last = scene.box_before.last_tick_at
    if scene.before.gone_ticks < 1 or scene.rebooted or last is None:
        return ""
    age, name = min(((age, name) for name, age in scene.signal_ages.items()), default=(0.0, ""))
    return f"{name} ({ago(age)} ago)" if name and age + 1.0 < scene.box.at - last else ""


def _shows_end(scene: RunScene) -> bool:
    progress = observed(scene.look.progress)
    if progress is None:
        return False
    full = progress.current is not None and bool(progress.exact_max) and progress.current >= (progress.exact_max or 0)
    return bool(progress.finished) or full


def _has_waited_long(scene: RunScene) -> bool:
    """By the engine's time of submission, else by what this patrol saw."""
    age, before = observed(scene.look.submitted_age_seconds), scene.before
    if before.rule == "capacity-long":
        return True  # of this very run; one that began is no longer in the queue
    seen = scene.now - before.since if before.rule == "capacity-wait" and before.since is not None else 0.0
    return max(age or 0.0, seen) > scene.limits.capacity_after_seconds


ENDED_SO = {
    word: If(f"its last end record is {word}", lambda scene, word=word: scene.outcome == word)  # type: ignore[misc]
    for word in (Event.CHAIN_FAILED, Event.GATE_REFUSED, Event.CHAIN_STOPPED, Event.CHAIN_INTERRUPTED)
}
DONE = If("its proof of success is there", lambda scene: observed(scene.look.done) is not None)
NOT_DONE = If("no proof of success was seen", lambda scene: observed(scene.look.done) is None)
DONE_LOOKED = If("looked for the proof of success", lambda scene: not isinstance(scene.look.done, Unseen))
OUTCOME_LOOKED = If("looked for an end record", lambda scene: not isinstance(scene.look.outcome, Unseen))
NO_OUTCOME = If("no end record", lambda scene: scene.outcome is None)
NO_PROCESS = If("no process of it was found", lambda scene: scene.gone)
NO_PROCESS_OR_UNDECLARED = If(
    "no process of it was found, or none is declared to look for",
    lambda scene: scene.presence in (Presence.GONE, Presence.UNDECLARED),
)
NOT_ALIVE = If("no process of it was seen", lambda scene: not scene.alive)
ACKNOWLEDGED = If(
    "a person acknowledged its end",
    lambda scene: scene.before.acknowledged == acknowledgement(observed(scene.look.run_id), "done"),
)
FAILURE_SHOWN = If("its log or marker shows a failure", lambda scene: scene.failure is not None)
WAITS_LONG = If("it has waited for longer than capacity_after", _has_waited_long)
QUEUED = If("the scheduler holds it in its queue", lambda scene: is_queued(scene.look))
PUT_RIGHT = If(
    "its failed stage was judged again and is DONE, or each failed cell was skipped",
    lambda scene: scene.look.rechecked or scene.look.failed_were_skipped,
)
REPEATED = If(
    "an earlier attempt failed with the same signature, or ended at the same step",
    lambda scene: scene.repeated.times >= scene.limits.repeat_count,
)
PROVEN = If("seen so twice, or proven by a reboot or a heartbeat that ended", _proven_dead)
CERTAIN_END = If(
    "its end is recorded, or its death is proven",
    lambda scene: scene.outcome == Event.CHAIN_FAILED or (scene.gone and scene.outcome is None and _proven_dead(scene)),
)
BEGAN = If("it had begun", _began)
WATCHED = If("onbox did not start it", lambda scene: not scene.look.managed)
SHOWS_END = If("its log shows an end of its own", _shows_end)
STILL_WRITES = If("it wrote after an earlier look had found no process", lambda scene: bool(_writer(scene)))
STOP_REACHED = If("the stopping point that a person set is reached", lambda scene: bool(scene.stop_reached))
EVIDENCE_UNSEEN = If(
    "its processes, its end record or its proof of success could not be looked at",
    lambda scene: (
        scene.presence is Presence.UNSEEN
        or (not scene.alive and (isinstance(scene.look.outcome, Unseen) or isinstance(scene.look.done, Unseen)))
    ),
)


def _engine_says(word: str, *rules: str) -> If:
    """The engine's word, weighed with the markers, makes the run this."""
    return If(
        f"its engine says {word}",
        lambda scene: (engine := scene.engine) is not None and bool(engine.rule) and engine.rule in rules,
    )


def _outweighs(scene: RunScene) -> bool:
    """A failure that the engine proves, or one that nobody else has put on record."""
    engine = scene.engine
    if engine is None or engine.run_state != RunState.FAILED.value:
        return False
    recorded = scene.outcome in (Event.CHAIN_FAILED, Event.GATE_REFUSED)
    return engine.rule in ("done-but-job-not", "failed-by-engine") or not recorded


ENGINE_FAILED = If("its engine says failed, and that is proven or nobody else has recorded an end", _outweighs)
ENGINE_INTERRUPTED = If(
    "its engine ended it (time limit, preemption, lost node, cancelled)",
    lambda scene: scene.engine is not None and scene.engine.run_state == RunState.INTERRUPTED.value,
)
NEVER_RUNS = _engine_says("that its job can never run", "never-ran")
FORGOTTEN = If(
    "its engine has forgotten the job, and no stage's marker explains it",
    lambda scene: (
        scene.engine is not None
        and scene.engine.rule == "forgotten"
        and scene.engine.run_state == RunState.UNKNOWN.value
    ),
)
HELD = If(
    "its job waits for a person (held, or no node can ever satisfy it)",
    lambda scene: scene.engine is not None and (scene.engine.held or scene.engine.failure_class is not None),
)
OPEN_OR_REQUEUED = If(
    "no end record, or one that its engine's requeue has overtaken",
    lambda scene: scene.outcome is None or (scene.engine is not None and scene.outcome == Event.CHAIN_INTERRUPTED),
)


def _engine_words(scene: RunScene) -> str:
    engine = scene.engine
    return quote(engine.says, 120) if engine is not None else ""


def _queue_words(scene: RunScene) -> str:
    engine = scene.engine
    again = f" (put back into it {counted(engine.restarts, 'time')})" if engine is not None and engine.restarts else ""
    return f"waits in the queue{again}: {_engine_words(scene)}"


def _engine_remedy(scene: RunScene) -> str:
    engine = scene.engine
    kind = engine.failure_class if engine is not None else None
    if kind is not None:
        return REMEDIES.get(kind, REMEDIES["unknown"])
    return failure_remedy(scene) if scene.failure else REMEDIES["unknown"]


def _engine_may_resume(scene: RunScene) -> bool:
    engine = scene.engine
    return engine is not None and may_repeat(engine.failure_class or "") and _may_resume(scene)


def _resume_remedy(scene: RunScene) -> str:
    """What a resume would go on from is promised only where the stage says what it writes."""
    if scene.look.unseen_end:
        return RULE_REMEDIES["end-missed"]
    if not scene.look.managed:
        return "Find out what ended it, then start it again yourself."
    if observed(scene.look.keeps_checkpoints):
        return "Resume: its stage starts again and finds what it has written so far, its newest checkpoint too."
    return "Resume: its stage starts again; it declares no files, so only its command knows what it continues from."


def _say_dead(scene: RunScene) -> str:
    why = "the box was rebooted" if scene.rebooted else f"seen {scene.gone_looks} times"
    if not scene.rebooted and scene.gone_looks < scene.limits.gone_looks:
        why = f"its heartbeat ended {ago(scene.heartbeat_age)} ago"
    cause = failure_words(scene) if scene.failure or scene.look.reason else "no reason in its log"
    cause = quote(scene.look.unseen_end, 200) or cause
    return f"no process and no marker ({why}); {cause}; {how_far(scene)}"


def _how_far_it_came(scene: RunScene) -> str:
    """Of a run that is done it says nothing that its last stage showed no progress. A sweep has its cells: with skipped
    ones a share of them would read as not done.
    """
    cells = observed(scene.look.cells)
    shown = how_far(scene) if cells is None else counts_of_cells(cells)
    return "" if shown == NO_PROGRESS else f"; {shown}"


def _unseen_words(scene: RunScene) -> str:
    look = scene.look
    named = {
        "runner": look.runner_alive, "processes": look.stage_alive, "end record": look.outcome, "marker": look.done,
        "scheduler": look.scheduler,
    }  # fmt: skip
    words = [f"{name}: {word(value.why, 60)}" for name, value in named.items() if isinstance(value, Unseen)]
    return f"could not look ({'; '.join(words) or 'its processes were not looked for'}); {else_known(scene)}"


ENDED: tuple[Row, ...] = (
    Row(
        "failed-on-engine", Severity.CRITICAL, RunState.FAILED, (ENGINE_FAILED, NOT_ALIVE),
        lambda s: f"{_engine_words(s)}; {how_far(s)}",
        "a marker of a job that did not succeed proves nothing: a job can be OUT_OF_MEMORY although its script went on",
        remedy=_engine_remedy, command=log_command,
        resume=lambda s: s.look.can_resubmit and s.failure is not None and _may_resume(s),
    ),
    Row(
        "held", Severity.WARNING, RunState.PENDING, (QUEUED, HELD, NOT_ALIVE, OPEN_OR_REQUEUED, NOT_DONE),
        _queue_words,
        "a job that is held, or that no node can ever satisfy, never starts by itself",
        remedy=lambda s: "Release it, or submit it with what the cluster has; a patrol changes nothing on a cluster.",
        command=status_command,
    ),
    Row(
        "capacity-long", Severity.WARNING, RunState.PENDING, (QUEUED, NOT_ALIVE, OPEN_OR_REQUEUED, NOT_DONE, WAITS_LONG),
        lambda s: f"{_queue_words(s)}; for more than {ago(s.limits.capacity_after_seconds)}",
        "a queue is not a failure, but a job that waits for long may ask for what nobody gives back",
        remedy=lambda s: "See whether the cluster has what it asks for; a smaller or another request may start sooner.",
        command=status_command,
    ),
    Row(
        "capacity-wait", Severity.OK, RunState.PENDING, (QUEUED, NOT_ALIVE, OPEN_OR_REQUEUED, NOT_DONE),
        _queue_words,
        "a queue is not a failure; an empty queue is not a success either",
        remedy=lambda s: "Wait; nothing on a cluster is changed by a patrol.",
    ),
    Row(
        "done-acknowledged", Severity.OK, RunState.DONE, (DONE, NO_PROCESS_OR_UNDECLARED, ACKNOWLEDGED),
        lambda s: "finished, and a person acknowledged it",
        "kept apart from done so that the patrol may remove itself only when somebody knows",
    ),
    Row(
        "done", Severity.OK, RunState.DONE, (DONE, NO_PROCESS_OR_UNDECLARED),
        lambda s: f"finished {ago(observed(s.look.ended_age_seconds))} ago; proof: {quote(observed(s.look.done) or '', 60)}{_how_far_it_came(s)}",
        "finished means no process AND the marker of this very run; either alone proves nothing",
        command=status_command,
    ),
    Row(
        "put-right", Severity.WARNING, RunState.FAILED, (ENDED_SO[Event.CHAIN_FAILED], NOT_ALIVE, PUT_RIGHT),
        lambda s: quote(s.look.reason) if s.look.rechecked else "each cell that failed was skipped since, by a person's word",
        "a person has dealt with the failure; only a runner records what follows",
        remedy=lambda s: "Resume it: it goes on with what is open, or records that it is done.", command=status_command,
        resume=lambda s: s.look.rechecked and s.look.managed and not s.stop_reached,
    ),
    Row(
        "repeated-failure", Severity.CRITICAL, RunState.FAILED, (NOT_ALIVE, OUTCOME_LOOKED, NOT_DONE, CERTAIN_END, FAILURE_SHOWN, REPEATED),
        lambda s: f"{s.repeated}: {failure_words(s)}",
        "what failed twice in the same way fails a third time; a person must change something",
        remedy=lambda s: f"Do not resume it unchanged. {failure_remedy(s)}", command=log_command,
    ),
    Row(
        "failed", Severity.CRITICAL, RunState.FAILED, (ENDED_SO[Event.CHAIN_FAILED],),
        lambda s: f"{_named(observed(s.look.stage))} failed: {failure_words(s)}",
        "the chain's own record; class, proof and the one remedy come from triage",
        remedy=failure_remedy, command=log_command,
        resume=lambda s: s.failure is not None and not s.alive and _may_resume(s),
    ),
    Row(
        "gate-refused", Severity.CRITICAL, RunState.FAILED, (ENDED_SO[Event.GATE_REFUSED],),
        lambda s: f"a gate refused, nothing was started: {quote(s.look.reason) or 'see its status'}",
        "nothing is lost, but nothing runs either, and it does not start by itself",
        remedy=lambda s: "Make room for what the gate names, then resume; every gate is asked again.", command=status_command,
    ),
    Row(
        "stopped", Severity.OK, RunState.STOPPED, (ENDED_SO[Event.CHAIN_STOPPED],),
        lambda s: f"stopped by a person: {quote(s.look.reason) or 'on request'}; {how_far(s)}",
        "what a person stopped is left alone",
        remedy=lambda s: REMEDIES["user_interrupt"], command=status_command,
    ),
    Row(
        "upstream-failed", Severity.CRITICAL, RunState.FAILED, (NEVER_RUNS, NOT_ALIVE, DONE_LOOKED, NOT_DONE),
        lambda s: f"{_engine_words(s)}; {how_far(s)}",
        "DependencyNeverSatisfied: the job before it did not succeed, and nothing of it will ever run",
        remedy=lambda s: failure_remedy(s) if s.failure else "See why the stage before it failed, then resume.",
        command=lambda s: log_command(s) if s.failure else status_command(s),
    ),
    Row(
        "interrupted-by-engine", Severity.CRITICAL, RunState.INTERRUPTED,
        (ENGINE_INTERRUPTED, NOT_ALIVE, OUTCOME_LOOKED, DONE_LOOKED, NOT_DONE),
        lambda s: f"{_engine_words(s)}; {how_far(s)}",
        "the engine's own word on why it ended: proof enough, no second look is needed",
        remedy=_engine_remedy, command=log_command, resume=_engine_may_resume,
    ),
    Row(
        "interrupted-recorded", Severity.CRITICAL, RunState.INTERRUPTED, (ENDED_SO[Event.CHAIN_INTERRUPTED], NOT_ALIVE),
        lambda s: f"ended without a verdict: {quote(s.look.reason) or 'its runner was ended'}; {how_far(s)}",
        "the runner itself wrote down that it was ended: no second look is needed",
        remedy=_resume_remedy, command=log_command, resume=_may_resume,
    ),
    Row(
        "forgotten", Severity.UNKNOWN, RunState.UNKNOWN, (FORGOTTEN, NOT_ALIVE, NO_OUTCOME, NOT_DONE),
        lambda s: f"{_engine_words(s)}; {else_known(s)}",
        "an empty answer alone proves nothing: neither success nor failure",
        remedy=lambda s: "Look at its log; `onbox resume` asks the engine again before anything is started." if s.look.managed
        else "Check the id; look whether its processes live on before anything is submitted again.",
        command=status_command,
    ),
    Row(
        "could-not-look", Severity.UNKNOWN, RunState.UNKNOWN, (EVIDENCE_UNSEEN,),
        _unseen_words,
        "what was not seen is not evidence; a failure of the monitor is never a failure of the run",
        remedy=lambda s: "Look yourself; the patrol tries again at its next tick.", command=status_command,
    ),
    Row(
        "unseen-writer", Severity.WARNING, RunState.UNKNOWN, (NO_PROCESS, NO_OUTCOME, NOT_DONE, WATCHED, STILL_WRITES),
        lambda s: f"none of its processes was found, but something still writes its {_writer(s)}; {how_far(s)}",
        "what was written after a look that found nobody was written by somebody: `process` or `session` is wrong",
        remedy=lambda s: "See what runs there; correct `process` or `session`. Start no second copy.", command=log_command,
    ),
    Row(
        "crashed", Severity.CRITICAL, RunState.FAILED, (NO_PROCESS, NO_OUTCOME, NOT_DONE, WATCHED, FAILURE_SHOWN),
        lambda s: f"no process, and its log ends in a fault: {failure_words(s)}; {how_far(s)}",
        "a fault at the log's end and nobody left to survive it: proof enough, no second look is needed",
        remedy=failure_remedy, command=log_command,
    ),
    Row(
        "stopped-at-point", Severity.OK, RunState.STOPPED, (NO_PROCESS, NO_OUTCOME, NOT_DONE, BEGAN, STOP_REACHED),
        lambda s: f"no process any more, past the stopping point that was set ({s.stop_reached}); {how_far(s)}",
        "whoever set a stopping point did not want more: nothing is resumed past it",
    ),
    Row(
        "ended-unproven", Severity.WARNING, RunState.UNKNOWN, (NO_PROCESS, NO_OUTCOME, NOT_DONE, WATCHED, SHOWS_END),
        lambda s: f"no process, and its log shows an end of its own ({how_far(s)}), but nothing declared proves success",
        "a last step in a log is not proof that the results were written",
        remedy=lambda s: "Check its results, then `patrol ack` ends the watch; `done_regex` tells success by itself.",
        command=log_command,
    ),
    Row(
        "interrupted-again", Severity.CRITICAL, RunState.INTERRUPTED, (NO_PROCESS, NO_OUTCOME, NOT_DONE, BEGAN, PROVEN, REPEATED),
        lambda s: f"{s.repeated}: {_say_dead(s)}",
        "what dies twice at the same step dies there a third time; a person must change something",
        remedy=lambda s: "Do not resume it unchanged: look at what that step does (data, checkpoint, evaluation, memory).",
        command=log_command,
    ),
    Row(
        "interrupted", Severity.CRITICAL, RunState.INTERRUPTED, (NO_PROCESS, NO_OUTCOME, NOT_DONE, BEGAN, PROVEN),
        _say_dead,
        "dead means no process and no marker, seen in two looks or proven; one look can fall between end and marker",
        remedy=lambda s: failure_remedy(s) if s.failure else _resume_remedy(s),
        command=log_command, resume=_may_resume,
    ),
    Row(
        "gone", Severity.WARNING, RunState.UNKNOWN, (NO_PROCESS, NO_OUTCOME, NOT_DONE, BEGAN),
        lambda s: f"no process and no marker in this look; the next one decides ({else_known(s)})",
        "the soft state before interrupted: a run that ends right now looks the same for a moment",
        remedy=lambda s: "Nothing yet: wait for the next look.", command=status_command, soft=lambda s: True,
    ),
)  # fmt: skip
