"""The fence around what a box wrote."""

from __future__ import annotations

import pytest

from onbox.fence import fence, fence_block, fence_name
from onbox.model.fence_signs import CLOSE, OPEN, close_fence
from onbox.model.screen import folded
from onbox.redact import redact
from tests.injections import INJECTIONS, outside, told_bare


@pytest.mark.parametrize("text", INJECTIONS)
def test_nothing_gets_out_of_a_fence(text: str) -> None:
    for shown in (fence(text), fence_block(text, 4000), fence(text * 50, 90), f"a: {fence_name(text)}; b"):
        assert told_bare(shown) == []
        assert (shown.count(OPEN), shown.count(CLOSE)) == (1, 1) or shown == f"a: {text}; b"
    assert len(fence(text).splitlines()) == 1


def test_a_fence_stands_once() -> None:
    assert fence(fence("a b")) == "«a b»"
    assert fence("") == ""
    assert fence("x «y» z") == "«x <y> z»"


@pytest.mark.parametrize("name", ["ckpt/step-10.npz", "train_DONE", "~/digits", "KeyError", "20261122-0fa3"])
def test_a_name_of_one_word_says_nothing(name: str) -> None:
    assert fence_name(name) == name


@pytest.mark.parametrize("name", ["a b", "x\ny", "$(touch)", "a;b", "`x`", "x" * 201])
def test_any_other_name_stands_in_a_fence(name: str) -> None:
    assert outside(fence_name(name)) == "«»"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("a «b c…", "a «b …»"), ("a «b»…", "a «b»…"), ("a…", "a…"), ("a «…", "a …»")],
)
def test_a_sentence_that_was_cut_leaves_no_fence_open(text: str, wanted: str) -> None:
    assert close_fence(text) == wanted


@pytest.mark.parametrize("text", ["password=hunter2hunter2", "true --token=hunter2hunter2", "x --token hunter2hunter2"])
def test_a_secret_is_masked_in_it_and_masking_it_again_opens_no_fence(text: str) -> None:
    assert "hunter2hunter2" not in fence(text)
    assert redact(fence(text)) == fence(text)


def test_nor_does_a_text_that_is_folded() -> None:
    assert folded("it failed: «one two three four five six»", 12, 3) == ["it failed:", "«one two", "three fou…»"]
