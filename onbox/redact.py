"""Secrets out of any text that leaves a process. Pure, standard library only."""

from __future__ import annotations

import re
from functools import cache

MASK = "***"

_KEY = r"(?:api|access|private|secret|signing|encryption)[_-]?key"
_NAME = rf"[A-Za-z0-9_.-]{{0,40}}?(?:{_KEY}|token|secret|passw(?:or)?d|credential)s?"
_RULES: tuple[tuple[str, str], ...] = (
    # Authorization: Bearer x, also as JSON
    (r"(?i)\b(authorization[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic|token)\s+)?)[^\s\"']+", rf"\1{MASK}"),
    # name=value, name: value, "name": "value"
    (
        rf"(?i)(?<![A-Za-z0-9])({_NAME})([\"']?\s*[=:]\s*)(?!env:|file:)(\"[^\"]*\"|'[^']*'|[^\s,;&\"']+)",
        rf"\1\2{MASK}",
    ),
    # --name value
    (rf"(?i)(--{_NAME})(\s+)(?!-)(\S+)", rf"\1\2{MASK}"),
    # user:password@ in a URL
    (r"(\b[a-z][a-z0-9+.-]*://)[^\s/@:]*:[^\s/@]+@", rf"\1{MASK}@"),
    # tokens that are known by their own form
    (r"\b(?:hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,})", MASK),
    (r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{20,}|\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bAKIA[0-9A-Z]{16}\b", MASK),
    (r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}", MASK),
    (r"(hooks\.slack\.com/services/|discord(?:app)?\.com/api/webhooks/)\S+", rf"\1{MASK}"),
)
# Without any of these there is nothing to look for: most lines are done with this one look.
_TRACES = (
    r"(?i)key|token|secret|passw|credential|authorization|://|hf_|gh[pousr]_|github_pat|glpat|[spr]k-|xox|akia|eyj|hooks\."
    r"|webhooks"
)
_AMOUNT = r"[~<>]?[0-9.,+-]+(?:e[+-]?[0-9]+)?[kmbt]?"
_NUMERIC = rf"(?i)^([\"']?)(?:{_AMOUNT}(?:/{_AMOUNT})?(?:%|/s|/sec|/step)?|true|false|none|null)\1$"


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Compiled at the first use: it takes 2 ms, which a starting runner does not have."""
    return tuple((re.compile(pattern), replacement) for pattern, replacement in _RULES)


def redact(text: str) -> str:
    """`text` with everything that looks like a secret masked. Numbers and booleans stay: `tokens=4096` is no secret."""
    if not re.search(_TRACES, text):
        return text
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


def one_line(text: str) -> str:
    """`printable`, with line breaks and tabs shown as signs: for text that must stay on its line."""
    return printable(text.replace("\r\n", "\n").replace("\n", "⏎").replace("\t", " "))
