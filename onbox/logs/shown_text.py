"""What a terminal shows of a line: the text without its moves, colours and titles. Pure."""

from __future__ import annotations

from onbox.regex import lazy

_MOVES = lazy(r"\x1b\[(?:\d*[A-G]|[\d;]*[Hf]|\d*[KJ])")
_ESCAPES = lazy(
    r"\x1bP[^\x1b]*(?:\x1b\\)?|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]|\x1b."
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)


def clean_text(line: bytes) -> str:
    """A line without what only a terminal understands."""
    return _ESCAPES.sub("", line.decode("utf-8", "replace")).rstrip()


def shown_texts(line: bytes) -> list[str]:
    """The texts of a line: several, where the terminal goes elsewhere in between."""
    text = line.decode("utf-8", "replace")
    parts = _MOVES.split(text) if "\x1b" in text else (text,)
    return [clean for part in parts if (clean := _ESCAPES.sub("", part).rstrip())]
