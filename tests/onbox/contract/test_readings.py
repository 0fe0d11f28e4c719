"""Observed, absent, could not look: three shapes that never become one another."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from onbox.contract.readings import Absent, Unseen, observed, plain, unplain


class Inner(NamedTuple):
    count: Any
    names: Any = ()


class Outer(NamedTuple):
    inner: Any
    size: Any


def test_only_what_was_observed_is_a_value() -> None:
    assert observed(0) == 0
    assert observed("") == ""
    assert observed(Absent("none")) is None
    assert observed(Unseen("no")) is None


def test_absent_and_unseen_are_told_apart() -> None:
    assert plain(Absent("same words")) != plain(Unseen("same words"))
    assert not isinstance(Absent("x"), Unseen)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ({"absent": "no limit"}, Absent("no limit")),
        ({"unknown": "EACCES"}, Unseen("EACCES")),
        ({"inner": {"count": {"unknown": "x"}, "names": ["a"]}, "size": 5}, Outer(Inner(Unseen("x"), ("a",)), 5)),
        ([1, {"absent": "y"}], (1, Absent("y"))),
        ({"k": [{"unknown": "z"}]}, {"k": [Unseen("z")]}),
        (None, None),
        (1.5, 1.5),
        ("text", "text"),
        ([], ()),
    ],
)
def test_a_reading_is_plain_data(data: Any, value: Any) -> None:
    assert data == plain(value)
    assert data == json.loads(json.dumps(plain(value)))


@pytest.mark.parametrize("value", [Absent("none"), Unseen("no look"), 5, 0, None, "text", [1, 2]])
def test_a_field_comes_back_as_it_was(value: Any) -> None:
    assert value == unplain(json.loads(json.dumps(plain(value))))


@pytest.mark.parametrize("data", [{}, {"absent": "a", "unknown": "b"}, {"absent": "a", "more": 1}, {"count": 1}])
def test_other_records_stay_records(data: dict[str, Any]) -> None:
    assert data == unplain(data)
