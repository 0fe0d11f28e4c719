"""The MCP server in a host's own file of servers. Pure: text in, text out; all other servers stay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "onbox"


def server_words(folder: str, program: str, python: str) -> tuple[str, ...]:
    """What the host starts. program: `patrol` as an absolute path; "": it is not on the PATH, and python runs it."""
    start = (program,) if program else (python, "-m", "patrol")
    return (*start, "mcp", "--folder", folder)


def with_server(text: str, words: Sequence[str]) -> str:
    """The file with our server in it, in the place of an earlier one. Raises ValueError for what is not such a file."""
    document = json.loads(text) if text.strip() else {}
    servers = document.setdefault("mcpServers", {}) if isinstance(document, dict) else None
    if not isinstance(servers, dict):
        raise ValueError(  # noqa: TRY004 - about a text, as json says it
            'not a file of MCP servers: wanted {"mcpServers": {...}}'
        )
    servers[NAME] = {"type": "stdio", "command": words[0], "args": list(words[1:])}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
