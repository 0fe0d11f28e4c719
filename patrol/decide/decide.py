"""From a look and the memory to a verdict. Pure: the clock is a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.paths import SWEEP
from onbox.contract.readings import Absent, Unseen, observed
from onbox.contract.states import RunState
from onbox.named_tuple import NamedTuple
from onbox.runs.next_step import WITHOUT_ROOM, next_step
from onbox.runs.signs import UNKNOWN_CLASS
from patrol.decide.box_scene import BoxScene, LinkScene
from patrol.decide.phrases import clean, last_known, quote
from patrol.decide.policy import Policy
from patrol.decide.remote_command import Untypeable, Way
from patrol.decide.rule import Rule, S, Tried, all_that_fire, first_that_fires
from patrol.decide.run_scene import RunScene
from patrol.decide.since import first_seen, since_of_link, since_of_run
from patrol.decide.standing import Reported, Typist, disk_to_look_at, standing_of
from patrol.memory.history import Before, BoxBefore
from patrol.memory.update_history import acknowledgement
from patrol.snapshot import BoxLook, Unreachable
from patrol.verdict import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patrol.snapshot import RunLook, Snapshot

SAY_LIMIT = 400
DEFAULT_POLICY = Policy()


class Explained(NamedTuple):
    """A verdict, the rows that were asked up to it, and every flag with what came of asking it."""

    verdict: Verdict
    rules: tuple[Tried, ...]
    flags: tuple[Tried, ...]


def decide_run(
    look: RunLook,
    box: BoxLook,
    before: Before,
    box_before: BoxBefore,
    now: float,
    policy: Policy = DEFAULT_POLICY,
    *,
    way: Way | None = None,
) -> Verdict:
    """What is said of one run that was looked at. now: local time. way: how commands get there; None: by box name."""
    return explain_run(look, box, before, box_before, now, policy, way=way).verdict


def explain_run(
    look: RunLook,
    box: BoxLook,
    before: Before,
    box_before: BoxBefore,
    now: float,
    policy: Policy = DEFAULT_POLICY,
    *,
    way: Way | None = None,
) -> Explained:
    """As `decide_run`, with every row that was asked and why it did not fire."""
    limits = policy.limits(box.box, look.run)
    of_box = BoxScene(box, box_before, now, limits, way or Way(box.box, box.box))
    scene = RunScene(of_box, look, before, policy.ill_rules)
    rule, tried = first_that_fires(policy.run_rules, scene)
    run_flags, run_tried = _flags(policy.run_flags, scene)
    box_flags, box_tried = _flags(policy.box_flags, scene)
    finding = _finding(rule, scene)
    since = since_of_run(scene, rule.state, rule.name)
    verdict = Verdict(
        box=box.box,
        run=look.run,
        state=rule.state or RunState.UNKNOWN,
        finding=finding,
        further=_worst_first(finding, (*run_flags, *box_flags)),
        since=since.at,
        happened=since.happened,
        changed=before.rule != rule.name,
        soft=rule.soft(scene),
        acknowledged=_acknowledged(scene.before, observed(look.run_id), rule.name),
        acknowledged_by=scene.before.acknowledged_by,
        silenced_until=_silence(scene.before, now),
        may_resume=rule.resume is not None and rule.resume(scene),
    )
    verdict = _with_step(verdict, _reported(verdict, scene), scene.way, look.onbox)
    verdict = _with_own_resume(verdict, look, scene.way)
    return Explained(verdict, tried, (*run_tried, *box_tried))


def _worst(verdict: Verdict) -> Finding:
    return max((verdict.finding, *verdict.further), key=lambda finding: finding.severity.rank)


def _reported(verdict: Verdict, scene: RunScene | None) -> Reported:
    """scene: None where the run was not seen."""
    worst = _worst(verdict)
    told = Reported(
        verdict.run,
        managed=scene is None or scene.look.managed,
        state=verdict.state,
        rule=verdict.finding.rule,
        severity=worst.severity,
        flags=tuple(one.rule for one in verdict.further),
        look=worst.command or verdict.finding.command,
    )
    if scene is not None:
        told = told._replace(repeated=scene.repeated.times >= scene.limits.repeat_count, home=scene.look.home)
        told = told._replace(rechecked=scene.look.rechecked, room=scene.look.room, stage_signs=scene.look.stage_signs)
        if isinstance(scene.look.failure, Unseen):
            return told._replace(failure_class=UNKNOWN_CLASS)
    failure = scene.failure if scene is not None else None
    if failure is not None:
        of_cells = failure.source == "marker" and failure.stage == SWEEP
        told = told._replace(
            cells_failed=of_cells, cells_skipped=of_cells and scene is not None and scene.look.failed_were_skipped
        )
        told = told._replace(failure_class=failure.failure_class, proof=failure.proof)
        return told._replace(retry_allowed=failure.retry_allowed)
    engine = scene.engine if scene is not None else None
    return told._replace(failure_class=engine.failure_class or "") if engine is not None else told


def _with_step(verdict: Verdict, told: Reported, way: Way, onbox: tuple[str, ...] = ("onbox",)) -> Verdict:
    """With the next step, whose command becomes the finding's."""
    standing = standing_of(told)
    step = next_step(standing)
    if step.name == "ill" and not verdict.finding.remedy:  # what is to be done is told by the rule beside it
        verdict = verdict._replace(finding=verdict.finding._replace(remedy=_worst(verdict).remedy))
    if told.room is not None and step.name in WITHOUT_ROOM:
        remedy = f"Free some room, then resume: {clean(told.room.words, 200)}."
        verdict = verdict._replace(finding=verdict.finding._replace(remedy=remedy))
    typist = Typist(verdict.box, verdict.run, way, onbox)
    try:
        command = typist.line(step.act, told.look, disk_to_look_at(told.room, told.proof))
        finding, asked = verdict.finding._replace(command=command), typist.asked(step)
    except Untypeable as shown:
        finding, asked = _without_command(verdict.finding, shown), ()
    return verdict._replace(
        finding=finding,
        signs=tuple(sorted(sign.name for sign in standing.signs)),
        step=step.name,
        then=step.then,
        never=step.never,
        asked=asked,
        look=told.look,
    )


