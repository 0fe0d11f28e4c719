"""`onbox chain`: start a chain or continue it, and watch it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from onbox.chain.state.frozen_run import read_head, read_stages
from onbox.cli.amounts import WholeNumber
from onbox.cli.command import argument, command
from onbox.commands.launch.definition import check_run_name, define, refuse_other_project, refuse_renamed
from onbox.commands.launch.options import HOW, LAUNCH_CHECK_SECONDS, launch_options
from onbox.commands.launch.start import start
from onbox.commands.launch.whole_run import with_the_others, without_what_comes_before
from onbox.commands.shared.arguments import complete_stage
from onbox.commands.shared.echo import listener
from onbox.commands.shared.project import (
    load_project,
)
from onbox.commands.shared.typed_command import typed_command
from onbox.config import values
from onbox.config.fields import Unwanted
from onbox.config.stage_selection import UsageProblem, stages_from_words
from onbox.config.tables.wait_for import WAIT_TIMEOUT_SECONDS
from onbox.config.trust_keys import CHAIN, ENGINE, TELL
from onbox.contract.exits import Exit
from onbox.contract.runfile import is_sweep
from onbox.errors import Trouble
from onbox.model.engines import CHOICES, CLUSTERS
from onbox.model.manifest import WaitFor
from onbox.sweep.cells.template import wanted_by
from onbox.trust import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.cli.command import Options
    from onbox.commands.shared.project import Project
    from onbox.contract.paths import RunPaths
    from onbox.model.manifest import Stage


CHAIN_EXAMPLES = """\
examples:
  onbox chain                                   every stage of onbox.toml, in its order
  onbox chain train eval                        these stages
  onbox chain 'train=python train.py' 'eval=python eval.py'    no configuration file needed
  onbox chain -d train eval                     start, check that it runs, return
  onbox chain train eval && ./publish.sh        the exit code is the chain's result
  onbox chain --after-log train.log 'Training completed' 'eval=python eval.py'    after a training that runs already
  onbox chain --again                           run everything again
  onbox chain --recheck train                   check the success gate again, after FAILED; runs nothing
  onbox chain train eval --backend slurm        each stage a Slurm job; status, logs, stop and resume as always

