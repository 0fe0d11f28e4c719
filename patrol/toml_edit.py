"""A box written into onbox.toml: text in, text out, nothing that stands there is touched. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NEW_FILE = "# Where runs live, and how they are looked at. All keys: onbox init --help, docs/patrol.md\n"


def quote(text: str) -> str:
    """A TOML basic string: JSON's escapes are TOML's, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: str | Mapping[str, str]) -> str:
    """A text, or a table of texts on one line."""
    if isinstance(value, str):
        return quote(value)
    return "{ " + ", ".join(f"{key} = {quote(text)}" for key, text in value.items()) + " }"


def render_box(name: str, values: Mapping[str, str | Mapping[str, str]], jobs: Sequence[str] = ()) -> str:
    """The table of one box. name: a valid name; one with a dot is quoted. jobs: that a cluster is asked about."""
    key = name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else quote(name)
    lines = [f"[boxes.{key}]", *(f"{key} = {_value(value)}" for key, value in values.items())]
    if jobs:
        lines.append(f"watch = [{', '.join(f'{{ job = {quote(job)} }}' for job in jobs)}]")
    return "\n".join(lines) + "\n"


def with_box(text: str, table: str) -> str:
    """The file with a table at its end. Line ends are those of the file."""
    if not text.strip():
        return (text or NEW_FILE) + "\n" + table
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if text.endswith("\n") else end
    return text + gap + end + table.replace("\n", end)
