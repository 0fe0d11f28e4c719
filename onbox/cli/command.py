"""How a command is declared: with click, and with this project's help texts and words for a wrong command line.

A command is one function in a module of `commands/`, and one row in its program's table (`onbox/cli/app.py`,
`patrol/cli.py`, ...). The module says what the command takes; the row says where it lies and what it is for, so that
`--help` and completion import no command:

    @command(EXAMPLES, exclusive=[("--json", "--prometheus")])           "stats": Entry("stats:stats", "what this ..."),
    @argument("run", required=False, metavar="RUN", help="name of the run")
    @click.option("--json", is_flag=True, help="one JSON object")
    @config_option
    def stats(args: Options) -> int:

The function gets one `Options` with what was typed and returns the exit code. Options that are rarely wanted have
`hidden=True`: `--help` leaves them out, docs/commands.md has them. A command with commands of its own is a `group()`
(`onbox/commands/boot.py`), or a `Table` where they load much (`onbox/commands/sweep.py`). What a word may be at TAB is
said with `shell_complete=` (`onbox/cli/completion.py`).
Options that several commands share lie beside their reader: `config_option` here, `common_options` in
`patrol/config/configured.py`, `handbook_options` in `handbook/commands/options.py`.
"""

from __future__ import annotations

import importlib
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from onbox.cli.options import Options
from onbox.contract.paths import CONFIG_FILE
from onbox.did_you_mean import meant
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


__all__ = [
    "Argument",
    "Command",
    "Group",
    "Options",
    "Table",
    "argument",
    "command",
    "config_option",
    "files",
    "group",
    "json_option",
]

LIST_COLUMNS = 40
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Argument(click.Argument):
    """One that has a help text."""

    def __init__(self, declared: Sequence[str], help: str = "", **settings: Any) -> None:  # noqa: A002 - as click has it
        super().__init__(declared, **settings)
        self.help = help

    def make_metavar(self, *_: Any) -> str:
        word = self.human_readable_name if self.required else f"[{self.human_readable_name}]"
        return word if self.nargs == 1 else f"{word}..."


