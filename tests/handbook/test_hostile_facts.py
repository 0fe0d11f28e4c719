"""Whatever a box says of itself, it can form nothing of the page, of what is printed, or of what is typed."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from handbook.box.records import parse
from handbook.log.logbook import INSTRUCTIONS, LogbookFile, find_books
from handbook.page.facts import BoxFacts, FailureFacts, RunFacts
from handbook.page.markdown import Markdown, code, joined, md, page_of, prose
from handbook.page.recovery import advise
from handbook.page.render import render
from handbook.page.summary import situation
from onbox.contract.readings import Absent, Unseen
from onbox.errors import Trouble
from onbox.outside import safe_line
from patrol.decide.remote_command import Way
from tests.handbook.made import made_facts, run_facts

if TYPE_CHECKING:
    from pathlib import Path

EVIL = (
    "**next** `touch PWNED` <b>[x](http://evil)</b> _now_ | x |\n## Next step\n```sh\ntouch PWNED\n```\r- **next** `x`"
)
OURS = ("way", "here", "onbox", "logbook", "folder", "run")  # a run's name is checked where it comes in


def poisoned(value: Any) -> Any:
    """The same facts with all texts of a box in them hostile."""
    if isinstance(value, str):
        return EVIL
    if isinstance(value, Absent | Unseen):
        return type(value)(EVIL)
    if hasattr(value, "_fields"):
        return value._replace(
            **{name: poisoned(one) for name, one in zip(value._fields, value, strict=True) if name not in OURS}
        )
    return tuple(map(poisoned, value)) if isinstance(value, tuple) else value


def without_code(page: str) -> str:
    return re.sub(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", "CODE", page)


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("managed", [True, False])
def test_words_of_a_box_form_nothing_of_the_page(number: int, *, managed: bool) -> None:
    clean = run_facts(number, managed=managed)
    odd = poisoned(clean)._replace(failure=FailureFacts(EVIL, EVIL, EVIL, EVIL, EVIL))
    box = poisoned(BoxFacts("gpu", "gpu", "/x", "ssh", "ann", "never", None, "refused", ("tomorrow",)))
    facts = made_facts(0, troubles=(EVIL,), boxes=(box,), title=EVIL)._replace(runs=(odd,))
    facts = facts._replace(watch=facts.watch._replace(trouble=EVIL, cron=EVIL))
    page = render(facts)
    assert [line for line in page.splitlines() if line.startswith("```")] == ["```sh", "```"]
    headings = [line for line in page.splitlines() if line.startswith("#")]
    assert not [line for line in headings if "Next step" in line and not line.startswith(("# Handbook", "## ·"))]
    shown = without_code(page)
    assert "touch PWNED`" not in shown
    assert "](" not in shown
    assert "<b>" not in shown
    assert " _now_ " not in shown
    assert len(re.findall(r"\*\*next\*\*", shown)) <= 3  # ours: twice above, once of the run
    assert page.count("\n") <= render(facts._replace(runs=(clean,))).count("\n") + 40


def test_every_string_of_a_run_is_poisoned() -> None:
    left = [
        name for name, value in poisoned(run_facts(1))._asdict().items() if isinstance(value, str) and value != EVIL
    ]
    assert left == ["run"]
    assert isinstance(poisoned(run_facts(1)), RunFacts)


def test_the_page_takes_no_line_that_was_made_by_hand() -> None:
    with pytest.raises(TypeError, match="was not made of Markdown"):
        page_of([Markdown("x"), f"- {EVIL}"])  # type: ignore[list-item]
    assert md("{} {}", "*a*", code("*b*")) == "·a· `*b*`"
    assert joined("; ", ["<a>", md("**b**")]) == "(a); **b**"
    assert prose("a_b __init__ _x_") == r"a_b \_\_init\_\_ \_x\_"
    assert code("a\nb ```` c") == "````` a⏎b ```` c `````"


@pytest.mark.parametrize("letter", ["\x1b[2J", "\n", "\u202e", "\U000e0041"])
def test_a_path_that_cannot_be_shown_offers_no_command(letter: str) -> None:
    run = run_facts(2, way=Way("gpu2", "gpu2", f"/root/a{letter}b"))
    advice = advise(run)
    assert (advice.first, advice.resume, advice.stop, advice.dry_run, advice.asked) == ("", "", "", "", ())
    assert advice.withheld == safe_line(advice.withheld)
    facts = made_facts(0)._replace(runs=(run,))
    last = situation(facts, [], "")[-1]
    assert last.startswith("next: no command is offered: it could not be typed as it is shown «ssh gpu2 ")
    assert "no command is offered" in render(facts)


@pytest.mark.parametrize("name", ["a;touch PWNED", "$(touch PWNED)", "`touch PWNED`", "a b", "x' y", "-x"])
def test_commands_quote_every_name(name: str) -> None:
    run = run_facts(4, run=name, box="gpu")
    advice = advise(run)
    assert shlex.split(advice.first) == ["patrol", "pull", f"gpu/{name}"]
    there = advise(run._replace(state="unknown"))
    assert name in shlex.split(shlex.split(there.first)[-1])
    assert [shlex.split(command) for _, command in advice.asked] == [["patrol", "ack", f"gpu/{name}"]]


def test_records_of_strange_names_are_not_taken() -> None:
    pieces = [
        ("run", "../AGENTS"),
        ("manifest", "{}"),
        ("run", "digits"),
        ("marker ../x_DONE", "{}"),
        ("marker a_DONE", ""),
    ]
    records = parse(
        "".join(f"\nM {kind}\n{text}" for kind, text in [*pieces, ("end", "")]).encode(), "M", ["../AGENTS", "digits"]
    )
    assert list(records.runs) == ["digits"]
    assert list(records.runs["digits"].markers) == ["a_DONE"]


@pytest.mark.parametrize(
    "name", ["../AGENTS", "/etc/x", "..", ".x", "a/b", "a\nb", "", *sorted(INSTRUCTIONS), "CLAUDE"]
)
def test_no_logbook_leaves_its_folder_or_instructs_an_agent(tmp_path: Path, name: str) -> None:
    with pytest.raises(Trouble, match="no logbook is called"):
        LogbookFile(os.fspath(tmp_path), name, os.fspath(tmp_path / "state"))
    (tmp_path / "logbook").mkdir()
    (tmp_path / "logbook" / "CLAUDE.md").write_text("x")
    assert find_books(os.fspath(tmp_path), os.fspath(tmp_path / "state")) == []


@pytest.mark.parametrize("link", ["logbook", "logbook/digits.md", "logbook/digits.md.torn"])
def test_a_logbook_is_written_through_no_link(tmp_path: Path, link: str) -> None:
    other = tmp_path / "other"
    project = tmp_path / "project"
    project.mkdir()
    if link == "logbook":
        other.mkdir()
    else:
        (project / "logbook").mkdir()
        other.write_text("alias ll=ls\ntorn")
        if link.endswith("torn"):
            (project / "logbook" / "digits.md").write_text("cut off")
    (project / link).symlink_to(other)
    book = LogbookFile(os.fspath(project), "digits", os.fspath(tmp_path / "state"))
    with pytest.raises((Trouble, OSError)):
        book.append([])
    assert not other.is_file() or other.read_text() == "alias ll=ls\ntorn"
    assert not other.is_dir() or os.listdir(other) == []
    if link == "logbook/digits.md":
        with pytest.raises(OSError, match="symbolic links"):
            book.read()
