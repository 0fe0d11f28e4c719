"""A program: its table of commands, each imported when it is asked for, and the edge where all of it meets the user."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.shell_completion import shell_complete

from onbox import __version__
from onbox.cli.boundary import run_as_script, within_boundary
from onbox.cli.command import Entry, Table, complete_variable
from onbox.contract.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Trouble = Callable[[Exception], tuple[int, str] | None]


class Program(Table):
    """A command line. exit_codes: `(code, meaning)`, in the order of its help. example: one line that can be typed.

    table: its commands, in the order of its help. interrupted, trouble: what Ctrl-C and this program's own errors mean
    (`within_boundary`).
    """

    def __init__(  # noqa: PLR0913 - a whole program
        self,
        name: str,
        description: str,
        example: str,
        exit_codes: Iterable[tuple[int, str]],
        package: str,
        table: Mapping[str, Entry],
        *,
        interrupted: tuple[int, str],
        trouble: Trouble,
    ) -> None:
        codes = "\n".join(f"  {int(code):>3}  {meaning}" for code, meaning in exit_codes)
        epilog = f"exit codes:\n{codes}\n\nexample:\n  {example}\n"
        super().__init__(package, table, name, help=description, epilog=epilog)
        click.version_option(__version__, message=f"{name} {__version__}")(self)
        self.interrupted, self.trouble = interrupted, trouble

    def run(self, argv: Sequence[str]) -> int:
        """Run one command; its exit code."""
        return within_boundary(self._name, lambda: self._call(list(argv)), self.trouble, interrupted=self.interrupted)

    def _call(self, argv: list[str]) -> int:
        try:
            with self.make_context(self._name, argv) as ctx:
                return int(self.invoke(ctx))
        except click.exceptions.Exit as done:
            return done.exit_code
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else self._name
            click.echo(f"{path}: {_words_of(error)}\n  see: {path} --help", err=True)
            return int(Exit.USAGE)

    @property
    def _name(self) -> str:
        return self.name or ""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **_: Any) -> NoReturn:  # type: ignore[override] # noqa: ARG002 - it has a name
        """What click's own callers use, such as its CliRunner."""
        raise SystemExit(self.run(args or ()))

    def run_as_script(self) -> NoReturn:
        """What a console script does: answer a shell's TAB, or run."""
        run_as_script(self.answer)

    def answer(self, argv: Sequence[str]) -> int:
        """The exit code of a TAB that the shell asks about with `_ONBOX_COMPLETE`, or of a command."""
        variable = complete_variable(self._name)
        if instruction := os.environ.get(variable):
            return shell_complete(self, {}, self._name, variable, instruction)
        return self.run(argv)


def _words_of(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption):
        asked, ctx = error.option_name.lstrip("-"), error.ctx
        if ctx is not None and any(isinstance(one, click.Argument) and one.name == asked for one in ctx.command.params):
            return f"no option {error.option_name}; the {asked} is named without it: {ctx.command_path} NAME"
        near = [f'"{one}"' for one in sorted(error.possibilities or ())[:2]]
        return f"no option {error.option_name}" + (f"; did you mean {' or '.join(near)}?" if near else "")
    text = " ".join(
        error.format_message().replace(". Choose from:", "; choose one of").split()
    )  # click's list of words
    return text[:1].lower() + text[1:].removesuffix(".")
