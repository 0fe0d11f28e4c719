"""docs/backends.md says what the code does."""

from __future__ import annotations

import re
import sys

import pytest

from onbox.backends.slurm.states import find_row
from onbox.config.parse import parse_config
from onbox.model.engines import CHOICES, ENGINES
from tests.box import REPOSITORY

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = (REPOSITORY / "docs" / "backends.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_its_configurations_are_valid(block: str) -> None:
    assert parse_config(tomllib.loads(block), default_name="digits").backend in CHOICES


def test_every_back_end_has_its_part() -> None:
    assert len(BLOCKS) == len(ENGINES)


def test_its_table_of_states_is_the_codes() -> None:
    rows = re.findall(r"^\| ([A-Z_, ]+) \| \S+ \| `(\w+)` \|$", PAGE, re.MULTILINE)
    assert len(rows) >= 4
    for words, failure_class in rows:
        for word in words.split(", "):
            row = find_row(word, "")
            assert row is not None
            assert row.failure_class == failure_class
