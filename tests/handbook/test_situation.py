"""What `handbook resume` says in ten lines."""

from __future__ import annotations

import pytest

from handbook.facts import ResumeFacts
from handbook.situation import LINES, run_line, situation
from onbox.contract.readings import Unseen
from tests.handbook.made import made_facts, run_facts


@pytest.mark.parametrize("count", [0, 1, 3, 12])
@pytest.mark.parametrize("changed", [0, 1, 5])
@pytest.mark.parametrize("trouble", ["", "another tick runs"])
def test_it_is_ten_lines_at_most_and_the_last_one_is_typed(count: int, changed: int, trouble: str) -> None:
    facts = made_facts(count)
    if count:
        first = run_facts(2)  # interrupted: its next command is the resume, which needs the most lines
        facts = facts._replace(runs=(first, *(run_facts(number * 5) for number in range(1, count))))
    said = situation(facts, [f"gpu0/digits: state {number}" for number in range(changed)], trouble)
    assert len(said) <= LINES
    assert said[-1].startswith("next: ")


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        (ResumeFacts("start", "starts again", "train", "step 10, ckpt/10.npz: whole", whole=True), "step 10"),
        (ResumeFacts("start", "starts again", "train", "none that is whole", whole=None), "none that is whole"),
        (Unseen("no answer"), "unknown"),
    ],
)
def test_a_resume_is_told_with_the_checkpoint_it_goes_on_from(known: ResumeFacts | Unseen, wanted: str) -> None:
    said = situation(made_facts(1, runs=(run_facts(2)._replace(resume=known),)), [], "")
    assert "resume -d" in said[-1]
    assert any(line.startswith("checkpoint: ") and wanted in line for line in said)


def test_what_stands_beside_the_verdict_is_named() -> None:
    run = run_facts(0)._replace(further=(("runner-gone", "its runner is gone"),), says="x" * 500)
    assert "rule healthy; also runner-gone" in run_line(run)
