"""Words, tables and lines become cells, or one clear sentence."""

from __future__ import annotations

import pytest

from onbox.model.sweep import NAME_LIMIT, cell_name
from onbox.sweep.cells.drafts import BadCell, axis_of, from_line, from_table, grid, missing_in, numbered, values_of


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1e-3,1e-4", ("1e-3", "1e-4")),
        ("0..4", ("0", "1", "2", "3", "4")),
        ("3..1", ("3", "2", "1")),
        ("-1..1", ("-1", "0", "1")),
        ("0..10..5", ("0", "5", "10")),
        ("0..1,7", ("0", "1", "7")),
        ('["a, b", "", 3, true, 0.5]', ("a, b", "", "3", "true", "0.5")),
        ("a b", ("a b",)),
    ],
)
def test_what_stands_behind_the_sign(text: str, values: tuple[str, ...]) -> None:
    assert values == values_of(text)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("lr", "write NAME=VALUE"),
        ("=1", "is not a parameter's name"),
        ("1x=1", "is not a parameter's name"),
        ("cell=1", "is not free"),
        ("priority=1", "is not free"),
        ("lr=", "a value is empty"),
        ("lr=1,,2", "a value is empty"),
        ("n=0..999999999", "at most 100000 cells"),
        ("n=0..4..0", "a step of 1 or more"),
        ("n=[1", "JSON list"),
        ("n=[]", "the list is empty"),
        ("n=[[1]]", "a value is a text"),
    ],
)
def test_a_wrong_axis_is_one_sentence(word: str, says: str) -> None:
    with pytest.raises(BadCell, match=says):
        axis_of(word)


def test_a_grid_is_every_combination_the_last_axis_fastest() -> None:
    names = [draft.name for draft in grid([("lr", ("1e-3", "1e-4")), ("seed", ("0", "1"))])]
    assert names == ["lr=1e-3,seed=0", "lr=1e-3,seed=1", "lr=1e-4,seed=0", "lr=1e-4,seed=1"]


@pytest.mark.parametrize(
    ("axes", "says"),
    [
        ([("a", ("1", "1"))], "a=1 is given twice"),
        ([("a", ("1",)), ("a", ("2",))], "parameter a is given twice"),
        ([(name, tuple(map(str, range(400)))) for name in "ab"], "160000 cells"),
    ],
)
def test_a_grid_that_cannot_be_meant_is_refused(axes: list[tuple[str, tuple[str, ...]]], says: str) -> None:
    with pytest.raises(BadCell, match=says):
        list(grid(axes))


@pytest.mark.parametrize(
    ("line", "values", "priority"),
    [
        ("lr=1e-3 seed=2", (("lr", "1e-3"), ("seed", "2")), 0),
        ("lr=1e-3 priority=5 seed=2  # the good one", (("lr", "1e-3"), ("seed", "2")), 5),
        ("  lr='a b'\r", (("lr", "a b"),), 0),
        ("lr=a=b", (("lr", "a=b"),), 0),
        ("lr=", (("lr", ""),), 0),
    ],
)
def test_a_line_is_a_cell(line: str, values: tuple[tuple[str, str], ...], priority: int) -> None:
    draft = from_line(line, ("lr", "seed"), "queue.txt:1")
    assert draft is not None
    assert (draft.values, draft.priority) == (values, priority)


@pytest.mark.parametrize("line", ["", "   ", "# lr=1", "\r"])
def test_a_blank_line_or_a_comment_is_none(line: str) -> None:
    assert from_line(line, ("lr",), "q:1") is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("lr", "is not NAME=VALUE"),
        ("lr='1", "quotes do not match"),
        ("lr=1 lr=2", "given twice"),
        ("priority=5", "at least one parameter"),
        ("lr=1 priority=high", "priority is a whole number"),
    ],
)
def test_a_wrong_line_is_one_sentence(line: str, says: str) -> None:
    with pytest.raises(BadCell, match=says):
        from_line(line, ("lr",), "q:1")


def test_a_whole_line_may_be_the_value() -> None:
    draft = from_line("priority=3 python train.py --name 'a b'", ("line",), "q:1")
    assert draft is not None
    assert (draft.values, draft.priority) == ((("line", "python train.py --name 'a b'"),), 3)


def test_a_cell_has_what_the_commands_want_and_no_more() -> None:
    draft = from_table({"lr": 0.001, "sead": 2}, "cells[0]")
    assert missing_in(draft, ("lr", "seed")) == "lacks seed; sead is in no command"
    assert missing_in(draft, ("lr", "sead")) == ""


def test_known_cells_keep_their_numbers_and_each_comes_once() -> None:
    drafts = list(grid([("n", ("1", "2", "3"))]))
    found = list(numbered([*drafts, *drafts], {"n=2"}, 5))
    assert [(cell.number, cell.name) for cell in found] == [(5, "n=1"), (6, "n=3")]


@pytest.mark.parametrize("value", ["a/b", "../x", "a b", "$(rm -rf /)", "\n", "ü", "x" * 300, ",", "="])
def test_a_hostile_value_makes_a_name_that_is_one_folder(value: str) -> None:
    name = cell_name((("p", value),))
    assert len(name) <= NAME_LIMIT
    assert "/" not in name
    assert name.isascii()
    assert name.isprintable()
    assert " " not in name
    assert name != cell_name((("p", value + "x"),))


def test_values_that_look_alike_once_cleaned_have_names_of_their_own() -> None:
    assert cell_name((("p", "a/b"),)) != cell_name((("p", "a b"),))
    assert cell_name((("a", "1,b=2"),)) != cell_name((("a", "1"), ("b", "2")))
