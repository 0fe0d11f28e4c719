"""What one look at a run proves: the table that judges it, first match wins, and the words of each row. Pure.

Whether somebody lives is the kernel's word, asked on the box; what a file claims is not proof of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event
from onbox.contract.json_text import as_whole
from onbox.contract.paths import SWEEP
from onbox.contract.states import RunState
from onbox.model.engines import ON_BOX
from onbox.model.units import counted
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.runs.acts import Act
from onbox.runs.next_step import Standing, next_step
from onbox.runs.removed import REMOVED_UNDER_IT, way_on
from onbox.runs.state import state_after
from onbox.system.clock import parse_utc
from onbox.triage.classes import REMEDIES
from sentinels.judge.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sentinels.judge.engine_state import EngineWord
    from sentinels.judge.run_facts import RunFold

STALL_PROOF_SECONDS = 2.0  # a runner that ends a stalled stage does so at once
PROOF_SECONDS = 1.5  # between the two looks that prove that something has gone
ENGINE_PROOF_SECONDS = 5.0  # between two of an engine's answers: a job that is requeued looks ended for a moment
RECORDS_PROOF_SECONDS = 60.0  # a shared disk shows to one node that late what another one wrote (nfs(5), acdirmax)


def _continued(facts: RunFold, command: str = "`onbox resume` continues it") -> str:
    """How it goes on; where it cannot write, what comes first."""
    room = facts.room
    return command if room is None or not room.short_of else f"{room.words}: free some room, then {command}"


class JudgedRun(NamedTuple):
    """outcome None: it goes on. proof_seconds: it must be seen a second time, so much later, before it is believed;
    None: at once. seen_at: when what proves it was seen, by the box's clock; None: now.

    say: what is told (or shown meanwhile). at: when it happened, UTC text; "" when not known. failure_class: where the
    engine's word proves one. warn: a person must see it at once.
    """

    outcome: Outcome | None
    say: str
    at: str = ""
    proof_seconds: float | None = None
    seen_at: float | None = None
    failure_class: str | None = None
    row: str = ""
    warn: bool = False


class RunRow(NamedTuple):
    """when: whether the row applies. verdict: what is said then. reason: why it stands where it stands."""

    name: str
    when: Callable[[RunFold, RunTerms], bool]
    verdict: Callable[[RunFold, RunTerms], JudgedRun]
    reason: str


class RunTerms(NamedTuple):
    """bound: id of the run that was first seen; None: none yet. quiet_seconds: since anything was written."""

    bound: str | None = None
    stall_after_seconds: float | None = None
    quiet_seconds: float | None = None


def judge_run(facts: RunFold, terms: RunTerms) -> JudgedRun:
    """The first row of the table that applies."""
    row = next(row for row in ROWS if row.when(facts, terms))
    return row.verdict(facts, terms)._replace(row=row.name)


def _since(record: Mapping[str, Any] | None, key: str = "at") -> str:
    return str((record or {}).get(key, ""))


def why_failed(data: Mapping[str, Any]) -> str:
    """Class, remedy and proof of a FAILED marker (or what there is of it), one line, without secrets."""
    findings = [
        f"{one.get('gate')}: {one.get('seen')}, wanted {one.get('wanted')}"
        for one in data.get("findings") or ()
        if isinstance(one, dict)
    ]
    parts = [
        data.get("failure_class"),
        data.get("reason"),
        "; ".join(findings),
        data.get("proof") or data.get("last_line"),
    ]
    text = " · ".join(dict.fromkeys(safe_line(part, 300) for part in parts if part))  # the reason may be a finding
    remedy = f" · remedy: {safe_line(data['remedy'], 300)}" if data.get("remedy") else ""
    return safe_line(text + remedy)


def _named(stage: str) -> str:
    return "the sweep" if stage == SWEEP else f"stage {stage}"


def _failed(facts: RunFold) -> JudgedRun:
    end: Mapping[str, Any] = facts.ended.data if facts.ended is not None else facts.last or {}
    stage = str(end.get("stopped_at") or facts.failed.get("stage") or "?")
    own = facts.failed if facts.failed.get("stage") == stage else {}
    refused = end.get("outcome") == Event.GATE_REFUSED or end.get("event") == Event.GATE_REFUSED
    what = f"a gate refused {_named(stage)}" if refused else f"{_named(stage)} failed"
    why = why_failed({**end, **own})
    return JudgedRun(Outcome.FAILED, f"{what}{': ' if why else ''}{why}", _since(end, "ended_at") or _since(end))


def _stopped(facts: RunFold) -> JudgedRun:
    last = facts.last or {}
    word = "was interrupted" if last.get("event") == Event.CHAIN_INTERRUPTED else "was stopped"
    why = f" ({safe_line(last['reason'], 200)})" if last.get("reason") else ""
    step = next_step(Standing(state_after(last.get("event"))))
    then = _continued(facts) if step.act is Act.RESUME else step.then
    return JudgedRun(Outcome.STOPPED, f"the run {word}{why}; {then}", _since(last))


def _gone(facts: RunFold) -> JudgedRun:
    stage = str(facts.status.get("stage") or "")
    whole = "runner and cells have gone" if stage == SWEEP else "runner and stage have gone"
    why = "the box was rebooted" if facts.rebooted else whole
    where = f" during {_named(stage)}" if stage else ""
    say = f"{why}{where}, no marker; {_continued(facts)}"
    return JudgedRun(Outcome.GONE, say, _since(facts.status), PROOF_SECONDS)


def _stalled(facts: RunFold) -> JudgedRun:
    stage, line = facts.status.get("stage", "?"), safe_line(facts.status.get("last_line", ""), 200)
    say = f"stage {stage} shows no sign of life" + (f"; last line: {line}" if line else "")
    return JudgedRun(Outcome.STALLED, say, facts.newest_at)


def _quiet(facts: RunFold, terms: RunTerms) -> JudgedRun:
    say = f"nothing was written for {terms.quiet_seconds or 0:.0f} s, and it is still alive"
    return JudgedRun(Outcome.STALLED, f"{say} (stage {facts.status.get('stage', '?')})")


def _adopted(facts: RunFold) -> JudgedRun:
    if facts.left == "alone":
        stage = str(facts.status.get("stage") or "")
        what = f"the runner is gone, and so is the keeper of {_named(stage) if stage else 'the stage'}, which goes on"
        return JudgedRun(
            None, f"{what}: nobody continues the chain; {_continued(facts, '`onbox resume` takes over')}", warn=True
        )
    if facts.left == "cells":
        return JudgedRun(None, "the runner is gone, cells go on, and the first one that ends starts it again")
    return JudgedRun(None, "the runner is gone, the stage is alive and the chain will be continued")


def _running(facts: RunFold) -> JudgedRun:
    status = facts.status
    progress = status.get("progress")
    shown = progress.get("text") if isinstance(progress, dict) else progress
    words = [str(status.get("stage") or ""), str(status.get("stage_state") or status.get("state") or "running")]
    say = safe_line(" ".join([*words, str(shown or "")]).strip(), 200)
    if status.get("state") == RunState.STALLED.value:
        return JudgedRun(None, f"{say}: no sign of life (--stall-after would end this wait)", warn=True)
    return JudgedRun(None, say)


def _is_asked(facts: RunFold) -> bool:
    """Whether the engine's word is to be had for this run: it has jobs, and the engine's commands are there."""
    word = facts.word
    return facts.engine in ON_BOX and (word is None or not (word.no_jobs or word.no_commands))


def _says(facts: RunFold) -> EngineWord | None:
    """The engine's word, where it has one."""
    return facts.word if _is_asked(facts) else None


