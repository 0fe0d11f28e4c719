"""A line that was read while it was being written: its last number may be half of one. Pure.

`step 94/100` at the end of a log, behind `step 93/1000`, is the beginning of `step 94/1000`. Where nothing came before
it, nothing tells.
"""

from __future__ import annotations

import re

_ENDS = re.compile(rb"[\r\n\x08]+")
_ENDERS = (b"\n", b"\r", b"\b")
_NUMBERS = re.compile(rb"\d+")


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


def _is_beginning(growing: bytes, before: bytes) -> bool:
    """Whether a line that ends in a digit is the beginning of one like the line before it."""
    form, whole = _NUMBERS.sub(b"0", growing), _NUMBERS.sub(b"0", before)
    if form != whole:
        return whole.startswith(form)
    last, full = _NUMBERS.findall(growing)[-1], _NUMBERS.findall(before)[-1]
    if len(last) >= len(full):
        return False
    return bool(full.startswith(last)) or growing[: -len(last)].endswith(b".")
