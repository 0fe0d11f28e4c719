"""The MCP server in a host's file of servers."""

from __future__ import annotations

import json

import pytest

from handbook.page.mcp_registration import server_words, with_server

WORDS = ("/bin/patrol", "mcp", "--folder", "/p")


def test_a_new_file_names_our_server() -> None:
    servers = json.loads(with_server("", WORDS))["mcpServers"]
    assert servers == {"onbox": {"type": "stdio", "command": "/bin/patrol", "args": ["mcp", "--folder", "/p"]}}


def test_other_servers_and_keys_stay() -> None:
    text = '{"theme": "dark", "mcpServers": {"other": {"command": "x"}, "onbox": {"command": "old"}}}'
    found = json.loads(with_server(text, WORDS))
    assert (found["theme"], found["mcpServers"]["other"]) == ("dark", {"command": "x"})
    assert found["mcpServers"]["onbox"]["command"] == "/bin/patrol"


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', "{", '"x"'])
def test_what_is_not_such_a_file_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json's own, or ours
        with_server(text, WORDS)


def test_without_a_program_on_the_path_python_runs_it() -> None:
    assert server_words("/p", "", "/usr/bin/python3") == ("/usr/bin/python3", "-m", "patrol", "mcp", "--folder", "/p")
