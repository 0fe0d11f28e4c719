"""What the words of a provider mean: the known profiles, and users' own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.errors import Trouble
from patrol.teardown.profile import known_profiles, load_profile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", known_profiles())
def test_each_known_profile_says_everything(name: str) -> None:
    profile = load_profile(name, ".")
    assert profile.clocks
    assert profile.storage
    assert profile.verb(profile.default) is not None
    for verb in profile.verbs:
        assert all(verb), verb


def test_without_one_the_general_profile_speaks() -> None:
    assert load_profile(None, ".").name == "a provider in general"


def test_ones_own_is_read_from_a_file_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'name = "our cluster"\ndefault = "release"\n[verbs.release]\ncommand = "scancel ID"\ndoes = "ends it"\n'
        'stops = "all"\ngoes_on = "nothing"\nsurvives = "the home"\nundo = "no"\n'
    )
    assert load_profile("mine.toml", str(tmp_path)).verbs[0].command == "scancel ID"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ["name: is missing", "verbs: is missing"]),
        (
            "name = 'x'\ndefault = 'y'\n[verbs.z]\ncommand = 'c'\n",
            ["verbs.z.does: is missing", "default: is not one of"],
        ),
        ("name = 1\nclock = []\n", ["clock: is not a key", "name: is missing", "verbs: is missing"]),
        ("name =", ["is not a TOML file"]),
    ],
)
def test_all_that_is_wrong_with_it_is_told_at_once(tmp_path: Path, text: str, says: list[str]) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(Trouble) as trouble:
        load_profile("mine.toml", str(tmp_path))
    for words in says:
        assert words in str(trouble.value)


def test_one_that_nobody_knows_is_told_with_those_that_are_known() -> None:
    with pytest.raises(Trouble, match="generic"):
        load_profile("vastai", ".")
