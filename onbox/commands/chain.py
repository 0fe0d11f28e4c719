"""`onbox chain` and `onbox resume`: start or continue a chain, and watch it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from onbox.chain.command.environment import frozen_environment
from onbox.chain.launch import Definition
from onbox.chain.state.frozen_run import read_head, read_stages
from onbox.cli.command import argument, command, config_option
from onbox.commands.launch.definition import check_run_name, define, refuse_other_project, refuse_renamed
from onbox.commands.launch.follow import teller
from onbox.commands.launch.start import start
from onbox.commands.launch.whole_run import with_the_others, without_what_comes_before
from onbox.commands.shared.arguments import complete_stage, run_argument
from onbox.commands.shared.echo import listener
from onbox.commands.shared.project import (
    existing_run,
    load_project,
    load_project_to_read,
    run_to_act_on,
)
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
from onbox.model.origin import origin_to_dict
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
  onbox chain --after-log train.log 'Training completed' 'eval=python eval.py'    behind a training that runs already
  onbox chain --again                           everything anew
  onbox chain --recheck train                   ask the success gate again, after FAILED; nothing is run
  onbox chain train eval --backend slurm        each stage a Slurm job; status, logs, stop and resume as always

Repeating the command never starts a second copy: it attaches to the live chain, adopts a live stage of a dead
runner, skips what is done. Ctrl-C asks the chain that this command started to stop (twice: at once); where it only
attached, Ctrl-C detaches, as the key d does everywhere. Closing the terminal, or killing this command, harms nothing.
"""

RESUME_EXAMPLES = """\
examples:
  onbox resume            continue the run exactly as it was frozen, whatever onbox.toml says now
  onbox resume --dry-run  say what that would start, and from which checkpoint
"""


LAUNCH_CHECK_SECONDS = 60.0
HOW = [("--detach", "--inline")]
RESUME_CHECK_SECONDS = 2.0  # a patrol, or a machine that starts, has no minute for each run


def launch_options(function: Any) -> Any:
    """How a chain is started, which `chain` and `resume` say alike."""
    check = (
        "with --detach: watch at most so long for the first line of output, or a crash before it "
        f"(default: {LAUNCH_CHECK_SECONDS:g}; where nobody watches a resume {RESUME_CHECK_SECONDS:g})"
    )
    declared = (
        config_option,
        click.option("-d", "--detach", is_flag=True, help="return once the first stage is seen to run"),
        click.option("--inline", is_flag=True, hidden=True, help="run in this process (sbatch, containers, systemd)"),
        click.option("--launch-check", type=float, metavar="SECONDS", help=check, hidden=True),
        click.option(
            "--accept-done",
            multiple=True,
            metavar="STAGE",
            help="its result counts, by your word",
            shell_complete=complete_stage,
        ),
        click.option(
            "--accept-code", is_flag=True, hidden=True, help="go on though the code has changed ([run] code_changed)"
        ),
        click.option(
            "--redo",
            multiple=True,
            metavar="STAGE",
            help="run it again though it is DONE, and what follows",
            shell_complete=complete_stage,
        ),
        click.option(
            "--forget-jobs", is_flag=True, hidden=True, help="jobs that their engine has lost are over: you have looked"
        ),
        click.option("--json", is_flag=True, help="journal records as JSON lines instead of narration"),
    )
    for option in reversed(declared):
        function = option(function)
    return function