class _Layout(click.Command):
    """Help texts with a table of arguments, and with the epilog folded to the terminal."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        rows = [(_many(one), one.help) for one in self.params if isinstance(one, Argument) and one.help]
        if rows:
            with formatter.section("Arguments"):
                formatter.write_dl(rows)
        self.format_options(ctx, formatter)
        if rare := [one.opts[-1] for one in self.params if isinstance(one, click.Option) and one.hidden]:
            formatter.write_text(f"rarely needed, and said in docs/commands.md: {', '.join(rare)}")
        if self.epilog:
            from onbox.cli.fold_help import fold_help  # noqa: PLC0415 - only for help

            formatter.write("\n" + fold_help(self.epilog.rstrip("\n"), formatter.width) + "\n")


def _many(argument: click.Argument) -> str:
    return argument.human_readable_name + ("..." if argument.nargs != 1 else "")


class Command(_Layout):
    """exclusive: options of which a command line has at most one, as groups of their names."""

    def __init__(self, name: str | None = None, *, exclusive: Sequence[Sequence[str]] = (), **settings: Any) -> None:
        super().__init__(name, context_settings=SETTINGS, **settings)
        self.exclusive = exclusive

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            if error.ctx is None:  # click's parser does not say whose option lacks its value
                raise click.UsageError(error.format_message(), ctx) from error
            raise
        given = [
            name
            for one in self.params
            if one.name and ctx.get_parameter_source(one.name) is ParameterSource.COMMANDLINE
            for name in one.opts
        ]
        for names in self.exclusive:
            first, *others = [name for name in names if name in given] or [""]
            if others and not ctx.resilient_parsing:
                raise click.UsageError(f"{others[0]}: not allowed with {first}", ctx)
        return rest


def _listed(head: str, commands: Sequence[str]) -> str:
    """The commands behind this head, where they fit on a line; all of them are in --help, which is named below."""
    text = ", ".join(commands)
    return f"{head}{text}" if len(text) <= LIST_COLUMNS else ""


class Group(_Layout, click.Group):
    """A command with commands of its own, in the order of their declaration."""

    def __init__(self, name: str | None = None, **settings: Any) -> None:
        settings |= {"context_settings": SETTINGS, "subcommand_metavar": "COMMAND ..."}
        super().__init__(name, invoke_without_command=True, callback=self._refuse_nothing, **settings)

    def _refuse_nothing(self) -> None:
        """Asked before each command, and instead of one where none was typed."""
        ctx = click.get_current_context()
        if ctx.invoked_subcommand is None:
            raise click.UsageError(f"name a command{_listed(': ', self.list_commands(ctx))}", ctx)

    def add(self, name: str, help: str, command: click.Command) -> None:  # noqa: A002 - as click has it
        """Declare one of its commands."""
        describe(command, name, help)
        self.add_command(command, name)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if ctx.resilient_parsing or args[0].startswith("-") or self.get_command(ctx, args[0]):
            return super().resolve_command(ctx, args)
        known = self.list_commands(ctx)
        near = meant(args[0], known)
        hint = f"; {near}" if near else _listed("; there are: ", known)
        raise click.UsageError(f"no command {args[0]!r}{hint}", ctx)


class Entry(NamedTuple):
    """A row of a table of commands. place: `module:name` of the click command in the package of commands. help: what it
    is for, in one line.
    """

    place: str
    help: str


class Table(Group):
    """A group whose commands are imported when they are asked for. package: where their modules lie. table: one row for
    each, in the order of the help, which needs no more than the rows.
    """

    def __init__(self, package: str, table: Mapping[str, Entry], name: str | None = None, **settings: Any) -> None:
        super().__init__(name, **settings)
        self.package, self.table = package, table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        entry = self.table.get(cmd_name)
        if entry is None:
            return None
        module, _, name = entry.place.partition(":")
        command: click.Command = getattr(importlib.import_module(f"{self.package}.{module}"), name)
        describe(command, cmd_name, entry.help)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.table.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        found = ((name, entry.help) for name, entry in self.table.items() if name.startswith(incomplete))
        return [CompletionItem(name, help=text) for name, text in found]


def describe(command: click.Command, name: str, summary: str) -> None:
    """Give a command its name and its help: its declaration in a module says neither."""
    command.name, command.short_help = name, summary
    command.help = command.help or summary[:1].upper() + summary[1:] + ("" if summary.endswith((".", "?")) else ".")


def command(
    epilog: str = "", *, exclusive: Sequence[Sequence[str]] = (), **settings: Any
) -> Callable[[Callable[[Options], int]], Command]:
    """Make a command of a function. epilog: its examples."""

    def decorate(function: Callable[[Options], int]) -> Command:
        @wraps(function)
        def call(**values: Any) -> int:
            return function(
                Options(**{key: list(one) if isinstance(one, tuple) else one for key, one in values.items()})
            )

        call.__doc__ = None  # its help is said in its program's table
        return click.command(cls=Command, epilog=epilog, exclusive=exclusive, **settings)(call)

    return decorate


def group(epilog: str = "") -> Group:
    """An empty group, to which its module adds commands."""
    return Group(epilog=epilog)


def argument(name: str, *, help: str = "", **settings: Any) -> Callable[[Any], Any]:  # noqa: A002 - as click has it
    """A word that has no `--`."""
    return click.argument(name, cls=Argument, help=help, **settings)


def config_option(function: Any) -> Any:
    """`-c FILE`, which every command of a project has."""
    text = f"configuration (default: the nearest {CONFIG_FILE})"
    return click.option("-c", "--config", metavar="FILE", help=text, shell_complete=files)(function)


def json_option(function: Any) -> Any:
    """`--json`."""
    return click.option("--json", is_flag=True, help="one JSON object")(function)


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:  # noqa: ARG001 - click's signature
    """At TAB: names of files, by the shell itself."""
    return [CompletionItem(incomplete, type="file")]


def complete_variable(program: str) -> str:
    """The variable with which a shell asks a program for completion; click's own name for it."""
    return f"_{program.upper()}_COMPLETE"
