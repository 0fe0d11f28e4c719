"""The record: what is written stays, every change is found, two writers and a kill lose at most the entry in flight."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from handbook.log.entry import LogEntry, make_entry, parse_logbook, place, render_entry, render_head
from handbook.log.logbook import HEADS, LogbookFile, find_books
from onbox.errors import Trouble
from onbox.system.files import StateNotWritten
from tests.box import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

AT = 1_795_237_380.0
HARD_TEXTS = (
    "",
    "one line",
    "two\nlines\n\nand a gap",
    "### 2026-11-21 05:10:24 UTC - decision: not a heading",
    "`1 0123456789abcdef`\n",
    "\\escaped\n## Event Log\n- seq: 9",
    "ends in blank\n\n\n",
    "größe 模 ✓ | `code`",
)


def entry(text: str = "x", title: str = "a title", **more: str) -> LogEntry:
    return make_entry("observation", title, at=AT, run="gpu1/digits", actor="ann", attempt=2, text=text, **more)


def book(tmp_path: Path) -> LogbookFile:
    return LogbookFile(os.fspath(tmp_path), "digits", os.fspath(tmp_path / "state"))


@pytest.mark.parametrize("text", HARD_TEXTS)
def test_what_is_written_is_read_back(text: str) -> None:
    head = render_head("digits", [("DRI", "ann")])
    placed = place(
        entry(text, status="s: t", evidence="e", decision="d", next="n", source="journal 1"), parse_logbook(head)
    )
    again = place(entry("next"), parse_logbook(head + render_entry(placed)))
    read = parse_logbook(head + render_entry(placed) + render_entry(again))
    assert read.damages == ()
    assert read.entries == (placed, again)


def filled(tmp_path: Path, count: int = 6) -> tuple[LogbookFile, str]:
    made = book(tmp_path)
    for number in range(count):
        made.append([entry(f"text {number}", f"title {number}")], [("DRI", "ann")])
    with open(made.path, encoding="utf-8") as file:
        return made, file.read()


def test_the_shape_is_that_of_a_run_record(tmp_path: Path) -> None:
    _, text = filled(tmp_path, 1)
    assert "# Run record: digits" in text
    for heading in ("## Run Contract\n\n- DRI: ann", "## Launched Instances", "## Event Log"):
        assert heading in text
    assert "\n### 2026-11-21 05:03:00 UTC - observation: title 0\n" in text


def test_any_changed_byte_is_found(tmp_path: Path) -> None:
    made, text = filled(tmp_path)
    draw = random.Random(1)
    data = text.encode()
    for _ in range(200):
        at = draw.randrange(len(data))
        changed = data[:at] + bytes([data[at] ^ (1 << draw.randrange(7))]) + data[at + 1 :]
        if changed.decode("utf-8", "surrogateescape") == text:
            continue
        with open(made.path, "wb") as file:
            file.write(changed)
        assert made.damages(), f"byte {at}: {data[max(0, at - 20) : at + 20]!r}"


def test_any_lost_added_or_moved_line_is_found(tmp_path: Path) -> None:
    made, text = filled(tmp_path)
    lines = text.splitlines(keepends=True)
    for number in range(len(lines)):
        for changed in (
            lines[:number] + lines[number + 1 :],
            [*lines[:number], "- added: line\n", *lines[number:]],
            lines[:number] + lines[number : number + 2][::-1] + lines[number + 2 :],
        ):
            if "".join(changed) != text.removesuffix("\n") and changed != lines:
                with open(made.path, "w", encoding="utf-8") as file:
                    file.write("".join(changed))
                assert made.damages(), f"line {number}: {lines[number]!r}"


def test_lost_and_reordered_entries_are_found(tmp_path: Path) -> None:
    made, text = filled(tmp_path)
    head, *entries = text.split("### ")
    for changed in (entries[:2] + entries[3:], [entries[1], entries[0], *entries[2:]], entries[:-1], []):
        with open(made.path, "w", encoding="utf-8") as file:
            file.write("### ".join([head, *changed]))
        assert made.damages()
    os.unlink(made.path)
    assert made.damages(), "a logbook that is gone was there"
    assert [one.run for one in find_books(os.fspath(tmp_path), made.state)] == ["digits"]


def test_a_loss_is_found_after_further_entries_too(tmp_path: Path) -> None:
    made, text = filled(tmp_path, 4)
    for kept in (text[: text.rindex("### ")], text[: text.index("### ")], ""):
        with open(made.path, "w", encoding="utf-8") as file:
            file.write(kept)
        for number in range(2):  # the patrol appends by itself at every tick
            made.append([entry(f"later {number}")], [("DRI", "ann")])
        assert made.damages(), "what was cut off at the end is forgotten"
        assert made.read().entries[-1].seq > 4, "a number that was given is given again"


def test_a_tool_that_trims_the_end_of_files_costs_no_entry(tmp_path: Path) -> None:
    made, text = filled(tmp_path, 2)
    with open(made.path, "w", encoding="utf-8") as file:
        file.write(text.rstrip("\n") + "\n")
    assert made.damages() == []
    assert not made.append([entry("after")]).torn
    assert made.damages() == []
    assert [one.text for one in made.read().entries] == ["text 0", "text 1", "after"]


def test_nothing_that_was_written_is_ever_rewritten(tmp_path: Path) -> None:
    made, before = filled(tmp_path, 3)
    inode = os.stat(made.path).st_ino
    made.append([entry("more")])
    with open(made.path, encoding="utf-8") as file:
        assert file.read().startswith(before)
    assert os.stat(made.path).st_ino == inode


def test_an_entry_from_a_source_is_made_once(tmp_path: Path) -> None:
    made = book(tmp_path)
    assert len(made.append([entry(source="flip 1"), entry(source="flip 2"), entry(source="flip 1")]).entries) == 2
    assert made.append([entry(source="flip 1")]).entries == ()


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_link_in_the_place_of_a_logbook_is_not_written_through(
    tmp_path: Path, link: Callable[[str, str], None]
) -> None:
    """Whoever may write into the project could have put another file of the user there: ~/.profile, say."""
    made, mine = book(tmp_path), tmp_path / "profile"
    mine.write_text("export PATH, without a line end")
    os.makedirs(os.path.dirname(made.path))
    link(str(mine), made.path)
    with pytest.raises((StateNotWritten, Trouble), match="link"):
        made.append([entry()])
    assert mine.read_text() == "export PATH, without a line end"


def test_an_append_that_was_cut_off_is_put_aside_and_never_merged(tmp_path: Path) -> None:
    made, text = filled(tmp_path, 2)
    whole = render_entry(place(entry("lost"), parse_logbook(text)))
    for cut in (*range(1, len(whole.encode()) - 1, 7), len(whole.encode()) - 2):
        with open(made.path, "wb") as file:
            file.write(text.encode() + whole.encode()[:cut])
        os.unlink(tmp_path / "state" / HEADS)  # the earlier round's `after` was taken away by this test, not lost
        assert made.damages()
        written = made.append([entry("after")])
        assert written.torn
        assert made.damages() == []
        assert [one.text for one in made.read().entries] == ["text 0", "text 1", "after"]


def _fill(made: LogbookFile) -> int:
    """How many entries were accepted before the disk was full."""
    for number in range(1000):
        try:
            made.append([entry("x" * 5000, f"title {number}")])
        except StateNotWritten:
            return number
    return 1000


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a tmpfs")
def test_a_full_disk_loses_the_entry_in_flight_and_no_other(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", small], check=False, capture_output=True
    ).returncode:
        pytest.skip("may not mount here")
    try:
        made = LogbookFile(os.fspath(small), "digits", os.fspath(tmp_path / "state"))
        written = _fill(made)
        assert 0 < written < 1000
        assert made.damages() == []
        assert len(made.read().entries) == written
    finally:
        subprocess.run(["umount", small], check=True)


WRITER = """
import sys
from handbook.log.entry import make_entry
from handbook.log.logbook import LogbookFile
book = LogbookFile(sys.argv[1], "digits", sys.argv[1] + "/state")
for number in range(int(sys.argv[3])):
    new = make_entry("observation", f"{sys.argv[2]} {number}", at=1.8e9, run="b/r", actor=sys.argv[2], text="t\\n" * 20)
    print(book.append([new]).entries[0].seq, flush=True)
