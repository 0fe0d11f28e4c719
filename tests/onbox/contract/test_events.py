"""The journal's lines, whole and damaged."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.contract.events import Record, Unreadable, parse_events, render_event

GOOD = render_event({"at": "2026-11-21T05:11:20.123Z", "event": "stage_done", "stage": "train", "attempt": 1})
READ: Record = {
    "schema": 1,
    "at": "2026-11-21T05:11:20.123Z",
    "event": "stage_done",
    "stage": "train",
    "attempt": 1,
}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"stage": "train", "attempt": 2, "exit_code": None, "resume": False},
        {"reason": 'größe 模 \U0001f600 \u2028 \x00 \n \r \\ "'},
        {"before": {"a b": [1, 2, 3]}, "novel": [{"deep": []}]},
        {"reason": "x" * 100_000},
    ],
)
def test_a_record_is_read_back_as_written(fields: dict[str, Any]) -> None:
    line = render_event({"event": "stage_done", **fields})
    assert (line.count(b"\n"), line[-1:], line.isascii()) == (1, b"\n", True)
    assert [{"schema": 1, "event": "stage_done", **fields}] == list(parse_events([line]))


def test_a_line_is_pinned() -> None:
    assert GOOD == b'{"schema":1,"at":"2026-11-21T05:11:20.123Z","event":"stage_done","stage":"train","attempt":1}\n'


@pytest.mark.parametrize(
    ("records", "lines"),
    [
        ([], []),
        ([READ, READ], [GOOD, GOOD]),
        ([READ], [GOOD, GOOD[:-1]]),
        ([READ], [GOOD, GOOD[:20]]),
        ([READ], [GOOD, b"\n"]),
        ([READ, READ], [GOOD, b"\n", GOOD]),
        ([Unreadable(1, "garbage"), READ], [b"garbage\n", GOOD]),
        ([READ, Unreadable(2, '{"schema":1,"at":"20'), READ], [GOOD, GOOD[:20] + b"\n", GOOD]),
        ([READ, Unreadable(3, "[]")], [GOOD, b"\n", b"[]\n"]),
        ([Unreadable(1, "{}")], [b"{}\n"]),
        ([Unreadable(1, '{"event": 7}')], [b'{"event": 7}\n']),
        ([Unreadable(1, "null")], [b"null\n"]),
        ([Unreadable(1, "\ufffd\ufffd")], [b"\xff\xfe\n"]),
        ([Unreadable(1, "x" * 80)], [b"x" * 500 + b"\n"]),
        ([Unreadable(1, "\0" * 80), READ], [b"\0" * 4096 + b"\n", GOOD]),
        ([{"event": "stage_blessed"}], [b'{"event": "stage_blessed"}\n']),
    ],
)
def test_damaged_lines_are_told_and_a_torn_end_is_not(records: list[Record | Unreadable], lines: list[bytes]) -> None:
    assert records == list(parse_events(lines))


def test_a_deeply_nested_line_is_unreadable() -> None:
    assert [Unreadable(1, "[" * 80)] == list(parse_events([b"[" * 200_000 + b"\n"]))