def _is_over(facts: RunFold) -> bool:
    """Whether the engine says that no job of the run will go on."""
    word = _says(facts)
    ended = (RunState.FAILED, RunState.INTERRUPTED, RunState.STOPPED, RunState.DONE)
    return word is not None and (word.is_forgotten or (word.state in ended and not word.live))


def _unconfirmed(facts: RunFold) -> JudgedRun:
    word = _says(facts)
    return JudgedRun(None, f"CHAIN_DONE is there; {word.says if word else f'{facts.engine} is being asked'}")


def _landed(facts: RunFold) -> JudgedRun:
    say = f"CHAIN_DONE of run {facts.run_id}, {counted(facts.stage_count, 'stage')}"
    cells = facts.done.data.get("cells") if facts.done else None
    if isinstance(cells, dict):
        done = as_whole(cells.get("done")) or 0
        say = f"{SWEEP}_DONE of run {facts.run_id}, {counted(done, 'cell')} done"
    if facts.word is not None and facts.word.no_commands:
        say += f"; {facts.engine} was not asked: its commands are not on that machine's PATH"
    return JudgedRun(Outcome.LANDED, say, _since(facts.done.data if facts.done else {}, "ended_at"))


def _ended_on_engine(facts: RunFold) -> JudgedRun:
    """The outcome is by the engine's word; of its own end the run has left nothing (yet)."""
    word = facts.word
    if word is None:
        return JudgedRun(Outcome.GONE, "ended on its engine without a marker", "", ENGINE_PROOF_SECONDS)
    stage = f"stage {word.stage}: " if word.stage else ""
    why = f" · remedy: {REMEDIES[word.failure_class]}" if word.failure_class in REMEDIES else ""
    proof = ENGINE_PROOF_SECONDS
    if word.state is RunState.FAILED:
        outcome, say = Outcome.FAILED, f"{stage}{word.says}{why}"
        proof = ENGINE_PROOF_SECONDS if word.failure_class else RECORDS_PROOF_SECONDS  # its own records may follow
    elif word.state is RunState.DONE:
        outcome, say = Outcome.GONE, "every job succeeded, and CHAIN_DONE never landed; look: onbox status"
        proof = RECORDS_PROOF_SECONDS
    elif word.is_forgotten:
        outcome, say = Outcome.GONE, f"{stage}{word.says}; nothing is known of its end; look: onbox status"
    else:
        outcome, say = Outcome.STOPPED, f"{stage}{word.says}; no marker; {_continued(facts)}"
    return JudgedRun(outcome, say, "", proof, word.at, word.failure_class)


