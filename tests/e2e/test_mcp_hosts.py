"""`patrol mcp` as MCP Inspector and real hosts without a login see it; `scripts/test --engines` installs them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.box import REPOSITORY, Box

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PROGRAMS = os.environ.get("ONBOX_TEST_MCP_HOSTS", "")
pytestmark = pytest.mark.skipif(
    not PROGRAMS, reason="ONBOX_TEST_MCP_HOSTS names no folder of the hosts' programs: scripts/test --engines"
)
CONFIG = '[run]\nname = "digits"\n[boxes.here]\nbackend = "local"\nproject = "."\n'
SERVER = [sys.executable, "-m", "patrol", "mcp"]


class Project:
    """A local run that failed, and a home of its own for a host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "digits"
        self.folder.mkdir()
        (folder / "home").mkdir()
        (self.folder / "onbox.toml").write_text(CONFIG)
        self.own = {"PYTHONPATH": str(REPOSITORY), "XDG_STATE_HOME": str(folder / "state")}
        path = os.pathsep.join((PROGRAMS, os.path.dirname(sys.executable), os.environ["PATH"]))
        self.env = {**os.environ, **self.own, "HOME": str(folder / "home"), "PATH": path}
        Box(self.folder).onbox("chain", "train=echo 'RuntimeError: CUDA out of memory'; exit 1")

    def run(self, *words: str, env: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=env or self.env,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def inspect(project: Project, *words: str) -> dict[str, Any]:
    given = [word for name, value in project.own.items() for word in ("-e", f"{name}={value}")]
    found: dict[str, Any] = json.loads(project.run("mcp-inspector", "--cli", *given, *SERVER, *words))
    return found


def test_the_inspector_lists_and_calls_the_tools(project: Project) -> None:
    tools = inspect(project, "--method", "tools/list")["tools"]
    assert {"list_runs", "triage", "next_step", "wait"} <= {one["name"] for one in tools}
    assert all(one["description"] and one["inputSchema"]["type"] == "object" for one in tools)
    call = ("--method", "tools/call", "--tool-name", "triage", "--tool-arg", "run=here/digits")
    answer = json.loads(inspect(project, *call)["content"][0]["text"])
    assert answer["data"]["failure"]["failure_class"] == "cuda_oom"
    assert inspect(project, "--method", "prompts/list")["prompts"][0]["name"] == "take-over"


def test_claude_code_reads_what_is_installed_and_reaches_the_server(project: Project) -> None:
    project.run(sys.executable, "-m", "handbook", "agent", "--host", "claude-code", "--install")
    named = project.run("claude", "mcp", "list")
    assert "onbox: " in named
    assert "pending approval" in named.lower(), "a server of .mcp.json waits for a person"
    project.run("claude", "mcp", "remove", "onbox", "-s", "project")
    project.run("claude", "mcp", "add", "onbox", "--", *SERVER, "--folder", str(project.folder))
    assert "Connected" in project.run("claude", "mcp", "list")


def test_codex_takes_the_command_that_is_printed(project: Project) -> None:
    said = project.run(sys.executable, "-m", "handbook", "agent", "--host", "codex", "--install")
    command = shlex.split(said.splitlines()[-1].removeprefix("type: "))
    project.run(*command)
    (server,) = json.loads(project.run("codex", "mcp", "list", "--json"))
    assert (server["name"], server["enabled"]) == ("onbox", True)
    assert [server["transport"]["command"], *server["transport"]["args"]] == command[command.index("--") + 1 :]
