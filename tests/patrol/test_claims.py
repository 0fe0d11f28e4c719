"""Two patrols of one place are told of each other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.config.parse import parse_config
from onbox.model.boxes import BoxSettings, Watch
from patrol.config.settings import Settings
from patrol.timer.claims import doubles, place_of, write_claim

if TYPE_CHECKING:
    from pathlib import Path

NOW, HOUR = 1_795_000_000.0, 3600.0


def patrol_of(folder: Path, name: str, *boxes: BoxSettings) -> Settings:
    """A patrol of its own, with a state folder beside those of the others."""
    config = parse_config({}, default_name=name)._replace(boxes=boxes)
    os.makedirs(folder / "state" / name)
    return Settings(str(folder / name), None, config, str(folder / "state" / name), ("ssh",))


@pytest.mark.parametrize("project", ["/root/digits", "/root/digits/"])
def test_the_same_project_is_one_place(tmp_path: Path, project: str) -> None:
    first = patrol_of(tmp_path, "first", BoxSettings("gpu1", "gpu1", "/root/digits", owner="ann"))
    second = patrol_of(tmp_path, "second", BoxSettings("box", "gpu1", project))
    write_claim(first, NOW, HOUR)
    told = doubles(second, list, NOW + HOUR)
    assert len(told) == 1
    assert "patrolled already by first" in told[0]
    assert "owner ann" in told[0]


def test_other_projects_and_hosts_are_other_places(tmp_path: Path) -> None:
    first = patrol_of(tmp_path, "first", BoxSettings("gpu1", "gpu1", "/root/digits"))
    others = (BoxSettings("a", "gpu1", "/root/other"), BoxSettings("b", "gpu2", "/root/digits"))
    write_claim(first, NOW, HOUR)
    assert doubles(patrol_of(tmp_path, "second", *others), list, NOW) == []


def test_a_note_counts_while_its_patrol_is_armed(tmp_path: Path) -> None:
    box = BoxSettings("gpu1", "gpu1", "/root/digits")
    first, second = patrol_of(tmp_path, "first", box), patrol_of(tmp_path, "second", box)
    write_claim(first, NOW, HOUR)
    assert doubles(second, list, NOW + 24 * HOUR) == []
    assert len(doubles(second, lambda: ["first"], NOW + 24 * HOUR)) == 1


def test_the_root_of_a_box_is_a_place() -> None:
    assert place_of(BoxSettings("a", "gpu1", "/")) == "gpu1 /"
    assert place_of(BoxSettings("a", "gpu1", None, watches=(Watch("x", log="/l"),))).startswith("gpu1 /l")
