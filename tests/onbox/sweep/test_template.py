"""Placeholders: what a cell's stage becomes, and what is told of a template before anything starts."""

from __future__ import annotations

import subprocess

import pytest

from onbox.model.manifest import Artifact, Stage
from onbox.model.sweep import Cell, cell_name
from onbox.sweep.cells.template import problems_of, shared_places, stage_of_cell, wanted_by


def cell(**values: str) -> Cell:
    pairs = tuple(values.items())
    return Cell(1, cell_name(pairs), pairs)


@pytest.mark.parametrize(
    ("command", "filled"),
    [
        ("t.py --lr {lr} --out runs/{cell}", "t.py --lr 1e-3 --out runs/lr=1e-3"),
        (("t.py", "{lr}", "x{cell}"), ("t.py", "1e-3", "xlr=1e-3")),
        ("echo ${lr} {{lr}} {} {sweep}", "echo ${lr} {lr} {} night"),
    ],
)
def test_a_command_gets_the_values_of_its_cell(command: str | tuple[str, ...], filled: str | tuple[str, ...]) -> None:
    assert stage_of_cell(Stage("s", command), "night", cell(lr="1e-3")).cmd == filled


def test_a_list_of_words_takes_a_value_as_it_is() -> None:
    assert stage_of_cell(Stage("s", ("echo", "{note}")), "sweep", cell(note="a b;")).cmd == ("echo", "a b;")


def test_a_cells_name_needs_no_quotes() -> None:
    one = cell(note="two words")
    assert stage_of_cell(Stage("s", "x runs/{cell}"), "sweep", one).cmd == f"x runs/{one.name}"


def test_a_shell_line_keeps_a_value_one_word() -> None:
    stage = stage_of_cell(Stage("s", "echo {note}"), "sweep", cell(note="a b; rm x"))
    assert stage.cmd == "echo 'a b; rm x'"


@pytest.mark.parametrize("place", ["{v}", "'{v}'", '"{v}"', "'a'{v}", "\\'{v}", "\"'{v}'\"", "x\\\\'{v}'"])
@pytest.mark.parametrize(
    "value", ["plain", "a b", "it's", 'say "x"', "$(echo no)", "`echo no`", "a\\b", "*", "a\nb", "{v}"]
)
def test_whatever_is_in_it_and_whatever_quotes_it_stands_in(place: str, value: str) -> None:
    line = f"printf '<%s>' {place}"
    told = subprocess.run(
        ["bash", "-c", str(stage_of_cell(Stage("s", line), "s", cell(v=value)).cmd)],
        capture_output=True,
        text=True,
        check=True,
    )
    around = {"'a'{v}": "a", "\\'{v}": "'", "x\\\\'{v}'": "x\\"}.get(place, "")
    quoted = f"'{value}'" if place == "\"'{v}'\"" else value
    assert told.stdout == f"<{around}{quoted}>"


def test_paths_environment_and_patterns_are_filled_in_too() -> None:
    stage = Stage(
        "s",
        "x",
        cwd="{lr}",
        env=(("LR", "{lr}"),),
        artifacts=(Artifact("o/{lr}.npz"), Artifact("{lr}/*.pt", is_glob=True)),
    )
    got = stage_of_cell(stage, "sweep", cell(lr="a*"))
    assert (got.cwd, got.env) == ("a*", (("LR", "a*"),))
    assert [one.pattern for one in got.artifacts] == ["o/a*.npz", "a[*]/*.pt"]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("t.py {lr} {sead}", 'did you mean "seed"'),
        ("t.py {lr} {zzz} {seed}", "to keep the braces as they are: {{zzz}}"),
        ("t.py {lr}", "parameter seed is in no command"),
    ],
)
def test_a_template_that_cannot_be_meant_is_told(command: str, says: str) -> None:
    assert any(says in problem for problem in problems_of([Stage("train", command)], ("lr", "seed")))


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("t.py", "--out", "results"), [("--out", "results")]),
        (("t.py", "--output_dir=x", "-o", "y"), [("--output_dir", "x"), ("-o", "y")]),
        (("t.py", "--out", "runs/{cell}", "--lr", "1", "--out"), []),
        (("t.py", "--output", "--fast"), []),
    ],
)
def test_a_place_to_write_that_is_the_same_for_all(words: tuple[str, ...], found: list[tuple[str, str]]) -> None:
    assert list(shared_places(words)) == found


def test_a_sound_template_has_no_problem() -> None:
    stages = [Stage("train", "t.py {lr} --out runs/{cell}"), Stage("eval", ("e.py", "{seed}", "${HOME}"))]
    assert list(problems_of(stages, ("lr", "seed"))) == []
    assert wanted_by(stages) == {"lr", "seed"}
