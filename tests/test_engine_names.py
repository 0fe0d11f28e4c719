"""An engine's name stands in its own modules and in the one table (onbox/model/engines.py), and nowhere else."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from onbox.backends.table import cluster_of, probe_of, stages_of
from onbox.config.tables.engines import PARTS
from onbox.model.engines import CLUSTERS, ENGINES, NAMES, ON_BOX, PER_STAGE
from tests.box import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onbox.model.engines import Engine

PACKAGES = ("onbox", "patrol", "sentinels", "handbook")
TABLE = "onbox/model/engines.py"
_WORD = re.compile(rf"(?i)(?<![a-z])(?:{'|'.join(NAMES)})(?![a-z])")
EXCEPTIONS = {
    "onbox/triage/": "reads the words of whatever program broke, with or without a back end",
    "onbox/logs/model/": "reads the prefixes that launchers put before a line",
    "onbox/backends/log_signs.py": "reads the words of programs, too, and names where they come from",
    "onbox/preflight/session.py": "names the scheduler whose job this shell is part of, not a back end",
    "onbox/commands/sweeps/start.py": "names the engine's own way to run many jobs",
    "onbox/commands/chain.py": "an example in its help",
    "onbox/commands/check.py": "an example in its help",
    "patrol/commands/add.py": "an example in its help",
}


def names_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The lines of texts and imports that name an engine; docstrings are prose."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        found = ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in prose:
            found = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        elif isinstance(node, ast.ImportFrom):
            found = " ".join((node.module or "", *(alias.name for alias in node.names)))
        elif isinstance(node, ast.Import):
            found = " ".join(alias.name for alias in node.names)
        if _WORD.search(found):
            yield getattr(node, "lineno", 0), found


def is_own(path: Path) -> bool:
    """Whether it is a module of one engine: then its file or its folder has the engine's name."""
    return bool(_WORD.search(path.stem) or path.parent.name in NAMES)


@cache
def naming() -> dict[str, list[tuple[int, str]]]:
    found = {}
    for package in PACKAGES:
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            place = path.relative_to(REPOSITORY).as_posix()
            if place != TABLE and not is_own(path) and (lines := list(names_in(ast.parse(path.read_bytes())))):
                found[place] = lines
    return found


def test_an_engine_is_named_in_its_modules_and_in_one_table() -> None:
    found = naming()
    left = {place: lines for place, lines in found.items() if not place.startswith(tuple(EXCEPTIONS))}
    assert not left, f"an engine's name belongs in its own module, or in {TABLE}"


def test_no_exception_is_left_over() -> None:
    found = naming()
    assert [one for one in EXCEPTIONS if not any(place.startswith(one) for place in found)] == []


@pytest.mark.parametrize(
    "source",
    ['if backend == "slurm": pass', 'x = {"ray": 1}', "from onbox.backends.iris import text", "x = b'\"slurm\"'"],
)
def test_a_name_in_code_is_seen(source: str) -> None:
    assert list(names_in(ast.parse(source)))


@pytest.mark.parametrize("source", ['"""As Slurm does."""', 'x = "array of rays"', "import tray"])
def test_prose_and_other_words_are_not(source: str) -> None:
    assert not list(names_in(ast.parse(source)))


@pytest.mark.parametrize("row", ENGINES, ids=NAMES)
def test_every_module_of_a_row_has_what_its_users_ask_of_it(row: Engine) -> None:
    part = PARTS[row.name]
    assert callable(import_module(row.backend).make)
    assert callable(import_module(row.check).CHECK.check)
    assert f"[{row.name}]" == part.keys.HEADER
    if row.name in PER_STAGE:
        assert callable(stages_of(row.name).fit)
        assert callable(stages_of(row.name).requeue_argv)
    if row.name in ON_BOX:
        probe = probe_of(row.name)
        assert f"onbox_{row.name}()" in probe.FUNCTIONS
        assert f"onbox_reach_{row.name}()" in probe.REACH
        assert f"onbox_queue_{row.name}()" in probe.QUEUE
        assert all(map(callable, (probe.parse_probe, probe.has_no_commands, probe.read_names)))
    if row.name in CLUSTERS:
        assert row.address_key in part.keys.names()
        assert part.job_id is not None
        assert part.job_id(part.job_example) == part.job_example
        module = cluster_of(row.name)
        assert module.WORTH_READING.search("Traceback")
        assert all(map(callable, (module.default_address, module.default_token, module.look)))
        assert all(map(callable, (module.log_argv, module.read_new_id)))
