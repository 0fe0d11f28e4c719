"""The word that was probably meant."""

from __future__ import annotations

from onbox.did_you_mean import did_you_mean, meant


def test_the_nearest_words_are_named() -> None:
    assert meant("stauts", ["stop", "status", "stats"]) == 'did you mean "stats" or "status"?'
    assert meant("STAUTS", ["stop", "Status"]) == 'did you mean "Status"?'


def test_nothing_is_guessed_from_afar() -> None:
    assert meant("qqq", ["stop", "status"]) == ""
    assert did_you_mean("qqq", {"stop", "status"}) == "; known here: status, stop"


def test_a_message_names_one() -> None:
    assert did_you_mean("stauts", ["stats", "status"]) == '; did you mean "stats"?'
