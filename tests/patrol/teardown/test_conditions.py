"""The three conditions of a teardown: every row of the table, and what a box needs."""

from __future__ import annotations

from itertools import product

import pytest

from patrol.teardown.conditions import TABLE, RunConditions, TeardownCondition, may_be_given_back


def conditions(pulled: bool | None, verified: bool | None, word: bool | None, alive: str = "") -> RunConditions:  # noqa: FBT001
    def one(name: str, holds: bool | None) -> TeardownCondition:  # noqa: FBT001
        return TeardownCondition(name, holds, "seen", f"make {name}")

    return RunConditions("digits", one("pulled", pulled), one("verified", verified), one("word", word), alive)


@pytest.mark.parametrize(("pulled", "verified", "word"), list(product((False, True), repeat=3)))
def test_only_all_three_together_are_a_yes(*, pulled: bool, verified: bool, word: bool) -> None:
    assert TABLE[pulled, verified, word].may is (pulled and verified and word)
    ruling = conditions(pulled, verified, word).ruling
    assert ruling.may is (pulled and verified and word)
    assert ruling.says


@pytest.mark.parametrize("unseen", list(product((None, True), repeat=3)))
def test_what_could_not_be_looked_at_is_a_no(unseen: tuple[bool | None, bool | None, bool | None]) -> None:
    assert conditions(*unseen).ruling.may is (None not in unseen)


def test_a_run_that_lives_is_a_no_whatever_is_home() -> None:
    assert not conditions(True, True, True, alive="it runs").ruling.may


def test_the_first_thing_that_lacks_is_what_is_typed() -> None:
    assert conditions(False, False, False).next_command == "make pulled"
    assert conditions(True, False, True).next_command == "make verified"
    assert conditions(True, True, True).next_command == ""


def test_a_box_needs_all_its_runs_and_at_least_one() -> None:
    good = conditions(True, True, True)
    assert may_be_given_back([good, good])
    assert not may_be_given_back([good, conditions(True, False, True)])
    assert not may_be_given_back([])


def test_what_was_loaded_and_is_not_whole_is_not_said_to_have_changed() -> None:
    assert conditions(False, True, False).ruling.says.startswith("what was loaded is not the whole of its results")
