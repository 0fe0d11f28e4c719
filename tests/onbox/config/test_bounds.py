"""A configuration that is made to hold its reader up: refused in one line, soon."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.config.bounds import DIGITS, KEY_PARTS, bounds_problem
from onbox.config.template import render_template
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.project import FILE_LIMIT_BYTES, BrokenConfig, load_project
from onbox.system.time_limit import time_limit

if TYPE_CHECKING:
    from pathlib import Path

SIZE = FILE_LIMIT_BYTES - 100
BOUND_SECONDS = 60.0  # far over what each takes, far under what they took: minutes, or for ever
HOSTILE = {
    "nested brackets": "x = " + "[" * 100_000,
    "nested tables": "x = " + "{a=" * 5000,
    "a long number": "x = " + "1" * 5_000_000,
    "a number of 15,000 digits": "x = " + "1" * 15_000,
    "a hexadecimal number": "x = 0x" + "F" * 500_000,
    "a dotted key": "a." * 200_000 + "a = 1",
    "a dotted key in a small file": "triage." + "a." * 7000 + "a = 1",
    "dotted keys in a table": "x = {" + ",".join("a." * 20 + f"b{at} = 1" for at in range(15_000)) + "}",
    "a dotted head": "[" + "a." * 200_000 + "a]",
    "a long key": '"' + "a." * 400_000 + '" = 1',
    "a key of brackets": '"' + "a[1]" * 200_000 + '" = 1',
    "many unknown keys": "\n".join(f"key{at} = 1" for at in range(70_000)),
    "a list over lines": "y = 1\nx = [\n" + "1,\n" * (SIZE // 3 - 10) + "]",
    "quotes that are not closed": 'x = "' + '\\"' * (SIZE // 2 - 10),
    "many lists of tables": "[[triage]]\n" * (SIZE // 11 - 10),
    "a large file": "#" * (FILE_LIMIT_BYTES + 1),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_file_holds_its_reader_up(tmp_path: Path, text: str) -> None:
    path = tmp_path / "onbox.toml"
    path.write_text(text)
    with time_limit(BOUND_SECONDS), pytest.raises(Trouble) as trouble:
        load_project(str(path))
    assert trouble.value.exit_code == Exit.CONFIG
    assert len(str(trouble.value)) < 40_000


def test_what_people_write_is_within_bounds() -> None:
    strings = 'x = """\n' + "a." * 100 + '\n[[[[ \\" """\ny = \'\'\'' + "1" * 1000 + "'''\nz = \"" + "a.b." * 50 + '"\n'
    assert bounds_problem(render_template("digits")) is None
    assert bounds_problem(strings) is None
    assert bounds_problem("# " + "a." * 100 + "[" * 100) is None
    assert bounds_problem(".".join(["a"] * KEY_PARTS) + " = 1") is None
    assert bounds_problem(f"x = {'1' * DIGITS}") is None
    assert bounds_problem("x = [" + "[1.5, 2.5]," * 1000 + "]") is None


def test_the_line_is_told() -> None:
    assert "line 3" in str(bounds_problem("a = 1\n\n" + "a." * 20 + "a = 1"))


@pytest.mark.parametrize("kind", ["link to nowhere", "link to itself", "folder", "FIFO"])
def test_what_is_no_file_is_not_taken_for_no_configuration(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "onbox.toml"
    if kind == "folder":
        path.mkdir()
    elif kind == "FIFO":
        os.mkfifo(path)
    else:
        path.symlink_to(path if kind == "link to itself" else tmp_path / "shared.toml")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BrokenConfig, match=r"onbox\.toml: (?:is a link to|cannot be read)"):
        load_project(None)
