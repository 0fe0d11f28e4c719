"""`patrol push`: what is missing or short is named and sent, whatever the link does, and compared once more."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING

import pytest

from patrol.transfer.compare import compare, compared_line
from tests.patrol.transfer.places import NAMES, Cutter, through
from tests.patrolled import Patrolled, patrolled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Patrolled]:
    with patrolled(tmp_path) as made:
        made.add_box("gpu1", 'counts = [{ local = "data", remote = "data/train" }]')
        yield made


def fill(folder: Path, count: int = 10, size: int = 1000) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"f{number}").write_bytes(os.urandom(size))


def same(here: Path, there: Path) -> bool:
    names = {path.relative_to(here) for path in here.rglob("*") if path.is_file()}
    return all((there / name).read_bytes() == (here / name).read_bytes() for name in names)


def test_a_data_set_is_compared_by_names_and_bytes_before_any_run(place: Patrolled) -> None:
    here, there = place.local / "data", place.boxes["gpu1"].project / "data/train"
    fill(here)
    assert "data/train: 0 of 10 files" in place.patrol("push", "gpu1", "--check").stdout
    fill(there, 7)
    (there / "f6").write_bytes(b"")
    (there / "stray").write_bytes(b"x")
    checked = place.patrol("push", "gpu1", "--check")
    assert checked.returncode == 1
    assert "data/train: 6 of 10 files, 6.0 kB of 10.0 kB; missing f7 f8 f9; short f6 (0 B of 1.0 kB)" in checked.stdout
    assert "1 extra on the box: stray" in checked.stdout
    assert "next: patrol push gpu1" in checked.stdout
    assert place.patrol("push", "gpu1", "--check", "--sha256").stdout.count("different f0 f1") == 1
    assert place.patrol("push", "gpu1", "--sha256").returncode == 0
    assert same(here, there)
    assert json.loads(place.patrol("push", "gpu1", "--check", "--json").stdout)["folders"][0]["complete"]


def test_odd_names_and_long_ones_arrive(place: Patrolled) -> None:
    here = place.local / "data"
    for name in (*NAMES, "a" * 150, "deep/" + "b" * 120 + "/" + "c" * 120):
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (here / "out").symlink_to("/etc/passwd")
    done = place.patrol("push", "gpu1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "out" in done.stderr
    there = place.boxes["gpu1"].project / "data/train"
    (here / "out").unlink()
    assert same(here, there)
    assert not os.path.lexists(there / "out")


def test_a_transfer_that_died_is_told_and_goes_on(place: Patrolled) -> None:
    here, there = place.local / "data", place.boxes["gpu1"].project / "data/train"
    fill(here, 3, 3_000_000)
    link = Cutter(place.sshd.port, upwards=True)
    through(place, link)
    chance = random.Random(7)
    seen = 0
    for _ in range(30):
        link.after_bytes = chance.randrange(100_000, 6_000_000)
        done = place.patrol("push", "gpu1", "--tries", "1")
        if done.returncode == 0:
            break
        seen += 1
        assert done.returncode == 3, done.stderr
        assert "Go on with: patrol push gpu1" in done.stderr
        assert "it stopped before its end, continue: patrol push gpu1" in place.patrol("status").stdout
    link.close()
    assert seen >= 2
    assert same(here, there)


def test_a_tick_says_that_files_are_missing_or_empty(place: Patrolled) -> None:
    fill(place.local / "data")
    there = place.boxes["gpu1"].project / "data/train"
    there.mkdir(parents=True)
    for number in range(10):
        (there / f"f{number}").write_bytes(b"")
    config = place.local / "onbox.toml"
    config.write_text(
        config.read_text().replace('name = "files-missing"\nenabled = false', 'name = "files-missing"\nenabled = true')
    )
    line = place.patrol("tick").stdout
    assert "data/train: 10 of 10 files, 0 B of 10.0 kB" in line
    assert "patrol push gpu1" in line


def test_the_line_names_what_is_missing_short_and_extra() -> None:
    here = {f"f{number}": 10 for number in range(12)}
    found = compare(here, {"f0": 10, "f1": 4, "f2": 20, "x": 1})
    assert compared_line("data", found) == (
        "data: 1 of 12 files, 24 B of 120 B; missing f10 f11 f3 f4 f5 and 4 more; short f1 (4 B of 10 B); "
        "different f2; 1 extra on the box: x"
    )
    assert not compare({}, {}).wanted
