"""What to type about a run: the step of `onbox.runs.next_step`, as complete commands. Pure.

The signs are the patrol's, with what only the records and a dry run can add.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import observed
from onbox.contract.states import RunState
from onbox.named_tuple import NamedTuple
from onbox.runs.acts import Act, NextStep, WithWord
from onbox.runs.next_step import Standing, next_step
from onbox.runs.signs import Sign
from patrol.decide.remote_command import Untypeable
from patrol.decide.standing import Typist
from patrol.verdict import Severity

if TYPE_CHECKING:
    from handbook.page.facts import HandbookFacts, RunFacts

PRECONDITION = (
    "it refuses a second launch itself: under the run's lock it only watches a live runner, takes over a stage that "
    "lives without one, and skips what is done"
)
OF_THE_BOX = (Sign.NO_CONTACT, Sign.VANISHED, Sign.NO_RUN)


class Advice(NamedTuple):
    """What to do about one run. step: of the table. first: the complete command, "" where nothing is to be typed.

    asked: what is done only with a person's word, and its command. resume, dry_run, stop, prune: complete commands, ""
    where the run is not onbox's own or there is nothing to resume or stop. prune only lists. withheld: what a command that is not offered would
    have looked like.
    """

    step: NextStep
    first: str
    asked: tuple[tuple[str, str], ...] = ()
    resume: str = ""
    dry_run: str = ""
    stop: str = ""
    prune: str = ""
    withheld: str = ""

    @property
    def then(self) -> str:
        if self.withheld:
            return "type it by hand on the box: a name in it cannot be shown as it is"
        return self.step.then


def standing_of(run: RunFacts) -> Standing:
    """Its state with every sign that is known of it."""
    signs = {Sign[name] for name in run.signs if name in Sign.__members__}
    known = observed(run.resume)
    rows = (
        (not run.run, Sign.NO_RUN),
        (bool(run.run) and not run.managed, Sign.FOREIGN),
        (known is not None and bool(known.missing), Sign.RESULTS_MISSING),
        (known is not None and bool(known.refused), Sign.OTHER_LINEAGE),
        (known is not None and known.would == "refuse", Sign.WOULD_REFUSE),
        (run.record.sealed_at is not None, Sign.SEALED),
    )
    states = {state.value: state for state in RunState}
    more = {sign for holds, sign in rows if holds}
    return Standing(states.get(run.state, RunState.UNKNOWN), frozenset(signs | more))


def advise(run: RunFacts, *, here: bool = False) -> Advice:
    """What to do about it. here: the handbook is read on the box, where no patrol is."""
    standing = standing_of(run)
    step = next_step(standing)
    typist = Typist(run.box, run.run, run.way, run.onbox)
    act = Act.STATUS if here and step.act is Act.LOOK and run.run and standing.has(*OF_THE_BOX) else step.act
    try:
        return _advice(typist, standing, step, typist.line(act, run.look, run.disk), here=here)
    except Untypeable as shown:
        return Advice(step, "", withheld=str(shown))


def _advice(typist: Typist, standing: Standing, step: NextStep, first: str, *, here: bool) -> Advice:
    if standing.has(Sign.FOREIGN, Sign.NO_RUN):
        return Advice(step, first, () if here else typist.asked(step))
    words = tuple(one for one in step.with_word if not (here and one is WithWord.ACKNOWLEDGE))
    resumable = standing.state is not RunState.DONE
    stoppable = standing.state in (RunState.RUNNING, RunState.STALLED, RunState.DEGRADED, RunState.UNKNOWN)
    return Advice(
        step,
        first,
        typist.asked(step._replace(with_word=words)),
        resume=typist.line(Act.RESUME, "") if resumable else "",
        dry_run=typist.line(Act.DRY_RUN, "") if resumable else "",
        stop=typist.of_onbox(*WithWord.STOP.words(typist.run)) if stoppable else "",
        prune=typist.of_onbox("prune", "--dry-run", typist.run),
    )


def by_need(facts: HandbookFacts) -> list[RunFacts]:
    """The runs, those that need somebody first; among equals by name."""
    return sorted(facts.runs, key=lambda run: (run.acknowledged, _rank(run), run.name))


def _rank(run: RunFacts) -> int:
    """The worst first, as for the patrol; a result that is gone is as bad as it gets."""
    standing = standing_of(run)
    lost = run.state == "done" and standing.has(Sign.RESULTS_MISSING) and not standing.has(Sign.VERIFIED)
    known = Severity.__members__.get(run.severity.upper(), Severity.UNKNOWN)
    return -(Severity.CRITICAL if lost else known).rank
