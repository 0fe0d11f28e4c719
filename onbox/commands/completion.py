"""`onbox completion SHELL`: completion for bash, zsh and fish, made from the commands' own declarations."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.contract.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = """\
examples:
  eval "$(onbox completion bash)"        in ~/.bashrc
  onbox completion zsh > "${fpath[1]}/_onbox"
  onbox completion fish > ~/.config/fish/completions/onbox.fish
"""
STAGES = "onbox stages --names 2>/dev/null"


def add(subparsers: Any) -> None:
    parser = subparsers.add_parser("completion", help="print a shell completion script", epilog=EXAMPLES)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    from onbox.cli.tree import PROGRAM  # noqa: PLC0415 - the whole tree of commands, needed only here

    print(_RENDERERS[args.shell](list(_commands(PROGRAM.parser()))))
    return Exit.DONE


class Command(NamedTuple):
    """One command: its long options, its own commands or the words that it takes, and whether it takes stages. What
    takes neither is left to the shell: names of files.
    """

    name: str
    options: list[str]
    words: list[str]
    takes_stages: bool


def _commands(parser: argparse.ArgumentParser) -> Iterator[Command]:
    for name, sub in _below(parser):
        inner = dict(_below(sub))
        options = dict.fromkeys(option for one in (sub, *inner.values()) for option in _options(one))
        choices = [word for item in sub._actions if not item.option_strings for word in item.choices or ()]
        stages = any(item.metavar == "STAGE" and not item.option_strings for item in sub._actions)
        yield Command(name, list(options), list(inner) or choices, stages)


def _below(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:  # argparse has no public way to walk a parser
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    return (option for item in parser._actions for option in item.option_strings if option.startswith("--"))


def _bash(commands: list[Command]) -> str:
    cases = "\n".join(
        f"    {one.name}) options='{' '.join(one.options)}' words={_words_in_sh(one)} ;;" for one in commands
    )
    return f"""\
_onbox() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} options words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{_names(commands)}' -- "$cur"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  case $cur in
    -*) COMPREPLY=($(compgen -W "$options" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
  esac
}}
complete -o default -F _onbox onbox"""


def _zsh(commands: list[Command]) -> str:
    cases = "\n".join(
        f"    {one.name}) compadd -- {' '.join(one.options)}; {_words_in_zsh(one)} ;;" for one in commands
    )
    return f"""\
#compdef onbox
_onbox() {{
  if (( CURRENT == 2 )); then
    compadd -- {_names(commands)}
    return
  fi
  case $words[2] in
{cases}
  esac
}}
compdef _onbox onbox"""


def _fish(commands: list[Command]) -> str:
    lines = ["complete -c onbox -f", f"complete -c onbox -n __fish_use_subcommand -a '{_names(commands)}'"]
    for one in commands:
        seen = f"complete -c onbox -n '__fish_seen_subcommand_from {one.name}'"
        lines += [f"{seen} -l {option[2:]}" for option in one.options]
        words = " ".join(one.words) or (f"({STAGES})" if one.takes_stages else "")
        lines.append(f"{seen} -a '{words}'" if words else f"{seen} -F")
    return "\n".join(lines)


def _names(commands: list[Command]) -> str:
    return " ".join(one.name for one in commands)


def _words_in_sh(command: Command) -> str:
    return f'"$({STAGES})"' if command.takes_stages else f"'{' '.join(command.words)}'"


def _words_in_zsh(command: Command) -> str:
    if command.takes_stages:
        return f'compadd -- ${{(f)"$({STAGES})"}}'
    return f"compadd -- {' '.join(command.words)}" if command.words else "_files"


_RENDERERS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