"""


def writer(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", WRITER, os.fspath(folder), name, str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(REPOSITORY)})


def test_two_writers_leave_no_gap(tmp_path: Path) -> None:
    writers = [writer(tmp_path, name, 40) for name in ("ann", "bob", "cleo")]
    said = [int(line) for one in writers for line in one.communicate(timeout=60)[0].split()]
    assert sorted(said) == list(range(1, 121))
    assert book(tmp_path).damages() == []
    assert len(book(tmp_path).read().entries) == 120


def test_what_was_accepted_survives_kill_9(tmp_path: Path) -> None:
    draw = random.Random(3)
    accepted: list[int] = []
    for turn in range(12):
        one = writer(tmp_path, f"w{turn}", 10_000)
        assert one.stdout is not None
        accepted.append(int(one.stdout.readline()))
        time.sleep(draw.random() * 0.05)  # the moment of the kill is what is drawn
        one.send_signal(signal.SIGKILL)
        accepted += [int(line) for line in one.communicate(timeout=60)[0].split("\n")[:-1]]
    made = book(tmp_path)
    made.append([entry("the next writer")])
    assert made.damages() == []
    numbers = [one.seq for one in made.read().entries]
    assert set(accepted) <= set(numbers)
    assert len(accepted) == len(set(accepted))
