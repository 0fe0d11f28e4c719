"""docs/commands.md: every command and option of the four programs, rendered from their tables. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import handbook.cli
import onbox.cli.app
import patrol.cli
import sentinels.cli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.cli.program import Program

HEAD = """\
# Commands

*Rendered from the commands by `scripts/gen_docs.py`; do not edit. Every command says the same with `--help`, less the
options that are marked as rare.*
"""


def render_page() -> str:
    """The whole page."""
    programs = (onbox.cli.app.PROGRAM, patrol.cli.PROGRAM, sentinels.cli.PROGRAM, handbook.cli.PROGRAM)
    return "\n".join([HEAD, *(line for one in programs for line in _program(one))]).rstrip("\n") + "\n"


def _program(program: Program) -> Iterator[str]:
    yield from (f"## {program.name}", "", program.help or "", "")
    yield from _fenced(program.epilog)
    yield from _commands(program, click.Context(program, info_name=program.name))


def _commands(group: click.Group, ctx: click.Context) -> Iterator[str]:
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        yield from _command(command, click.Context(command, info_name=name, parent=ctx))


def _command(command: click.Command, ctx: click.Context) -> Iterator[str]:
    yield from (f"### {ctx.command_path}", "", command.help or "", "")
    rows = [_row(one) for one in command.params]
    if rows:
        yield from ("| argument | |", "|---|---|", *rows, "")
    yield from _fenced(command.epilog)
    if isinstance(command, click.Group):
        yield from _commands(command, ctx)


def _row(param: click.Parameter) -> str:
    if not isinstance(param, click.Option):
        return _cells(param.human_readable_name + ("…" if param.nargs == -1 else ""), getattr(param, "help", ""))
    choices = "|".join(map(str, param.type.choices)) if isinstance(param.type, click.Choice) else None
    takes = "" if param.is_flag else f" {param.metavar or choices or (param.name or '').upper()}"
    return _cells(", ".join(param.opts) + takes, ("Rare: " if param.hidden else "") + (param.help or ""))


def _cells(words: str, says: str) -> str:
    return f"| `{_cell(words)}` | {_cell(' '.join(says.split()))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _fenced(epilog: str | None) -> Iterator[str]:
    if epilog:
        yield from ("```text", epilog.strip("\n"), "```", "")