def _is_proved(facts: RunFold) -> bool:
    word = _says(facts)
    return word is not None and word.state is RunState.DONE


def _with_engine(facts: RunFold) -> JudgedRun:
    word = _says(facts)
    if word is not None and word.says:
        say = word.says
    elif facts.word is not None and facts.word.no_commands:
        say = f"with {facts.engine}, whose commands are not on that machine's PATH: only its records tell its end"
    elif _over(facts, Event.CHAIN_INTERRUPTED):
        say = f"interrupted; it is with {facts.engine}, which may start it again"
    else:
        say = f"with {facts.engine}: its processes are not to be seen from here, its records tell its end"
    return JudgedRun(None, say)


def _own_stall(facts: RunFold) -> bool:
    if facts.status.get("stalls_by_default") is True:
        return False  # nobody has asked for an end of the wait: it is said, and waited on
    at = parse_utc(facts.newest_at)
    told = facts.newest_event == Event.STAGE_STALLED
    return told and at is not None and facts.clock - at >= STALL_PROOF_SECONDS


def _over(facts: RunFold, *events: str) -> bool:
    return facts.last is not None and facts.last["event"] in events


def _no_run_words(facts: RunFold) -> str:
    there = ", ".join(safe_line(name, 60) for name in facts.neighbours)
    return f"there is no such run yet; runs there: {there}" if there else "there is no such run yet"


