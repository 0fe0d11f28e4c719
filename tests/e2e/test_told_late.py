"""A stage failed, and its runner was killed before the end of the run was on record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.box import Box


@pytest.fixture
def cut_off(box: Box) -> Box:
    """As `kill -9` leaves it: the journal ends with the stage's failure, and no marker of the chain is there."""
    (box.project / "onbox.toml").write_text('[run]\nname = "digits"\n[stages.train]\ncmd = "echo x >>ran; exit 3"\n')
    assert box.onbox("chain").returncode == 1
    journal = box.state / "events.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    last = next(at for at, line in enumerate(lines) if '"stage_failed"' in line)
    journal.write_text("".join(lines[: last + 1]))
    (box.state / "markers/CHAIN_FAILED").unlink()
    return box


def test_a_resume_says_that_it_only_records_an_earlier_failure(cut_off: Box) -> None:
    foretold = " ".join(cut_off.onbox("resume", "--dry-run").stdout.split())
    assert "stage train failed, which is not the run's end yet: a resume records it" in foretold
    recorded = cut_off.onbox("resume")
    assert (recorded.returncode, cut_off.ran) == (1, ["x"])
    said = " ".join(recorded.stdout.split())
    assert "chain FAILED at stage train: exit_code: 3, wanted 0 note nothing was started" in said
    assert "Resume once more to run it again" in said
    again = cut_off.onbox("resume")
    assert (again.returncode, cut_off.ran) == (1, ["x", "x"])
    assert "nothing was started" not in again.stdout
