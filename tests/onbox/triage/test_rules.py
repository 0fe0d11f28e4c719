"""The table of rules: every row means what it says, and each can be reached."""

from __future__ import annotations

import re

import pytest

from onbox.logs.model.lines import message
from onbox.triage.classes import REMEDIES
from onbox.triage.reading.match import holds_a_word, match_row
from onbox.triage.rules.rows import RuleRow, compiled
from onbox.triage.rules.table import ROWS
from tests import pumping

# These are told by evidence, silence or the lack of a fault, not by a line.
WITHOUT_ROWS = {"success_healthy", "hang_stall", "false_success", "not_started"}


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_a_rows_example_is_matched_by_that_row(row: RuleRow) -> None:
    assert match_row(message(row.example).text.strip(), row.example) is row


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_a_rows_example_is_worth_a_closer_look(row: RuleRow) -> None:
    assert holds_a_word(row.example.lower())


def test_ids_are_unique() -> None:
    assert len(ROWS) == len({row.id for row in ROWS})


def test_every_class_is_reached() -> None:
    assert {row.failure_class for row in ROWS} == REMEDIES.keys() - WITHOUT_ROWS


def test_a_row_without_a_class_names_those_it_may_be() -> None:
    undecided = [row for row in ROWS if row.failure_class == "unknown"]
    assert undecided
    assert all(len(row.rivals) > 1 and set(row.rivals) <= REMEDIES.keys() - {"unknown"} for row in undecided)


def test_a_row_with_a_likely_class_may_name_others() -> None:
    for row in ROWS:
        assert set(row.rivals) <= REMEDIES.keys() - {row.failure_class}, row.id


def test_needs_are_small_letters() -> None:
    assert [row.id for row in ROWS if row.need != row.need.lower() or not all(row.need.split("|"))] == []


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_what_a_row_matches_holds_a_word_that_it_needs(row: RuleRow) -> None:
    """Tried with texts made of the pattern's own parts, one for each way through it: else that way is never taken."""
    words = row.need.split("|")
    matched = [text for text in pumping.samples(row.pattern) if compiled(row.pattern).search(text)]
    assert [text for text in matched if not any(word in text.lower() for word in words)] == []


def test_every_row_has_a_source_and_compiles() -> None:
    assert [row.id for row in ROWS if not row.source or not isinstance(compiled(row.pattern), re.Pattern)] == []
