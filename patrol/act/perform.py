"""What a tick does beyond looking: resume where it is allowed, relay what a box could not deliver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import observed
from onbox.named_tuple import NamedTuple
from onbox.system.clock import wall
from onbox.system.files import StateNotWritten
from patrol.act import resume as actions
from patrol.collect import look_at_all
from patrol.config.ssh_target import target_of
from patrol.defects import note_defect
from patrol.engines.resubmit import resubmit
from patrol.judge import Frame, Judged, judge, undelivered
from patrol.memory.rows import MemoryTrouble, PatrolAct
from patrol.memory.transfers import Register
from patrol.report.lines import LINE_LIMIT
from patrol.ssh.client import NoAnswer, ask
from patrol.tell import relay

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.contract.notify_targets import NotifyTarget
    from patrol.config.settings import Settings
    from patrol.decide.policy import Policy
    from patrol.judge import BoxJudged
    from patrol.memory.rows import Past
    from patrol.memory.store import Memory

OUTCOME = "resume-outcome"
RELAY_BUDGET_SECONDS = 60.0  # of one tick, all boxes together
ACTS_LOOKED_AT = 1000
WORDS_LIMIT = 110


def resume_dead(settings: Settings, judged: BoxJudged, past: Past, memory: Memory, policy: Policy) -> BoxJudged:
    """Resume what may be resumed on one box; every run that was thought of says in its line what came of it."""
    try:
        tried = memory.acts(ACTS_LOOKED_AT, actions.KIND)
    except (MemoryTrouble, StateNotWritten) as error:
        return _with_words(judged, f"not resumed: without a memory nothing is done ({error})")
    plans = {
        run.verdict.run: actions.plan_resume(run.verdict, run.look, tried, wall(), settings.patrol.restarts_per_day)
        for run in judged.runs
        if run.verdict.may_resume and run.look is not None
    }
    second = None
    if any(isinstance(plan, actions.PlannedResume) for plan in plans.values()):
        second = _look_again(settings, judged, past, policy)
    runs = []
    for run in judged.runs:
        plan = plans.get(run.verdict.run)
        runs.append(run if plan is None else _resume_one(settings, judged, run, plan, second, memory))
    return judged._replace(runs=tuple(runs))


def with_words(line: str, words: str) -> str:
    """A run's line with what was done at its end; it stays one line of fewer than 200 characters."""
    end = f" · {words}" if len(words) <= WORDS_LIMIT else f" · {words[: WORDS_LIMIT - 1]}…"
    room = LINE_LIMIT - len(end)
    return (line if len(line) <= room else line[: room - 1] + "…") + end


def _with_words(judged: BoxJudged, words: str) -> BoxJudged:
    runs = (run._replace(line=with_words(run.line, words)) if run.verdict.may_resume else run for run in judged.runs)
    return judged._replace(runs=tuple(runs))


def _look_again(settings: Settings, judged: BoxJudged, past: Past, policy: Policy) -> BoxJudged | None:
    for seen in look_at_all(settings, (judged.box,), past):
        return judge(
            judged.box,
            seen.snapshot,
            None,
            Frame(past, policy, settings.ssh_command, wall(), Register(settings.state).homes()),
        )
    return None


def _resume_one(
    settings: Settings,
    judged: BoxJudged,
    run: Judged,
    plan: actions.PlannedResume | actions.NotDone,
    second: BoxJudged | None,
    memory: Memory,
) -> Judged:
    if isinstance(plan, actions.PlannedResume):
        plan = _agreed(run, second) or plan
    if isinstance(plan, actions.NotDone):
        return run._replace(line=with_words(run.line, f"not resumed: {plan.why}"))
    key = (judged.box.name, run.verdict.run)
    now = wall()
    try:  # before it is done: a tick that is killed in the middle has used up this failure's one try
        memory.note_act(PatrolAct(now, *key, actions.KIND, plan.signature, "trying", run.verdict.finding.rule))
    except (MemoryTrouble, StateNotWritten) as error:
        return run._replace(line=with_words(run.line, f"not resumed: it could not be written down ({error})"))
    done = _do_resume(settings, judged, run)
    words = {"resumed": "resumed by this patrol", "running": "not resumed: it runs again already"}
    said = words.get(done.outcome, f"resume {done.outcome}: {done.says}")
    if judged.box.is_cluster:
        said = done.says if done.outcome == "resumed" else f"not resubmitted ({done.outcome}): {done.says}"
    try:
        memory.note_act(PatrolAct(wall(), *key, OUTCOME, plan.signature, done.outcome, done.says))
    except (MemoryTrouble, StateNotWritten):
        said += " (its outcome could not be written down)"
    after = run.after._replace(restarts=(*run.after.restarts, (now, plan.signature))[-64:])
    return run._replace(line=with_words(run.line, said), after=after)


