"""The page: HANDBOOK.md from facts. Pure; the same facts give the same bytes.

Times are absolute, so that a page that is read later is not wrong by then; ages are said only where facts were old
when the page was written. Long lists are cut with a word that says so; handbook.json has all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbook.notes import NOTES_BEGIN, NOTES_END
from handbook.recovery import PRECONDITION, Advice, advise, by_need
from handbook.words import cell, clock, code
from onbox.contract.readings import Absent, Maybe, Unseen, observed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from handbook.facts import BoxFacts, Facts, MarkerFacts, RunFacts, StageFacts

DETAILED_RUNS = 10
STAGES_SHOWN = 6
ROOMY_RUNS = 5  # with more runs than that, each is told in fewer lines
TABLE_RUNS = 40
LAUNCHES_SHOWN = 4

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
        lines += _run(facts, run, roomy=len(runs) <= ROOMY_RUNS)
    left = sum(1 for run in runs if run.run) - DETAILED_RUNS
    lines += [f"{left} more runs are described in `handbook.json`.", ""] if left > 0 else []
    lines += [*_boxes(facts), *_watch(facts), *_rules(), *handoff(facts), ""]
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
            _maybe(run.progress, short=True),
            clock(run.since),
            clock(run.seen_at),
            run.rule,
        )
        lines.append("| " + " | ".join(cell(text) for text in cells) + " |")
    if len(runs) > TABLE_RUNS:
        lines.append(f"\n{len(runs) - TABLE_RUNS} more are in `handbook.json`.")
    return [*lines, ""]


def state_word(run: RunFacts) -> str:
    """The state; of a run that was not seen at the last look the last known one is told elsewhere."""
    word = run.state.upper() if run.severity in ("critical", "unknown") else run.state
    return word + (" (acknowledged)" if run.acknowledged else "")


def _stage_cell(run: RunFacts) -> str:
    stage = observed(run.stage)
    count = f"{run.stages_done}/{run.stages_total}" if run.stages_total else ""
    return " ".join(filter(None, (stage or "", count))) or "-"


def _maybe(value: Maybe[str], *, short: bool = False) -> str:
    if isinstance(value, Unseen):
        return "unknown" if short else f"unknown ({value.why})"
    if isinstance(value, Absent):
        return "-" if short else value.why
    return value


# -- one run


def _run(facts: Facts, run: RunFacts, *, roomy: bool) -> list[str]:
    advice = advise(run, here=facts.here)
    lines = [
        f"## {run.name}: {state_word(run)}",
        run.says or "nothing is said of it",
        f"(rule {run.rule} since {clock(run.since)}; last contact {clock(run.seen_at)})",
        "",
    ]
    lines += [f"- also {rule}: {says}" for rule, says in run.further[: 4 if roomy else 1]]
    lines += _commands(run, advice)
    lines += _failure(run)
    if run.managed:
        lines += [*_resume_point(run), *_chain(run, roomy=roomy), *_places(run), *_identity(run, roomy=roomy)]
    else:
        lines.append(f"- onbox did not start it; log {code(_maybe(run.log))}; progress {_maybe(run.progress)}")
    return [*lines, ""]


def _commands(run: RunFacts, advice: Advice) -> list[str]:
    remedy = f" Remedy: {run.remedy}" if run.remedy else ""
    lines = [f"- **next** {code(advice.first)}" if advice.first else "- **next** nothing is to be typed"]
    lines[0] += f" — then: {advice.then}.{remedy}"
    if advice.resume:
        lines.append(f"- **resume** {code(advice.resume)}")
        lines.append(f"- look before it (starts nothing): {code(advice.foretell)}")
        lines.append(f"- **stop** {code(advice.stop)} (ends the run's processes; ask first)")
    return lines


def _failure(run: RunFacts) -> list[str]:
    if isinstance(run.failure, Unseen):
        return [f"- failure: unknown ({run.failure.why})"]
    failure = observed(run.failure)
    if failure is None:
        return []
    again = {True: "may be retried", False: "never unchanged", None: "its class is not known"}[failure.retry_allowed]
    place = f" at {failure.where}" if failure.where else ""
    proof = failure.proof or "none"
    return [f"- failure of {failure.stage or '?'}: {failure.failure_class}{place}, {again}; proof: {proof}"]


def _resume_point(run: RunFacts) -> list[str]:
    known = run.resume
    if isinstance(known, Absent | Unseen):
        return [f"- a resume continues from: unknown ({known.why})"]
    lines = [f"- a resume, as of {clock(run.records_at)}: {known.says}; checkpoint: {known.checkpoint}"]
    lines += [f"- MISSING: {path} of stage {stage}" for stage, path in known.missing[:5]]
    if known.changed:
        lines.append(f"- onbox.toml differs from the frozen definition: {'; '.join(known.changed[:4])}")
    return lines


def _chain(run: RunFacts, *, roomy: bool) -> list[str]:
    if isinstance(run.stages, Absent | Unseen):
        return [f"- chain: unknown ({run.stages.why})"]
    shown = around(run.stages, STAGES_SHOWN)
    words = [_stage(stage) for stage in shown]
    left = len(run.stages) - len(shown)
    if roomy:
        lines = ["- chain:", *(f"  {number}. {text}" for number, text in zip(_numbers(run, shown), words, strict=True))]
    else:
        lines = ["- chain: " + " → ".join(words)]
    return lines + ([f"  … and {left} stages more in `handbook.json`"] if left > 0 else [])


def _numbers(run: RunFacts, shown: Sequence[StageFacts]) -> list[int]:
    names = [stage.name for stage in observed(run.stages) or ()]
    return [names.index(stage.name) + 1 for stage in shown]


def around(stages: Sequence[StageFacts], limit: int) -> Sequence[StageFacts]:
    """Of a long chain those around the one at work."""
    if len(stages) <= limit:
        return stages
    at = next((number for number, stage in enumerate(stages) if stage.state != "done"), len(stages) - 1)
    start = min(max(0, at - 1), len(stages) - limit)
    return stages[start : start + limit]


def _stage(stage: StageFacts) -> str:
    parts = [f"{stage.name} [{stage.state}] {code(stage.command)}"]
    if stage.gates:
        parts.append(f"gates: {', '.join(stage.gates)}")
    if stage.artifacts:
        parts.append(f"leaves {', '.join(stage.artifacts[:4])}" + (" …" if len(stage.artifacts) > 4 else ""))
    parts += stage.conditions
    if stage.note:
        parts.append(stage.note)
    return "; ".join(parts)


def _places(run: RunFacts) -> list[str]:
    lines = []
    if run.markers:
        folder = run.markers[0].path.rpartition("/")[0]
        shown = run.markers[: 2 + 2 * STAGES_SHOWN]
        words = ", ".join(_marker(marker) for marker in shown)
        left = len(run.markers) - len(shown)
        lines.append(f"- markers in {code(folder + '/')}: {words}" + (f", and {left} more" if left > 0 else ""))
    lines.append(
        f"- log {code(_maybe(run.log))}; all of them in {code(run.place + '/logs/')}; records {code(run.place + '/')}"
    )
    return lines


def _marker(marker: MarkerFacts) -> str:
    there = "?" if isinstance(marker.there, Unseen) else "there" if marker.there is True else "no"
    return f"{marker.path.rpartition('/')[2]} ({there}{', ' + marker.note if marker.note else ''})"


def _identity(run: RunFacts, *, roomy: bool) -> list[str]:
    known = run.identity
    lines = []
    if isinstance(known, Absent | Unseen):
        lines.append(f"- identity: unknown ({known.why})")
    else:
        tracker = f"; tracker {known.tracker}" if known.tracker else ""
        words = f"run id {run.run_id or '?'}; code {known.code}; chain {known.chain_fingerprint}; on {known.host}"
        words += f"; onbox {known.onbox}"
        lines.append(
            f"- {words}; config {known.config}{tracker}; environment names {', '.join(known.environment) or 'none'}"
        )
    if run.launches:
        last = run.launches[-LAUNCHES_SHOWN if roomy else -1 :]
        words = " · ".join(
            f"#{one.number} {one.at[:16]} {one.code}"
            + (f" ({'; '.join(one.differences[:4])})" if one.differences else "")
            for one in last
        )
        lines.append(f"- {len(run.launches)} launches: {words}")
    waiting = observed(run.waiting)
    told = f"tells {run.notify}" if run.notify else "nobody is told by the run itself"
    lines.append(f"- notifications: {told}" + (f"; {waiting} wait undelivered" if waiting else ""))
    return lines


# -- the rest


def _boxes(facts: Facts) -> list[str]:
    lines = ["## Boxes", ""]
    lines += [f"- {_box(box)}" for box in facts.boxes]
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
    if isinstance(watch.waiters, Absent | Unseen):
        lines.append(f"- sentinels and transfers here: unknown ({watch.waiters.why})")
    else:
        lines.append(
            "- sentinels and transfers here: " + ("; ".join(watch.waiters) or "none alive when this was written")
        )
    return [*lines, "- Between looks nothing looks. A promise to look again is worth what timer stands here.", ""]


def _rules() -> list[str]:
    return ["## Ask first", "", *(f"- {text}" for text in ASK_FIRST.split("\n")), ""]


def handoff(facts: Facts) -> list[str]:
    """The block for the next owner."""
    lines = ["## Handoff", "", f"- as of {clock(facts.as_of)}; take over with {code(first_command(facts))}"]
    for run in by_need(facts)[:DETAILED_RUNS]:
        if run.run:
            advice = advise(run, here=facts.here)
            signal = f"{run.state}, {run.rule}, {_maybe(run.progress, short=True)}, seen {clock(run.seen_at)}"
            identity = observed(run.identity)
            link = f"; tracker {identity.tracker}" if identity and identity.tracker else ""
            resume = f"; resume {code(advice.resume)}" if advice.resume else ""
            lines.append(f"- {run.name}: {signal}{link}; record {code(f'{facts.logbook}/{run.run}.md')}{resume}")
    owners = sorted({box.owner for box in facts.boxes if box.owner})
    return [*lines, f"- owner: {', '.join(owners) or 'not named (`owner` in [boxes.*])'}"]
