"""`handbook resume` in words: what goes on now, at most ten facts, where the page was wrong, and what to type. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handbook.page.phrases import clock, safe
from handbook.page.recovery import Advice, advise, by_need
from handbook.page.render_run import state_word
from onbox.contract.readings import Absent, Unseen, observed
from onbox.fence import fence, fence_name
from patrol.decide.remote_command import here
from patrol.decide.rules.box import BOX_FLAGS
from patrol.decide.standing import DOUBTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handbook.page.facts import HandbookFacts, RunFacts

LINES = 10
BESIDE = 3  # things that are told beside the verdict of a run
_OF_BOXES = frozenset(flag.name for flag in BOX_FLAGS)
COMPARED = ("state", "stage", "run_id", "attempt", "rule")


def differences(page: Mapping[str, Any], facts: HandbookFacts) -> list[str]:
    """Where an earlier handbook.json says another thing than the world does now; the world wins."""
    then = {(one.get("box"), one.get("run")): one for one in page.get("runs", ()) if isinstance(one, dict)}
    found = []
    for run in facts.runs:
        old = then.pop((run.box, run.run), None)
        if old is None:
            found.append(f"{run.name}: the handbook did not know it; it is {run.state}")
            continue
        said = [
            f"{name} {_plain(old.get(name))} → {_plain(_now(run, name))}"
            for name in COMPARED
            if _plain(old.get(name)) != _plain(_now(run, name))
        ]
        flags = [_flags(old.get("further")), sorted(rule for rule, _ in run.further)]
        if flags[0] != flags[1]:
            said.append(f"also {', '.join(flags[0]) or 'nothing'} → {', '.join(flags[1]) or 'nothing'}")
        if said:
            found.append(f"{run.name}: " + ", ".join(said))
    found += [f"{box}/{run}: the handbook knows it, the world does not any more" for box, run in then if run]
    return [safe(one, 300) for one in found]


def _flags(further: Any) -> list[str]:
    """Names of the rules beside the verdict, of an earlier handbook.json."""
    return sorted(str(one.get("rule")) for one in further if isinstance(one, dict)) if isinstance(further, list) else []


def _now(run: RunFacts, name: str) -> Any:
    value = getattr(run, name)
    return observed(value) if isinstance(value, Absent | Unseen) else value


def _plain(value: Any) -> str:
    return "?" if value is None or value == "" or isinstance(value, dict) else fence_name(safe(value, 60))


def situation(facts: HandbookFacts, changed: list[str], trouble: str) -> list[str]:
    """At most ten lines, the last one the next command."""
    runs = by_need(facts)
    lines = [f"{facts.title}: {_counts(facts)}; looked {clock(facts.as_of)}"]
    lines += [f"could not look: {fence(trouble)}; what follows is older"] if trouble else []
    if changed:
        told = changed[: 1 if trouble else 2]  # with a trouble there is no room for both
        more = f" (and {len(changed) - len(told)} more)" if len(changed) > len(told) else ""
        lines += [f"differs from the handbook: {one}" for one in told]
        lines[-1] += more
    tail = [_watch_line(facts), *_next_lines(facts, runs)]
    room = LINES - len(lines) - len(tail)
    shown = runs if len(runs) <= room else runs[: max(1, room - 1)]
    lines += [run_line(run) for run in _told_once(shown)]
    if len(shown) < len(runs):
        lines.append(f"… and {len(runs) - len(shown)} more: {_all_runs(facts)}")
    return [*lines, *tail]


def _told_once(runs: list[RunFacts]) -> list[RunFacts]:
    """Without what is the matter with the box itself, where an earlier run of it has told that."""
    told: set[tuple[str, str, str]] = set()
    shown = []
    for run in runs:
        fresh = tuple(one for one in run.further if (run.box, *one) not in told)
        told |= {(run.box, *one) for one in fresh[:1] if one[0] in _OF_BOXES}
        shown.append(run._replace(further=fresh))
    return shown


def _all_runs(facts: HandbookFacts) -> str:
    """What shows all runs: the patrol's own status knows none before its first tick."""
    if facts.here:
        return "onbox status"
    return "handbook resume --json" if facts.watch.last_tick_at is None else "patrol status"


