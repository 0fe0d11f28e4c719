"""Lines of 80 columns."""

from __future__ import annotations

import pytest

from onbox.model.screen import clip, columns, hanging, joined, labelled, whole

LONG = "Go back to a checkpoint before the blow-up and change what caused it. " * 5


def test_what_does_not_fit_is_cut_at_the_end_and_least_important() -> None:
    assert joined(["a" * 70, "loss 0.41"]) == "a" * 70
    assert joined(["a" * 60, "its log holds no reason for it"]) == "a" * 60 + " · its log holds no…"
    assert joined(["a", "", "b"]) == "a · b"


@pytest.mark.parametrize("text", [LONG, "x" * 500, "日本" * 200, "", "short"])
def test_no_line_is_wider_than_the_terminal(text: str) -> None:
    lines = labelled("remedy", text)
    assert all(columns(line) <= 80 for line in lines)
    assert len(lines) <= 4
    assert columns(clip(text, 40)) <= 40


def test_a_long_text_is_folded_between_words_below_itself() -> None:
    first, second, third = labelled("remedy", LONG, lines=3)
    assert first.startswith("  remedy   Go back to")
    assert second.startswith(" " * 11)
    assert third.endswith("…")


def test_what_is_typed_is_never_cut() -> None:
    assert whole("next", "c" * 200) == ["  next     " + "c" * 200]


def test_what_does_not_fit_hangs_below_and_nothing_of_it_is_cut() -> None:
    assert hanging("  no      stalled  ", "it is short") == ["  no      stalled  it is short"]
    text = " ".join(["every word of it"] * 30)
    path = "/" + "x" * 90
    assert hanging("  log  ", f"is at {path} now", indent=4) == ["  log  is at", f"    {path}", "    now"]
    command = "`onbox resume -d --redo train some-long-name`"
    assert hanging("  → ", f"run it again: {command}; or not", indent=4, width=40) == [
        "  → run it again:",
        f"    {command};",
        "    or not",
    ]
    assert labelled("then", f"look at it, then: {command}", width=60) == [
        "  then     look at it, then:",
        f"           {command}",
    ]
    assert hanging("", "a ` alone is no command", width=16) == ["a ` alone is no", "      command"]
    assert hanging("", "  train        starts anew", indent=4) == ["  train        starts anew"]
    lines = hanging("  no      stalled  ", text, indent=10)
    assert max(map(columns, lines)) <= 80
    assert all(line.startswith(" " * 10) for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == f"no stalled {text}"
