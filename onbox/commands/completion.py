"""`onbox completion SHELL`: what lets bash, zsh or fish complete all four programs. The scripts are click's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from onbox.cli.command import argument, command, complete_variable
from onbox.contract.exits import Exit

if TYPE_CHECKING:
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  eval "$(onbox completion bash)"        in ~/.bashrc (bash 4.4 or newer)
  eval "$(onbox completion zsh)"         in ~/.zshrc, below compinit
  onbox completion fish > ~/.config/fish/conf.d/onbox.fish
"""
PROGRAMS = ("onbox", "patrol", "sentinel", "handbook")
# In a file of $fpath the script is run at the first TAB, with the program's name in $service.
ZSH_END = '[[ -z $service ]] || "_${service}_completion" "$@"'


@command(EXAMPLES)
@argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL", help="bash, zsh or fish")
def run(args: Options) -> int:
    scripts = {program: _script(args.shell, program) for program in PROGRAMS}
    print(_for_zsh(scripts) if args.shell == "zsh" else "\n".join(scripts.values()))
    return Exit.DONE


def _script(shell: str, program: str) -> str:
    kind = get_completion_class(shell)
    assert kind is not None
    return kind(click.Command(program), {}, program, complete_variable(program)).source()


def _for_zsh(scripts: dict[str, str]) -> str:
    """One script for all: click's end, which runs or registers the one function above it, is said once for four."""
    functions = [script.partition("\n")[2].rpartition("\nif [[")[0].strip() for script in scripts.values()]
    registered = [f"compdef _{program}_completion {program}" for program in scripts]
    return "\n\n".join([f"#compdef {' '.join(scripts)}", *functions, "\n".join(registered), ZSH_END])
