"""The page: HANDBOOK.md from facts. Pure; the same facts give the same bytes.

Times are absolute, so that a page that is read later is not wrong by then; ages are said only where facts were old
when the page was written. Long lists are cut with a word that says so; handbook.json has all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbook.page.handover import owner_of, owner_words
from handbook.page.markdown import Markdown, box_name, box_path, box_words, code, joined, md, page_of
from handbook.page.notes import NOTES_BEGIN, NOTES_END
from handbook.page.phrases import clock
from handbook.page.recovery import PRECONDITION, by_need
from handbook.page.render_run import maybe, render_run, state_word
from onbox.contract.readings import Absent, Unseen, observed
from onbox.fence import RULE, fence_name
from patrol.decide.remote_command import Untypeable, here

if TYPE_CHECKING:
    from collections.abc import Sequence

    from handbook.page.facts import BoxFacts, HandbookFacts, RunFacts

DETAILED_RUNS = 10
ROOMY_RUNS = 5  # with more runs than that, each is told in fewer lines
TABLE_RUNS = 20

NO_WORDS = Markdown("")
OTHERS_WORDS = (
    f"{RULE}\nCommands stand only behind **next**, **resume**, *look before it*, **stop**\n"
    "and **only with a person's word**."
)
ASK_FIRST = (
    "**Only with a person's word:** anything that costs or frees money (start, stop, resize, release, destroy a box);"
    " deleting checkpoints, results or volumes; anything on a cluster beyond looking; `--redo` and `--accept-done`;"
    " going on from another checkpoint than the one named here; giving a key or a token to anybody.\n"
    "**No teardown** before all three hold: results pulled, every one of them loaded once, and an approval that names"
    " this very action. What stops the meter usually cannot be taken back."
)


def render(facts: HandbookFacts, notes: str = "") -> str:
    """The whole page. notes: what people wrote between the marked lines, kept as it is."""
    runs = by_need(facts)
    lines = [*_top(facts), *_now(facts, runs)]
    for run in [run for run in runs if run.run][:DETAILED_RUNS]:
        lines += render_run(facts, run, roomy=len(runs) <= ROOMY_RUNS)
    left = sum(1 for run in runs if run.run) - DETAILED_RUNS
    lines += [md("{} more runs are described in `handbook.json`.", left), NO_WORDS] if left > 0 else []
    lines += [*_boxes(facts), *_watch(facts), *_rules(), *handoff(facts), NO_WORDS, NO_WORDS]
    return f"{page_of(lines)}## Notes\n{NOTES_BEGIN}\n{notes}{NOTES_END}\n"


# -- the first screen


def title_line(facts: HandbookFacts) -> Markdown:
    """The first line: what this is, as of when, and whether that is old."""
    name = md("# Handbook of {}", facts.title)
    if facts.as_of is None:
        return md("{} · NOT LOOKED YET: this page does not know the state of any run", name)
    if facts.old:
        return md("{} · OLD FACTS, {} old when written: as of {}", name, facts.old, clock(facts.as_of))
    return md("{} · as of {} · old after {}", name, clock(facts.as_of), clock(facts.good_until))


def first_command(facts: HandbookFacts) -> str:
    """What a newcomer types first: it looks, and changes nothing on any box."""
    try:
        return f"{here('cd', facts.folder)} && handbook resume"
    except Untypeable:
        return "handbook resume"  # in the directory that cannot be named


def _top(facts: HandbookFacts) -> list[Markdown]:
    words = (
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
        OTHERS_WORDS,
        "",
    )
    calls = [*_other_calls(facts.python), Markdown("")] if facts.python else []
    troubles = [md("- trouble: {}", box_words(one)) for one in facts.troubles]
    return [title_line(facts), *map(Markdown, words), *calls, *troubles, *([NO_WORDS] if troubles else [])]


def _other_calls(python: str) -> list[Markdown]:
    """A plain login need not have the environment of onbox on its PATH."""
    try:
        onbox, handbook = (here(python, "-m", program) for program in ("onbox", "handbook"))
    except Untypeable:
        return []  # a path that cannot be shown as it is
    return [md("Where the shell finds no `onbox`, type {} for it; for `handbook`, {}.", code(onbox), code(handbook))]


def _now(facts: HandbookFacts, runs: Sequence[RunFacts]) -> list[Markdown]:
    if not runs:
        none = "No run is known. " + ("`patrol tick` looks." if not facts.here else "None was started here.")
        return list(map(Markdown, ("## Now", "", none, "")))
    head = "| box/run | state | stage | progress | since | last contact | rule |"
    lines = list(map(Markdown, ("## Now", "", head, "|---|---|---|---|---|---|---|")))
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
        lines.append(md("| {} |", joined(" | ", cells)))
    if len(runs) > TABLE_RUNS:
        lines.append(md("\n{} more are in `handbook.json`.", len(runs) - TABLE_RUNS))
    return [*lines, NO_WORDS]


def _stage_cell(run: RunFacts) -> str:
    stage = observed(run.stage)
    count = f"{run.stages_done}/{run.stages_total}" if run.stages_total else ""
    return " ".join(filter(None, (fence_name(stage or ""), count))) or "-"


# -- the rest


def _boxes(facts: HandbookFacts) -> list[Markdown]:
    if not facts.boxes:
        return []
    lines = [Markdown("## Boxes"), NO_WORDS, *(md("- {}", _box(box)) for box in facts.boxes[:DETAILED_RUNS])]
    left = len(facts.boxes) - DETAILED_RUNS
    lines += [md("- {} more are in `handbook.json`", left)] if left > 0 else []
    return [*lines, NO_WORDS]


def _box(box: BoxFacts) -> Markdown:
    reached = clock(box.reached_at)
    return joined(
        "; ",
        (
            md("**{}**: {}, project {}, {}", box.name, box_name(box.host), box_path(box.project), box.backend),
            md("NOT REACHED ({}), last {}", box_words(box.trouble), reached)
            if box.trouble
            else f"reached last {reached}",
            f"owner {box.owner}" if box.owner else "owner not named",
            "the patrol may resume its runs" if box.recover == "resume" else "nothing is restarted by itself",
            f"CLOCKS: {' · '.join(box.clocks)}" if box.clocks else "danger clocks not named",
        ),
    )


def _watch(facts: HandbookFacts) -> list[Markdown]:
    watch = facts.watch
    lines = [Markdown("## Who watches"), NO_WORDS]
    if facts.here:
        lines.append(md("- on this box: each run's own runner; it survives every login. From outside: not known here."))
    else:
        if isinstance(watch.cron, Absent | Unseen):
            word = "unknown" if isinstance(watch.cron, Unseen) else "NONE ARMED"
            lines.append(md("- timer: {}: {}", word, Markdown(watch.cron.why)))
        else:
            due = clock(watch.next_due_at)
            lines.append(md("- timer: {}; next due {} if this machine is awake", code(watch.cron), due))
        trouble = md("; trouble: {}", box_words(watch.trouble)) if watch.trouble else ""
        lines.append(md("- last tick {}{}", clock(watch.last_tick_at), trouble))
    lines.append(md("- sentinels and transfers of this machine: `handbook resume` names those that are alive"))
    between = "- Between two looks nobody looks. A promise to look again is worth no more than the timer listed here."
    return [*lines, Markdown(between), NO_WORDS]


def _rules() -> list[Markdown]:
    words = ("## Ask first", "", *(f"- {text}" for text in ASK_FIRST.split("\n")), "")
    return list(map(Markdown, words))


def handoff(facts: HandbookFacts) -> list[Markdown]:
    """Where the block for the next owner is, and who owns what. The runs stand above."""
    owners: dict[Markdown, list[str]] = {}
    for run in by_need(facts):
        if run.run:
            owners.setdefault(owner_words(owner_of(facts, run)), []).append(run.name)
    lines = [Markdown("## Handoff"), NO_WORDS]
    lines.append(md("- as of {}; take over with {}", clock(facts.as_of), code(first_command(facts))))
    lines.append(md("- {} prints the block to send; {} puts it on record", code("handbook handoff"), code("--to NAME")))
    for owner, names in owners.items():
        more = f" and {len(names) - DETAILED_RUNS} more" if len(names) > DETAILED_RUNS else ""
        lines.append(md("- owner of {}{}: {}", ", ".join(names[:DETAILED_RUNS]), more, owner))
    return lines
