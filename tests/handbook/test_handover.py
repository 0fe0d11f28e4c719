"""The block for the next owner holds what they must know, and offers what the page offers."""

from __future__ import annotations

import pytest

from handbook.page.facts import LaunchFacts, RecordFacts
from handbook.page.handover import handover, owner_of
from handbook.page.recovery import advise
from handbook.page.render import render
from handbook.page.render_json import run_data
from tests.handbook.made import AS_OF, KINDS, made_facts, run_facts


def block(number: int) -> dict[str, str]:
    """Its lines, by their first word."""
    facts = made_facts(len(KINDS))
    lines = handover(facts, facts.runs[number])
    return {line.strip(" -").split(":")[0].split(" ")[0]: line for line in lines}


def test_it_holds_error_run_id_remedy_attempt_and_restarts() -> None:
    failed = run_facts(1, launches=tuple(LaunchFacts(one, "2026-11-21", "gpu", "abc") for one in (1, 2, 3)), attempt=2)
    lines = handover(made_facts(runs=(failed,)), failed)
    text = "\n".join(lines)
    assert "FAILED, rule failed, stage train (0 of 2 done), ~4600/5155 (89%)" in lines[0]
    for wanted in (
        "run id 20261121-00000001; attempt 2; 2 restarts", "record `logbook/digits.md`",
        "error of train: code_error", "NameError: x",
        "remedy: do what is to be done", "do not ",
    ):  # fmt: skip
        assert wanted in text


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_it_offers_what_the_page_and_the_json_offer(number: int) -> None:
    facts = made_facts(len(KINDS))
    run = facts.runs[number]
    advice, told = advise(run), block(number)
    assert f"`{advice.first}`" in told["next"]
    assert f"`{advice.first}`" in render(facts)
    assert run_data(facts, run)["next_command"] == advice.first
    assert advice.step.never in told["do"]


def test_no_resume_is_offered_that_can_only_fail_again() -> None:
    assert "resume -d" in block(2)["next"]
    text = "\n".join(block(1).values())
    assert "resume -d" not in text
    assert "do not resume it unchanged" in text


def test_a_run_belongs_to_whom_it_was_handed_else_to_the_owner_of_its_box() -> None:
    facts = made_facts(1)
    assert owner_of(facts, facts.runs[0]).name == "ann"
    handed = RecordFacts(AS_OF, by_hand=True, due_at=None, owner="bob", owner_since=AS_OF)
    facts = made_facts(runs=(run_facts(0, record=handed),))
    assert "owner of gpu0/digits: bob, since 2026-11-21 05:03 UTC" in render(facts)
    assert run_data(facts, facts.runs[0])["owner"] == "bob"
