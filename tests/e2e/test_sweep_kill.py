"""kill -9 of a sweep's runner at every step that it takes, then the same command again: the same end, no cell twice."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests import warm
from tests.box import REPOSITORY, Box

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DIE_AT = REPOSITORY / "tests" / "fakes" / "die_at.py"
CELL = "echo begins-{n} >>ledger; echo x >out-{n}; echo ends-{n} >>ledger; test {n} != 2"
WORDS = ("sweep", "-j", "2", "n=1..3", "--", CELL)
LEDGER = ["begins-1", "begins-2", "begins-3", "ends-1", "ends-2", "ends-3"]
WHOLE = 1000
# Every 13th step, for each way another one; ONBOX_EVERY_STEP=1 for all of them (two minutes).
STEP = 1 if os.environ.get("ONBOX_EVERY_STEP") else 13


def dying_sweep(box: Box, at: int, when: str) -> tuple[int, int | None]:
    """(exit code, number of operations if it was not killed)."""
    count = box.project.parent / "count"
    count.unlink(missing_ok=True)
    words = [sys.executable, str(DIE_AT), str(at), when, str(count), WORDS[0], "--inline", *WORDS[1:]]
    done = warm.run(words, cwd=box.project, env=box.env, timeout=60)
    return done.returncode, int(count.read_text()) if count.exists() else None


def fresh_boxes(tmp_path: Path, first: int, step: int) -> Iterator[tuple[int, Box]]:
    for number in range(first, WHOLE, step):
        project = tmp_path / f"{number}" / "digits"
        project.mkdir(parents=True)
        yield number, Box(project, "sweep")


@pytest.mark.parametrize(("when", "first"), [("before", 1), ("after", 2), ("torn", 5)])
def test_a_kill_at_any_step_runs_no_cell_twice(tmp_path: Path, when: str, first: int) -> None:
    for at, box in fresh_boxes(tmp_path, min(first, STEP), STEP):
        code, operations = dying_sweep(box, at, when)
        if operations is not None:
            assert code == 1
            assert operations > 60, "the sweep saw too few steps to mean anything"
            return
        assert code == -9
        again = box.onbox(*WORDS)
        trace = f"killed {when} step {at}: {again.stdout}{again.stderr}"
        assert again.returncode == 1, trace
        assert sorted((box.project / "ledger").read_text().split()) == LEDGER, trace
        assert box.markers == ["CHAIN_FAILED", "SWEEP_FAILED"], trace
        assert "2 of 3 done, 1 failed" in str(box.marker("SWEEP_FAILED")["reason"]), trace
        for number, end in ((1, "DONE"), (2, "FAILED"), (3, "DONE")):
            assert (box.state / "cells" / f"n={number}" / "markers" / f"CHAIN_{end}").exists(), trace
        box.end_everything()
