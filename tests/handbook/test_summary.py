"""What `handbook resume` says in ten lines."""

from __future__ import annotations

from typing import Any

import pytest

from handbook.page.facts import RecordFacts, ResumeFacts
from handbook.page.handover import handover
from handbook.page.render import render
from handbook.page.summary import LINES, overdue, run_line, situation
from onbox.contract.readings import Unseen
from tests.handbook.made import AS_OF, made_facts, run_facts


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


def test_where_nothing_could_be_looked_at_it_does_not_say_that_nothing_runs() -> None:
    blind = situation(made_facts(0)._replace(troubles=("the memory could not be read",)), [], "")
    assert "not known" in blind[-1]
    assert "nothing runs" in situation(made_facts(0)._replace(troubles=()), [], "")[-1]


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
    assert "rule healthy; also runner-gone: its runner is gone" in run_line(run)


def test_of_what_stands_beside_the_verdict_the_first_is_told_and_the_others_are_named() -> None:
    run = run_facts(0)._replace(further=(("done-with-warning", "the last loss is nan"), ("disk-low", "few bytes")))
    assert "also done-with-warning: the last loss is nan, disk-low)" in run_line(run)
    run = run._replace(further=(("fast-finish", "took 3s"), ("done-with-warning", "the last loss is nan"), ("a", "b")))
    assert "also fast-finish: took 3s, done-with-warning: the last loss is nan, a)" in run_line(run)


def test_what_is_the_matter_with_a_box_is_told_once() -> None:
    full = (("disk-trend", "bytes of / full in 4h"),)
    gone = ("runner-gone", "its runner is gone")
    runs = tuple(run_facts(0, box="gpu1", run=f"r{at}", further=(*full, gone)) for at in range(3))
    other = run_facts(0, box="gpu2", run="r", further=full)
    said = "\n".join(situation(made_facts(1)._replace(runs=(*runs, other)), [], ""))
    assert (said.count("bytes of / full in 4h"), said.count("runner-gone")) == (2, 3)


@pytest.mark.parametrize(
    ("here", "ticked", "wanted"),
    [(True, None, "onbox status"), (False, 1.0, "patrol status"), (False, None, "handbook resume --json")],
)
def test_what_shows_the_other_runs_knows_them(here: bool, ticked: float | None, wanted: str) -> None:  # noqa: FBT001 - a case
    facts = made_facts(12)
    facts = facts._replace(here=here, watch=facts.watch._replace(last_tick_at=ticked))
    assert any(line.endswith(f" more: {wanted}") for line in situation(facts, [], ""))


def test_a_live_run_without_a_word_by_hand_is_told_as_due() -> None:
    live = run_facts(0, record=RecordFacts(AS_OF - 90_000, by_hand=True, due_at=AS_OF - 3_600))
    quiet = run_facts(4, record=RecordFacts(AS_OF - 90_000, by_hand=True, due_at=None))
    facts = made_facts(1)._replace(runs=(live, quiet))
    assert overdue(facts, AS_OF) == [
        "record of gpu0/digits: nothing by hand since 2026-11-20 04:03 UTC: handbook log --run gpu0/digits TEXT"
    ]
    assert overdue(facts, AS_OF - 7_200) == []
    assert "last entry by hand 2026-11-20 04:03 UTC; the next is due by 2026-11-21 04:03 UTC" in render(facts)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"state": "failed", "signs": ("NO_ROOM",)}, "delete the best or the newest whole checkpoint"),
        ({"state": "done", "managed": False, "look": ""}, "delete anything before the results were loaded"),
    ],
)
def test_each_thing_that_must_not_be_done_has_its_own_not(changes: dict[str, Any], part: str) -> None:
    facts = made_facts(1)._replace(runs=(run_facts(0)._replace(**changes),))
    told = [
        "\n".join(situation(facts, [], "")),
        str(render(facts)),
        "\n".join(map(str, handover(facts, facts.runs[0]))),
    ]
    assert [text for text in told if f"do not {part}" not in text] == []
