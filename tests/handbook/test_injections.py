"""What a box says to an agent stands in a fence: on the page, in `handbook resume`, in the block for the next owner."""

from __future__ import annotations

import re
from typing import Any

import pytest

from handbook.auto_entries import contract_of, entry_of
from handbook.log.entry import parse_logbook, place, render_entry, render_head
from handbook.page.facts import BoxFacts, FailureFacts, RunFacts
from handbook.page.handover import handover_all
from handbook.page.markdown import page_of
from handbook.page.render import render
from handbook.page.summary import differences, situation
from onbox.contract.readings import Absent, Unseen
from onbox.fence import RULE
from tests.handbook.made import made_facts, run_facts
from tests.injections import INJECTIONS, told_bare

# Our own words, made of what a box says by rules that fence it, and what is typed, in which it is quoted.
OURS = {"says", "remedy", "further", "state", "rule", "severity", "look", "last_known", "signs", "progress"}
EVENTS = (
    "chain_started",
    "stage_failed",
    "stage_done",
    "detected",
    "rollback_begun",
    "attempt_started",
    "chain_stopped",
)
OURS |= {"way", "onbox", "box", "run", "would", "record"}


def poisoned(value: Any, text: str) -> Any:
    """The same facts, in which a box says this everywhere."""
    if isinstance(value, str):
        return text
    if isinstance(value, Unseen):
        return Unseen(text)
    if hasattr(value, "_fields") and not isinstance(value, Absent):
        ours = OURS if isinstance(value, RunFacts) else set()
        told = zip(value._fields, value, strict=True)
        return value._replace(**{name: poisoned(one, text) for name, one in told if name not in ours})
    return tuple(poisoned(one, text) for one in value) if isinstance(value, tuple) else value


def without_commands(page: str) -> str:
    """What is typed holds names as a shell's quoted words; that is tested elsewhere."""
    return re.sub(r"(`+) ?(?:ssh|cd|patrol|onbox|handbook) .+?\1", "COMMAND", page)


@pytest.mark.parametrize("number", range(5))
def test_nothing_that_a_box_says_stands_bare(number: int) -> None:
    for text in INJECTIONS:
        run = poisoned(run_facts(number), text)._replace(failure=FailureFacts(text, text, text, "ours", text))
        box = BoxFacts("gpu", text, text, "ssh", "ann", "never", None, text)
        facts = made_facts(0, troubles=(text,), boxes=(box,))._replace(runs=(run,))
        page = render(facts)
        assert told_bare(without_commands(page)) == []
        assert RULE in page
        old = {"runs": [{"box": run.box, "run": run.run, "state": text, "rule": text}]}
        lines = situation(facts, differences(old, facts), text)
        assert [bare for line in lines[:-1] for bare in told_bare(line)] == []
        assert told_bare(without_commands(page_of(handover_all(facts)))) == []


def test_no_entry_of_a_journal_tells_bare_what_the_box_wrote() -> None:
    """Whatever happened, and also where it was too long for the entry and was cut."""
    run = run_facts(0)
    for text in (*INJECTIONS, "x" * 100 + INJECTIONS[0]):
        record: dict[str, Any] = {
            "at": text,
            "stage": text,
            "reason": text,
            "what": text,
            "by": text,
            "step": text,
            "remedy": text,
        }
        record |= {"log": text, "checkpoint": text, "changed": [[text, text, text]] * 60, "warnings": [text]}
        for event in EVENTS:
            book = render_head(run.run, contract_of(poisoned(run, text), made_facts(0)))
            book += render_entry(place(entry_of(run, {**record, "event": event}, 1.8e9, text), parse_logbook(book)))
            assert told_bare(book) == [], event


def test_an_entry_of_an_upgraded_handbook_has_the_source_that_it_had() -> None:
    """Or every entry would be made a second time."""
    record = {"event": "stage_done", "at": "2026-11-21T05:10:24.000Z", "stage": "train"}
    made = entry_of(run_facts(0), record, 1.8e9, "20261121-051023-ab12")
    assert made.source == "journal 20261121-051023-ab12 2026-11-21T05:10:24.000Z stage_done train"
