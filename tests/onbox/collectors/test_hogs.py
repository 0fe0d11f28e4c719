"""What takes up the most room where disks fill."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.collectors import hogs
from onbox.collectors.hogs import find_hogs, places_on_full_disk, places_to_look
from onbox.commands.show.hogs_text import render_hogs

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def fill(path: Path, megabytes: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(1 << 20) * megabytes)
    return path


def test_the_biggest_comes_first_and_a_link_to_another_disk_is_followed(tmp_path: Path) -> None:
    place = tmp_path / "cache"
    fill(place / "pip/wheel", 2)
    fill(tmp_path / "data/hf/model", 5)
    (place / "huggingface").symlink_to(tmp_path / "data/hf")
    (place / "b").mkdir()
    os.link(place / "pip/wheel", place / "b/again")  # the same bytes
    fill(place / "small", 0)
    found = find_hogs([str(place)])
    assert [found.found[0].path, len(found.found)] == [f"{tmp_path}/data/hf", 2]
    assert sum(one.bytes for one in found.found) < 8 << 20
    assert found.found[0].bytes >= 5 << 20
    assert not found.late
    assert max(map(len, render_hogs(found).splitlines())) <= 80


def test_a_walk_that_is_too_long_says_so(tmp_path: Path) -> None:
    fill(tmp_path / "a/b", 2)
    found = find_hogs([str(tmp_path)], seconds=-1.0)
    assert found.late
    assert "over" in render_hogs(found)


def test_a_place_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    fill(tmp_path / "a", 1)
    assert find_hogs([str(tmp_path / "a")]).unseen == (f"{tmp_path}/a: Not a directory",)


def test_each_place_is_looked_into_once(tmp_path: Path) -> None:
    (tmp_path / "home/.cache").mkdir(parents=True)
    (tmp_path / "home/project").mkdir()
    environ = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path), "HF_HOME": str(tmp_path / "home/.cache")}
    places = places_to_look(environ, str(tmp_path / "home/project"))
    assert str(tmp_path) in places
    assert not [place for place in places if place.startswith(f"{tmp_path}/")]


def test_where_the_projects_disk_is_full_the_log_that_filled_it_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = fill(tmp_path / "project/.onbox/r/logs/train.1.log", 3)
    fill(tmp_path / "project/data/shard", 2)
    logs = [os.fspath(log.parent)]
    assert places_on_full_disk(os.fspath(tmp_path / "project"), logs) == ()
    monkeypatch.setattr(hogs, "FULL_SHARE", 2.0)
    monkeypatch.setattr(hogs, "LEAST_SHARE", 0.0)
    monkeypatch.setattr(os.path, "ismount", lambda path: path == os.fspath(tmp_path))
    full = places_on_full_disk(os.fspath(tmp_path / "project"), logs)
    fill(tmp_path / "other/model", 4)
    listed = [one.path for one in find_hogs(["/dev/shm", *full], full=full).found]
    there = [path for path in listed if path.startswith(os.fspath(tmp_path))]
    assert listed[: len(there)] == there  # before all that lies on other disks
    assert {os.fspath(log), os.fspath(tmp_path / "other"), os.fspath(tmp_path / "project/data")} <= set(there)
