"""`handbook agent`: the instruction file that a coding agent's host reads."""

from __future__ import annotations

import os
import shlex
import sys
import time
from shutil import which
from typing import TYPE_CHECKING

import click

from handbook.commands.options import place_options
from handbook.page.hosts import BY_KEY, HOSTS, is_old
from handbook.page.mcp_registration import server_words, with_server
from handbook.page.skill import problems, render_section, render_skill, with_section
from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.system.clock import wall
from onbox.system.files import read_file, replace_file
from patrol.config.configured import load_settings

if TYPE_CHECKING:
    from handbook.page.hosts import Host
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  handbook agent --host claude-code             the text, on stdout
  handbook agent --host claude-code --write     .claude/skills/onbox/SKILL.md in the project
  handbook agent --host codex --write           a section of AGENTS.md; the rest of the file stays
  handbook agent --host cursor --install        the same, and the MCP server (`patrol mcp`) in .cursor/mcp.json
"""
SKILL_HOST = "claude-code"
MODE = 0o644


@command(EXAMPLES)
@place_options
@click.option("--host", default="generic", help="default: generic", type=click.Choice([host.key for host in HOSTS]))
@click.option("--write", is_flag=True, help="put it where the host reads it, in the project")
@click.option("--install", is_flag=True, help="--write, and register the MCP server with the host")
def run(args: Options) -> int:
    host = BY_KEY[args.host]
    today = time.gmtime(wall())
    old = is_old(host, today.tm_year, today.tm_mon)
    as_skill = host.key == SKILL_HOST
    text = render_skill(host, old=old) if as_skill else render_section(host, old=old)
    wrong = problems(text) if as_skill else []
    if wrong:
        raise Trouble(Exit.INTERNAL, "the skill breaks its format: " + "; ".join(wrong))
    if not (args.write or args.install):
        print(text, end="")
        return Exit.DONE
    folder = load_settings(args, os.environ).folder
    print(_write(folder, host, text, as_skill=as_skill))
    if args.install:
        print(_register(folder, host))
    return Exit.DONE


def _register(folder: str, host: Host) -> str:
    """The file that names the server now, or what to type. Raises Trouble, StateNotWritten."""
    words = server_words(folder, which("patrol") or "", sys.executable)
    if not host.mcp_file:
        command = host.mcp_command or "register this command as an MCP server on stdio: {words}"
        return f"type: {command.format(words=shlex.join(words))}"
    path = os.path.join(folder, host.mcp_file)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        old = read_file(path)
        new = with_server("" if old is None else old.decode("utf-8"), words)
    except (OSError, ValueError) as error:
        raise Trouble(Exit.STATE_NOT_WRITTEN, f"{path}: {error}; it was left as it is") from error
    replace_file(path, new.encode("utf-8"))
    os.chmod(path, MODE)
    return path


def _write(folder: str, host: Host, text: str, *, as_skill: bool) -> str:
    """The path. Raises Trouble, StateNotWritten."""
    path = os.path.join(folder, host.reads if as_skill else "AGENTS.md")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        old = read_file(path)
        earlier = "" if old is None else old.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Trouble(Exit.STATE_NOT_WRITTEN, f"{path}: {error}") from error
    new = text if as_skill else with_section(earlier, text)
    if new != earlier:
        replace_file(path, new.encode("utf-8"))
        os.chmod(path, MODE)
    return path
