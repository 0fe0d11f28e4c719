"""The screens of tests/cases/screens, which were read by eye, are what the patrol shows today."""

from __future__ import annotations

import pytest

from onbox.model.screen import columns
from onbox.notify import message_text
from patrol.report.lines import details, line
from tests.onbox.notify.samples import FAILED
from tests.patrol.makers import NOW
from tests.patrol.situations import FOLDER, SCREENS, Situation, decide, notice, situations

COPIED = ("  next ", "  decide ", "  also ", "    | ")  # commands and results are never cut


pytestmark = pytest.mark.usefixtures("universal_time")


@pytest.mark.parametrize("name", SCREENS)
def test_what_is_shown_was_read_by_eye(name: str) -> None:
    """python -m tests.patrol.situations writes them anew; then they are to be read again."""
    assert SCREENS[name]() == (FOLDER / name).read_text()


@pytest.mark.parametrize("one", situations(), ids=lambda one: one.what)
def test_nothing_is_wider_than_80_columns(one: Situation) -> None:
    verdict, look = decide(one)
    lines = [line(verdict, look, NOW), *details(verdict, look, NOW)]
    assert [text for text in lines if columns(text) > 80 and not text.startswith(COPIED)] == []


@pytest.mark.parametrize("one", situations(), ids=lambda one: one.what)
def test_nothing_that_is_not_known_takes_room(one: Situation) -> None:
    verdict, look = decide(one)
    words = line(verdict, look, NOW).split()
    assert not {"-", "?", "~-"} & set(words)


@pytest.mark.parametrize("one", situations(), ids=lambda one: one.what)
def test_no_line_of_a_message_is_wider_than_80_columns_but_what_is_copied(one: Situation) -> None:
    told = notice(one)
    lines = [] if told is None else [message_text.title(told), *message_text.lines(told)]
    assert [text for text in lines if columns(text) > 80 and not text.startswith(("next: ", "logs: "))] == []
    assert not any("wandb" in text for text in lines)


def test_a_command_in_a_message_is_whole_however_long_it_is() -> None:
    words = "cd /" + "x" * 400 + " && onbox resume -d digits"
    told = FAILED._replace(next_command=words, reason="why " * 200, remedy="do " * 200, proof="p" * 900)
    lines = message_text.lines(told)
    assert f"next: {words}" in lines
    assert all(columns(text) <= 80 for text in lines if not text.startswith("next: "))
    assert len(lines) <= 12


def test_a_trackers_farewell_proves_nothing() -> None:
    for one in situations():
        verdict, look = decide(one)
        told = [text for text in details(verdict, look, NOW) if text.startswith(("  cause", "  proof"))]
        assert "wandb" not in line(verdict, look, NOW) + "".join(told)
