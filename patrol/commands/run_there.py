"""`patrol logs`, `series`, `checkpoints`, `resume`, `stop`: what people do to one run, without a long ssh line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from onbox.cli.amounts import WholeNumber
from onbox.cli.command import command
from onbox.cli.consent import agrees
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from patrol.commands.onbox_there import call_onbox, show_log
from patrol.commands.options import common_options, project_options, run_name_argument
from patrol.commands.runs import one_run
from patrol.config.configured import load_settings
from patrol.decide.remote_command import here

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from onbox.model.boxes import BoxSettings

LOGS_EXAMPLES = """\
examples:
  patrol logs gpu1/digits           the end of its newest stage's log
  patrol logs gpu1/digits -f        follow it as it grows; Ctrl-C ends only the look
  patrol logs gpu1/digits --stage train --attempt 1
"""
SERIES_EXAMPLES = """\
examples:
  patrol series gpu1/digits             step, loss, speed, memory: newest, lowest, highest, and their course
  patrol series gpu1/digits --json
"""
CHECKPOINTS_EXAMPLES = """\
examples:
  patrol checkpoints gpu1/digits        step, size, age, whole or why not, and which one a resume continues from
"""
RESUME_EXAMPLES = """\
examples:
  patrol resume gpu1/digits             shows what a resume would do, and asks
  patrol resume gpu1/digits --yes
"""
STOP_EXAMPLES = """\
examples:
  patrol stop gpu1/digits               asks; then SIGTERM to its stage, SIGKILL after the grace period
  patrol stop gpu1/digits --now --yes   SIGKILL at once
"""


@command(LOGS_EXAMPLES)
@run_name_argument("BOX/RUN", "the run, as `patrol status` shows it")
@click.option("-f", "--follow", is_flag=True, help="follow it as it grows")
@click.option("-n", "--lines", type=WholeNumber(1), default=30, metavar="N", help="how many lines (default: 30)")
@click.option("--stage", metavar="STAGE", help="of this stage (default: the newest)")
@click.option("--attempt", type=WholeNumber(1), metavar="N", help="of this attempt (default: the newest)")
@project_options
def run_logs(args: Options) -> int:
    settings = load_settings(args, os.environ, looks=True)
    box, run = one_run(settings, args.run_name)
    watch = next((one for one in box.watches if one.name == run), None)
    if watch is not None:
        if watch.log is None:
            raise Trouble(Exit.USAGE, f"{box.name}/{run} has no `log` in onbox.toml: nothing says where it writes")
        return show_log(settings, box, watch.log, args.lines, follows=args.follow)
    words = ["logs", "--run", run, "-n", str(args.lines)]
    words += ["-f"] if args.follow else []
    words += ["--attempt", str(args.attempt)] if args.attempt is not None else []
    words += ["--", args.stage] if args.stage else []
    return call_onbox(settings, box, run, words, follows=args.follow)


@command(SERIES_EXAMPLES)
@run_name_argument("BOX/RUN", "the run, as `patrol status` shows it")
@click.option("--stage", metavar="STAGE", help="the points of this stage only")
@common_options
def run_series(args: Options) -> int:
    return _ask(args, "series", *(["--stage", args.stage] if args.stage else []))


@command(CHECKPOINTS_EXAMPLES)
@run_name_argument("BOX/RUN", "the run, as `patrol status` shows it")
@common_options
def run_checkpoints(args: Options) -> int:
    return _ask(args, "checkpoints")


def _ask(args: Options, *words: str) -> int:
    """What onbox there says of a run that it started."""
    settings = load_settings(args, os.environ, looks=True)
    box, run = _own(settings_box=one_run(settings, args.run_name))
    return call_onbox(settings, box, run, [*words, *(["--json"] if args.json else []), "--", run])


@command(RESUME_EXAMPLES)
@run_name_argument("BOX/RUN", "the run, as `patrol status` shows it")
@click.option("--yes", is_flag=True, help="do not ask")
@project_options
def run_resume(args: Options) -> int:
    settings = load_settings(args, os.environ, looks=True)
    box, run = _own(settings_box=one_run(settings, args.run_name))
    name = f"{box.name}/{run}"
    if not args.yes:
        code = call_onbox(settings, box, run, ["resume", "--dry-run", "--", run])
        if code != Exit.DONE:
            return code
        if not agrees(f"resume {name}?", unasked=here("patrol", "resume", name, "--yes")):
            print("nothing was changed")
            return Exit.DONE
    return call_onbox(settings, box, run, ["resume", "-d", "--", run])


@command(STOP_EXAMPLES)
@run_name_argument("BOX/RUN", "the run, as `patrol status` shows it")
@click.option("--now", is_flag=True, help="SIGKILL at once")
@click.option("--yes", is_flag=True, help="do not ask")
@project_options
def run_stop(args: Options) -> int:
    settings = load_settings(args, os.environ, looks=True)
    box, run = _own(settings_box=one_run(settings, args.run_name))
    name = f"{box.name}/{run}"
    unasked = here("patrol", "stop", name, *(["--now"] if args.now else []), "--yes")
    if not (args.yes or agrees(f"stop {name} and every process of its stage?", unasked=unasked)):
        print("nothing was changed")
        return Exit.DONE
    return call_onbox(settings, box, run, ["stop", *(["--now"] if args.now else []), "--", run])


def _own(settings_box: tuple[BoxSettings, str]) -> tuple[BoxSettings, str]:
    """A run that onbox started: others have no lock by which a second launch would be refused. Raises Trouble."""
    box, run = settings_box
    if any(watch.name == run for watch in box.watches):
        raise Trouble(Exit.USAGE, f"onbox did not start {box.name}/{run}: use what started it")
    return box, run
