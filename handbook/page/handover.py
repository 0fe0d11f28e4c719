"""The block for the next owner of a run: from the same facts and the same advice as the page. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbook.page.markdown import Markdown, box_name, box_path, box_words, code, md
from handbook.page.phrases import clock
from handbook.page.recovery import advise, by_need
from handbook.page.render_run import maybe, state_word
from onbox.contract.readings import observed
from onbox.fence import fence, fence_name
from onbox.model.units import counted
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from handbook.page.facts import HandbookFacts, RunFacts


class Owner(NamedTuple):
    """name: "": nobody is named. since: when the run was handed to them; None: it is the owner of the box."""

    name: str
    since: float | None = None


def owner_of(facts: HandbookFacts, run: RunFacts) -> Owner:
    """Who answers for a run: to whom it was handed over last, else the owner of its box."""
    if run.record.owner:
        return Owner(run.record.owner, run.record.owner_since)
    return Owner(next((box.owner for box in facts.boxes if box.name == run.box), ""))


def owner_words(owner: Owner) -> Markdown:
    if not owner.name:
        return Markdown("not named (`owner` in [boxes.*], or `handbook handoff --to NAME`)")
    return md("{}{}", owner.name, f", since {clock(owner.since)}" if owner.since is not None else "")


def handover(facts: HandbookFacts, run: RunFacts) -> list[Markdown]:
    """One run, in full."""
    advice = advise(run, here=facts.here)
    stage = observed(run.stage)
    where = f", stage {fence_name(stage)} ({run.stages_done} of {run.stages_total} done)" if stage else ""
    seen = clock(run.seen_at)
    lines = [
        md("- {}: {}, rule {}{}, {}; seen {}", run.name, state_word(run), run.rule, where, maybe(run.progress), seen),
        md("  - says: {}", run.says) if run.says else None,
        md("  - {}", _identity(facts, run)),
        *_failure(run),
        *(md("  - also open: {}: {}", rule, says) for rule, says in run.further),
        md("  - remedy: {}", run.remedy) if run.remedy else None,
        md("  - next: {} — then: {}", code(advice.first), Markdown(advice.then))
        if advice.first
        else md("  - next: nothing is to be typed; {}", Markdown(advice.then)),
        md("  - {}", Markdown(advice.step.do_not)),
        md("  - owner: {}", owner_words(owner_of(facts, run))),
    ]
    return [line for line in lines if line is not None]


def _identity(facts: HandbookFacts, run: RunFacts) -> Markdown:
    """Which run this is, how often it was started, and where its record and its tracker are."""
    attempt = observed(run.attempt)
    parts = [f"run id {fence_name(run.run_id) or 'not known'}"]
    parts += [f"attempt {attempt}"] if attempt is not None else []
    parts += [restarts_words(run), *([fence(run.rollback)] if run.rollback else [])]
    identity = observed(run.identity)
    parts += [f"tracker {fence_name(identity.tracker)}"] if identity and identity.tracker else []
    return md("{}; record {}", "; ".join(parts), code(f"{facts.logbook}/{run.run}.md"))


def restarts(run: RunFacts) -> int | None:
    """How often it was started again; None: its records were not read."""
    return max(0, len(run.launches) - 1) if run.records_at is not None else None


def restarts_words(run: RunFacts) -> str:
    again = restarts(run)
    return "restarts not known" if again is None else counted(again, "restart") if again else "never restarted"


def _failure(run: RunFacts) -> list[Markdown]:
    failure = observed(run.failure)
    if failure is None:
        return []
    place = md(" at {}", box_path(failure.where)) if failure.where else ""
    proof = box_words(failure.proof) if failure.proof else "none was found"
    of = box_name(failure.stage) if failure.stage else "the run"
    return [md("  - error of {}: {}{}: {}", of, box_name(failure.failure_class), place, proof)]


def handover_all(facts: HandbookFacts, only: str | None = None) -> list[Markdown]:
    """Every run that is known, those that need somebody first. only: the name of one."""
    runs = [run for run in by_need(facts) if run.run and only in (None, run.name)]
    return [line for run in runs for line in handover(facts, run)]
