"""Which of many new bytes of a log are read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.logs.skim import Budget, skim
from onbox.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Budget(unlike=20, end_bytes=4096, skimmed_bytes=1 << 25)


def read(path: Path, start: int = 0, budget: Budget = SMALL) -> list[bytes]:
    fd = os.open(path, os.O_RDONLY)
    try:
        return [stretch.data for stretch in skim(Places(fd, path.stat().st_size), start, budget)]
    finally:
        os.close(fd)


def alike(count: int, end: bytes = b"\n") -> bytes:
    return b"".join(b"step %d loss 0.5" % at + end for at in range(count))


def letters(number: int) -> bytes:
    return bytes(ord("g") + int(digit) for digit in str(number))


def test_what_is_little_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(alike(100) + b"half a li")
    assert read(path) == [path.read_bytes()]
    assert read(path, path.stat().st_size) == []
    assert read(path, path.stat().st_size - 4) == [b"a li"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_between_beginning_and_end_the_newest_line_of_each_kind_is_read(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "a.log"
    middle = [b"Epoch 1/9", b"Epoch 2/9", b"loss is nan", b"\xe8\xae\xad\xe7\xbb\x83\xe5\xae\x8c\xe6\x88\x90"]
    path.write_bytes(end.join([alike(20_000, end), *middle, alike(20_000, end)]))
    first, *between, last = read(path)
    assert first.startswith(b"step 0 loss 0.5" + end)
    assert b"".join(between).split() == end.join(middle[1:]).split()
    assert last.endswith(b"step 19999 loss 0.5" + end)
    assert len(last) < 2 * SMALL.end_bytes


def test_digits_hashes_and_blocks_of_a_bar_make_no_other_kind(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    bars = "".join(f"{at % 99}%|{'█' * (at % 30)}▏ | {at}/9999 [{at:x}]\r" for at in range(20_000))
    path.write_text(bars + "\nvalidated\n" + bars)
    assert read(path)[1:-1] == [b"validated\n"]


def test_of_lines_that_hardly_are_alike_few_are_read_and_those_with_a_word_that_matters(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    different = [b"cached %s" % letters(at) for at in range(60_000)]
    path.write_bytes(b"\n".join([*different[:30_000], b"the loss is nan now", *different[30_000:]]) + b"\n")
    start = path.read_bytes().index(different[200])
    *between, last = read(path, start)
    assert b"the loss is nan now\n" in between
    assert sum(data.count(b"\n") for data in between) <= 40
    assert last.count(b"\n") <= 100


def test_of_many_kinds_the_newest_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    kinds = [b"note %s" % letters(at) for at in range(10)]
    path.write_bytes(b"".join(alike(9000) + kind + b"\n" for kind in kinds) + alike(9000))
    budget = SMALL._replace(unlike=8, end_bytes=2048)
    assert read(path, 1, budget)[1:-1] == [kind + b"\n" for kind in kinds[-4:]]


def test_what_lies_too_far_back_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(alike(60_000) + b"Epoch 2/9\n" + alike(20_000) + b"Epoch 3/9, last\n" + alike(1000))
    read_on = read(path, 100, SMALL._replace(skimmed_bytes=1 << 17))
    assert b"Epoch 3/9, last\n" in read_on
    assert b"Epoch 2/9\n" not in read_on


def test_a_log_without_a_line_break_is_read_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"." * 3_000_000 + b"end")
    data = read(path, 10)
    assert data[-1].endswith(b"end")
    assert sum(map(len, data)) < 3_000_000


def test_with_an_expression_of_the_user_each_line_costs(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(alike(2000))
    assert read(path, 16, Budget(100, 1 << 20, 1 << 20)) == [path.read_bytes()[16:]]
    *_, last = read(path, 16, Budget(100, 1 << 20, 1 << 20, each=True))
    assert last.count(b"\n") <= 101
