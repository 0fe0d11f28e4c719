"""Carries a command module that still declares itself with `add(subparsers)`, as if to argparse.

It lives only until the last such module is declared as `command.py` says.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import Argument, Command, Group, describe, options

if TYPE_CHECKING:
    from collections.abc import Callable


def load_old(module: str, name: str) -> click.Command:
    """The command of this name that the module declares."""
    found = _Commands()
    importlib.import_module(module).add(found)
    return found.parsers[name].command()


class _Commands:
    def __init__(self) -> None:
        self.parsers: dict[str, _Parser] = {}

    def add_parser(self, name: str, help: str = "", **settings: Any) -> _Parser:  # noqa: A002 - as argparse has it
        self.parsers[name] = _Parser(name, help, **settings)
        return self.parsers[name]


class _Parser:
    def __init__(
        self,
        name: str,
        help: str,  # noqa: A002 - as argparse has it
        epilog: str = "",
        description: str | None = None,
        **_: Any,
    ) -> None:
        self.name, self.help, self.epilog, self.description = name, help, epilog, description
        self.params: list[click.Parameter] = []
        self.exclusive: list[_Exclusive] = []
        self.below: _Commands | None = None
        self.function: Callable[[Any], int] | None = None

    def add_argument(self, *names: str, **settings: Any) -> str:
        param = _param(names, settings)
        self.params.append(param)
        return param.opts[-1]

    def add_argument_group(self, *_: str, **__: str) -> _Parser:
        return self

    def add_mutually_exclusive_group(self, **_: Any) -> _Exclusive:
        self.exclusive.append(_Exclusive(self))
        return self.exclusive[-1]

    def add_subparsers(self, **_: Any) -> _Commands:
        self.below = _Commands()
        return self.below

    def set_defaults(self, function: Callable[[Any], int]) -> None:
        self.function = function

    def command(self) -> click.Command:
        made: click.Command
        if self.below is not None:
            made = group = Group(epilog=self.epilog)
            for name, one in self.below.parsers.items():
                group.add(name, one.help, one.command())
        else:
            function = self.function
            assert function is not None

            def call(**values: Any) -> int:
                return function(options(**values))

            exclusive = [one.names for one in self.exclusive]
            made = Command(
                epilog=self.epilog, help=self.description, params=self.params, callback=call, exclusive=exclusive
            )
        describe(made, self.name, self.help)
        return made


class _Exclusive:
    def __init__(self, parser: _Parser) -> None:
        self.parser, self.names = parser, list[str]()

    def add_argument(self, *names: str, **settings: Any) -> None:
        self.names.append(self.parser.add_argument(*names, **settings))


def _param(names: tuple[str, ...], said: dict[str, Any]) -> click.Parameter:
    settings = {key: said[key] for key in ("metavar", "help", "default") if said.get(key) is not None}
    if "help" in settings:
        settings["hidden"] = settings["help"] == "==SUPPRESS=="
        settings["help"] = settings["help"].replace("%%", "%")
    if said.get("choices"):
        settings["type"] = click.Choice(list(said["choices"]))
    elif said.get("type"):
        settings["type"] = said["type"]
    nargs = said.get("nargs")
    if not names[0].startswith("-"):
        settings.pop("hidden", None)
        if nargs == "?":
            settings["required"] = False
        elif nargs in ("*", "+"):
            settings |= {"nargs": -1, "required": nargs == "+"}
            settings.pop("default", None)
        return Argument([names[0]], **settings)
    declared = [*names, said["dest"]] if "dest" in said else list(names)
    action = said.get("action", "store")
    if isinstance(nargs, int):
        settings |= {"nargs": nargs}
        if isinstance(settings.get("metavar"), tuple):
            settings["metavar"] = " ".join(settings["metavar"])
    if action == "store_true":
        return click.Option(declared, is_flag=True, **settings)
    if action == "append":
        settings.pop("default", None)
        return click.Option(declared, multiple=True, **settings)
    assert action == "store", action
    return click.Option(declared, required=bool(said.get("required")), **settings)