def _with_own_resume(verdict: Verdict, look: RunLook, way: Way) -> Verdict:
    """Of a run that onbox did not start: the line that starts it again, as its owner wrote it down."""
    if not look.resume_command or verdict.state not in (RunState.INTERRUPTED, RunState.FAILED):
        return verdict
    try:
        command = way.there(("sh", "-c", look.resume_command))
    except Untypeable:
        return verdict
    return verdict._replace(asked=(("start it again", command), *verdict.asked))


def decide_unreachable_run(
    snapshot: Snapshot,
    run: str,
    before: Before,
    box_before: BoxBefore,
    now: float,
    policy: Policy = DEFAULT_POLICY,
    *,
    way: Way | None = None,
) -> Verdict:
    """What is said of a run that is known from before and was not seen now: the box did not answer, its runs could not
    be looked at, or the run is not there any more. Its state is unknown; the last known one is told with its age.
    """
    return _link_verdict(snapshot, run, before, box_before, now, policy, way)


def decide_box(
    snapshot: Snapshot,
    box_before: BoxBefore,
    now: float,
    policy: Policy = DEFAULT_POLICY,
    *,
    way: Way | None = None,
) -> Verdict:
    """What is said of a box: unreachable, its runs unseen, no runs, or reached; with the flags of its resources."""
    if isinstance(snapshot, Unreachable) or isinstance(snapshot.runs, Unseen):
        return _link_verdict(snapshot, "", Before(), box_before, now, policy, way)
    scene = BoxScene(snapshot, box_before, now, policy.limits(snapshot.box, ""), way or Way(snapshot.box, snapshot.box))
    rule, _ = first_that_fires(policy.box_rules, scene)
    finding = _finding(rule, scene)
    flags, _ = _flags(policy.box_flags, scene)
    verdict = Verdict(
        snapshot.box,
        "",
        rule.state or RunState.UNKNOWN,
        finding,
        _worst_first(finding, flags),
        since=first_seen(box_before, rule.name, now).at,
        changed=box_before.rule != rule.name,
    )
    return _with_step(verdict, _reported(verdict, None), scene.way)


def _link_verdict(
    snapshot: Snapshot,
    run: str,
    before: Before,
    box_before: BoxBefore,
    now: float,
    policy: Policy,
    way: Way | None,
) -> Verdict:
    reason, detail = _why_unseen(snapshot)
    way = way or Way(snapshot.box, snapshot.box)
    limits = policy.limits(snapshot.box, run)
    alive = [one.pids for one in snapshot.removed if one.run == run] if isinstance(snapshot, BoxLook) else []
    scene = LinkScene(snapshot.box, run, reason, detail, before, box_before, now, limits, way, *alive[:1])
    rule, _ = first_that_fires(policy.link_rules, scene)
    memory: Before | BoxBefore = before if run else box_before
    verdict = Verdict(
        snapshot.box,
        run,
        RunState.UNKNOWN,
        _finding(rule, scene),
        since=since_of_link(scene, rule.name).at,
        changed=memory.rule != rule.name,
        soft=rule.soft(scene),
        acknowledged=bool(run) and _acknowledged(before, before.run_id, rule.name),
        acknowledged_by=before.acknowledged_by,
        silenced_until=_silence(before, now),
        last_known=last_known(scene) if run else "",
    )
    return _with_step(verdict, _reported(verdict, None), way)


def _why_unseen(snapshot: Snapshot) -> tuple[str, str]:
    if isinstance(snapshot, Unreachable):
        return snapshot.reason, snapshot.detail
    if isinstance(snapshot.runs, Absent | Unseen):
        return "runs-unseen", snapshot.runs.why
    return "run-absent", ""


def _flags(rules: Sequence[Rule[S]], scene: S) -> tuple[list[Finding], tuple[Tried, ...]]:
    asked = list(all_that_fire(rules, scene))
    return [_finding(rule, scene) for rule, tried in asked if tried.fired], tuple(tried for _, tried in asked)


def _finding(rule: Rule[S], scene: S) -> Finding:
    found = Finding(rule.name, rule.severity, clean(rule.say(scene), SAY_LIMIT), rule.remedy(scene))
    try:
        return found._replace(command=rule.command(scene))
    except Untypeable as shown:
        return _without_command(found, shown)


def _without_command(finding: Finding, shown: Untypeable) -> Finding:
    why = "No command is offered: it could not be typed as it is shown "
    told = finding.remedy if why in finding.remedy else f"{finding.remedy} {why}{quote(str(shown), 120)}".strip()
    return finding._replace(command="", remedy=told)


def _worst_first(first: Finding, others: Sequence[Finding]) -> tuple[Finding, ...]:
    """Without the rule that names the verdict; the order of the table between equals."""
    rest = [finding for finding in others if finding.rule != first.rule]
    return tuple(sorted(rest, key=lambda finding: -finding.severity.rank))


def _acknowledged(before: Before, run_id: str | None, rule: str) -> bool:
    if before.acknowledged is None:
        return False
    return before.acknowledged == acknowledgement(run_id, "done" if rule == "done-acknowledged" else rule)


def _silence(before: Before, now: float) -> float | None:
    until = before.silenced_until
    return until if until is not None and until > now else None
