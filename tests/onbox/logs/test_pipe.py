"""A log that comes through a pipe is kept at its ends only, whatever its size."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from onbox.logs.large import read_large
from onbox.logs.progress import ProgressSettings
from onbox.system.kept import HEAD_BYTES, TAIL_BYTES, Kept, places_of

if TYPE_CHECKING:
    from pathlib import Path


def through_a_pipe(data: bytes) -> Kept:
    read_end, write_end = os.pipe()

    def write() -> None:
        with os.fdopen(write_end, "wb") as file:
            file.write(data)

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(read_end, "rb") as stream:
        kept = places_of(stream)
    writer.join()
    assert isinstance(kept, Kept)
    return kept


BOTH = HEAD_BYTES + TAIL_BYTES


@pytest.mark.parametrize("size", [0, 5, HEAD_BYTES, HEAD_BYTES + 7, BOTH, BOTH + 1])
def test_both_ends_are_kept(size: int) -> None:
    data = os.urandom(min(size, 1 << 16)) * (size // (1 << 16) + 1)
    data = data[:size]
    kept = through_a_pipe(data)
    assert kept.size == size
    assert kept.read(0, HEAD_BYTES) == data[:HEAD_BYTES]
    end = max(0, size - TAIL_BYTES)
    assert kept.read(end, size) == data[end:]
    if size <= HEAD_BYTES + TAIL_BYTES:
        assert kept.read(0, size) == data


def test_what_lies_between_reads_as_nothing() -> None:
    kept = through_a_pipe(b"x" * (HEAD_BYTES + TAIL_BYTES + 100))
    assert kept.read(HEAD_BYTES + 10, HEAD_BYTES + 50) == b""


def test_a_large_log_through_a_pipe() -> None:
    banner = b"***** Running training *****\n  Total optimization steps = 900,000\n"
    counts = b"".join(b"step %d loss 2.310 lr 3e-4\n" % step for step in range(1, 500_001))
    reading = read_large(through_a_pipe(banner + counts), ProgressSettings())
    assert (reading.progress.current, reading.progress.exact_max) == (500_000, 900_000)
    assert reading.unread_bytes > 0


def test_a_redirected_file_is_read_where_it_lies(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"step 7/10 loss 2.3\n")
    with open(log, "rb") as stream:
        words = [sys.executable, "-m", "onbox", "progress", "-"]
        done = subprocess.run(words, stdin=stream, capture_output=True, text=True, check=True)
    assert done.stdout == "~7/10 (70%) loss 2.3\n"
