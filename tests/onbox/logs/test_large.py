"""A log of any size is read at its ends, and nothing is told that was not seen."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.cli.app import main
from onbox.logs import track
from onbox.logs.large import SEARCH_BYTES, LargeLogReading, read_large
from onbox.logs.line.read import read_line
from onbox.logs.progress import ProgressSettings
from onbox.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from onbox.logs.line.sights import SeenOnLine

REMARK = b"2026-11-21 03:15:01,658 INFO data.py: part of the data set is in the cache\n"
MIB = 1 << 20


def read(path: Path, *parts: bytes | int, settings: ProgressSettings | None = None) -> LargeLogReading:
    """Parts: bytes, or the size of a hole."""
    with open(path, "wb") as file:
        for part in parts:
            if isinstance(part, int):
                file.seek(part, os.SEEK_CUR)
            else:
                file.write(part)
    with open(path, "rb") as file:
        return read_large(Places(file.fileno(), path.stat().st_size), settings or ProgressSettings())


def remarks(size: int) -> bytes:
    return REMARK * (size // len(REMARK))


def steps(first: int, last: int, total: int) -> bytes:
    return b"".join(b"step %d/%d loss 2.310 lr 3e-4\n" % (step, total) for step in range(first, last + 1))


def test_where_no_two_lines_are_alike_less_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []

    def counted(text: str) -> SeenOnLine:
        looked_at.append(text)
        return read_line(text)

    monkeypatch.setattr(track, "read_line", counted)
    words = ("".join("abcdefghij"[int(digit)] for digit in str(at)) for at in range(100_000))
    log = b"".join(b"step %d/100000 sample %s is done\n" % (at, word.encode()) for at, word in enumerate(words))
    found = read(tmp_path / "a.log", log)
    assert (found.progress.current, found.progress.exact_max) == (99999, 100000)
    assert len(looked_at) < 2000


def test_a_terabyte_is_read_at_its_ends_only(tmp_path: Path) -> None:
    reading = read(tmp_path / "log", steps(1, 3000, 90000), 1 << 40, b"\n", steps(80001, 89000, 90000))
    assert (reading.progress.current, reading.progress.exact_max) == (89000, 90000)
    assert reading.progress.loss == 2.31
    assert not reading.matters
    assert reading.unread_bytes > 1 << 39


def test_what_only_the_beginning_showed_is_not_told_as_of_now(tmp_path: Path) -> None:
    reading = read(tmp_path / "log", steps(1, 5000, 90000), 2 * SEARCH_BYTES, b"\n", remarks(MIB))
    assert reading.progress.current is None
    assert reading.progress.loss is None
    assert reading.matters


def test_a_declared_maximum_stands_in_the_beginning(tmp_path: Path) -> None:
    banner = b"***** Running training *****\n  Total optimization steps = 90,000\n"
    counts = b"".join(b"step %d loss 2.310 lr 3e-4\n" % step for step in range(1, 80001))
    reading = read(tmp_path / "log", banner, counts)
    assert (reading.progress.current, reading.progress.exact_max) == (80000, 90000)
    assert reading.matters  # a run that began between could have another one


def test_a_run_that_began_in_the_middle_has_its_own_maximum(tmp_path: Path) -> None:
    banner = b"***** Running training *****\n  Total optimization steps = %s\n"
    counts = [b"".join(b"step %d loss 2.3 lr 3e-4\n" % step for step in range(1, 60001)) for _ in range(2)]
    reading = read(tmp_path / "log", banner % b"90,000", counts[0], banner % b"70,000", counts[1])
    assert (reading.progress.current, reading.progress.exact_max) == (60000, 70000)


def test_an_epoch_that_is_told_seldom_is_found_above_the_end(tmp_path: Path) -> None:
    parts = [b"Epoch %d/90\n%s" % (epoch, remarks(MIB)) for epoch in range(1, 8)]
    reading = read(tmp_path / "log", *parts)
    assert (reading.progress.current, reading.progress.exact_max) == (7, 90)


def test_a_counter_far_above_the_end_is_found(tmp_path: Path) -> None:
    reading = read(tmp_path / "log", remarks(MIB), steps(1, 400, 500), remarks(6 * MIB))
    assert (reading.progress.current, reading.progress.exact_max) == (400, 500)


def test_a_loop_that_ended_far_above_is_found_however_much_was_written_since(tmp_path: Path) -> None:
    beats = b"".join(b"heartbeat %d: still waiting for rank 3 in all-reduce\n" % at for at in range(620_000))
    assert len(beats) > SEARCH_BYTES
    found = read(tmp_path / "a.log", steps(0, 200_000, 4_000_000), beats)
    assert (found.progress.current, found.progress.exact_max) == (200_000, 4_000_000)


def test_batches_of_an_epoch_are_not_the_run(tmp_path: Path) -> None:
    epochs = [
        b"Epoch %d/9\n" % epoch + b"".join(b"batch %d/20000 loss 2.310\n" % batch for batch in range(1, 20001))
        for epoch in range(1, 6)
    ]
    reading = read(tmp_path / "log", *epochs)
    assert (reading.progress.current, reading.progress.exact_max) == (5, 9)
    assert (reading.progress.inner_current, reading.progress.inner_max) == (20000, 20000)


def test_a_bar_without_line_breaks(tmp_path: Path) -> None:
    bar = b"".join(b"\r%3d%%|####  | %d/100000 [1:51:40<20:02:03,  3.28s/it]" % (n // 1000, n) for n in range(90000))
    reading = read(tmp_path / "log", bar)
    assert (reading.progress.current, reading.progress.exact_max) == (89999, 100000)


def test_a_regex_of_the_users_own_is_looked_for_further_up(tmp_path: Path) -> None:
    mine = ProgressSettings(regex=r"@(?P<current>\d+) of (?P<max>\d+)")
    reading = read(tmp_path / "log", remarks(MIB), b"@12 of 40\n", remarks(MIB // 2), settings=mine)
    assert (reading.progress.current, reading.progress.exact_max) == (12, 40)


def test_the_command_says_what_it_did_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read(tmp_path / "log", steps(1, 5000, 90000), 2 * SEARCH_BYTES, b"\n", remarks(MIB))
    assert main(["progress", str(tmp_path / "log")]) == 0
    shown = capsys.readouterr()
    assert shown.out == "no progress shown\n"
    assert "bytes in the middle were not read" in shown.err
