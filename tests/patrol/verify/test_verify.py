"""`patrol verify` as a user runs it: behind a pull, over what it brought."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.patrol.transfer.places import finish
from tests.patrolled import Patrolled, patrolled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Patrolled]:
    with patrolled(tmp_path) as made:
        box = made.add_box("gpu1")
        np.savez(box.project / "best.npz", weights=np.arange(9.0))
        (box.project / "metrics.json").write_text('{"accuracy": 0.97}')
        (box.project / "notes.odd").write_text("something")
        finish(box, "best.npz", "metrics.json", "notes.odd")
        yield made


def test_what_came_is_loaded_once_and_entered(place: Patrolled) -> None:
    place.tick()
    assert place.patrol("pull", "gpu1/digits", "home").returncode == 0
    done = place.patrol("verify", "home")
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("OK ")
    assert last.endswith(", 0 errors")
    assert "next: patrol teardown-check gpu1" in done.stdout
    said = place.patrol("verify", "home", "--verbose").stdout
    assert "loaded   best.npz: npz: 1 arrays" in said
    assert "checksum notes.odd: no loader for its format" in said
    assert "results of gpu1/digits" in (place.local / "logbook" / "digits.md").read_text()
    (state,) = (place.state / "transfers").glob("pull.*.json")
    assert json.loads(state.read_text())["verified_at"]


def test_each_thing_that_is_wrong_is_named(place: Patrolled) -> None:
    assert place.patrol("pull", "gpu1/digits", "home").returncode == 0
    home = place.local / "home"
    (home / "best.npz").write_bytes((home / "best.npz").read_bytes()[:-1])
    (home / "metrics.json").write_text('{"accuracy": 0.98}')
    (home / "notes.odd").unlink()
    (home / "notes.odd").symlink_to("/etc/hostname")
    done = place.patrol("verify", "home")
    assert done.returncode == 1
    assert "ERROR    best.npz: it has" in done.stdout
    assert "ERROR    metrics.json: its checksum is not the one" in done.stdout
    assert "ERROR    notes.odd: " in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last.startswith("FAILED ")
    assert last.endswith(", 3 errors")
    assert place.patrol("pull", "gpu1/digits", "home").returncode == 0, "again it comes as it was"
    assert place.patrol("verify", "home").returncode == 0


def test_what_the_box_itself_has_broken_is_found(place: Patrolled) -> None:
    """Every byte came, and still nobody can load it."""
    project = place.boxes["gpu1"].project
    (project / "best.npz").write_bytes((project / "best.npz").read_bytes()[:-30])
    assert place.patrol("pull", "gpu1/digits", "home").returncode == 0
    done = place.patrol("verify", "home")
    assert done.returncode == 1
    assert "ERROR    best.npz: as npz it cannot be loaded" in done.stdout


def test_a_command_of_ones_own_loads_the_rest(place: Patrolled) -> None:
    place.head += "[[verify]]\nfiles = '*.odd'\ncommand = 'grep -q something'\n"
    place.write()
    assert place.patrol("pull", "gpu1/digits", "home").returncode == 0
    assert "`grep -q something` took it" in place.patrol("verify", "home", "-v").stdout
    place.head = place.head.replace("something", "nothing")
    place.write()
    done = place.patrol("verify", "home")
    assert done.returncode == 1
    assert "`grep -q nothing` ended with code 1" in done.stdout


def test_a_folder_without_a_manifest_is_told(place: Patrolled) -> None:
    done = place.patrol("verify", ".")
    assert done.returncode == 64
    assert "no onbox-manifest.jsonl there" in done.stderr
