"""A line that was read while it was being written: its last number may be half of one. Pure.

`step 94/100` at the end of a log, behind `step 93/1000`, is the beginning of `step 94/1000`, and so is `step 94/`.
Where nothing came before it, nothing tells.
"""

from __future__ import annotations

import re

_ENDS = re.compile(rb"[\r\n\x08]+")
_ENDERS = (b"\n", b"\r", b"\b")
_NUMBERS = re.compile(rb"\d+")
LINES = 40  # before it
ROW_NUMBERS = 16  # of a row; more are those of a line that grows by figures
ALIKE_NUMBERS = 3  # of a line that is not compared with the one right before it only
LOOK_BACK = 4  # lines, for one that begins alike: a warning may stand between
_PARTS = re.compile(rb"(\d+|[ \t]+)")


def whole_part(text: bytes) -> bytes:
    """The text without its unended last line (or piece of a line that is drawn over)."""
    return text[: max(text.rfind(end) for end in _ENDERS) + 1]


def without_cut_end(text: bytes) -> bytes:
    """The text without its unended last line (or piece of a line that is drawn over), if that was cut in a number.
    Where whole numbers stand before it, it goes without that number only.
    """
    at = len(whole_part(text))
    growing = text[at:]
    if at == 0 or not growing[-1:].isdigit():
        return text
    before = _ENDS.split(text[:at].rstrip(b"\r\n\b"))[-1]
    if not _is_beginning(growing, before):
        return text
    whole = growing.rstrip(b"0123456789.,")
    return text[: at + len(whole)] if _NUMBERS.search(whole) and not whole.endswith(b"/") else text[:at]


def completed(text: bytes) -> bytes:
    """The text, its unended last line (or piece of a line that is drawn over) completed by what stands in a line
    before it, from the number on that it was cut in, where that one begins alike; else as `without_cut_end`.
    """
    whole = whole_part(text)
    growing, last = text[len(whole) :], _ENDS.split(whole.rstrip(b"\r\n\b"))[-LOOK_BACK:]
    known = _without_last_number(growing)
    before = last[-1]
    if ALIKE_NUMBERS <= len(_NUMBERS.findall(known)) <= ROW_NUMBERS:
        before = next((line for line in reversed(last) if _rest(known, line)), before)
    if not whole or not _NUMBERS.search(known) or _NUMBERS.sub(b"0", growing) == _NUMBERS.sub(b"0", before):
        return without_cut_end(text)
    rest = _rest(known, before)
    return without_cut_end(text) if rest is None else whole + known + rest


def completed_or_whole(text: bytes) -> bytes:
    """As `completed`; where nothing completes it, as `whole_part`."""
    done = completed(text)
    return done if len(done) > len(text) else whole_part(text)


def _without_last_number(growing: bytes) -> bytes:
    """Without the number at its end, which may go on: `step 94/10`, `loss 0.`, `lr 1e-`."""
    bare = growing.rstrip(b".,e+-")
    return bare.rstrip(b"0123456789.,") if bare[-1:].isdigit() else growing


def grows_like_another(text: bytes) -> bool:
    """Whether the unended last line begins as one of the lines before it does."""
    whole = whole_part(text)
    growing = text[len(whole) :]
    return bool(growing.strip()) and any(_rest(growing, before) for before in _ENDS.split(whole)[-LINES:])


def _rest(growing: bytes, before: bytes) -> bytes | None:
    """What stands in a line behind the part of it that another one begins with, whatever numbers that one has; None if
    it begins otherwise.
    """
    at = 0
    for part in filter(None, _PARTS.split(growing)):
        kind = _PARTS.match(part)
        found = _PARTS.match(before, at) if kind else None
        if kind is None and before.startswith(part, at):
            at += len(part)
        elif found is not None and found[0][:1].isdigit() == part[:1].isdigit():
            at = found.end()
        else:
            return None
    return before[at:]


def _is_beginning(growing: bytes, before: bytes) -> bool:
    """Whether a line that ends in a digit is the beginning of one like the line before it."""
    form, whole = _NUMBERS.sub(b"0", growing), _NUMBERS.sub(b"0", before)
    if form != whole:
        return whole.startswith(form)
    last, full = _NUMBERS.findall(growing)[-1], _NUMBERS.findall(before)[-1]
    if len(last) >= len(full):
        return False
    return bool(full.startswith(last)) or growing[: -len(last)].endswith(b".")
