"""Lines from the box: each is an observation or nothing; nothing that comes from a box can break the reader."""

from __future__ import annotations

import random

import pytest

from sentinels.box.wire import (
    ArtifactSeen,
    Beat,
    CouldNotLook,
    EndedLine,
    EngineSeen,
    FileSeen,
    Hello,
    LineSeen,
    Message,
    NotThere,
    PidSeen,
    Quiet,
    Remember,
    RunSeen,
    Splitter,
    parse_line,
)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"@s hello python 12.500 abc 7", Hello("python", 12.5, "abc", 7)),
        (b"@s beat 12", Beat(12.0)),
        (b"@s end held", EndedLine("held")),
        (b"@s quiet 3 1.5", Quiet("3", 1.5)),
        (b"@s file 0 absent", NotThere("0")),
        (b"@s file 0 unseen 6e6f", CouldNotLook("0", "no")),
        (b"@s file 0 present 1:2:3000000000:4:5 6869 -", FileSeen("0", "1:2:3000000000:4:5", b"hi", b"")),
        (b"@s log 1 cursor 1:2:3:4:5", Remember("1", "1:2:3:4:5")),
        (b"@s log 1 match 6869 9.5", LineSeen("1", "hi", failed=False, written_at=9.5)),
        (b"@s log 1 fail 6869 9", LineSeen("1", "hi", failed=True, written_at=9.0)),
        (b"@s artifact 2 ready 6869 77 9", ArtifactSeen("2", ready=True, path="hi", size=77, changed_at=9.0)),
        (b"@s artifact 2 waits 3 1", ArtifactSeen("2", ready=False, files=3, growing=1)),
        (b"@s artifact 2 known -", Remember("2", "")),
        (b"@s pid 4 alive 99:boot 7.25", PidSeen("4", "99:boot", 7.25)),
        (b"@s pid 4 gone", PidSeen("4", None)),
        (b"@s engine 5 2.5 6869", EngineSeen("5", 2.5, "hi")),
        (b"@s run 5 runner=6869 lock=-", RunSeen("5", {"runner": b"hi", "lock": b""})),
    ],
)
def test_lines_are_observations(line: bytes, message: Message) -> None:
    assert parse_line(line) == message


@pytest.mark.parametrize(
    "line",
    [b"", b"Welcome to gpu1", b"@s", b"@s ", b"@s file", b"@s file 0 present 1", b"@s log 1 match zz", b"@s what 1 2",
     b"@s beat soon", b"@s \xff\xfe", b"@s run 5 runner=6", b"@s hello python x abc 7",
     b"@s hello python inf abc 7", b"@s hello python -1 abc 7", b"@s hello python 1e300 abc 7", b"@s beat nan",
     b"@s quiet 0 nan", b"@s quiet 0 1e999", b"@s engine 0 inf -", b"@s hello python 1 a " + b"7" * 5000,
     b"@s artifact 2 ready 6869 " + b"7" * 5000, b"@s artifact 2 waits -3 1", "@s artifact 2 waits ٣ 1".encode()],
)  # fmt: skip
def test_everything_else_is_nothing(line: bytes) -> None:
    assert parse_line(line) is None


def test_a_stream_in_any_pieces_gives_the_same_lines() -> None:
    text = b"noise\n@s beat 1\n@s file 0 absent\n"
    chance = random.Random(7)
    for _ in range(50):
        splitter, lines, at = Splitter(), [], 0
        while at < len(text):
            size = chance.randint(1, 9)
            lines += splitter.feed(text[at : at + size])
            at += size
        assert lines == text.split(b"\n")[:-1]


def test_the_time_of_a_change_is_read_from_the_stamp() -> None:
    assert FileSeen("0", "1:2:3500000000:4:5", b"", b"").changed_at == 3.5
    assert FileSeen("0", "1:2", b"", b"").changed_at is None


def test_a_stamp_of_too_many_digits_tells_no_time() -> None:
    assert FileSeen("0", f"1:2:{'7' * 5000}:4:5", b"", b"").changed_at is None
    assert FileSeen("0", "1:2:٣:4:5", b"", b"").changed_at is None
