"""What a box says to an agent stands in a fence in every rule's sentence and remedy, and in what a tick prints."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.contract.readings import Unseen
from patrol.decide.decide import decide_run, decide_unreachable_run
from patrol.report.lines import details, line
from patrol.snapshot import Unreachable
from tests.injections import INJECTIONS, told_bare
from tests.patrol.makers import NOW, WAY, before, box, box_before, dead, failure, log, run

LOOKS: dict[str, Any] = {
    "failed, and its class is known": lambda text: dead(
        outcome="chain_failed", reason=text, failure=failure(proof=text, where=text)
    ),
    "failed with a class of its own": lambda text: dead(
        outcome="chain_failed", failure=failure(text, proof=text, remedy=text)
    ),
    "failed, and why is not known": lambda text: dead(outcome="chain_failed", reason=text),
    "refused by a gate": lambda text: dead(outcome="gate_refused", reason=text),
    "stopped": lambda text: dead(outcome="chain_stopped", reason=text),
    "interrupted": lambda text: dead(outcome="chain_interrupted", reason=text),
    "gone": lambda text: dead(reason=text, failure=failure(proof=text)),
    "a failure that it survived": lambda text: run(failure=failure(proof=text, failure_class=text)),
    "waiting": lambda text: run(waiting_for=text),
    "at a stage of that name": lambda text: run(stage=text, retries=3),
    "its last line": lambda text: run(log=log(age=9000.0, last_line=text), artifacts=Unseen(text)),
    "could not be looked at": lambda text: run(
        runner_alive=Unseen(text), stage_alive=Unseen(text), outcome=Unseen(text), done=Unseen(text)
    ),
    "notices that are stuck": lambda text: run(undelivered=9, notify_trouble=text),
}


@pytest.mark.parametrize("kind", LOOKS)
def test_nothing_that_a_run_says_stands_bare(kind: str) -> None:
    for text in INJECTIONS:
        look = LOOKS[kind](text)
        verdict = decide_run(look, box(), before(), box_before(), NOW, way=WAY)
        said = [verdict.finding, *verdict.further]
        shown = [one for found in said for one in (found.say, found.remedy)]
        shown += [line(verdict, look, NOW), "\n".join(details(verdict, look, NOW))]
        assert [bare for one in shown for bare in told_bare(one)] == [], text


def test_nor_what_the_way_there_says() -> None:
    for text in INJECTIONS:
        gone = Unreachable("gpu1", NOW, "auth", text)
        verdict = decide_unreachable_run(gone, "digits", before(), box_before(), NOW, way=WAY)
        assert told_bare(verdict.finding.say) == []
