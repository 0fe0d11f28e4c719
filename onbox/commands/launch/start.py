"""Start a chain: here, in this process, or on an engine; or join who runs it already."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.chain.command.command_files import what_is_missing
from onbox.chain.command.environment import JOB_VARIABLE
from onbox.chain.launch import AlreadyDone, Definition, Forgets, OtherStageAlive, launch, prepare
from onbox.chain.lock.claims import Claimed
from onbox.chain.lock.lock_owner import Holder
from onbox.chain.lock.run_lock import HolderUnknown, StillAlive, Taken, take_lock
from onbox.chain.lock.run_owner import refuse_foreign_run
from onbox.chain.runner.runner_process import run_chain
from onbox.chain.state.earlier_results import Conflicts, ResultWishes, redo_with_followers
from onbox.chain.state.frozen_run import read_head
from onbox.chain.state.run_registry import note_run
from onbox.commands.launch.changes import tell_changed_results, tell_code_changes
from onbox.commands.launch.conflicts import describe_conflicts, difference_lines, left_behind_lines
from onbox.commands.launch.say import say, say_before_start, size_of
from onbox.commands.shared.echo import beater, listener
from onbox.commands.shared.elsewhere import refuse_alive_elsewhere, removed_under_it
from onbox.commands.shared.typed_command import already_done_text, typed_command
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.model.manifest import folder_of
from onbox.outside import safe_line

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from onbox.contract.differences import Difference
    from onbox.contract.paths import RunPaths


LOOKED_AHEAD = 200  # stages


def start(args: Options, definition: Definition) -> int:
    """Start, or join who runs it already; the exit code of the chain, or of its launch. Raises Trouble."""
    paths = definition.paths
    refuse_foreign_run(paths)
    _check_wishes(args, definition)
    note_run(paths, os.environ)
    if "backend" in definition.head:
        tell_code_changes(args, definition)
        return _start_on_engine(args, definition)
    _refuse_live_jobs(paths)
    lock = lock_of(paths)
    if isinstance(lock, Holder):
        from onbox.commands.launch.follow import attach  # noqa: PLC0415 - as below

        return attach(args, definition, lock)
    try:
        refuse_alive_elsewhere(paths, str(definition.head["project"]))
        tell_code_changes(args, definition)
        tell_changed_results(args, definition)
        if args.inline:
            return _run_inline(args, definition, lock)
        offset = size_of(paths.journal)
        _tell_what_later_stages_miss(args, definition)
        started = launch(definition, ResultWishes(args.accept_done, args.redo), lock, _announcer(args))
    except Trouble:
        os.close(lock.lock_fd)
        raise
    except (Forgets, StillAlive, OtherStageAlive, Claimed, Conflicts) as refusal:
        os.close(lock.lock_fd)
        raise _trouble_of(refusal, paths, args) from refusal
    if isinstance(started, AlreadyDone):
        text = already_done_text(definition, typed_command(args, paths))
        say(args, {"event": "already_done", "stages": started.stage_count}, text)
        return Exit.DONE
    from onbox.commands.launch.follow import follow_launch  # noqa: PLC0415 - while the runner starts

    return follow_launch(args, definition, started, offset)


def lock_of(paths: RunPaths) -> Taken | Holder:
    """The run's lock, or who has it. Raises Trouble where that is not to be known."""
    try:
        return take_lock(paths)
    except StillAlive as alive:
        raise Trouble(
            Exit.ANOTHER_RUNNER,
            f"{paths.lock} was removed, but its runner is alive: let it end, or end it: kill {alive.pids[0]}",
        ) from alive
    except HolderUnknown as unknown:
        raise Trouble(Exit.ANOTHER_RUNNER, f"{paths.lock} is held by a runner that cannot be identified") from unknown


