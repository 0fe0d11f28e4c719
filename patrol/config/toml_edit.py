"""A box written into onbox.toml: text in, text out, nothing that stands there is touched. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    Value: TypeAlias = str | Mapping[str, "Value"] | Sequence["Value"]

# A line that begins a table; name: of the box that it is of.
_HEADER = re.compile(r"""\s*\[\[?\s*(?:boxes\s*\.\s*(?P<name>[A-Za-z0-9_-]+|"[^"]*"|'[^']*')\s*(?=[.\]])|[\w"'])""")
NEW_FILE = "# Where runs live, and how they are looked at. All keys: onbox init --help, docs/patrol.md\n"


def quote(text: str) -> str:
    """A TOML basic string: JSON's escapes are TOML's, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Value) -> str:
    """A text, a table of texts, or a list of such tables, on one line."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(text)}" for key, text in value.items()) + " }"
    return "[" + ", ".join(map(_value, value)) + "]"


def render_box(name: str, values: Mapping[str, Value]) -> str:
    """The table of one box. name: a valid name; one with a dot is quoted."""
    key = name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else quote(name)
    lines = [f"[boxes.{key}]", *(f"{key} = {_value(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"


def without_box(text: str, name: str) -> str:
    """The file without the tables of a box. What is no plain table of its own is left as it is: who calls compares."""
    kept, drops = [], False
    for line in text.splitlines(keepends=True):
        if (header := _HEADER.match(line)) is not None:
            drops = header["name"] is not None and header["name"].strip("\"'") == name
        if not drops:
            kept.append(line)
    return "".join(kept)


def with_box(text: str, table: str) -> str:
    """The file with a table at its end. Line ends are those of the file."""
    if not text.strip():
        return (text or NEW_FILE) + "\n" + table
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if text.endswith("\n") else end
    return text + gap + end + table.replace("\n", end)
