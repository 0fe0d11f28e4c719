"""`onbox completion SHELL`: completion for bash, zsh and fish, made from the commands' own declarations."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from onbox.contract.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = """\
examples:
  eval "$(onbox completion bash)"        in ~/.bashrc
  onbox completion zsh > "${fpath[1]}/_onbox"
  onbox completion fish > ~/.config/fish/completions/onbox.fish
"""


def add(subparsers: Any) -> None:
    parser = subparsers.add_parser("completion", help="print a shell completion script", epilog=EXAMPLES)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    from onbox.cli_parser import PROGRAM  # noqa: PLC0415 - the whole tree of commands, needed only here

    print(_RENDERERS[args.shell](dict(_commands(PROGRAM.parser()))))
    return Exit.DONE


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, list[str]]]:
    for action in parser._actions:  # argparse has no public way to walk a parser
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                yield (
                    name,
                    [option for item in sub._actions for option in item.option_strings if option.startswith("--")],
                )


def _bash(commands: dict[str, list[str]]) -> str:
    cases = "\n".join(f"    {name}) words='{' '.join(options)}' ;;" for name, options in commands.items())
    return f"""\
_onbox() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{" ".join(commands)}' -- "$cur"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  case $cur in
    -*) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$(onbox stages --names 2>/dev/null)" -- "$cur")) ;;
  esac
}}
complete -o default -F _onbox onbox"""


def _zsh(commands: dict[str, list[str]]) -> str:
    cases = "\n".join(f"    {name}) compadd -- {' '.join(options)} ;;" for name, options in commands.items())
    return f"""\
#compdef onbox
_onbox() {{
  if (( CURRENT == 2 )); then
    compadd -- {" ".join(commands)}
    return
  fi
  case $words[2] in
{cases}
  esac
  compadd -- ${{(f)"$(onbox stages --names 2>/dev/null)"}}
}}
compdef _onbox onbox"""


def _fish(commands: dict[str, list[str]]) -> str:
    lines = ["complete -c onbox -f", f"complete -c onbox -n __fish_use_subcommand -a '{' '.join(commands)}'"]
    for name, options in commands.items():
        lines += [f"complete -c onbox -n '__fish_seen_subcommand_from {name}' -l {option[2:]}" for option in options]
    lines.append("complete -c onbox -n 'not __fish_use_subcommand' -a '(onbox stages --names 2>/dev/null)'")
    return "\n".join(lines)


_RENDERERS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
