"""The outbox on disk: whole or not at all, in order, bounded, whoever dies in between."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.contract.paths import RunPaths
from onbox.notify.queue import outbox as module
from onbox.notify.queue.outbox import DamagedMessage, Name, Outbox, parse_message, parse_name, render_message
from tests.onbox.notify.samples import FAILED, HOSTILE, message

if TYPE_CHECKING:
    from pathlib import Path

END = {"at": "2026-11-21T05:10:25.000Z", "reason": "HTTP 200: accepted", "status": 200, "tries": 1}


@pytest.fixture
def box(tmp_path: Path) -> Outbox:
    made = Outbox(RunPaths(os.fspath(tmp_path / "run")))
    made.make()
    return made


def test_a_message_comes_back_as_it_was() -> None:
    for notice in (FAILED, HOSTILE):
        one = message(7, notice)
        assert parse_message(one.name, render_message(one)) == one


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", b'{"notice":{}}', b'{"notice":3,"target":4}', b"[" * 99999])
def test_damage_is_a_value(text: bytes) -> None:
    assert isinstance(parse_message(Name(1, "a"), text), DamagedMessage)


@pytest.mark.parametrize("text", [".lock", ".target-a", "x.json", "12.json", "12-a.json.tmp99", "12-.json", "-a.json"])
def test_other_files_are_no_messages(text: str) -> None:
    assert parse_name(text) is None


def test_names_sort_by_what_happened_first(box: Outbox) -> None:
    for offset in (100000, 9, 20, 1000):
        box.put(message(offset))
        box.put(message(offset, target="b-2"))
    assert [name.offset for name in box.pending("hook")] == [9, 20, 1000, 100000]
    assert [name.target for name in box.pending("b-2")] == ["b-2"] * 4
    assert (box.floor("hook"), box.floor("nobody")) == (100000, None)


def test_the_files_are_private(box: Outbox) -> None:
    box.put(message(1))
    paths = box.paths
    assert [os.stat(folder).st_mode & 0o777 for folder in (paths.outbox, paths.sent, paths.dead)] == [0o700] * 3
    assert os.stat(f"{paths.outbox}/{message(1).name.text}").st_mode & 0o777 == 0o600


def test_a_delivered_message_leaves_with_its_end(box: Outbox) -> None:
    box.put(message(1))
    box.finish(message(1), box.paths.sent, END)
    assert box.pending() == []
    kept = box.read(message(1).name, box.paths.sent)
    assert kept == message(1)._replace(end=END)


def test_who_dies_before_the_removal_sends_nothing_twice(box: Outbox) -> None:
    box.put(message(1))
    box.finish(message(1), box.paths.sent, END)
    box.put(message(1))  # as if it had not been removed
    assert box.pending() == []
    assert box.names(box.paths.outbox) == []


def test_dead_messages_come_back_when_asked(box: Outbox) -> None:
    box.put(message(1))
    box.finish(message(1), box.paths.dead, END)
    box.revive(message(1).name)
    assert box.pending() == [message(1).name]


def test_old_ends_are_trimmed_but_never_the_newest(box: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_SENT", 3)
    for offset in range(10):
        box.put(message(offset))
        box.finish(message(offset), box.paths.sent, END)
    box.trim()
    assert [name.offset for name in box.names(box.paths.sent)] == [7, 8, 9]
    assert box.floor("hook") == 9


def test_what_a_dead_writer_left_half_done_is_removed_later(box: Outbox) -> None:
    old, young = f"{box.paths.outbox}/{message(1).name.text}.tmp77", f"{box.paths.sent}/{message(2).name.text}.tmp78"
    for path in (old, young):
        with open(path, "wb") as file:
            file.write(b"{")
    os.utime(old, (1, 1))
    box.trim()
    assert (os.path.exists(old), os.path.exists(young)) == (False, True)
