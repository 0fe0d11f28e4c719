"""Secrets out of any text that leaves a process. Pure, standard library only."""

from __future__ import annotations

import re
from functools import cache

MASK = "***"

_NAME = r"[A-Za-z0-9_-]*(?:api[_-]?key|token|secret|passw(?:or)?d|credential)s?"
_RULES: tuple[tuple[str, str], ...] = (
    # name=value, name: value, --name value
    (rf"(?i)\b({_NAME})(\s*[=:]\s*)(?!env:|file:)(\"[^\"]*\"|'[^']*'|[^\s,;&\"']+)", rf"\1\2{MASK}"),
    (rf"(?i)(--{_NAME})(\s+)(?!-)(\S+)", rf"\1\2{MASK}"),
    (r"(?i)\b(authorization\s*:\s*(?:bearer|basic|token)?\s*)\S+", rf"\1{MASK}"),
    # user:password@ in a URL
    (r"(\b[a-z][a-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@", rf"\1{MASK}@"),
    # tokens that are known by their own form
    (r"\b(?:hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,})", MASK),
    (r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{20,}|\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bAKIA[0-9A-Z]{16}\b", MASK),
    (r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}", MASK),
    (r"(hooks\.slack\.com/services/|discord(?:app)?\.com/api/webhooks/)\S+", rf"\1{MASK}"),
)
_NUMERIC = r"(?i)^(\"?)(?:[0-9.,+-]+(?:[eE][+-]?\d+)?[kmb]?(?:/s)?|true|false|none|null)\1$"


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Compiled at the first use: it takes 2 ms, which a starting runner does not have."""
    return tuple((re.compile(pattern), replacement) for pattern, replacement in _RULES)


def redact(text: str) -> str:
    """`text` with everything that looks like a secret masked. Numbers and booleans stay: `tokens=4096` is no secret."""
    for pattern, replacement in _patterns():
        text = pattern.sub(lambda found, to=replacement: _mask(found, to), text)  # type: ignore[misc]
    return text


def _mask(found: re.Match[str], replacement: str) -> str:
    if found.lastindex == 3 and re.match(_NUMERIC, found[3]):
        return found[0]
    return found.expand(replacement)


_CONTROL = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.|[\x00-\x08\x0b-\x1f\x7f-\x9f]"


def printable(text: str) -> str:
    """`text` without terminal control sequences and control characters: for text that comes out of logs and boxes."""
    return re.sub(_CONTROL, "", text)
