"""The page says what was kept, tells apart what was seen, what is absent and what could not be looked at, and nothing
from a box becomes markup. What it does in a browser is tested in tests/e2e/test_page_in_browser.py.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from patrol.memory.rows import LastWord
from patrol.page.gather import gather
from patrol.page.model import PageHead, PageHistory, RunHistory
from patrol.page.write import page_of
from tests.patrol.makers import NOW
from tests.patrol.page.fleet import make_fleet, make_project
from tests.patrol.page.hostile import SECRET, hostile_history

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("jinja2", reason="needs jinja2, of the extra onbox[report]")

VOID = {"meta", "link", "input", "br", "img"}


class Reader(HTMLParser):
    """Elements with their attributes, and the text of each; every element that is opened is closed in its order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[int, str]] = []
        self._open: list[tuple[str, int]] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append((tag, len(self.elements) - 1))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts.append((self._open[-1][1], data))

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        return [
            attrs
            for name, attrs in self.elements
            if name == tag
            and all(value in attrs.get(key.rstrip("_").replace("_", "-"), "") for key, value in wanted.items())
        ]

    def data(self) -> list[dict[str, Any]]:
        """What the charts of each run are drawn from."""
        blocks: dict[int, str] = {}
        for number, text in self.texts:
            if self.elements[number] == ("script", {"type": "application/json"}):
                blocks[number] = blocks.get(number, "") + text
        return [json.loads(text) for text in blocks.values()]

    def text(self) -> str:
        return re.sub(
            r"\s+", " ", " ".join(text for at, text in self.texts if self.elements[at][0] not in ("script", "style"))
        )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    settings = make_fleet(tmp_path_factory.mktemp("fleet"), NOW, boxes=9, days=3)
    return Reader(page_of(gather(settings, NOW, 0.0)))


def test_the_overview_says_of_each_run_how_it_is_and_what_to_type(page: Reader) -> None:
    text = page.text()
    assert len(page.all("progress")) == 9
    assert len(page.all("details", class_="run")) == 9
    for said in ("✕ failed", "? unreachable", "▶ running", "✓ done", "4h15m", "302.40 USD", "12 of 20 cells", "1h30m"):
        assert said in text, said
    copied = {one["data-copy"] for one in page.all("button", class_="copy")}
    assert "patrol check lost-7" in copied
    assert any("onbox logs --run digits" in one for one in copied)
    names = [one["data-words"].split()[0] for one in page.all("tr", data_words="digits")]
    assert names[0] in ("h100-c/digits", "spot-3/digits"), "the worst comes first"
    assert names[-1] == "l40-1/digits"


def test_seen_absent_and_could_not_look_are_three_things(page: Reader) -> None:
    text = page.text()
    assert "none no nvidia-smi and no NVIDIA device" in text
    assert "not seen nvidia-smi did not answer within 5 s" in text
    assert "not at the last tick" in text
    assert {"absent", "unseen"} <= {one.get("class") for one in page.all("span")}


def test_what_proves_a_failure_stands_with_it(page: Reader) -> None:
    text = page.text()
    assert "Proof OSError: No space left on device train.1.log:900" in text
    assert 'File "/root/digits/train.py", line 211' in text
    assert "SIGTERM of the host" in text
    assert "data/tokens.bin prepare 2.1 GB" in text
    assert "checkpoint of step 38000 train" in text
    assert "lr=1e-3,seed=1 failed oom_host" in text
    assert "step 4079/50000" in text, "the end of its log"
    assert "inodes of /data used up in" in text


def test_each_run_brings_the_numbers_of_its_charts(page: Reader) -> None:
    blocks = page.data()
    assert len(blocks) == 9
    for block in blocks:
        assert {"loss", "disk", "progress"} <= block["charts"].keys()
        for chart in block["charts"].values():
            assert all(len(line["y"]) == len(block["tables"][chart["table"]]["x"]) > 50 for line in chart["lines"])
    assert sum("gpu" in block["charts"] for block in blocks) == 7
    assert sum(block["charts"]["loss"]["table"] == "series" for block in blocks) == 4
    assert sum("grad_norm" in block["charts"] for block in blocks) == 4
    ahead = [line["ahead"] for block in blocks for line in block["charts"]["disk"]["lines"] if line["ahead"]]
    assert [one[1][1] for one in ahead] == [100], "the one disk that fills, until it is full"


def test_nothing_is_loaded_and_one_script_may_run(page: Reader) -> None:
    (policy,) = page.all("meta", http_equiv="Content-Security-Policy")
    assert policy["content"].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy["content"]
    assert not page.all("img")
    assert not [attrs for _, attrs in page.elements if "src" in attrs or "style" in attrs]
    assert {one["href"][0] for one in page.all("a")} == {"#"}


def test_no_text_becomes_markup_or_hides() -> None:
    text = page_of(hostile_history())
    page = Reader(text)
    runs = len(page.all("details", class_="run"))
    assert runs == 1
    assert len(page.all("script")) == runs + 1
    assert not page.all("img")
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")]
    assert "49" not in page.text(), "what looks like a template is text"
    for hidden in ("\u202e", "\u2066", "\x1b", "\x00", SECRET):
        assert hidden not in text
    assert "<U+202E>gnp.exe" in page.text()


def test_a_verdict_that_cannot_be_read_any_more_leaves_its_line() -> None:
    word = LastWord("gpu1", "digits", NOW, "05:11 gpu1/digits RUNNING train", "{")
    history = PageHistory("x", "x", 0.0, PageHead(NOW, None, None, 1800.0), (RunHistory(word, None),))
    page = Reader(page_of(history))
    assert "? unknown" in page.text()
    assert "05:11 gpu1/digits RUNNING train" in page.text()
    assert "never" in page.text()


def test_a_project_that_nobody_looked_at_yet_has_a_page(tmp_path: Path) -> None:
    page = Reader(page_of(gather(make_project(tmp_path, [], NOW), NOW, 0.0)))
    assert "No run is known yet. Type patrol tick" in page.text()
    assert "No tick has run yet" in page.text()


def test_a_next_tick_is_named_where_something_fires_it() -> None:
    standing = PageHead(NOW, NOW, NOW + 600, 1800.0)
    by_hand, by_timer = (
        Reader(page_of(PageHistory("x", "x", 0.0, standing._replace(timed=timed), ()))).text()
        for timed in (False, True)
    )
    assert ("next due" in by_hand, "no timer is known" in by_hand) == (False, True)
    assert ("next due" in by_timer, "no timer is known" in by_timer) == (True, False)