def _agreed(run: Judged, second: BoxJudged | None) -> actions.NotDone | None:
    again = next((one for one in second.runs if one.verdict.run == run.verdict.run), None) if second else None
    if again is None or again.look is None or run.look is None:
        return actions.NotDone("a second look did not see the run")
    return actions.still_agrees(run.verdict, again.verdict, run.look, again.look)


def _do_resubmit(settings: Settings, judged: BoxJudged, run: Judged) -> actions.ActDone:
    watch = next((one for one in judged.box.watches if one.name == run.verdict.run), None)
    runs = judged.memories.runs if judged.memories is not None else {}
    known = runs.get(run.verdict.run)
    if watch is None or known is None:
        return actions.ActDone("failed", "the job is not in the configuration, or was not seen")
    done = resubmit(settings, judged.box, watch, known)
    runs[run.verdict.run] = done.kept
    return actions.ActDone(done.outcome, done.says)


def _do_resume(settings: Settings, judged: BoxJudged, run: Judged) -> actions.ActDone:
    if judged.box.is_cluster:
        return _do_resubmit(settings, judged, run)
    python = observed(run.look.python) if run.look else None
    if judged.box.project is None:
        return actions.ActDone("failed", "the box's configuration names no project")
    try:
        state_dir = settings.state_dir_of(judged.box)
        stdin = actions.resume_stdin(judged.box.project, run.verdict.run, python, state_dir)
    except ValueError as error:
        return actions.ActDone("failed", str(error))
    target = target_of(settings, judged.box)
    return actions.read_resume(ask(target, stdin, end_mark=actions.END_MARK, deadline_seconds=actions.RESUME_SECONDS))


# -- relay


def relay_waiting(
    settings: Settings, judged: Sequence[BoxJudged], memory: Memory, environ: Mapping[str, str]
) -> list[str]:
    """Deliver from here what boxes have not delivered for long; a line for each that went out or could not."""
    targets = {target.name: target for target in settings.config.notify.targets}
    waiting = [(box, places) for box in judged if (places := undelivered(box))]
    if not waiting:
        return []
    try:
        known = memory.subjects(relay.KIND)
    except (MemoryTrouble, StateNotWritten) as error:
        return [f"nothing was relayed, as it would be told twice without a memory: {error}"]
    end = wall() + RELAY_BUDGET_SECONDS
    said: list[str] = []
    for box, places in waiting:
        if wall() >= end:
            said.append(f"{box.box.name}: the time for relaying was over; the next tick goes on")
            break
        try:
            said += _relay_of(settings, box, places, _Relay(targets, environ, memory, known, end))
        except Exception as error:  # noqa: BLE001 - a defect met at one box must not silence the others
            said.append(f"{box.box.name}: nothing was relayed: {note_defect(settings.state, box.box.name, error)}")
    return said


class _Relay(NamedTuple):
    """What does not change from box to box, but for `known`. end: local time after which nothing is sent."""

    targets: Mapping[str, NotifyTarget]
    environ: Mapping[str, str]
    memory: Memory
    known: dict[str, str]
    end: float


def _relay_of(settings: Settings, box: BoxJudged, places: Mapping[str, str], work: _Relay) -> list[str]:
    """What came of one box's notices."""
    found = _read_waiting(settings, box, places)
    if isinstance(found, NoAnswer):
        return [f"{box.box.name}: its undelivered notifications could not be read ({found.detail})"]
    said: list[str] = []
    for one in relay.choose(found, work.known):
        if wall() < work.end:
            named = _targets_of(box, one.run)
            done = relay.relay(one, work.targets, work.environ, settings.folder, named)
            said += _note(box.box.name, one, done, work.memory, work.known)
    return said


def _targets_of(box: BoxJudged, run: str) -> frozenset[str]:
    """Those that the run's own definition names."""
    known = box.memories.runs.get(run) if box.memories is not None else None
    return frozenset(known.manifest.targets) if known is not None and known.manifest is not None else frozenset()


def _read_waiting(settings: Settings, box: BoxJudged, places: Mapping[str, str]) -> list[relay.Waiting] | NoAnswer:
    stdin = relay.read_stdin(tuple(places.values()))
    target = target_of(settings, box.box)
    answer = ask(target, stdin, end_mark=relay.END_MARK, deadline_seconds=relay.READ_SECONDS)
    return relay.parse_waiting(answer, box.box.name, tuple(places))


def _note(box: str, one: relay.Waiting, done: relay.Relayed, memory: Memory, known: dict[str, str]) -> list[str]:
    """Remember what came of it. What was told for the first time, or ended, is said; a repetition is not."""
    news = known.get(one.subject) != done.outcome
    known[one.subject] = done.outcome
    if not news:
        return []
    words = f"{box}/{one.run}: notification {one.notice.event} for {one.target} {done.outcome}: {done.says}"
    try:
        memory.note_act(PatrolAct(wall(), box, one.run, relay.KIND, one.subject, done.outcome, done.says))
    except (MemoryTrouble, StateNotWritten) as error:
        words += f" (this could not be written down: {error})"
    return [f"relay {words}"]