ROWS: tuple[RunRow, ...] = (
    RunRow("unseen", lambda f, t: bool(f.trouble),
        lambda f, t: JudgedRun(None, f"the run cannot be looked at: {safe_line(f.trouble)}", warn=True),
        "what could not be looked at proves nothing"),
    RunRow("removed_alive", lambda f, t: f.run_id is None and bool(f.orphans),
        lambda f, t: JudgedRun(None, f"{REMOVED_UNDER_IT}; {way_on(f.orphans)}", warn=True),
        "what lives will still end; nobody must be told to start it"),
    RunRow("vanished", lambda f, t: f.run_id is None and t.bound is not None,
        lambda f, t: JudgedRun(None, f"there is no such run any more: {t.bound} was moved or deleted, or its disk is away", warn=True),
        "a folder that is not there is no proof: it may be a mount"),
    RunRow("no_run", lambda f, t: f.run_id is None, lambda f, t: JudgedRun(None, _no_run_words(f), warn=True),
        "a run may be waited for before it begins"),
    RunRow("replaced", lambda f, t: t.bound is not None and f.run_id != t.bound,
        lambda f, t: JudgedRun(Outcome.SUPERSEDED, f"run {t.bound} was replaced by run {f.run_id}"),
        "the marker of the run that was waited for will never land"),
    RunRow("unproved", lambda f, t: f.done is not None and _is_over(f) and not _is_proved(f),
        lambda f, t: _ended_on_engine(f),
        "a job can end OUT_OF_MEMORY although its script went on and left its marker"),
    RunRow("unconfirmed", lambda f, t: f.done is not None and _is_asked(f) and not _is_proved(f),
        lambda f, t: _unconfirmed(f),
        "on an engine success is CHAIN_DONE and the engine's word that the jobs succeeded, or that it forgot them"),
    RunRow("landed", lambda f, t: f.done is not None, lambda f, t: _landed(f),
        "CHAIN_DONE of this run id, chain and launch is the proof"),
    RunRow("failed", lambda f, t: f.ended is not None, lambda f, t: _failed(f), "CHAIN_FAILED of this very launch"),
    RunRow("stopped", lambda f, t: _over(f, Event.CHAIN_STOPPED) or (_over(f, Event.CHAIN_INTERRUPTED) and not f.engine),
        lambda f, t: _stopped(f),
        "a stop leaves no marker; it is in the journal only. What was interrupted on an engine may be requeued"),
    RunRow("failed_unmarked", lambda f, t: _over(f, Event.CHAIN_FAILED, Event.GATE_REFUSED) and f.runner == "gone",
        lambda f, t: _failed(f)._replace(proof_seconds=PROOF_SECONDS),
        "the marker follows its journal line; if the runner went in between, the line counts"),
    RunRow("done_unmarked", lambda f, t: _over(f, Event.CHAIN_DONE) and f.runner == "gone" and not f.engine,
        lambda f, t: JudgedRun(Outcome.GONE, "the journal says done, and CHAIN_DONE never landed; look: onbox status",
                            _since(f.last), PROOF_SECONDS),
        "only the marker proves success"),
    RunRow("ended_on_engine", lambda f, t: _is_over(f), lambda f, t: _ended_on_engine(f),
        "a lost node, a time limit or a kill leaves no record: the engine's word, in two of its answers"),
    RunRow("own_stall", lambda f, t: f.runner == "alive" and _own_stall(f), lambda f, t: _stalled(f),
        "the run's own stall rule (log, artifacts, CPU) fired, and its runner did not end the stage"),
    RunRow("quiet", lambda f, t: t.stall_after_seconds is not None and (t.quiet_seconds or 0) >= t.stall_after_seconds
        and "alive" in (f.runner, f.stage), _quiet, "the limit that this wait was given"),
    RunRow("alive", lambda f, t: f.runner == "alive", lambda f, t: _running(f), "it goes on"),
    RunRow("adopted", lambda f, t: f.stage == "alive",
        lambda f, t: _adopted(f),
        "a stage's keeper continues the chain when the stage ends, if it lives"),
    RunRow("with_engine", lambda f, t: bool(f.engine), lambda f, t: _with_engine(f),
        "on an engine no process is visible from here, and a job may still wait; an engine that gives no answer says nothing"),
    RunRow("unsure", lambda f, t: f.runner != "gone" or f.stage not in ("gone", "-"),
        lambda f, t: JudgedRun(None, f"whether it is alive is not known ({safe_line(f.runner + ' ' + f.stage)})"),
        "no verdict without the kernel's word"),
    RunRow("gone", lambda f, t: True, lambda f, t: _gone(f), "no process is alive and nothing proves success: said after a second look"),
)  # fmt: skip