def _trouble_of(
    refusal: Forgets | StillAlive | OtherStageAlive | Claimed | Conflicts, paths: RunPaths, args: Options
) -> Trouble:
    """Why the chain was not started, and what to do."""
    if isinstance(refusal, Forgets):
        return Trouble(Exit.CONFIG, str(refusal))
    if isinstance(refusal, StillAlive):
        return Trouble(Exit.ANOTHER_RUNNER, removed_under_it(paths.root, refusal.pids))
    if isinstance(refusal, OtherStageAlive):
        run = os.path.basename(paths.root)
        return Trouble(
            Exit.ANOTHER_RUNNER,
            f"stage {refusal.stage} of an earlier chain of this run is still alive (its runner is gone)\n"
            f"  let it finish: onbox resume {run}; end it: onbox stop {run}; beside it: onbox chain --run NAME …",
        )
    if isinstance(refusal, Claimed):
        own, other = refusal.own, refusal.other
        return Trouble(
            Exit.ANOTHER_RUNNER,
            f"run {other.run} is alive and its stage {other.stage} writes {other.path}, too: stage {own.stage} would "
            f"earn its DONE by that file\n  let it end, or: onbox stop {other.run}; or give the stage its own path",
        )
    live = any(conflict.action.name == "REFUSE_LIVE" for conflict in refusal.found)
    return Trouble(
        Exit.ANOTHER_RUNNER if live else Exit.CONFIG, describe_conflicts(paths, refusal, typed_command(args, paths))
    )


def _start_on_engine(args: Options, definition: Definition) -> int:
    from onbox.commands.engine.run import start_on_backend  # noqa: PLC0415 - only for an engine
    from onbox.commands.launch.follow import teller  # noqa: PLC0415 - as below

    try:
        return start_on_backend(args, definition, teller(args))
    except (Forgets, Claimed, Conflicts) as refusal:
        raise _trouble_of(refusal, definition.paths, args) from refusal


def _refuse_live_jobs(paths: RunPaths) -> None:
    """A run that was handed to an engine starts here only when none of its jobs can be alive, or in one of them."""
    head = read_head(paths) if os.path.exists(paths.manifest) and JOB_VARIABLE not in os.environ else None
    if head is None or not isinstance(head.data.get("backend"), dict):
        return
    from onbox.commands.engine.run import refuse_second_copy  # noqa: PLC0415 - only for an engine

    refuse_second_copy(paths, head)


def _check_wishes(args: Options, definition: Definition) -> None:
    names = definition.names
    unknown = [name for name in (*args.accept_done, *args.redo) if name not in names]
    if unknown:
        raise Trouble(Exit.USAGE, f"no stage {', '.join(unknown)} in this chain; there are: {', '.join(names[:20])}")
    both = [name for name in args.accept_done if name in args.redo]
    if both:
        raise Trouble(Exit.USAGE, f"stage {', '.join(both)}: --accept-done and --redo at once")
    if getattr(args, "again", False):
        args.redo = [name for name in names if name not in args.accept_done]
    args.redo = redo_with_followers(definition.paths, names, args.redo, args.accept_done)


def _announcer(args: Options) -> Any:
    """Tells what differs from the launch before, ahead of the start."""

    def announce(differences: tuple[Difference, ...]) -> None:
        lines = [*difference_lines(differences), *left_behind_lines(differences)]
        text = "\n".join(["this launch differs from the one before:", *lines])
        say_before_start(args, {"event": "changed", "differences": [one._asdict() for one in differences]}, text)

    return announce


def _tell_what_later_stages_miss(args: Options, definition: Definition) -> None:
    """A typing error in the last stage's command is better known before the first one has run for hours."""
    done = set(os.listdir(definition.paths.markers))
    later = [stage for stage, _ in definition.stages[1:] if f"{stage.name}_DONE" not in done][:LOOKED_AHEAD]
    project = str(definition.head["project"])
    for stage in later:
        for text in what_is_missing(stage, folder_of(project, stage), os.environ):
            note = f"stage {stage.name}: {text}; it must be there when its turn comes"
            missing = {"event": "missing", "stage": stage.name, "what": text}
            say_before_start(args, missing, f"onbox: note: {safe_line(note)}")


def _run_inline(args: Options, definition: Definition, lock: Taken) -> int:
    from onbox.chain.command.code_identity import freeze_git  # noqa: PLC0415 - as in start()
    from onbox.commands.launch.follow import teller  # noqa: PLC0415 - as in start()

    prepare(definition, ResultWishes(args.accept_done, args.redo), _announcer(args))
    freeze_git(definition.paths, str(definition.head["project"]))
    return run_chain(definition.paths, lock.lock_fd, listen=listener(teller(args)), beat=beater(args))
