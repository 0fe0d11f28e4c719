"""Who wrote a line of a log, and by which statement of a program. Pure."""

from __future__ import annotations

from binascii import crc32

from onbox.logs.model.lines import message
from onbox.logs.model.writers import NOBODY, writer_of
from onbox.regex import lazy

FORM_LETTERS = 20
_NO_LETTERS = b"0123456789 .,:;+-/|()[]{}<>=%#*\t"
_NAMED_RANK = lazy(
    r"(?i)(?<![a-z])(?:(?:local_?|global_?)?rank|gpu|device|process|proc)[ =:_#-]{0,2}(\d{1,6})(?!\d*[/.])"
)
_ONE_OF_TRAINERS = lazy(
    r"(?i)[a-z._-]{0,30}(?:train|ddp|fsdp)[a-z._-]{0,30}[-_](\d{1,5})"
)  # they go in step, as ranks do
_EPOCH = lazy(r"[eE][pP]?\d{1,5}")  # `E042 | loss 0.31`: no host


def writer(text: str) -> str:
    """`rank 3`, `process 4012`; "" where nothing names the writer."""
    named = writer_of(message(text).source)
    replica = _ONE_OF_TRAINERS.fullmatch(named.name)
    if replica:
        return f"rank {replica[1]}"
    if named is not NOBODY and not _EPOCH.fullmatch(named.name):
        return f"{named.kind} {named.name}"
    rank = _NAMED_RANK.search(text, 0, 100)
    return f"rank {rank[1]}" if rank else ""


def line_form(text: str) -> int:
    """A checksum of a line's first letters: lines that one statement of a program wrote have the same."""
    return crc32(text[: 4 * FORM_LETTERS].encode("utf-8", "replace").translate(None, _NO_LETTERS)[:FORM_LETTERS])
