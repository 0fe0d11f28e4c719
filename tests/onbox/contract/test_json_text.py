"""JSON of others: an object, or nothing."""

from __future__ import annotations

import pytest

from onbox.contract.json_text import parse_object


def test_an_object_comes_back() -> None:
    assert parse_object('{"a": [1]}') == parse_object(b' {"a": [1]}\n') == {"a": [1]}


@pytest.mark.parametrize("text", [None, "", b"", "[1]", '{"a": ', b"\xff\xfe{", "null", "[" * 100_000])
def test_all_else_is_nothing(text: str | bytes | None) -> None:
    assert parse_object(text) is None
