"""What a box says to an agent stands in a fence: on the page, in `handbook resume`, in the block for the next owner."""

from __future__ import annotations

import re
from typing import Any

import pytest

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