def _counts(facts: HandbookFacts) -> str:
    states: dict[str, int] = {}
    for run in facts.runs:
        if run.run:
            states[run.state] = states.get(run.state, 0) + 1
    return ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "no run"


def run_line(run: RunFacts) -> str:
    """`gpu1/digits FAILED train 0/2: ... (rule failed; also no-onbox)`"""
    stage = observed(run.stage)
    where = f" {fence_name(stage)} {run.stages_done}/{run.stages_total}" if stage else ""
    dry = observed(run.resume)
    stage_of, path = map(fence_name, dry.missing[0]) if dry and dry.missing else ("", "")
    lost = f"; MISSING {path} of stage {stage_of}" if path else ""
    says = run.says
    if not run.run_id and not run.seen_at:
        says = f"never seen; {says}"
    elif run.severity == "unknown" and run.seen_at:  # what was seen goes before why it is not seen now
        known = f"{run.last_known} " if run.last_known else ""
        says = f"{known}(last contact {clock(run.seen_at)}); now: {says}"
    return safe(f"{run.name} {state_word(run)}{where}{lost}: {safe(says, 170)} (rule {run.rule}{_also(run)})", 400)


def _also(run: RunFacts) -> str:
    """What else is the matter: the first of it with what was seen, and what speaks against results that are done."""
    shown = enumerate(run.further[:BESIDE])
    told = [f"{rule}: {safe(says, 120)}" if at == 0 or rule in DOUBTS else rule for at, (rule, says) in shown]
    return f"; also {', '.join(told)}" if told else ""


def overdue(facts: HandbookFacts, now: float) -> list[str]:
    """Live runs of whose record an entry by hand is due."""
    due = [run for run in by_need(facts) if run.record.due_at is not None and run.record.due_at < now]
    said = [
        f"record of {run.name}: {'nothing by hand since' if run.record.by_hand else 'no entry by hand; launched'} "
        f"{clock(run.record.last_at)}: {here('handbook', 'log', '--run', run.name)} TEXT"
        for run in due[:2]
    ]
    return said + ([f"{len(due) - 2} more records are due"] if len(due) > 2 else [])


def _watch_line(facts: HandbookFacts) -> str:
    watch = facts.watch
    waiters = watch.waiters
    local = waiters.why if isinstance(waiters, Absent | Unseen) else "; ".join(waiters) or "none alive"
    if facts.here:
        return f"watch: each run's own runner; sentinels and transfers here: {local}"
    cron = watch.cron
    timer = (
        f"no timer armed ({cron.why})" if isinstance(cron, Absent | Unseen) else f"next tick {clock(watch.next_due_at)}"
    )
    return safe(f"watch: {timer}; sentinels and transfers here: {local}", 240)


def _nothing(advice: Advice) -> str:
    if not advice.withheld:
        return "nothing is to be typed"
    return f"no command is offered: it could not be typed as it is shown {fence(advice.withheld, 160)}"


def _next_lines(facts: HandbookFacts, runs: list[RunFacts]) -> list[str]:
    if not runs and facts.troubles:
        return ["next: find out why that could not be looked at; whether anything runs is not known"]
    if not runs:
        return ["next: nothing runs and nothing is known" + ("" if facts.here else "; add a box: patrol add HOST")]
    advice = advise(runs[0], here=facts.here)
    lines = [f"then: {advice.then}; {advice.step.do_not}", f"next: {advice.first or _nothing(advice)}"]
    if advice.first and advice.first == advice.resume:
        known = observed(runs[0].resume)
        lines.insert(0, safe(f"checkpoint: {fence(known.checkpoint) if known else 'unknown'}", 240))
    if runs[0].remedy:
        lines.insert(0, safe(f"remedy: {runs[0].remedy}", 240))
    return lines
