"""samples.jsonl: never in the run's way, never longer than its limit, and never without its past."""

from __future__ import annotations

import os
import subprocess
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from onbox.chain.observe.sample_file import SampleFile, read_samples, thin
from onbox.contract.samples import render_sample

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIMIT = 4096


def sample(number: int, padding: int = 0) -> dict[str, Any]:
    at = f"2026-01-02T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z"
    return {"at": at, "n": number, **({"padding": "x" * padding} if padding else {})}


def numbers(path: Path) -> list[int]:
    return [one["n"] for one in read_samples(str(path))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "samples.jsonl"


@pytest.fixture
def file(path: Path) -> SampleFile:
    return SampleFile(str(path), LIMIT)


def fill(file: SampleFile, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        file.append(sample(number))


def test_samples_come_back_in_their_order(file: SampleFile, path: Path) -> None:
    fill(file, 5)
    assert numbers(path) == [0, 1, 2, 3, 4]
    assert (file.missed, path.stat().st_mode & 0o777) == (0, 0o600)


def test_without_a_file_there_are_no_samples(path: Path) -> None:
    assert read_samples(str(path)) == []


# -- what others do to the file


def test_a_removed_file_begins_anew(file: SampleFile, path: Path) -> None:
    fill(file, 2)
    path.unlink()
    fill(file, 1, 2)
    assert (numbers(path), file.missed) == ([2], 0)


def test_a_truncated_file_goes_on(file: SampleFile, path: Path) -> None:
    fill(file, 2)
    os.truncate(path, 0)
    fill(file, 1, 2)
    assert path.read_bytes() == render_sample(sample(2))


def test_a_moved_file_keeps_what_it_had(file: SampleFile, path: Path) -> None:
    fill(file, 2)
    moved = path.rename(path.with_suffix(".1"))
    fill(file, 1, 2)
    assert (numbers(moved), numbers(path)) == ([0, 1], [2])


@pytest.mark.parametrize("cut", [1, 2, 20])
def test_a_torn_last_line_costs_only_itself(file: SampleFile, path: Path, cut: int) -> None:
    fill(file, 2)
    os.truncate(path, path.stat().st_size - cut)
    fill(file, 1, 2)
    assert numbers(path) == ([0, 1, 2] if cut == 1 else [0, 2])


@pytest.mark.parametrize("junk", [b"no json\n", b"\0\xff\xfe\r\n\x85" * 9, b"\n\n\n", b"{}\n[]\n", b'{"at": "cut of'])
def test_junk_costs_only_itself(file: SampleFile, path: Path, junk: bytes) -> None:
    fill(file, 2)
    with path.open("ab") as other:
        other.write(junk)
    fill(file, 2, 2)
    assert (numbers(path), file.missed) == ([0, 1, 2, 3], 0)


def test_where_no_file_can_be_a_sample_is_missed(file: SampleFile, path: Path) -> None:
    path.mkdir()
    fill(file, 3)
    assert file.missed == 3
    with pytest.raises(OSError, match="directory"):
        read_samples(str(path))


def test_without_its_folder_a_sample_is_missed(tmp_path: Path) -> None:
    file = SampleFile(str(tmp_path / "gone" / "samples.jsonl"))
    file.append(sample(0))
    assert file.missed == 1


# -- growth


def test_it_stays_bounded_and_keeps_the_whole_span(file: SampleFile, path: Path) -> None:
    for number in range(3000):
        file.append(sample(number))
        assert path.stat().st_size <= LIMIT
    kept = numbers(path)
    assert (file.missed, kept[0], kept[-1]) == (0, 0, 2999)
    assert kept == sorted(kept)
    assert kept[-10:] == list(range(2990, 3000))
    assert sorted(path.parent.iterdir()) == [path]


def test_its_past_gets_coarser_not_lost(file: SampleFile, path: Path) -> None:
    fill(file, 3000)
    kept = numbers(path)
    gaps = [later - earlier for earlier, later in pairwise(kept)]
    assert max(gaps) <= 5 * 3000 / len(kept)


def test_junk_pushes_no_samples_out(file: SampleFile, path: Path) -> None:
    fill(file, 10)
    with path.open("ab") as other:
        other.write(b"x" * (2 * LIMIT))
    fill(file, 2, 10)
    assert path.stat().st_size <= LIMIT
    assert numbers(path)[0] == 0
    assert numbers(path)[-3:] == [9, 10, 11]


def test_samples_larger_than_the_limit_keep_the_newest(file: SampleFile, path: Path) -> None:
    for number in range(20):
        file.append(sample(number, padding=2 * LIMIT))
    assert file.missed == 0
    assert numbers(path)[-1] == 19
    assert path.stat().st_size <= 7 * 2 * LIMIT + LIMIT


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 8, 100, 101])
def test_thinning_spares_the_first_and_the_newest(count: int) -> None:
    lines = [(30.0 * number, b"%d\n" % number) for number in range(count)]
    kept = thin(lines)
    assert lines[:1] == kept[:1]
    assert lines[count - max(1, count // 4) :] == kept[-max(1, count // 4) :]
    assert count <= 2 or len(kept) < count


def test_thinning_takes_where_samples_are_densest() -> None:
    sparse, dense, newest = range(0, 10_000, 1000), range(10_000, 10_200, 10), range(20_000, 20_010)
    kept = [at for at, _ in thin([(float(at), b"") for at in (*sparse, *dense, *newest)])]
    assert kept[:10] == list(sparse)
    assert kept[-10:] == list(newest)
    assert 10 <= len(kept) - 20 < 20


def test_a_jump_of_the_clock_costs_no_past(file: SampleFile, path: Path) -> None:
    fill(file, 100)
    file.append({"at": "2099-01-01T00:00:00Z", "n": -1})
    fill(file, 400, 100)
    assert len([number for number in numbers(path) if 0 <= number < 400]) > 15


# -- a full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real tmpfs of 64 KiB."""
    where = tmp_path / "small"
    where.mkdir()
    try:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "onbox-test", str(where)], check=False, capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("needs mount(8)")
    if done.returncode != 0:
        pytest.skip("needs the right to mount")
    yield where
    subprocess.run(["umount", str(where)], check=True)


@pytest.mark.root
def test_a_full_disk_costs_only_samples(small_disk: Path) -> None:
    path, ballast = small_disk / "samples.jsonl", small_disk / "ballast"
    file = SampleFile(str(path))
    fill(file, 2)
    with pytest.raises(OSError, match="No space left"):
        ballast.write_bytes(b"x" * (1 << 20))
    fill(file, 500, 2)
    assert file.missed > 0
    ballast.unlink()
    fill(file, 1, 9000)
    kept = numbers(path)
    assert (kept[:2], kept[-1]) == ([0, 1], 9000)
    assert len(kept) + file.missed == 503


@pytest.mark.root
def test_no_room_to_thin_misses_no_sample(small_disk: Path) -> None:
    path = small_disk / "samples.jsonl"
    file = SampleFile(str(path), 30_000)
    (small_disk / "ballast").write_bytes(b"x" * 32768)
    for number in range(1000):
        file.append(sample(number))
        if file.missed:
            break
    assert numbers(path)[0] == 0
    assert sorted(item.name for item in small_disk.iterdir()) == ["ballast", "samples.jsonl"]
