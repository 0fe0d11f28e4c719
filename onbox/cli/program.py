"""The command line of every program of this project: argparse, with its exit code and its layout of help texts."""

from __future__ import annotations

import argparse
import importlib
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from onbox import __version__
from onbox.contract.exits import Exit
from onbox.did_you_mean import meant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Program(NamedTuple):
    """A command line. exit_codes: `(code, meaning)`, in the order of its help. example: one line that can be typed.

    modules: name of a command -> module in `package` whose `add(subparsers)` declares it; one may declare several.
    """

    name: str
    description: str
    example: str
    exit_codes: Iterable[tuple[int, str]]
    package: str
    modules: Mapping[str, str]

    def parser(self, only: str | None = None) -> Parser:
        """only: load just this command's module (all of them if it is no command, for help and errors)."""
        codes = "\n".join(f"  {int(code):>3}  {meaning}" for code, meaning in self.exit_codes)
        parser = Parser(
            prog=self.name,
            description=self.description,
            epilog=f"exit codes:\n{codes}\n\nexample:\n  {self.example}",
        )
        parser.add_argument("--version", action="version", version=f"{self.name} {__version__}")
        # With `prog` given, argparse need not load shutil to find it.
        commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, prog=self.name)
        for module in (
            [self.modules[only]] if only is not None and only in self.modules else dict.fromkeys(self.modules.values())
        ):
            importlib.import_module(f"{self.package}.{module}").add(commands)
        return parser


class Parser(argparse.ArgumentParser):
    """argparse with this tool's exit code for a wrong command line, and help texts laid out as written.

    A word that is not known is told with the one that was probably meant, by the command that it was said to.
    """

    def __init__(self, **settings: object) -> None:
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **settings)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        name, words = self._commands()
        if name is not None and message.endswith(f"are required: {name}"):
            message = f"what is to be done? there are: {', '.join(words)}"
        self.exit(int(Exit.USAGE), f"{self.prog}: {message}\n  see: {self.prog} --help\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, rest = super().parse_known_args(args, namespace)
        if rest and " " in self.prog:  # of a command: else the whole program would speak, and name its own help
            hint = meant(rest[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(rest)}" + (f"; {hint}" if hint else ""))
        return found, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        what = "command" if action.nargs == argparse.PARSER else " or ".join(action.option_strings) or action.metavar
        self.error(f"no {what} {value!r}; {meant(str(value), known) or 'there are: ' + ', '.join(known)}")

    def _commands(self) -> tuple[str | None, list[str]]:
        """What its commands are called together, and each of them; None: it has none."""
        for action in self._actions:
            if action.nargs == argparse.PARSER:
                return str(action.metavar), list(map(str, action.choices or ()))
        return None, []
