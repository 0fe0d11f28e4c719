"""docs/configuration.md, rendered from the declarations of onbox.toml's keys. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.config.parse import TABLES
from onbox.config.template import explanation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.config.keys import AnyKey, Keys

HEADER = """\
# Every key of onbox.toml

Rendered from `onbox/config/` by `python scripts/gen_docs.py`. `onbox init` writes a first file; with every key and an
example: `onbox init --full`.

Durations: `"90s"`, `"30m"`, `"12h"`, `"1h30m"`, or a number of seconds. Sizes: `"5GB"` (10^9), `"5GiB"` (2^30), or a
number of bytes. Relative paths begin at the file's directory; those of a stage at the stage's `cwd`. `*` stands for a
name of your choice. An unknown key or a wrong value is an error that names its line; all errors are shown at once.
"""


def render_page() -> str:
    """The page's whole text."""
    return HEADER + "".join("".join(_table(path, keys)) for path, keys in TABLES.items())


def _table(path: str, keys: type[Keys]) -> Iterator[str]:
    yield f"\n## `{_shown(path)}`\n\n"
    if keys.HELP:
        yield f"{keys.HELP}\n\n"
    yield "| key | what it is for | example |\n| --- | --- | --- |\n"
    yield from (_row(key) for key in keys.rows())


def _shown(path: str) -> str:
    """As it stands in a file."""
    return f"[[{path[:-2]}]]" if path.endswith("[]") and "." not in path else f"[{path.removesuffix('[]')}]"


def _row(key: AnyKey) -> str:
    example = f"`{key.example}`" if key.example else ""
    return f"| `{key.name}` | {_cell(explanation(key))} | {_cell(example).replace('@NAME@', 'digits')} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;") if "`" not in text else text.replace("|", "\\|")
