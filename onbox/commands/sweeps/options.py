"""What the commands of `onbox sweep` take alike."""

from __future__ import annotations

from typing import Any

import click

from onbox.cli.command import argument, config_option

HOW = [("--detach", "--inline")]
TYPED_COMMAND = "onbox.sweep.command"  # in click's context: the words behind `--`


def common(function: Any) -> Any:
    declared = (
        config_option,
        click.option("--name", metavar="SWEEP", help="name of the sweep (default: [sweep] name, or sweep)"),
        click.option("--json", is_flag=True, help="JSON instead of text"),
    )
    for option in reversed(declared):
        function = option(function)
    return function


def how(function: Any) -> Any:
    inline = click.option("--inline", is_flag=True, hidden=True, help="run in this process (containers, systemd)")
    return click.option("-d", "--detach", is_flag=True, help="return once the first cell runs")(inline(function))


sweep_argument = argument("sweep", required=False, metavar="SWEEP", help="its name")