@command(CHAIN_EXAMPLES, exclusive=HOW)
@argument(
    "stages", nargs=-1, metavar="STAGE", help="a stage of onbox.toml, or NAME=COMMAND", shell_complete=complete_stage
)
@click.option("--after-log", nargs=2, metavar="LOG REGEX", help="the first stage starts once the log holds such a line")
@click.option(
    "--after-pid",
    type=int,
    metavar="PID",
    help="the first stage starts once this process has ended; with --after-log it must have left the line",
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
@click.option("--again", is_flag=True, help="run everything anew, whatever is DONE")
@click.option(
    "--recheck",
    metavar="STAGE",
    shell_complete=complete_stage,
    help="ask the gate of its failed attempt again, and run nothing",
)
def run_chain_command(args: Options) -> int:
    if args.launch_check is None:
        args.launch_check = LAUNCH_CHECK_SECONDS
    if args.frozen is not None:
        from onbox.commands.launch.run_frozen_job import run_frozen  # noqa: PLC0415 - only in a job

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
    forgets = ""
    if args.recheck is None:
        settled = {*args.accept_done, *args.redo}
        if args.run is None:
            forgets = without_what_comes_before(paths, args.stages, stages, project.config.stages, settled)
        if not forgets:
            stages, forgets = with_the_others(paths, args.stages, stages, settled)
    if args.run is None and project.config_path is None and not os.path.exists(paths.manifest):
        refuse_renamed(project)
    definition = define(project, paths, stages, backend)
    if args.recheck is not None:
        from onbox.commands.launch.recheck import run_recheck  # noqa: PLC0415 - cold start

        return run_recheck(args, definition)
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
            f"run {name} is a sweep: go on with it: onbox sweep resume {name}; beside it: onbox chain --run NAME",
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
        pid = None if args.after_pid is None else values.count_from(1)(args.after_pid)
    except Unwanted as unwanted:
        raise Trouble(Exit.USAGE, f"--after-log, --after-pid: wanted {unwanted.wanted}") from unwanted
    path = None if log is None else os.path.abspath(log)
    wait = WaitFor(None, path, regex, WAIT_TIMEOUT_SECONDS, pid=pid)
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


@command(RESUME_EXAMPLES, exclusive=HOW)
@run_argument
@launch_options
@click.option("--dry-run", is_flag=True, help="say what would happen, and change nothing")
@click.option(
    "--any-checkpoint", is_flag=True, hidden=True, help="also where the newest is of another lineage, or none is whole"
)
def run_resume_command(args: Options) -> int:
    if args.launch_check is None:
        args.launch_check = LAUNCH_CHECK_SECONDS if sys.stdout.isatty() else RESUME_CHECK_SECONDS
    project = load_project_to_read(args.config)
    paths = existing_run(project, args.run) if args.dry_run else run_to_act_on(project, args.run)
    try:
        head = read_head(paths)
        frozen_stages = list(read_stages(paths))
    except ValueError as error:
        raise Trouble(
            Exit.CONFIG, f"{paths.manifest} is damaged: {error}; start from the configuration: onbox chain"
        ) from error
    assert head is not None
    refuse_other_project(paths, project.folder)
    from onbox.commands.launch import dry_run  # noqa: PLC0415 - cold start

    stages = [(frozen.stage, frozen.fingerprint) for frozen in frozen_stages]
    if args.dry_run:
        from onbox.commands.launch.changes import code_changes  # noqa: PLC0415 - cold start

        config, definition = project.config, Definition(paths, head.data, stages, head.chain_fingerprint)
        code = code_changes(definition)
        return dry_run.tell_forecast(
            paths, head, frozen_stages, config.stages, config.contract, code, as_json=args.json
        )
    if is_sweep(head):
        from onbox.commands.sweeps.start import resume_at  # noqa: PLC0415 - only for a sweep

        return resume_at(args, paths)
    if not args.any_checkpoint:
        dry_run.refuse_bad_checkpoints(paths, head, frozen_stages, project.config.contract)
    dry_run.tell_config_changes(frozen_stages, project.config.stages)
    os.environ.update(frozen_environment(head.data))
    here = ("schema", "stages", "backend") if args.inline else ("schema", "stages")
    kept = {key: value for key, value in head.data.items() if key not in here}
    if project.config_path is not None:  # a lineage that was rejected meanwhile must not be taken up
        kept["origin"] = origin_to_dict(project.config.contract.origin)
    if "backend" in kept:
        from onbox.commands.engine.view import refuse_unaccepted  # noqa: PLC0415 - only for an engine

        refuse_unaccepted(kept["backend"], head, paths)
    return start(args, Definition(paths, kept, stages, head.chain_fingerprint))
