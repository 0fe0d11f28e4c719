"""One run's part of the page. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbook.recovery import NOT_YET, Advice, advise, remedy_of
from handbook.words import clock, code, prose
from onbox.contract.readings import Absent, Maybe, Unseen, observed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from handbook.facts import Facts, MarkerFacts, RunFacts, StageFacts

STAGES_SHOWN = 6
LAUNCHES_SHOWN = 4


def state_word(run: RunFacts) -> str:
    """The state; of a run that was not seen at the last look the last known one is told elsewhere."""
    word = run.state.upper() if run.severity in ("critical", "unknown") else run.state
    return word + (" (acknowledged)" if run.acknowledged else "")


def maybe(value: Maybe[str], *, short: bool = False) -> str:
    if isinstance(value, Unseen):
        return "unknown" if short else f"unknown ({value.why})"
    if isinstance(value, Absent):
        return "-" if short else value.why
    return value


def render_run(facts: Facts, run: RunFacts, *, roomy: bool) -> list[str]:
    advice = advise(run, here=facts.here)
    seen = f"rule {prose(run.rule)} since {clock(run.since)}; last contact {clock(run.seen_at)}"
    lines = [f"## {run.name}: {state_word(run)}", f"The last look said: {prose(run.says) or 'nothing'} ({seen})"]
    lines += [""] if roomy else []
    lines += [f"- also {prose(rule)}: {prose(says)}" for rule, says in run.further[: 4 if roomy else 1]]
    lines += _commands(run, advice, roomy=roomy)
    lines += _failure(run)
    if run.managed:
        lines += [*_resume_point(run), *_chain(run, roomy=roomy)]
        lines += _bullets([*_places(run), *_record(facts, run)], roomy=roomy) + _bullets(
            _identity(run, roomy=roomy), roomy=roomy
        )
    else:
        lines.append(f"- onbox did not start it; log {code(maybe(run.log))}; progress {maybe(run.progress)}")
    return [*lines, ""]


def _bullets(parts: list[str], *, roomy: bool) -> list[str]:
    """Each part as a line of its own, or all as one where there are many runs."""
    return [f"- {part}" for part in parts] if roomy else ["- " + " · ".join(parts)]


def _commands(run: RunFacts, advice: Advice, *, roomy: bool) -> list[str]:
    remedy = f" Remedy: {prose(remedy_of(run))}" if remedy_of(run) else ""
    lines = [f"- **next** {code(advice.first)}" if advice.first else "- **next** nothing is to be typed"]
    lines[0] += f" — then: {advice.then}.{remedy}"
    lines = [f"{lines[0]} **Do not** {advice.never}."] if not roomy else [*lines, f"- **do not** {advice.never}"]
    if advice.resume:
        wait = " (not now: first what stands above)" if advice.rule in NOT_YET else ""
        looks = f"look before it (starts nothing): {code(advice.foretell)}"
        lines += _bullets([f"**resume** {code(advice.resume)}{wait}", looks], roomy=roomy)
        lines.append(f"- **stop** {code(advice.stop)} (ends the run's processes; ask first)")
    return lines


def _failure(run: RunFacts) -> list[str]:
    if isinstance(run.failure, Unseen):
        return [f"- failure: unknown ({run.failure.why})"]
    failure = observed(run.failure)
    if failure is None:
        return []
    again = {True: "may be retried", False: "never unchanged", None: "its class is not known"}[failure.retry_allowed]
    place = f" at {code(failure.where)}" if failure.where else ""
    proof = code(failure.proof) if failure.proof else "none"
    return [
        f"- failure of {prose(failure.stage) or '?'}: {prose(failure.failure_class)}{place}, {again}; proof: {proof}"
    ]


def _resume_point(run: RunFacts) -> list[str]:
    known = run.resume
    if isinstance(known, Absent | Unseen):
        return [f"- a resume continues from: unknown ({known.why})"]
    lines = [f"- a resume, as of {clock(run.records_at)}: {prose(known.says)}; checkpoint: {prose(known.checkpoint)}"]
    lines += [f"- MISSING: {code(path)} of stage {stage}" for stage, path in known.missing[:5]]
    if known.changed:
        lines.append(f"- onbox.toml differs from the frozen definition: {prose('; '.join(known.changed[:4]))}")
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
        lines.append(f"markers in {code(folder + '/')}: {words}" + (f", and {left} more" if left > 0 else ""))
    lines.append(
        f"log {code(maybe(run.log))}; all of them in {code(run.place + '/logs/')}; records {code(run.place + '/')}"
    )
    return lines


def _record(facts: Facts, run: RunFacts) -> list[str]:
    """Its logbook, and when somebody is due to write into it: as a time, so that it is true whenever it is read."""
    if facts.here:
        return []
    known = run.record
    if known.sealed_at is not None:
        return [f"record {code(f'{facts.logbook}/{run.run}.md')}: SEALED {clock(known.sealed_at)}"]
    last = f"last entry by hand {clock(known.last_at)}" if known.by_hand else "no entry by hand yet"
    due = f"; the next is due by {clock(known.due_at)}" if known.due_at is not None else ""
    return [f"record {code(f'{facts.logbook}/{run.run}.md')}: {last}{due}"]


def _marker(marker: MarkerFacts) -> str:
    there = "?" if isinstance(marker.there, Unseen) else "there" if marker.there is True else "no"
    return f"{marker.path.rpartition('/')[2]} ({there}{', ' + marker.note if marker.note else ''})"


def _identity(run: RunFacts, *, roomy: bool) -> list[str]:
    known = run.identity
    lines = []
    if isinstance(known, Absent | Unseen):
        lines.append(f"identity: unknown ({known.why})")
    else:
        tracker = f"; tracker {known.tracker}" if known.tracker else ""
        words = f"run id {run.run_id or '?'}; code {known.code}; chain {known.chain_fingerprint}; on {known.host}"
        words += f"; onbox {known.onbox}"
        lines.append(
            f"{words}; config {known.config}{tracker}; environment names {', '.join(known.environment) or 'none'}"
        )
    if run.launches:
        last = run.launches[-LAUNCHES_SHOWN if roomy else -1 :]
        words = " · ".join(
            f"#{one.number} {one.at[:16]} {one.code}"
            + (f" ({prose('; '.join(one.differences[:4]))})" if one.differences else "")
            for one in last
        )
        lines.append(f"{len(run.launches)} launches: {words}")
    waiting = observed(run.waiting)
    told = f"tells {run.notify}" if run.notify else "nobody is told by the run itself"
    lines.append(f"notifications: {told}" + (f"; {waiting} wait undelivered" if waiting else ""))
    return lines
