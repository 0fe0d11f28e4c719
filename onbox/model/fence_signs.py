"""The signs around what a box wrote (`onbox.fence` puts them there), for who cuts a text. Pure."""

from __future__ import annotations

OPEN, CLOSE = "«", "»"


def close_fence(text: str) -> str:
    """A text that was cut within a fence, with the fence closed; no longer than it was."""
    return text[:-2].removesuffix(OPEN) + "…" + CLOSE if is_open(text) else text


def is_open(text: str) -> bool:
    """Whether it ends within a fence."""
    return text.rfind(OPEN) > text.rfind(CLOSE)
