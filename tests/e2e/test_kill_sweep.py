"""kill -9 of the runner at every step that it takes, then the same command again: the same end, no stage twice."""

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
LEDGER = "ledger.txt"
# Each stage writes when it begins and when it ends; together with the order of the lines this shows any overlap.
STAGES = (
    f"train=echo train-begins >>{LEDGER}; sleep 0.05; echo x >model.bin; echo train-ends >>{LEDGER}",
    f"eval=echo eval-begins >>{LEDGER}; cat model.bin >>{LEDGER}; echo eval-ends >>{LEDGER}",
)
UNDISTURBED = ["train-begins", "train-ends", "eval-begins", "x", "eval-ends"]
# Every eleventh step, for each way other ones; ONBOX_EVERY_STEP=1 for all of them.
STEP = 1 if os.environ.get("ONBOX_EVERY_STEP") else 11
CONFIG = '[stages.train]\ncmd = "unused"\nartifacts = ["model.bin"]\n'


def dying_run(box: Box, at: int, when: str) -> tuple[int, int | None]:
    """(exit code, number of operations if it was not killed)."""
    count = box.project.parent / "count"
    count.unlink(missing_ok=True)
    words = [sys.executable, str(DIE_AT), str(at), when, str(count), "chain", "--inline", *STAGES]
    done = warm.run(words, cwd=box.project, env=box.env, timeout=60)
    return done.returncode, int(count.read_text()) if count.exists() else None


def fresh_boxes(tmp_path: Path, first: int) -> Iterator[tuple[int, Box]]:
    for number in range(first, 1000, STEP):
        project = tmp_path / f"{number}" / "digits"
        project.mkdir(parents=True)
        (project / "onbox.toml").write_text(CONFIG)
        yield number, Box(project)


@pytest.mark.parametrize(("when", "first"), [("before", 1), ("after", 3), ("torn", 5)])
def test_a_kill_at_any_step_changes_nothing(tmp_path: Path, when: str, first: int) -> None:
    for at, box in fresh_boxes(tmp_path, min(first, STEP)):
        code, operations = dying_run(box, at, when)
        if operations is not None:
            assert code == 0
            assert operations > 40, "the sweep saw too few steps to mean anything"
            return
        assert code == -9
        again = box.onbox("chain", *STAGES)
        seen = (box.project / LEDGER).read_text().split()
        trace = f"killed {when} step {at}: {again.stdout}{again.stderr}"
        assert again.returncode == 0, trace
        assert seen == UNDISTURBED, trace
        assert box.markers == ["CHAIN_DONE", "eval_DONE", "train_DONE"], trace
        for name in box.markers:
            assert box.marker(name)["exit_code"] == 0, trace
        box.end_everything()
