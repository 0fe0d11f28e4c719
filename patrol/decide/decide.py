"""From a look and the memory to a verdict. Pure: the clock is a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.contract.readings import Absent, Unseen, observed
from onbox.contract.states import RunState
from patrol.before import Before, BoxBefore
from patrol.decide.policy import Policy
from patrol.decide.rule import Rule, S, Tried, all_that_fire, first_that_fires
from patrol.decide.scene import BoxScene, LinkScene, RunScene
from patrol.decide.way import Untypeable, Way
from patrol.decide.words import clean
from patrol.recall import acknowledgement
from patrol.snapshot import Unreachable
from patrol.verdict import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patrol.snapshot import BoxLook, RunLook, Snapshot

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
    verdict = Verdict(
        box=box.box,
        run=look.run,
        state=rule.state or RunState.UNKNOWN,
        finding=finding,
        further=_worst_first(finding, (*run_flags, *box_flags)),
        since=_since(scene.before, rule.name, now),
        changed=before.rule != rule.name,
        soft=rule.soft(scene),
        acknowledged=_acknowledged(scene.before, observed(look.run_id), rule.name),
        silenced_until=_silence(scene.before, now),
        may_resume=rule.resume is not None and rule.resume(scene),
    )
    return Explained(verdict, tried, (*run_tried, *box_tried))


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
    return Verdict(
        snapshot.box,
        "",
        rule.state or RunState.UNKNOWN,
        finding,
        _worst_first(finding, flags),
        since=_since(box_before, rule.name, now),
        changed=box_before.rule != rule.name,
    )


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
    scene = LinkScene(snapshot.box, run, reason, detail, before, box_before, now, limits, way)
    rule, _ = first_that_fires(policy.link_rules, scene)
    memory: Before | BoxBefore = before if run else box_before
    return Verdict(
        snapshot.box,
        run,
        RunState.UNKNOWN,
        _finding(rule, scene),
        since=_since(memory, rule.name, now),
        changed=memory.rule != rule.name,
        soft=rule.soft(scene),
        acknowledged=bool(run) and _acknowledged(before, before.run_id, rule.name),
        silenced_until=_silence(before, now),
    )


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
    say, remedy = clean(rule.say(scene), SAY_LIMIT), rule.remedy(scene)
    try:
        return Finding(rule.name, rule.severity, say, remedy, rule.command(scene))
    except Untypeable as shown:
        why = f"No command is offered: it could not be typed as it is shown | {clean(str(shown), 120)}"
        return Finding(rule.name, rule.severity, say, f"{remedy} {why}".strip(), "")


def _worst_first(first: Finding, others: Sequence[Finding]) -> tuple[Finding, ...]:
    """Without the rule that names the verdict; the order of the table between equals."""
    rest = [finding for finding in others if finding.rule != first.rule]
    return tuple(sorted(rest, key=lambda finding: -finding.severity.rank))


def _since(before: Any, rule: str, now: float) -> float:
    """When the rule began to hold. A time of the future is of a clock that was wrong."""
    return min(before.since, now) if before.rule == rule and before.since is not None else now


def _acknowledged(before: Before, run_id: str | None, rule: str) -> bool:
    if before.acknowledged is None:
        return False
    return before.acknowledged == acknowledgement(run_id, "done" if rule == "done-acknowledged" else rule)


def _silence(before: Before, now: float) -> float | None:
    until = before.silenced_until
    return until if until is not None and until > now else None
