"""Records of a run that are not files: a clone can hold links to devices, whoever writes there can put a FIFO."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MEMORY_BYTES = 1 << 30
HOLE_BYTES = 20 << 30


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HOLE_BYTES)


def onbox(folder: Path, *words: str) -> tuple[int, str]:
    """An onbox that may use so much memory; one that hangs fails the test."""
    done = subprocess.run(
        [sys.executable, "-m", "onbox", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("record", ["run.json", "events.jsonl"])
@pytest.mark.parametrize("plant", [fifo, device, hole], ids=["fifo", "device", "hole"])
def test_looks_end_whatever_lies_where_a_record_should(
    tmp_path: Path, record: str, plant: Callable[[Path], None]
) -> None:
    assert onbox(tmp_path, "chain", "--run", "odd", "a=true")[0] == 0
    path = tmp_path / ".onbox" / "odd" / record
    path.unlink()
    plant(path)
    for words in (("status",), ("check",), ("runs",), ("chain", "--run", "odd", "-d", "a=true")):
        code, said = onbox(tmp_path, *words)
        assert code in (0, 3, 64, 74, 78), (words, said)
        assert "Traceback" not in said
    if plant is not hole:
        assert f"{path}: it is a {plant.__name__.replace('fifo', 'FIFO')}, not a file" in onbox(tmp_path, "status")[1]
