"""Records of a run as they may be kept on this machine: no secrets of commands, no values of environments. Pure.

run.json on the box must hold commands as they are, because a resume runs them; a copy of it here need not.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

from onbox.contract.json_text import parse_json
from onbox.redact import redact

ENVIRONMENTS = ("env", "environment")
TEXT_LIMIT = 8192  # of one text, or of a line that is not JSON: patterns run over it
_HEAD_END = ', "stages": ['  # how the first line of run.json goes on


def scrub_lines(text: str) -> str:
    """JSON lines, or a run.json, with every text in them redacted; each line stays a line of the same form."""
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    for end, closing in ((_HEAD_END, "}"), (",", ""), ("", "")):
        if line.endswith(end):
            try:
                data = parse_json(line.removesuffix(end) + closing)
            except ValueError:
                continue
            if not isinstance(data, dict):
                continue
            said = json.dumps(_scrub(data))
            return said.removesuffix(closing) + end
    return redact(line[:TEXT_LIMIT])


def _scrub(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return redact(value[:TEXT_LIMIT])
    if depth > 20:
        return None
    if isinstance(value, dict):
        return {
            redact(key[:TEXT_LIMIT]): _names_only(one) if key in ENVIRONMENTS else _scrub(one, depth + 1)
            for key, one in value.items()
        }
    if isinstance(value, list):
        if value and all(isinstance(one, str) for one in value):
            return _scrub_words([one[:TEXT_LIMIT] for one in value])
        return [_scrub(one, depth + 1) for one in value]
    return value


def _names_only(value: Any) -> Any:
    """Of an environment as a table, or as pairs of name and value."""
    if isinstance(value, dict):
        return {redact(str(name)): "" for name in value}
    pairs = value if isinstance(value, list) else []
    return [[redact(str(one[0])), ""] for one in pairs if isinstance(one, list) and len(one) == 2]


def _scrub_words(words: list[str]) -> list[str]:
    """An argv: a secret is often told by the word before it."""
    line = shlex.join(words)
    masked = redact(line)
    if masked == line:
        return words
    try:
        return shlex.split(masked)
    except ValueError:
        return [redact(word) for word in words[:1]] + ["***"]
