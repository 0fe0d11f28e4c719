"""The page: HANDBOOK.md from facts. Pure; the same facts give the same bytes.

Times are absolute, so that a page that is read later is not wrong by then; ages are said only where facts were old
when the page was written. Long lists are cut with a word that says so; handbook.json has all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbook.notes import NOTES_BEGIN, NOTES_END
from handbook.recovery import NOT_YET, PRECONDITION, advise, by_need
from handbook.render_run import maybe, render_run, state_word
from handbook.words import cell, clock, code, prose
from onbox.contract.readings import Absent, Unseen, observed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from handbook.facts import BoxFacts, Facts, RunFacts
    from handbook.recovery import Advice

DETAILED_RUNS = 10
ROOMY_RUNS = 5  # with more runs than that, each is told in fewer lines
TABLE_RUNS = 20

ASK_FIRST = (
    "**Only with a person's word:** anything that costs or frees money (start, stop, resize, release, destroy a box);"
    " deleting checkpoints, results or volumes; anything on a cluster beyond looking; `--redo` and `--accept-done`;"
    " going on from another checkpoint than the one named here; giving a key or a token to anybody.\n"
    "**No teardown** before all three hold: results pulled, every one of them loaded once, and an approval that names"
    " this very action. What stops the meter usually cannot be taken back."
)


def render(facts: Facts, notes: str = "") -> str:
    """The whole page. notes: what people wrote between the marked lines, kept as it is."""
    runs = by_need(facts)
    lines = [*_top(facts), *_now(facts, runs)]
    for run in [run for run in runs if run.run][:DETAILED_RUNS]:
        lines += render_run(facts, run, roomy=len(runs) <= ROOMY_RUNS)
    left = sum(1 for run in runs if run.run) - DETAILED_RUNS
    lines += [f"{left} more runs are described in `handbook.json`.", ""] if left > 0 else []
    lines += [*_boxes(facts), *_watch(facts), *_rules(), *handoff(facts), "", ""]
    text = "\n".join(lines)
    return f"{text}## Notes\n{NOTES_BEGIN}\n{notes}{NOTES_END}\n"


# -- the first screen


def title_line(facts: Facts) -> str:
    """The first line: what this is, as of when, and whether that is old."""
    name = f"# Handbook of {facts.title}"
    if facts.as_of is None:
        return f"{name} · NOBODY HAS LOOKED YET: nothing here says how any run stands"
    if facts.old:
        return f"{name} · OLD FACTS, {facts.old} old when written: as of {clock(facts.as_of)}"
    return f"{name} · as of {clock(facts.as_of)} · old after {clock(facts.good_until)}"


def first_command(facts: Facts) -> str:
    """What a newcomer types first: it looks, and changes nothing on any box."""
    import shlex  # noqa: PLC0415 - in this one place

    return f"cd {shlex.quote(facts.folder)} && handbook resume"


def _top(facts: Facts) -> list[str]:
    lines = [
        title_line(facts),
        "",
        "**First command on reconnect** (looks now, changes nothing, says the next command):",
        "",
        "```sh",
        first_command(facts),
        "```",
        "",
        "If it cannot be run, type the **next** of a run below, in that directory. Relaunch nothing by hand: whatever",
        f"looks dead may be alive; `onbox resume` is the only way on, and {PRECONDITION}.",
        "Later than the time in the first line the facts below are old: look, do not believe.",
        "",
    ]
    return lines + [f"- trouble: {one}" for one in facts.troubles] + ([""] if facts.troubles else [])


def _now(facts: Facts, runs: Sequence[RunFacts]) -> list[str]:
    lines = ["## Now", ""]
    if not runs:
        return [
            *lines,
            "No run is known. " + ("`patrol tick` looks." if not facts.here else "None was started here."),
            "",
        ]
    lines += ["| box/run | state | stage | progress | since | last contact | rule |", "|---|---|---|---|---|---|---|"]
    for run in runs[:TABLE_RUNS]:
        cells = (
            run.name,
            state_word(run),
            _stage_cell(run),
            maybe(run.progress, short=True),
            clock(run.since),
            clock(run.seen_at),
            run.rule,
        )
        lines.append("| " + " | ".join(cell(prose(text)) for text in cells) + " |")
    if len(runs) > TABLE_RUNS:
        lines.append(f"\n{len(runs) - TABLE_RUNS} more are in `handbook.json`.")
    return [*lines, ""]


def _stage_cell(run: RunFacts) -> str:
    stage = observed(run.stage)
    count = f"{run.stages_done}/{run.stages_total}" if run.stages_total else ""
    return " ".join(filter(None, (stage or "", count))) or "-"


# -- the rest


def _boxes(facts: Facts) -> list[str]:
    lines = ["## Boxes", ""]
    lines += [f"- {_box(box)}" for box in facts.boxes[:DETAILED_RUNS]]
    left = len(facts.boxes) - DETAILED_RUNS
    lines += [f"- {left} more are in `handbook.json`"] if left > 0 else []
    return [*lines, ""] if facts.boxes else []


def _box(box: BoxFacts) -> str:
    parts = [f"**{box.name}**: {box.host}, project {code(box.project)}, {box.backend}"]
    parts.append(
        f"reached last {clock(box.reached_at)}"
        if not box.trouble
        else f"NOT REACHED ({box.trouble}), last {clock(box.reached_at)}"
    )
    parts.append(f"owner {box.owner}" if box.owner else "owner not named")
    parts.append("the patrol may resume its runs" if box.recover == "resume" else "nothing is restarted by itself")
    parts.append(f"CLOCKS: {' · '.join(map(prose, box.clocks))}" if box.clocks else "danger clocks not named")
    return "; ".join(parts)


def _watch(facts: Facts) -> list[str]:
    watch = facts.watch
    lines = ["## Who watches", ""]
    if facts.here:
        lines.append("- on this box: each run's own runner; it survives every login. From outside: not known here.")
    else:
        if isinstance(watch.cron, Absent | Unseen):
            lines.append(
                f"- timer: {'unknown: ' if isinstance(watch.cron, Unseen) else 'NONE ARMED: '}{watch.cron.why}"
            )
        else:
            lines.append(f"- timer: {code(watch.cron)}; next due {clock(watch.next_due_at)} if this machine is awake")
        lines.append(
            f"- last tick {clock(watch.last_tick_at)}" + (f"; trouble: {watch.trouble}" if watch.trouble else "")
        )
    lines.append("- sentinels and transfers of this machine: `handbook resume` names those that are alive")
    return [*lines, "- Between looks nothing looks. A promise to look again is worth what timer stands here.", ""]


def _rules() -> list[str]:
    return ["## Ask first", "", *(f"- {text}" for text in ASK_FIRST.split("\n")), ""]


def _way_on(advice: Advice) -> str:
    """The resume only where it is what comes next; where it would repeat the failure, that."""
    if advice.resume and advice.first == advice.resume:
        return f"; resume {code(advice.resume)}"
    return f"; do not {advice.never}" if advice.rule in NOT_YET else ""


def handoff(facts: Facts) -> list[str]:
    """The block for the next owner."""
    lines = ["## Handoff", "", f"- as of {clock(facts.as_of)}; take over with {code(first_command(facts))}"]
    for run in by_need(facts)[:DETAILED_RUNS]:
        if run.run:
            advice = advise(run, here=facts.here)
            signal = f"{run.state}, {prose(run.rule)}, {maybe(run.progress, short=True)}, seen {clock(run.seen_at)}"
            identity = observed(run.identity)
            link = f"; tracker {identity.tracker}" if identity and identity.tracker else ""
            record = f"; record {code(f'{facts.logbook}/{run.run}.md')}"
            lines.append(f"- {run.name}: {signal}{link}{record}{_way_on(advice)}")
    owners = sorted({box.owner for box in facts.boxes if box.owner})
    return [*lines, f"- owner: {', '.join(owners) or 'not named (`owner` in [boxes.*])'}"]
