"""How a chain is started, which `onbox chain` and `onbox resume` say alike."""

from __future__ import annotations

from typing import Any

import click

from onbox.cli.amounts import MOST_SECONDS, Number
from onbox.cli.command import config_option
from onbox.commands.shared.arguments import complete_stage

LAUNCH_CHECK_SECONDS = 60.0
HOW = [("--detach", "--inline")]
RESUME_CHECK_SECONDS = 2.0  # a patrol, or a machine that starts, has no minute for each run


def launch_options(function: Any) -> Any:
    check = (
        "with --detach: watch at most this long for the first line of output, or a crash before it "
        f"(default: {LAUNCH_CHECK_SECONDS:g}; {RESUME_CHECK_SECONDS:g} for a resume that nobody watches)"
    )
    declared = (
        config_option,
        click.option(
            "-d", "--detach", is_flag=True, help="return once the first stage is seen to run, after a minute at most"
        ),
        click.option("--inline", is_flag=True, hidden=True, help="run in this process (sbatch, containers, systemd)"),
        click.option("--launch-check", type=Number(0, MOST_SECONDS), metavar="SECONDS", help=check, hidden=True),
        click.option(
            "--accept-done",
            multiple=True,
            metavar="STAGE",
            help="accept its result as it is",
            shell_complete=complete_stage,
        ),
        click.option(
            "--accept-code",
            is_flag=True,
            hidden=True,
            help="continue although the code has changed ([run] code_changed)",
        ),
        click.option(
            "--redo",
            multiple=True,
            metavar="STAGE",
            help="run it and what follows again, although it is DONE",
            shell_complete=complete_stage,
        ),
        click.option(
            "--forget-jobs",
            is_flag=True,
            hidden=True,
            help="treat jobs that their engine has lost as over: you have looked",
        ),
        click.option("--json", is_flag=True, help="journal records as JSON lines instead of narration"),
    )
    for option in reversed(declared):
        function = option(function)
    return function
