"""Notifications of a box that cannot deliver: read without a trace, sent with the same ids, once."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from onbox.contract.notices import Notice, notice_to_dict
from onbox.contract.notify_targets import NotifyTarget
from onbox.notify.types import HttpAnswer as WireAnswer
from onbox.notify.types import NoHttpAnswer as WireNoAnswer
from onbox.system.clock import utc_text, wall
from patrol.ssh.client import Answer, NoAnswer, find_mark
from patrol.tell.relay import END_MARK, OLD_SECONDS, Relayed, Waiting, choose, parse_waiting, read_stdin, relay

if TYPE_CHECKING:
    from pathlib import Path

    from onbox.notify.types import Outgoing

OLD = OLD_SECONDS + 60


def notice(id_: str = "msg_1", **more: Any) -> Notice:
    return Notice(id_, "2026-11-21T05:00:00.000Z", "chain_failed", "FAILED", "digits", "r1", "/root/digits", **more)


def put(folder: Path, name: str, one: Notice, age: float = OLD, **more: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = {"schema": 1, "id": one.id, "enqueued_at": utc_text(wall() - age), "notice": notice_to_dict(one), **more}
    data["target"] = {"name": "team", "url": "env:SECRET_OF_OURS", "on": ["chain_failed"]}
    (folder / name).write_text(json.dumps(data) + "\n")


def read(*places: Path) -> list[Waiting] | NoAnswer:
    stdin = read_stdin([os.fspath(place) for place in places])
    done = subprocess.run(["sh", "-s"], input=stdin, capture_output=True, check=True)
    at = find_mark(done.stdout, END_MARK)
    assert at is not None
    return parse_waiting(Answer(done.stdout[:at], 0, 0.1, 0.1), "gpu1", [place.name for place in places])


def test_what_waits_is_read_and_nothing_is_changed(tmp_path: Path) -> None:
    one, other = tmp_path / "a b'$(x)", tmp_path / "other"
    put(one / "outbox", "00000000000001-team.json", notice("msg_1"))
    put(one / "outbox", "00000000000002-my-team.json", notice("msg_2"), age=10)
    put(one / "outbox", "00000000000003-team.json", notice("msg_3"))
    put(one / "sent", "00000000000003-team.json", notice("msg_3"))
    put(other / "outbox", "00000000000009-team.json", notice("msg_9"))
    (other / "outbox" / ".due").write_text("5\n")
    (other / "outbox" / "00000000000010-team.json.tmp5").write_text("{")
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    found = read(one, other)
    assert isinstance(found, list)
    assert [(waiting.run, waiting.target, waiting.notice.id) for waiting in found] == [
        (one.name, "team", "msg_1"),
        (one.name, "my-team", "msg_2"),
        ("other", "team", "msg_9"),
    ]
    assert [round(waiting.age_seconds, -2) for waiting in found] == [1000.0, 0.0, 1000.0]
    assert sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"notice": 5}', "<<<onbox relay end>>>\n<<<", "[" * 100_000, "\0\n"])
def test_what_is_no_notice_is_left_out(tmp_path: Path, text: str) -> None:
    (tmp_path / "run" / "outbox").mkdir(parents=True)
    (tmp_path / "run" / "outbox" / "00000000000001-team.json").write_text(text)
    put(tmp_path / "run" / "outbox", "00000000000002-team.json", notice("msg_2"))
    found = read(tmp_path / "run")
    assert isinstance(found, list)
    assert [waiting.notice.id for waiting in found] == ["msg_2"]


def test_no_answer_is_no_empty_outbox() -> None:
    silence = NoAnswer("cut", "the link broke", b"T 5\n", 1.0)
    assert parse_waiting(silence, "gpu1", ["run"]) == silence


def waiting(age: float = OLD, **more: Any) -> Waiting:
    return Waiting("gpu1", "digits", "team", notice(**more), age)


def test_only_old_ones_that_were_not_told_are_chosen() -> None:
    old, young = waiting(), waiting(10.0)
    assert choose([old, young], {}) == [old]
    assert choose([old], {old.subject: "later"}) == [old]
    for outcome in ("delivered", "refused"):
        assert choose([old], {old.subject: outcome}) == []


TARGETS = {"team": NotifyTarget("team", "env:HOOK", attach_log_bytes=4096)}
NAMED = frozenset({"team"})
ENVIRON = {"HOOK": "https://127.0.0.1/hook/x", "SECRET_OF_OURS": "https://127.0.0.1/stolen"}


class Sender:
    def __init__(self, answer: WireAnswer | WireNoAnswer) -> None:
        self.answer, self.sent = answer, list[Any]()

    def __call__(self, outgoing: Outgoing, seconds: float) -> WireAnswer | WireNoAnswer:
        self.sent.append((outgoing.url, outgoing.headers, outgoing.body))
        return self.answer


def test_it_goes_where_the_local_side_says_with_the_same_id(tmp_path: Path) -> None:
    """The box names a variable and a log of ours: neither is looked at."""
    secret = tmp_path / "secret.log"
    secret.write_text("OUR SECRET\n")
    sender = Sender(WireAnswer(200))
    one = waiting(log=os.fspath(secret), attempt=1, log_tail="x")
    assert relay(one, TARGETS, ENVIRON, "/", NAMED, sender).outcome == "delivered"
    ((url, headers, body),) = sender.sent
    assert url == "https://127.0.0.1/hook/x"
    assert headers["webhook-id"] == "msg_1"
    assert b"OUR SECRET" not in body


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(WireAnswer(500), "later"), (WireNoAnswer("no route"), "later"), (WireAnswer(410), "refused")],
)
def test_what_comes_of_it_is_told(answer: WireAnswer | WireNoAnswer, outcome: str) -> None:
    assert relay(waiting(), TARGETS, ENVIRON, "/", NAMED, Sender(answer)).outcome == outcome


def test_without_a_target_here_nothing_is_sent() -> None:
    sender = Sender(WireAnswer(200))
    assert relay(waiting(), {}, ENVIRON, "/", NAMED, sender) == Relayed(
        "unset", "the local onbox.toml names no target team"
    )
    assert relay(waiting(), TARGETS, {}, "/", NAMED, sender).outcome == "unset"
    assert relay(waiting(), TARGETS, ENVIRON, "/", frozenset({"other"}), sender).outcome == "unset"
    assert sender.sent == []


ODD = (
    {"duration_seconds": "NaN"},
    {"duration_seconds": "1e999", "times": 2},
    {"times": "two"},
    {"attempt": 10**30},
    {"resources": ["peak"]},
    {"run": None},
    {"event": 5},
    {"event": "you have won"},
    {"event": "test"},
    {"id": "msg_1\r\nX-Admin: 1"},
    {"at": {"a": 1}},
)


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_a_notice_with_a_field_of_another_kind_is_none_or_without_it(tmp_path: Path, odd: dict[str, Any]) -> None:
    """Bare NaN and 1e999 are written as some writers do, not as text."""
    put(tmp_path / "run" / "outbox", "00000000000002-team.json", notice("msg_2"))
    (path,) = (tmp_path / "run" / "outbox").iterdir()
    data = json.loads(path.read_text())
    data["notice"] |= odd
    text = json.dumps(data)
    for bare in ("NaN", "1e999"):
        text = text.replace(f'"{bare}"', bare)
    path.write_text(text + "\n")
    found = read(tmp_path / "run")
    assert isinstance(found, list)
    assert all(one.notice.duration_seconds is None for one in found)
    for one in found:
        sender = Sender(WireAnswer(200))
        assert relay(one, TARGETS, ENVIRON, "/", NAMED, sender).outcome == "delivered"


def test_the_words_of_a_box_are_told_as_its_own(tmp_path: Path) -> None:
    words = "pay \x1b[2J\u202e now; hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"
    lie = notice("msg_1", next_command="curl x | sh", tracker="https://evil.example/x", log_tail="x", host="ceo-laptop")
    lie = lie._replace(run="payroll", state="HACKED", project=words, proof=words, reason=words, remedy="send money")
    put(tmp_path / "digits" / "outbox", "00000000000001-team.json", lie)
    found = read(tmp_path / "digits")
    assert isinstance(found, list)
    sender = Sender(WireAnswer(200))
    relay(found[0], TARGETS, ENVIRON, "/", NAMED, sender)
    ((_, _, body),) = sender.sent
    told = json.loads(body)
    assert told["text"].startswith("✗ digits FAILED · relayed from gpu1\n")
    whole = json.dumps(told, ensure_ascii=False)
    for word in ("payroll", "HACKED", "curl", "evil.example", "hf_abc", "\x1b", "\u202e", "send money", "ceo-laptop"):
        assert word not in whole


def test_a_box_is_given_few_words_at_a_tick_and_cannot_use_up_those_of_another(tmp_path: Path) -> None:
    for number in range(40):
        put(tmp_path / f"run{number // 8}" / "outbox", f"{number:014}-team.json", notice(f"msg_{number}"))
    found = read(*(tmp_path / f"run{number}" for number in range(5)))
    assert isinstance(found, list)
    chosen = choose(found, {})
    assert len(chosen) == 5
    told = {one.subject: "delivered" for one in chosen}
    assert choose([one._replace(box="gpu2") for one in chosen], told) == [one._replace(box="gpu2") for one in chosen]
