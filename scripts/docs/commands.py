"""docs/commands.md: every command and option of the four programs, rendered from their parsers. Pure."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import handbook.cli
import onbox.cli.tree
import patrol.cli
import sentinels.cli

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = """\
# Commands

*Rendered from the parsers by `scripts/gen_docs.py`; do not edit. Every command says the same with `--help`.*
"""


def render_page() -> str:
    """The whole page."""
    programs = (onbox.cli.tree.PROGRAM, patrol.cli.PROGRAM, sentinels.cli.PROGRAM, handbook.cli.PROGRAM)
    return "\n".join([HEAD, *(line for one in programs for line in _program(one.parser()))]).rstrip("\n") + "\n"


def _program(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield from (f"## {parser.prog}", "", parser.description or "", "")
    yield from _fenced(parser.epilog)
    yield from _commands(parser)


def _commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in _subcommands(parser):
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001 - no public way
        for name, command in action.choices.items():
            yield from _command(command, helps.get(name, ""))


def _command(parser: argparse.ArgumentParser, says: str) -> Iterator[str]:
    yield from (f"### {parser.prog}", "", _sentence(parser.description or says), "")
    rows = [_row(action) for action in parser._actions if _is_told(action)]  # noqa: SLF001 - no public way
    if rows:
        yield from ("| argument | |", "|---|---|", *rows, "")
    yield from _fenced(parser.epilog)
    yield from _commands(parser)


def _subcommands(parser: argparse.ArgumentParser) -> list[argparse._SubParsersAction[argparse.ArgumentParser]]:
    return [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001 - as above


def _is_told(action: argparse.Action) -> bool:
    hidden = isinstance(action, (argparse._HelpAction, argparse._SubParsersAction))  # noqa: SLF001 - as above
    return not hidden and action.help != argparse.SUPPRESS


def _row(action: argparse.Action) -> str:
    choices = None if action.choices is None else "|".join(map(str, action.choices))
    metavar = action.metavar if isinstance(action.metavar, str) else None
    value = metavar or choices or action.dest.upper()
    if not action.option_strings:
        many = (action.nargs in ("*", "+") and "…") or ""
        return _cells(f"{value}{many}", action.help)
    takes = "" if action.nargs == 0 else f" {value}"
    return _cells(", ".join(action.option_strings) + takes, action.help)


def _cells(words: str, says: str | None) -> str:
    text = " ".join((says or "").replace("%%", "%").split())
    return f"| `{_cell(words)}` | {_cell(text)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def _fenced(epilog: str | None) -> Iterator[str]:
    if epilog:
        yield from ("```text", epilog.strip("\n"), "```", "")
