"""Start a sweep or go on with it: from the words and onbox.toml to its frozen definition, then to its runner."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from onbox.chain.command.code_identity import freeze_git
from onbox.chain.command.environment import frozen_environment
from onbox.chain.lock.claims import Claimed
from onbox.chain.lock.lock_owner import Holder
from onbox.chain.lock.run_lock import StillAlive
from onbox.chain.state.run_registry import note_run
from onbox.chain.viewer.viewer import Viewer
from onbox.commands.launch.conflicts import difference_lines
from onbox.commands.launch.definition import check_run_name, define, refuse_other_project
from onbox.commands.launch.follow import teller, watch_holder
from onbox.commands.launch.say import say, say_before_start, size_of
from onbox.commands.launch.start import lock_of
from onbox.commands.shared.echo import listener
from onbox.commands.shared.elsewhere import refuse_alive_elsewhere, removed_under_it
from onbox.commands.sweeps.asked_cells import axes_of, cells_asked_for
from onbox.commands.sweeps.asked_stages import load_for_sweep, settings_of, template_of
from onbox.commands.sweeps.named import sweep_paths
from onbox.contract.events import CHAIN_ENDS, Event
from onbox.contract.exits import Exit
from onbox.contract.json_text import as_whole
from onbox.contract.runfile import DamagedRunfile
from onbox.errors import Trouble
from onbox.model.sweep import Frozen, cell_name
from onbox.model.units import counted
from onbox.outside import safe_line
from onbox.sweep.cells.drafts import Draft, numbered
from onbox.sweep.cells.template import shared_places, stage_of_cell
from onbox.sweep.launch import (
    NothingToDo,
    OtherCommands,
    SharedPaths,
    SweepLaunched,
    WantedSweep,
    find_end,
    prepare,
    start,
)
from onbox.sweep.runner.room import cards_missing
from onbox.sweep.runner.runner_process import run_sweep
from onbox.sweep.state.board import read_board
from onbox.sweep.state.frozen_sweep import read_definition
from onbox.system.process import Identity, look_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.cli.command import Options
    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths
    from onbox.model.manifest import Stage

SHOWN = 20
START_SECONDS = 60.0
ENGINES = {
    "slurm": "a job array does it: sbatch --array=0-99%8, one cell of the queue file in each task",
    "ray": "Ray Tune does it, or `ray job submit` for each cell",
    "iris": "submit each cell as a job of its own",
}


def start_sweep(args: Options, command: str | tuple[str, ...] | None) -> int:
    """Raises Trouble."""
    project = load_for_sweep(args, own_command=command is not None)
    config = project.config.sweep
    axes = axes_of(args.axes)
    backend = project.config.backend
    if backend != "local" and command is None:
        raise Trouble(
            Exit.USAGE, f"a sweep runs on one box, and [run] backend is {backend}: {ENGINES.get(backend, '')}"
        )
    name = args.name or config.name
    check_run_name(name)
    paths = project.paths(name)
    refuse_other_project(paths, project.folder)
    template = template_of(args, project, command)
    settings = settings_of(args, config.settings)
    drafts, queue = cells_asked_for(args, axes, project, template)
    frozen = Frozen(settings, template, queue)
    if args.dry_run:
        return _dry_run(args, name, frozen, drafts)
    _refuse_chain(paths)
    if settings.gpus:
        _refuse_without_cards(settings.gpus)
    _tell_shared_words(args, template)
    head = define(project, paths, template).head
    return _start(args, WantedSweep(paths, head, frozen, drafts))


def resume_sweep(args: Options) -> int:
    """Go on as it is frozen. Raises Trouble."""
    paths = sweep_paths(args, act=True)
    return resume_at(args, paths)


def resume_at(args: Options, paths: RunPaths) -> int:
    """As `resume_sweep`, for a sweep that is known: `onbox resume NAME` comes here, too."""
    found = read_definition(paths)
    assert found is not None
    os.environ.update(frozen_environment(found.head.data))
    lock = lock_of(paths)
    if isinstance(lock, Holder):
        return _attach(args, paths, lock)
    end = find_end(paths, found)
    if end is not None:
        os.close(lock.lock_fd)
        return _tell_end(args, paths, end, anew="")
    return _run(args, paths, lock.lock_fd)


def _dry_run(args: Options, name: str, frozen: Frozen, drafts: Sequence[Draft]) -> int:
    cells = list(numbered(drafts, (), 1))
    shown = cells if args.json else cells[:SHOWN]
    for cell in shown:
        commands = [stage_of_cell(stage, name, cell).cmd for stage in frozen.template]
        texts = [command if isinstance(command, str) else shlex.join(command) for command in commands]
        say(
            args,
            {"cell": cell.name, "values": dict(cell.values), "commands": texts},
            safe_line(f"{cell.name}: {' && '.join(texts)}"),
        )
    if not args.json:
        at_once = (
            f"{frozen.settings.jobs} at once" if frozen.settings.jobs else "as many at once as there are free GPUs"
        )
        more = f", the first {SHOWN} above" if len(cells) > SHOWN else ""
        print(f"{counted(len(cells), 'cell')}{more}; {at_once}; nothing was started")
    return Exit.DONE


def _refuse_without_cards(wanted: int) -> None:
    """Cards that are in use are waited for; cards that are not there, or that nobody can look at, are not."""
    missing = cards_missing(wanted, os.environ)
    if missing is not None:
        raise Trouble(Exit.GATE_REFUSED, f"nothing was started: a cell wants {wanted} GPU(s): {missing.reason}")


def _tell_shared_words(args: Options, template: Sequence[Stage]) -> None:
    """What looks like a place to write, and is the same for every cell."""
    for stage in template:
        words = stage.cmd if isinstance(stage.cmd, tuple) else stage.cmd.split()
        for word, place in shared_places(words):
            text = f"every cell is given {word} {place}: what one writes there another overwrites; put {{cell}} into it"
            shared = {"event": "shared", "stage": stage.name, "what": text}
            say_before_start(args, shared, f"onbox: note: {safe_line(text)}")


def _refuse_chain(paths: RunPaths) -> None:
    """A chain of that name lies there."""
    try:
        read_definition(paths)
    except DamagedRunfile as damaged:
        raise Trouble(Exit.CONFIG, f"{damaged}; give the sweep another name: --name NAME") from damaged


# -- the start


def _start(args: Options, wanted: WantedSweep) -> int:
    paths = wanted.paths
    lock = lock_of(paths)
    if isinstance(lock, Holder):
        return _join(args, wanted, lock)
    try:
        refuse_alive_elsewhere(paths, str(wanted.head["project"]))
        prepared = prepare(wanted, again=args.again)
    except Trouble:
        os.close(lock.lock_fd)
        raise
    except (OtherCommands, SharedPaths, Claimed, StillAlive) as refusal:
        os.close(lock.lock_fd)
        raise _trouble_of(refusal, paths) from refusal
    if isinstance(prepared, NothingToDo):
        os.close(lock.lock_fd)
        return _tell_end(args, paths, prepared)
    return _run(args, paths, lock.lock_fd)


def _run(args: Options, paths: RunPaths, lock_fd: int) -> int:
    """The runner: in this process, or detached and watched."""
    note_run(paths, os.environ)
    if args.inline:
        return run_sweep(paths, lock_fd, listen=listener(teller(args)))
    offset = size_of(paths.journal)
    return _follow(args, paths, start(paths, lock_fd), offset)


def _trouble_of(refusal: OtherCommands | SharedPaths | Claimed | StillAlive, paths: RunPaths) -> Trouble:
    name = os.path.basename(paths.root)
    if isinstance(refusal, SharedPaths):
        return Trouble(
            Exit.CONFIG, "\n".join(["nothing was started:", *(f"  {safe_line(one)}" for one in refusal.found)])
        )
    if isinstance(refusal, StillAlive):
        return Trouble(Exit.ANOTHER_RUNNER, removed_under_it(paths.root, refusal.pids))
    if isinstance(refusal, Claimed):
        return Trouble(
            Exit.ANOTHER_RUNNER,
            f"nothing was started: run {refusal.other.run} is alive and its stage {refusal.other.stage} writes "
            f"{refusal.other.path}, as a cell of this sweep would",
        )
    lines = [f"nothing was started: {counted(refusal.begun, 'cell')} of sweep {name} began with other commands"]
    lines += difference_lines(refusal.differences)
    lines += [
        "  a sweep of its own:   --name NAME",
        "  run every cell again: --again (earlier results are moved aside)",
    ]
    return Trouble(Exit.CONFIG, "\n".join(lines))


def _tell_end(args: Options, paths: RunPaths, end: NothingToDo, *, anew: str = "; run all again: --again") -> int:
    """anew: how every cell is run again, where this command can do that."""
    name = os.path.basename(paths.root)
    reason = safe_line(end.data.get("reason") or "")
    way = f"; run the failed ones again: onbox sweep retry-failed {name}" if end.board.failures else anew
    say(args, {"event": "already_ended", "reason": reason}, f"{reason}{way}")
    code = as_whole(end.data.get("exit_code"))
    return int(Exit.FAILED) if code is None else code


def _join(args: Options, wanted: WantedSweep, holder: Holder) -> int:
    """The sweep is at work already: the same one is watched, another one refused."""
    name = os.path.basename(wanted.paths.root)
    found = read_definition(wanted.paths)
    same = found is not None and holder.chain_fingerprint == wanted.head["chain_fingerprint"]
    if not same or args.again:
        raise Trouble(
            Exit.ANOTHER_RUNNER,
            f"sweep {name} is at work with {'its cells' if same else 'other commands'} (runner pid {holder.pid})\n"
            f"  end it first: onbox sweep stop {name}; or beside it: --name NAME",
        )
    if _has_new_cells(wanted):
        raise Trouble(
            Exit.ANOTHER_RUNNER,
            f"sweep {name} is at work (runner pid {holder.pid}), and some of these cells are not in it\n"
            f"  end it and type this again (no cell is lost): onbox sweep stop {name}; a queue file can be added to "
            "while it runs: --cells FILE",
        )
    return _attach(args, wanted.paths, holder)


def _has_new_cells(wanted: WantedSweep) -> bool:
    if wanted.frozen.queue is not None:
        return False  # its runner reads the file itself
    known = read_board(wanted.paths).number_of
    return any(cell_name(draft.values) not in known for draft in wanted.drafts)


def _attach(args: Options, paths: RunPaths, holder: Holder) -> int:
    if holder.host != os.uname().nodename:
        raise Trouble(Exit.ANOTHER_RUNNER, f"this sweep runs on another host: {holder.host}, pid {holder.pid}")
    if args.detach:
        say(args, {"event": "attached", "runner_pid": holder.pid}, f"this sweep runs already (runner pid {holder.pid})")
        return Exit.DONE
    return watch_holder(args, paths, holder)


def _follow(args: Options, paths: RunPaths, started: SweepLaunched, offset: int) -> int:
    entry = look_up(started.pid)
    who = entry.identity if entry else Identity(started.pid, 0)
    viewer = Viewer(
        paths, who, journal_offset=offset, bell_fd=started.bell_fd, may_stop=not args.detach, tell=teller(args)
    )
    found = read_definition(paths)
    if found is not None:
        freeze_git(paths, found.head.project)
    if not args.detach:
        return viewer.watch()
    result = viewer.follow(until=_is_start, limit_seconds=START_SECONDS)
    if result is not None:
        return result
    name, cells = os.path.basename(paths.root), len(read_board(paths))
    data = {
        "event": "launched",
        "run": name,
        "runner_pid": started.pid,
        "state_dir": paths.root,
        "cells": cells,
    }
    lines = [f"sweep {name} goes on by itself, runner pid {started.pid}, {counted(cells, 'cell')}"]
    lines += [f"  watch   onbox attach {name} · onbox sweep status {name} · onbox sweep table {name}"]
    lines += [f"  stop    onbox sweep stop {name}      go on  onbox sweep resume {name}"]
    lines += [f"  markers in {paths.markers} will appear: SWEEP_DONE, or SWEEP_FAILED"]
    say(args, data, "\n".join(lines))
    return Exit.DONE


def _is_start(record: Record) -> bool:
    return record["event"] in (Event.CELL_STARTED, Event.CELL_ADOPTED, Event.CELLS_HELD, *CHAIN_ENDS)
