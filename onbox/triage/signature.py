"""What stays the same when the same failure happens again. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.regex import lazy

if TYPE_CHECKING:
    import re

SIGNATURE_LIMIT = 160
_CHANGING: tuple[tuple[re.Pattern[str], str], ...] = (
    (lazy(r"\b0x[0-9a-fA-F]+\b"), "#"),
    (lazy(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "#"),
    (lazy(r"(?<![\w/])(?:[a-z][a-z0-9+.-]{0,20}:/)?(?:/[\w.@%+=~-]+){2,}/?"), "<path>"),
    (lazy(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}\b"), "#"),
    (lazy(r"[-+]?\d+(?:[.,:_-]\d+)*(?:[eE][-+]?\d+)?"), "#"),
    (lazy(r"#(?:\s*[KMGT]i?B)\b"), "#"),
    (lazy(r"(?:# ?){2,}"), "#"),
    (lazy(r"\s+"), " "),
)


def normalise(text: str) -> str:
    """A line without numbers, addresses, paths and hashes."""
    for pattern, replacement in _CHANGING:
        text = pattern.sub(replacement, text)
    return text.strip()[:SIGNATURE_LIMIT]


def signature(failure_class: str, said: str | None) -> str:
    """Equal for the same failure twice in a row; `said`: the proving line without its prefixes."""
    return f"{failure_class}: {normalise(said)}" if said else failure_class
