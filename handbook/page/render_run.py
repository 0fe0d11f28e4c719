"""One run's part of the page. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbook.page.markdown import Markdown, box_name, box_path, box_words, code, joined, md
from handbook.page.phrases import clock, safe
from handbook.page.recovery import Advice, advise
from onbox.contract.readings import Absent, Maybe, Unseen, observed
from onbox.fence import fence_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from handbook.page.facts import HandbookFacts, LaunchFacts, MarkerFacts, RunFacts, StageFacts

STAGES_SHOWN = 6
LAUNCHES_SHOWN = 4


def state_word(run: RunFacts) -> str:
    """The state; of a run that was not seen at the last look the last known one is told elsewhere."""
    word = run.state.upper() if run.severity in ("critical", "unknown") else run.state
    return word + (" (acknowledged)" if run.acknowledged else "")


def maybe(value: Maybe[str], *, short: bool = False) -> str:
    """A value that is ours, or why there is none; why it could not be seen, a box may have said."""
    if isinstance(value, Unseen):
        return "unknown" if short else f"unknown ({fence_name(value.why)})"
    if isinstance(value, Absent):
        return "-" if short else value.why
    return value


def maybe_path(value: Maybe[str]) -> Markdown:
    return md("{}", maybe(value)) if isinstance(value, Absent | Unseen) else box_path(value)


def render_run(facts: HandbookFacts, run: RunFacts, *, roomy: bool) -> list[Markdown]:
    advice = advise(run, here=facts.here)
    seen = md("rule {} since {}; last contact {}", run.rule, clock(run.since), clock(run.seen_at))
    lines = [md("## {}: {}", run.name, state_word(run)), md("The last look said: {} ({})", run.says or "nothing", seen)]
    lines += [Markdown("")] if roomy else []
    lines += [md("- also {}: {}", rule, says) for rule, says in run.further[: 4 if roomy else 1]]
    lines += _commands(run, advice, roomy=roomy)
    lines += _failure(run)
    if run.managed:
        lines += [*_resume_point(run), *_chain(run, roomy=roomy)]
        lines += _bullets([*_places(run), *_record(facts, run)], roomy=roomy)
        lines += _bullets(_identity(run, roomy=roomy), roomy=roomy)
    else:
        log, progress = maybe_path(run.log), maybe(run.progress)
        lines.append(md("- onbox did not start it; log {}; progress {}", log, progress))
    return [*lines, Markdown("")]


def _bullets(parts: list[Markdown], *, roomy: bool) -> list[Markdown]:
    """Each part as a line of its own, or all as one where there are many runs."""
    return [md("- {}", part) for part in parts] if roomy else [md("- {}", joined(" · ", parts))]


def _commands(run: RunFacts, advice: Advice, *, roomy: bool) -> list[Markdown]:
    remedy = md(" Remedy: {}", run.remedy) if run.remedy else ""
    first = code(advice.first) if advice.first else _nothing(advice)
    line = md("- **next** {} — then: {}.{}", first, Markdown(advice.then), remedy)
    do_not = advice.step.do_not.removeprefix("do not ")
    lines = (
        [line, md("- **do not** {}", Markdown(do_not))] if roomy else [md("{} **Do not** {}.", line, Markdown(do_not))]
    )
    if advice.resume:
        looks = md("look before it (starts nothing): {}", code(advice.dry_run))
        lines += _bullets(
            [md("**resume** {}{}", code(advice.resume), _when_to_resume(run, advice)), looks], roomy=roomy
        )
    if advice.stop:
        lines.append(md("- **stop** {} (ends the run's processes; ask first)", code(advice.stop)))
    asked = [md("{}: {}", what, code(command)) for what, command in advice.asked if command != advice.stop]
    return [*lines, md("- **only with a person's word** {}", joined("; ", asked))] if asked else lines


def _when_to_resume(run: RunFacts, advice: Advice) -> str:
    if advice.step.resume_now:
        return ""
    return " (only once it has ended)" if run.state == "running" else " (not now: first do what is above)"


def _nothing(advice: Advice) -> Markdown:
    if not advice.withheld:
        return Markdown("nothing is to be typed")
    return md("no command is offered: it could not be typed as it is shown ({})", box_words(safe(advice.withheld, 160)))


def _failure(run: RunFacts) -> list[Markdown]:
    if isinstance(run.failure, Unseen):
        return [md("- failure: unknown ({})", box_words(run.failure.why))]
    failure = observed(run.failure)
    if failure is None:
        return []
    again = {True: "may be retried", False: "never unchanged", None: "its class is not known"}[failure.retry_allowed]
    place = md(" at {}", box_path(failure.where)) if failure.where else ""
    proof = box_words(failure.proof) if failure.proof else "none"
    told = (box_name(failure.stage or "?"), box_name(failure.failure_class), place, again, proof)
    return [md("- failure of {}: {}{}, {}; proof: {}", *told)]


def _resume_point(run: RunFacts) -> list[Markdown]:
    known = run.resume
    if isinstance(known, Absent | Unseen):
        return [md("- a resume continues from: unknown ({})", box_words(known.why))]
    told = clock(run.records_at), box_words(known.says), box_words(known.checkpoint)
    lines = [md("- a resume, as of {}: {}; checkpoint: {}", *told)]
    lines += [md("- MISSING: {} of stage {}", box_path(lost), box_name(stage)) for stage, lost in known.missing[:5]]
    if known.changed:
        changed = joined("; ", map(box_words, known.changed[:4]))
        lines.append(md("- onbox.toml differs from the frozen definition: {}", changed))
    return lines


def _chain(run: RunFacts, *, roomy: bool) -> list[Markdown]:
    if isinstance(run.stages, Absent | Unseen):
        return [md("- chain: unknown ({})", box_words(run.stages.why))]
    shown = around(run.stages, STAGES_SHOWN)
    told = [_stage(stage) for stage in shown]
    left = len(run.stages) - len(shown)
    if roomy:
        numbered = zip(_numbers(run, shown), told, strict=True)
        lines = [Markdown("- chain:"), *(md("  {}. {}", number, text) for number, text in numbered)]
    else:
        lines = [md("- chain: {}", joined(" → ", told))]
    return lines + ([md("  … and {} stages more in `handbook.json`", left)] if left > 0 else [])


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


def _stage(stage: StageFacts) -> Markdown:
    parts = [md("{} [{}] {}", box_name(stage.name), box_name(stage.state), box_path(stage.command))]
    if stage.gates:
        parts.append(md("gates: {}", joined(", ", map(box_words, stage.gates))))
    if stage.artifacts:
        leaves = joined(", ", map(box_path, stage.artifacts[:4]))
        parts.append(md("leaves {}{}", leaves, " …" if len(stage.artifacts) > 4 else ""))
    return joined("; ", [*parts, *map(box_words, filter(None, (*stage.conditions, stage.note)))])


def _places(run: RunFacts) -> list[Markdown]:
    lines = []
    if run.markers:
        folder = run.markers[0].path.rpartition("/")[0]
        shown = run.markers[: 2 + 2 * STAGES_SHOWN]
        told = joined(", ", map(_marker, shown))
        left = len(run.markers) - len(shown)
        lines.append(md("markers in {}: {}{}", box_path(folder + "/"), told, f", and {left} more" if left > 0 else ""))
    logs, records = box_path(run.place + "/logs/"), box_path(run.place + "/")
    lines.append(md("log {}; all of them in {}; records {}", maybe_path(run.log), logs, records))
    return lines


def _record(facts: HandbookFacts, run: RunFacts) -> list[Markdown]:
    """Its logbook, and when somebody is due to write into it: as a time, so that it is true whenever it is read."""
    if facts.here:
        return []
    known, logbook = run.record, code(f"{facts.logbook}/{run.run}.md")
    if known.sealed_at is not None:
        return [md("record {}: SEALED {}", logbook, clock(known.sealed_at))]
    last = f"last entry by hand {clock(known.last_at)}" if known.by_hand else "no entry by hand yet"
    due = f"; the next is due by {clock(known.due_at)}" if known.due_at is not None else ""
    return [md("record {}: {}{}", logbook, last, due)]


def _marker(marker: MarkerFacts) -> Markdown:
    there = "?" if isinstance(marker.there, Unseen) else "there" if marker.there is True else "no"
    note = md(", {}", box_words(marker.note)) if marker.note else ""
    return md("{} ({}{})", box_name(marker.path.rpartition("/")[2]), there, note)


def _identity(run: RunFacts, *, roomy: bool) -> list[Markdown]:
    known = run.identity
    lines = []
    if isinstance(known, Absent | Unseen):
        lines.append(md("identity: unknown ({})", box_words(known.why)))
    else:
        told = (run.run_id or "?", known.code, known.chain_fingerprint, known.host, known.onbox)
        tracker = md("; tracker {}", box_name(known.tracker)) if known.tracker else ""
        names = joined(", ", map(box_name, known.environment)) if known.environment else "none"
        text = md(
            "run id {}; code {}; chain {}; on {}; onbox {}; config {}", *map(box_name, told), box_path(known.config)
        )
        lines.append(md("{}{}; environment names {}", text, tracker, names))
    if run.launches:
        last = run.launches[-LAUNCHES_SHOWN if roomy else -1 :]
        launches = joined(" · ", map(_launch, last))
        lines.append(md("{}: {}", "1 launch" if len(run.launches) == 1 else f"{len(run.launches)} launches", launches))
    lines += [box_words(run.rollback)] if run.rollback else []
    waiting = observed(run.waiting)
    notify = maybe(run.notify) if isinstance(run.notify, Absent | Unseen) else md("tells {}", box_words(run.notify))
    lines.append(md("notifications: {}{}", notify, f"; {waiting} wait undelivered" if waiting else ""))
    return lines


def _launch(one: LaunchFacts) -> Markdown:
    differs = md(" ({})", joined("; ", map(box_words, one.differences[:4]))) if one.differences else ""
    return md("#{} {} {}{}", one.number, box_name(one.at[:16]), box_name(one.code), differs)
