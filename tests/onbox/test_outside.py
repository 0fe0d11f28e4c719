"""Text from outside through its one door: every shape of it through every form of the door."""

from __future__ import annotations

import ast
import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from onbox.outside import printable, safe_line, safe_text, safe_words

if TYPE_CHECKING:
    from collections.abc import Callable

HEX = "0a1b2c3d4e" * 4
TOKEN = "hf_" + "a1B2" * 9
REPOSITORY = Path(__file__).parents[2]
DOORS = (safe_line, safe_words, safe_text)


@cache
def unseen() -> list[str]:
    """Every letter that a terminal obeys, or that nobody sees; of the private ones at the end, some."""
    letters = [chr(number) for number in (*range(0xF0000), *range(0xF0000, 0x110000, 257))]
    return [c for c in letters if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")]


def in_the_box(text: str) -> bool:
    """Whether a letter is left in it that a terminal obeys, or that nobody sees."""
    return any(c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") for c in text)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("abcdefghijkl1234", "token:\nabcdefghijkl1234"),
        ("abcdefghijkl1234", "token:\r\n\tabcdefghijkl1234"),
        ("abcdefghijkl1234", "token:\u2028abcdefghijkl1234"),
        ("hunter2secret", "password\nhunter2secret"),
        ("abcdef123456789", "\x1b[33mtoken\x1b[0m=abcdef123456789"),
        ("abcdef123456789", "\x9b33mtoken\x9b0m=abcdef123456789"),
        (HEX, f"WANDB_API_KEY\x1b[0m={HEX}"),
        (HEX, f"\x1b[36mapi_key\x1b[0m=\x1b[35m{HEX}\x1b[0m"),
        (TOKEN[3:20], f"{TOKEN[:20]}\x1b[1m{TOKEN[20:]}"),
        (TOKEN, f"tok\u200ben: x {TOKEN}"),
        (TOKEN[12:], f"{TOKEN[:12]}\u200b{TOKEN[12:]}"),
        (TOKEN[12:], f"{TOKEN[:12]}\U000e0041{TOKEN[12:]}"),
        (TOKEN[12:], f"{TOKEN[:12]}\0{TOKEN[12:]}"),
        (TOKEN, f"user\x1b[1m{TOKEN}"),
        (TOKEN, f"user\u200b{TOKEN}"),
        ("abcdefghijkl1234", "password\ufe0f=abcdefghijkl1234"),
        ("abcdefghijkl1234", "pass\udcffword=abcdefghijkl1234"),
    ],
)
def test_no_order_of_things_shows_a_secret(door: Callable[[str], str], secret: str, text: str) -> None:
    shown = door(text)
    assert "***" in shown
    assert secret not in shown
    assert secret not in door(shown)


@pytest.mark.parametrize("door", [*DOORS, printable])
def test_nothing_unseen_passes(door: Callable[[str], str]) -> None:
    assert [hex(ord(c)) for c in unseen() if c not in "\n\t\r" and in_the_box(door(f"a{c}b"))] == []
    assert in_the_box(door("".join(unseen()))) is False


@pytest.mark.parametrize("letter", ["\u115f", "\u3164", "\uffa0", "\ufe01", "\U000e0100", "\u034f", "\u2065"])
def test_letters_drawn_as_nothing_are_told(letter: str) -> None:
    assert safe_line(f"a{letter}b") == f"a<U+{ord(letter):04X}>b"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("gpu<U+202E>1", "gpu\u202e1"),
        ("run<U+200B>", "run\u200b"),
        ("<U+E0041 and 4 more>ok", "".join(chr(0xE0041 + n) for n in range(5)) + "ok"),
        ("x<U+DCFF>y", "x\udcffy"),
        ("a⏎b⏎c⏎d", "a\nb\r\nc\rd"),
        ("a⏎b", "a\u2029b"),
        ("red", "\x1b[1;31mred\x1b[0m"),
        ("⏎the next", "\x1b]0;never ended\nthe next"),
        ("a  b c", "a  b\tc"),
        ("größe 模 — ✓ ❤️", "größe 模 — ✓ ❤️"),
    ],
)
def test_a_line_shows_what_is_there(line: str, text: str) -> None:
    assert safe_line(text) == line


def test_each_form_keeps_what_its_place_needs() -> None:
    assert safe_line(" a  b\t\nc ") == " a  b ⏎c "
    assert safe_words(" a  b\t\nc ") == "a b ⏎c"
    assert safe_text(" a  b\t\nc ") == " a  b\t\nc "
    assert safe_line(None) == "None"


@pytest.mark.parametrize("door", DOORS)
def test_length_is_bounded_and_a_cut_is_told(door: Callable[[str, int], str]) -> None:
    assert door("abcde", 5) == "abcde"
    assert door("abcdef", 5) == "abcd…"
    assert door("\x1b[0m" * 1000 + "hidden behind them", 5) == "…"
    assert len(door("\u202e" * 50 + "x", 10)) <= 10
    assert door("x" * 10_000_000, 100) == "x" * 99 + "…"


def test_a_cut_secret_is_masked_first() -> None:
    assert safe_line(f"a {TOKEN} b", 12) == "a *** b"
    assert TOKEN[:8] not in safe_line(f"x {TOKEN}", 10)


@pytest.mark.parametrize(
    ("kept", "text"),
    [
        ("plain", "plain"),
        ("a\tb\nc", "a\tb\nc"),
        ("x", "\x1b[2K\x1b[1Gx"),
        ("x", "\x1b[?25lx\x1b[?25h"),
        ("x", "\x1b]0;title\x07x"),
        ("x", "\x1b]0;title\x1b\\x"),
        ("link", "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\"),
        ("x", "\x1bcx"),
        ("ab", "a\rb"),
        ("ab", "a\x00\x07\x08\x7f\x85b"),
        ("ab", "a\u200b\u202e\udcffb"),
        ("", "\x1b]0;never ended"),
    ],
)
def test_text_to_be_read_by_a_program_holds_only_what_is_printed(kept: str, text: str) -> None:
    assert printable(text) == kept


# Who may call a single step of the door, and why all of it would be wrong there.
_SINGLE_STEPS = {
    ("onbox/logs/model/lines.py", "printable"): "reads a log for failures; what it finds is shown by others",
    ("onbox/backends/ray/cluster.py", "printable"): "reads an answer for the job's id",
    ("patrol/probe/box/watch.py", "printable"): "compares a command line with what is watched",
    ("onbox/commands/shared/log_lines.py", "redact"): "a log as it is, control characters and all, for a pipe",
    ("patrol/memory/run_codec.py", "redact"): "a reader's place in a log, to be read on from as it was",
    ("patrol/memory/scrub.py", "redact"): "records that are kept in their own form",
    ("handbook/page/publish.py", "redact"): "a person's own notes, which stay as they were written",
    ("handbook/commands/verify.py", "redact"): "compares a whole page, with a person's notes in it",
}


def test_no_other_place_makes_text_safe_by_hand() -> None:
    found = {
        (str(path.relative_to(REPOSITORY)), name.name)
        for package in ("onbox", "patrol", "sentinels", "handbook")
        for path in (REPOSITORY / package).rglob("*.py")
        if path != REPOSITORY / "onbox/outside.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module in ("onbox.redact", "onbox.outside", "onbox")
        for name in node.names
        if name.name in ("redact", "printable") or (node.module == "onbox" and name.name == "outside")
    }
    assert found == set(_SINGLE_STEPS)
