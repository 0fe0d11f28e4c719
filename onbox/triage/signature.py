"""What stays the same when the same failure happens again. Pure."""

from __future__ import annotations

import re

SIGNATURE_LIMIT = 160
_CHANGING: tuple[tuple[str, str], ...] = (
    (r"\b0x[0-9a-fA-F]+\b", "#"),
    (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "#"),
    (r"(?<![\w/])(?:[a-z][a-z0-9+.-]*:/)?(?:/[\w.@%+=~-]+){2,}/?", "<path>"),
    (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}\b", "#"),
    (r"[-+]?\d+(?:[.,:_-]\d+)*(?:[eE][-+]?\d+)?", "#"),
    (r"#(?:\s*[KMGT]i?B)\b", "#"),
    (r"(?:# ?){2,}", "#"),
    (r"\s+", " "),
)


def normalise(text: str) -> str:
    """A line without numbers, addresses, paths and hashes."""
    for pattern, replacement in _CHANGING:
        text = re.sub(pattern, replacement, text)
    return text.strip()[:SIGNATURE_LIMIT]


def signature(failure_class: str, said: str | None) -> str:
    """Equal for the same failure twice in a row; `said`: the proving line without its prefixes."""
    return f"{failure_class}: {normalise(said)}" if said else failure_class
