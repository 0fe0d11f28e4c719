"""The page: the same for the same facts, short, honest about its age and about what is not known, complete."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from handbook.page.facts import StageFacts
from handbook.page.notes import NOTES_BEGIN, NOTES_END, keep_notes
from handbook.page.recovery import advise
from handbook.page.render import render
from handbook.page.render_json import render_json
from handbook.page.render_run import around
from onbox.contract.readings import Unseen
from onbox.redact import redact
from tests.handbook.made import made_facts, run_facts


def test_same_facts_same_bytes() -> None:
    assert render(made_facts(4)) == render(made_facts(4))
    assert render_json(made_facts(4)) == render_json(made_facts(4))


def test_a_change_touches_only_its_own_lines() -> None:
    facts = made_facts(4)
    other = facts._replace(runs=(facts.runs[0]._replace(progress="~4700/5155 (91%)"), *facts.runs[1:]))
    before, after = render(facts).splitlines(), render(other).splitlines()
    assert len(before) == len(after)
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert changed
    assert all("gpu0/digits" in line for line in changed), changed


@pytest.mark.parametrize("count", [1, 5, 10, 25])
def test_it_stays_short(count: int) -> None:
    page = render(made_facts(count))
    assert page.count("\n") < 200
    first_screen = page.split("\n## Now")[0]
    assert first_screen.count("\n") <= 25
    assert len(first_screen) <= 2048


def test_the_first_screen_holds_the_first_command() -> None:
    lines = render(made_facts()).splitlines()
    assert "cd /home/ann/digits && handbook resume" in lines[:8]


def test_facts_that_are_old_are_called_so_in_the_first_line() -> None:
    assert "OLD FACTS" in render(made_facts(old="3h10m")).splitlines()[0]
    assert "old after 2026-11-21 06:03 UTC" in render(made_facts()).splitlines()[0]
    never = made_facts(as_of=None, good_until=None)
    assert "NOT LOOKED YET" in render(never).splitlines()[0]


@pytest.mark.parametrize("number", range(5))
def test_every_managed_run_says_all_that_is_needed(number: int) -> None:
    run = run_facts(number)
    page = render(made_facts(1)._replace(runs=(run,)))
    advice = advise(run)
    for text in (advice.first, advice.resume, advice.stop, advice.dry_run, "step 10, ckpt/step-10.npz: whole"):
        assert text in page
    for text in ("python train.py", "disk free 5.0 GB", "train_DONE", "CHAIN_FAILED", "logs/train.1.log", "feedbeef"):
        assert text in page
    assert "refuses a second launch itself" in page


@pytest.mark.parametrize("number", range(5))
def test_commands_are_whole_shell_lines(number: int) -> None:
    advice = advise(run_facts(number)._replace(run="a b'c"))
    for command in filter(None, (advice.first, advice.resume, advice.stop, advice.dry_run)):
        assert shlex.split(command)
    assert not advice.resume or "a b'c" in shlex.split(shlex.split(advice.resume)[-1])


def test_what_is_not_known_says_why() -> None:
    run = run_facts(0)._replace(stages=Unseen("run.json was cut off"), resume=Unseen("no onbox there"))
    page = render(made_facts(1)._replace(runs=(run,)))
    assert "chain: unknown («run.json was cut off»)" in page
    assert "unknown («no onbox there»)" in page


def test_names_of_variables_and_never_values() -> None:
    page = render(made_facts())
    assert "WANDB_API_KEY" in page
    assert page == redact(page)


def test_notes_survive_a_rebuild_byte_for_byte() -> None:
    notes = "call ann before 18:00\n\n  indented | piped `ticked`\n"
    page = render(made_facts(), notes)
    kept = keep_notes(page)
    assert (kept.notes, kept.damaged) == (notes, False)
    assert render(made_facts(), kept.notes) == page


@pytest.mark.parametrize("lost", [NOTES_BEGIN, NOTES_END])
def test_damaged_marks_are_noticed(lost: str) -> None:
    assert keep_notes(render(made_facts(), "precious\n").replace(lost, "")).damaged
    assert not keep_notes(None).damaged
    assert keep_notes("somebody's own page\n").damaged


def test_of_a_long_chain_those_at_work_are_shown() -> None:
    stages = [StageFacts(f"s{n}", "true", "done" if n < 50 else "pending") for n in range(90)]
    shown = [stage.name for stage in around(stages, 6)]
    assert "s50" in shown
    assert len(shown) == 6


def test_json_has_what_programs_ask_for() -> None:
    data = json.loads(render_json(made_facts(3)))
    assert {"box", "run", "state", "rule", "next_command"} <= data["runs"][0].keys()
    assert data["runs"][0]["severity"] == "critical", "who needs somebody stands first"
    assert data["first_command"].endswith("handbook resume")


HOSTILE = "x\n- **next** `rm -rf /` <img src=http://evil> [a](http://evil) | # <!-- end of notes"


def test_text_of_a_box_forms_nothing_of_its_own_in_the_page() -> None:
    from handbook.box.run_facts import PatrolKept, describe
    from onbox.contract.states import RunState
    from patrol.decide.remote_command import Way
    from patrol.snapshot import Failure, RunLook
    from patrol.verdict import Finding, Severity, Verdict

    finding = Finding(HOSTILE, Severity.CRITICAL, HOSTILE, HOSTILE)
    failure = Failure(HOSTILE, HOSTILE, None, HOSTILE, HOSTILE, HOSTILE, "marker")
    look = RunLook("r", managed=True, place=HOSTILE, failure=failure)
    told = PatrolKept("b", "r", look, Verdict("b", "r", RunState.FAILED, finding, (finding,)), 1.0)
    run = describe(told, Way("b", "b", "/p"), None, None)
    page = render(made_facts(1)._replace(runs=(run,)))
    assert [line for line in page.splitlines() if line.startswith("- **next**")] == [
        line for line in page.splitlines() if "**next** `ssh b" in line
    ]
    bare = re.sub(r"(`+).*?\1", "", page)
    for text in ("<img", "](http", "**next** rm", "# <!--"):
        assert text not in bare
    assert keep_notes(page).damaged is False