Repeating the command never starts a second copy: it attaches to the live chain, adopts a live stage of a dead
runner, skips what is done. Ctrl-C asks the chain that this command started to stop (twice: at once); if it only
attached, Ctrl-C detaches, as the key d does everywhere. Closing the terminal, or killing this command, harms nothing.
"""


@command(CHAIN_EXAMPLES, exclusive=HOW)
@argument(
    "stages", nargs=-1, metavar="STAGE", help="a stage of onbox.toml, or NAME=COMMAND", shell_complete=complete_stage
)
@click.option("--after-log", nargs=2, metavar="LOG REGEX", help="the first stage starts once the log holds such a line")
@click.option(
    "--after-pid",
    type=WholeNumber(1),
    metavar="PID",
    help="the first stage starts once this process has ended; with --after-log the line must be in the log by then",
)
@click.option("--run", metavar="NAME", help="name of the run (default: from onbox.toml, or the directory's)")
@launch_options
@click.option("--backend", help="what runs the stages (default: [run] backend, or local)", type=click.Choice(CHOICES))
@click.option(
    "--frozen",
    metavar="RUN_DIR",
    hidden=True,
    help="with --inline: STAGE (or all) of the run frozen there, as a job does",
)
@click.option("--again", is_flag=True, help="run everything again, whatever is DONE")
@click.option(
    "--recheck",
    metavar="STAGE",
    shell_complete=complete_stage,
    help="check the gate of its failed attempt again, and run nothing",
)
def run_chain(args: Options) -> int:
    if args.launch_check is None:
        args.launch_check = LAUNCH_CHECK_SECONDS
    if args.frozen is not None:
        from onbox.commands.launch.follow import teller  # noqa: PLC0415 - as below
        from onbox.commands.launch.run_frozen_job import run_frozen  # noqa: PLC0415 - before the first stage

        return run_frozen(args, listener(teller(args)))
    project = _load_to_start(args)
    backend = args.backend or project.config.backend
    if args.inline:
        if args.backend not in (None, "local"):
            raise Trouble(Exit.USAGE, "--inline runs the stages in this process, --backend hands them to another")
        backend = "local"
    if args.run is not None:
        check_run_name(args.run)
    paths = project.paths(args.run)
    refuse_other_project(paths, project.folder)
    _refuse_sweep(paths)
    stages = _behind(args, _stages(args, project, paths))
    _refuse_placeholders(project, stages)
    typed, forgets = typed_command(args, paths), ""
    if args.recheck is None:
        settled = {*args.accept_done, *args.redo}
        if args.run is None:
            forgets = without_what_comes_before(paths, typed, stages, project.config.stages, settled)
        if not forgets:
            stages, forgets = with_the_others(paths, typed, stages, settled)
    if args.run is None and project.config_path is None and not os.path.exists(paths.manifest):
        refuse_renamed(project)
    definition = define(project, paths, stages, backend)
    if args.recheck is not None:
        from onbox.commands.launch.recheck import run_recheck  # noqa: PLC0415 - as above

        is_configured = args.stages or project.config.stages
        return run_recheck(args, definition, typed._replace(resumes=not is_configured))
    return start(args, definition._replace(forgets=forgets))


def _refuse_placeholders(project: Project, stages: Sequence[Stage]) -> None:
    """Stages that [sweep] fills in would run with the braces as they stand there."""
    sweep = project.config.sweep
    if not (sweep.grid or sweep.tables or sweep.queue):
        return

    names = {*dict(sweep.grid), *(name for table in sweep.tables for name in table)}
    found = sorted(wanted_by(stages) & names if names else wanted_by(stages))
    if found:
        told = ", ".join(f"{{{name}}}" for name in found[:5])
        raise Trouble(Exit.USAGE, f"nothing was started: {told} is filled in for each cell of [sweep]: onbox sweep")


def _refuse_sweep(paths: RunPaths) -> None:
    """A sweep of that name lies there, and its cells have their own commands."""
    try:
        head = read_head(paths)
    except (OSError, ValueError):
        return  # a damaged definition: the start tells what to do about it
    if head is not None and is_sweep(head):
        name = os.path.basename(paths.root)
        raise Trouble(
            Exit.CONFIG,
            f"run {name} is a sweep; continue it: onbox sweep resume {name}; beside it: onbox chain --run NAME",
        )


def _stages(args: Options, project: Project, paths: RunPaths) -> Sequence[Stage]:
    """What the words mean; where no stage is configured and a frozen one is to be judged again, the frozen ones."""
    if args.recheck is not None and not args.stages and not project.config.stages and os.path.exists(paths.manifest):
        return [frozen.stage for frozen in read_stages(paths)]
    try:
        return stages_from_words(args.stages, project.config)
    except UsageProblem as problem:
        raise Trouble(Exit.USAGE, str(problem)) from problem


def _behind(args: Options, stages: Sequence[Stage]) -> Sequence[Stage]:
    """The stages, the first one behind what somebody else's process does (--after-log, --after-pid)."""
    if args.after_log is None and args.after_pid is None:
        return stages
    log, regex = args.after_log or (None, None)
    try:
        values.regex(regex) if regex is not None else None
    except Unwanted as unwanted:
        raise Trouble(Exit.USAGE, f"--after-log: wanted {unwanted.wanted}") from unwanted
    path = None if log is None else os.path.abspath(log)
    wait = WaitFor(None, path, regex, WAIT_TIMEOUT_SECONDS, pid=args.after_pid)
    return [stages[0]._replace(wait_for=wait), *stages[1:]]


def _load_to_start(args: Options) -> Project:
    """The project. Who types `onbox chain` runs the file's stages, which may do all that this user may: nobody is asked
    for more. Whose command stands on the command line is asked for what the file adds to it; and an engine is always
    asked for, because there the stages run elsewhere, and what hands them over runs here.
    """
    given = frozenset() if any("=" in word for word in args.stages) else frozenset({TELL, CHAIN})
    found = load_project(args.config, given=given)
    engine = not args.inline and (args.backend or found.config.backend) in CLUSTERS
    uses = (frozenset({TELL, CHAIN}) - given) | (frozenset({ENGINE}) if engine else frozenset())
    if any(one.use in uses for one in found.withheld):
        found = load_project(args.config, asks=uses, given=given)
        require(found.config_path, found.withheld, uses)
    return found
