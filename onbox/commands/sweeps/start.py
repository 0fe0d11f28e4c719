"""Start a sweep or go on with it: from the words and onbox.toml to its frozen definition, then to its runner."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

from onbox.chain.artifacts.claims import Claimed
from onbox.chain.command.code_identity import freeze_git
from onbox.chain.command.environment import frozen_environment
from onbox.chain.lock.lock_owner import Holder
from onbox.chain.lock.run_lock import StillAlive
from onbox.chain.state.run_registry import note_run
from onbox.chain.viewer.viewer import Viewer
from onbox.commands.launch.conflicts import difference_lines
from onbox.commands.launch.definition import check_run_name, define, refuse_other_project
from onbox.commands.launch.follow import say, size_of, teller, watch_holder
from onbox.commands.launch.start import lock_of
from onbox.commands.shared.echo import listener
from onbox.commands.shared.project import load_project, removed_under_it
from onbox.commands.sweeps.named import sweep_names, sweep_paths
from onbox.config import values
from onbox.config.fields import Unwanted
from onbox.config.tables.sweep import sort_key
from onbox.config.trust_keys import CHAIN, TELL
from onbox.contract.events import CHAIN_ENDS, Event
from onbox.contract.exits import Exit
from onbox.contract.json_text import as_whole
from onbox.contract.runfile import DamagedRunfile
from onbox.did_you_mean import meant
from onbox.errors import Trouble
from onbox.model.manifest import Retry, Stage
from onbox.model.sweep import Frozen, SweepSettings, cell_name
from onbox.outside import safe_line
from onbox.sweep.cells.drafts import BadCell, Draft, axis_of, check_name, from_table, grid, numbered, text_of, values_of
from onbox.sweep.cells.queue_file import read_queue
from onbox.sweep.cells.template import problems_of, shared_places, stage_of_cell, wanted_by
from onbox.sweep.launch import NothingToDo, OtherCommands, SharedPaths, SweepLaunched, WantedSweep, prepare, start
from onbox.sweep.runner.room import cards_missing
from onbox.sweep.runner.runner_process import run_sweep
from onbox.sweep.state.board import read_board
from onbox.sweep.state.frozen_sweep import read_definition
from onbox.system.process import Identity, look_up
from onbox.triage.classes import CLASSES, NEVER
from onbox.trust import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.cli.command import Options
    from onbox.commands.shared.project import Project
    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths
    from onbox.sweep.cells.drafts import Axis

SHOWN = 20
COMMANDS = ("start", "status", "stop", "resume", "retry-failed", "skip", "table")
START_SECONDS = 60.0
ENGINES = {
    "slurm": "a job array does it: sbatch --array=0-99%8, one cell of the queue file in each task",
    "ray": "Ray Tune does it, or `ray job submit` for each cell",
    "iris": "submit each cell as a job of its own",
}


def start_sweep(args: Options, command: str | tuple[str, ...] | None) -> int:
    """Raises Trouble."""
    project = _load(args, own_command=command is not None)
    config = project.config.sweep
    axes = _axes(args.axes)
    backend = project.config.backend
    if backend != "local" and command is None:
        raise Trouble(
            Exit.USAGE, f"a sweep runs on one box, and [run] backend is {backend}: {ENGINES.get(backend, '')}"
        )
    name = args.name or config.name
    check_run_name(name)
    paths = project.paths(name)
    refuse_other_project(paths, project.folder)
    template = _template(args, project, command)
    settings = _settings(args, config.settings)
    drafts, queue = _cells(args, axes, project, template)
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
    return _run(args, paths, lock.lock_fd)


# -- what is asked for


def _load(args: Options, *, own_command: bool) -> Project:
    """As for `onbox chain`: who types it runs the file's stages; whose command stands here is asked for the rest."""
    given = frozenset() if own_command else frozenset({TELL, CHAIN})
    found = load_project(args.config, given=given)
    uses = frozenset({TELL, CHAIN}) - given
    if any(one.use in uses for one in found.withheld):
        found = load_project(args.config, asks=uses, given=given)
        require(found.config_path, found.withheld, uses)
    return found


def _template(args: Options, project: Project, command: str | tuple[str, ...] | None) -> tuple[Stage, ...]:
    config = project.config
    if command is not None:
        stage = Stage("run", command, env=config.env, gates=config.gates, retry=_retry(args.retry))
        return (stage,)
    if args.retry:
        raise Trouble(
            Exit.USAGE, "--retry is for a command of the command line; a stage of onbox.toml has its own retry"
        )
    wanted = tuple(args.stage) or config.sweep.stages
    known = {stage.name: stage for stage in config.stages}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise Trouble(Exit.USAGE, f"no stage {', '.join(unknown)}; there are: {', '.join(known) or 'none'}")
    stages = tuple(known[name] for name in wanted) or config.stages
    if not stages:
        ways = "its command: onbox sweep 'lr=1e-3,1e-4' -- python train.py --lr {lr}"
        names = sweep_names(project)
        ways += f"; go on with {names[0]}: onbox sweep resume {names[0]}" if names else ""
        raise Trouble(Exit.USAGE, f"nothing to run: no stages are configured; {ways}")
    return stages


def _retry(text: str | None) -> Retry:
    """`network_blip,preempted:2`."""
    if not text:
        return Retry()
    names, _, most = text.partition(":")
    classes = tuple(name.strip() for name in names.split(",") if name.strip())
    known = [row.key for row in CLASSES]
    for name in classes:
        if name not in known:
            raise Trouble(Exit.USAGE, f"--retry: no failure class {safe_line(name, 60)}; there are: {', '.join(known)}")
        if NEVER.get(name):
            raise Trouble(Exit.USAGE, f"--retry: {name} must not be retried unchanged: {NEVER[name]}")
    if not classes or not (most or "1").isdecimal():
        raise Trouble(Exit.USAGE, "--retry: wanted classes and how often, such as network_blip,preempted:2")
    return Retry(int(most or 1), classes)


def _settings(args: Options, known: SweepSettings) -> SweepSettings:
    """Those of [sweep], the command line's before them."""
    for option in ("jobs", "gpus", "max_failures", "same_failures"):
        number, least = getattr(args, option), 1 if option == "jobs" else 0
        if number is not None and number < least:
            raise Trouble(Exit.USAGE, f"--{option.replace('_', '-')} {number}: wanted {least} or more")
    given: dict[str, Any] = {key: getattr(args, key) for key in ("jobs", "gpus", "max_failures", "same_failures")}
    if args.gpus and args.jobs is None:
        known = known._replace(jobs=None)  # as many as there are cards for
    try:
        if args.sort:
            given["sort"] = sort_key(args.sort)
        if args.metrics_regex:
            given |= {"metrics_regex": values.regex(args.metrics_regex), "metrics_file": ""}
    except Unwanted as unwanted:
        raise Trouble(Exit.USAGE, f"--sort, --metrics-regex: wanted {unwanted.wanted}") from unwanted
    if args.metrics:
        given |= {"metrics_file": args.metrics, "metrics_regex": ""}
    settings = known._replace(**{key: value for key, value in given.items() if value is not None})
    settings = settings._replace(
        metrics_file=settings.metrics_file or None, metrics_regex=settings.metrics_regex or None
    )
    return settings if settings.jobs or settings.gpus else settings._replace(jobs=1)


def _cells(
    args: Options, axes: Sequence[Axis], project: Project, template: Sequence[Stage]
) -> tuple[list[Draft], str | None]:
    """The cells that are asked for, and the queue file. Raises Trouble with every problem."""
    config = project.config.sweep
    if args.axes and args.cells:
        raise Trouble(Exit.USAGE, "a grid and --cells at once: give one of them")
    own_words = bool(args.axes or args.cells)
    queue = args.cells or (None if own_words else config.queue)
    try:
        if queue is not None:
            place = os.path.abspath(queue) if args.cells else os.path.join(project.folder, os.path.expanduser(queue))
            beside = [] if own_words else _from_config(project)
            return [*beside, *_from_queue(place, template)], place
        drafts = list(grid(axes)) if own_words else _from_config(project)
    except BadCell as bad:
        raise Trouble(Exit.USAGE, f"{bad}; nothing was started") from bad
    if not drafts:
        ways = "'lr=1e-3,1e-4' on the command line, --cells FILE, or [sweep] grid or cells in onbox.toml"
        raise Trouble(Exit.USAGE, f"which cells? give {ways}")
    _refuse_unfitting(template, drafts)
    return drafts, None


def _axes(words: Sequence[str]) -> list[Axis]:
    """The grid of the command line."""
    axes: list[Axis] = []
    for word in words:
        try:
            axes.append(axis_of(word))
        except BadCell as bad:
            hint = "" if "=" in word else meant(word, COMMANDS)
            said = f"{safe_line(word, 80)}: {bad}" + (f"; {hint}" if hint else "")
            raise Trouble(Exit.USAGE, f"{said}; nothing was started") from bad
    return axes


def _from_config(project: Project) -> list[Draft]:
    config = project.config.sweep
    if config.tables:
        return [from_table(table, f"cells[{place}]") for place, table in enumerate(config.tables)]
    if not config.grid:
        return []
    axes = [
        (check_name(name), values_of(value) if isinstance(value, str) else tuple(map(text_of, _all(value))))
        for name, value in config.grid
    ]
    return list(grid(axes))


def _all(value: object) -> Sequence[object]:
    return value if isinstance(value, tuple) else ()


def _from_queue(path: str, template: Sequence[Stage]) -> list[Draft]:
    wanted = wanted_by(template)
    problems = list(problems_of(template, wanted))
    if not wanted:
        problems.append("the commands have no placeholder, so every line would do the same: write {NAME}, or {line}")
    try:
        queue = read_queue(path, wanted)
    except OSError as error:
        raise Trouble(Exit.USAGE, f"{path} cannot be read ({error.strerror}); nothing was started") from error
    problems += queue.problems
    if problems:
        raise _problems(problems)
    if not queue.drafts and not queue.is_growing:
        raise Trouble(Exit.USAGE, f"{path} has no cell in it; nothing was started")
    return list(queue.drafts)


def _refuse_unfitting(template: Sequence[Stage], drafts: Sequence[Draft]) -> None:
    problems: list[str] = []
    for names in dict.fromkeys(tuple(name for name, _ in draft.values) for draft in drafts):
        problems += problems_of(template, names)
    seen: dict[str, Draft] = {}
    for draft in drafts:
        if draft.name in seen:
            problems.append(f"{draft.origin}: the same cell as {seen[draft.name].origin}: each cell runs once")
        seen[draft.name] = draft
    if problems:
        raise _problems(list(dict.fromkeys(problems)))


def _problems(found: Sequence[str]) -> Trouble:
    more = [f"  and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    lines = [f"  {safe_line(one)}" for one in found[:SHOWN]]
    return Trouble(Exit.USAGE, "\n".join(["nothing was started:", *lines, *more]))


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
        print(f"{len(cells)} cells{more}; {at_once}; nothing was started")
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
            say(args, {"event": "shared", "stage": stage.name, "what": text}, f"onbox: note: {safe_line(text)}")


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
        prepared = prepare(wanted, again=args.again)
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
    lines = [f"nothing was started: {refusal.begun} cells of sweep {name} have begun with other commands"]
    lines += difference_lines(refusal.differences)
    lines += ["  a sweep of its own:   --name NAME", "  every cell anew:      --again (what is there is moved aside)"]
    return Trouble(Exit.CONFIG, "\n".join(lines))


def _tell_end(args: Options, paths: RunPaths, end: NothingToDo) -> int:
    name = os.path.basename(paths.root)
    reason = safe_line(end.data.get("reason") or "")
    way = (
        f"; run the failed ones again: onbox sweep retry-failed {name}" if end.board.failures else "; all anew: --again"
    )
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
    lines = [f"sweep {name} goes on by itself, runner pid {started.pid}, {cells} cells"]
    lines += [f"  watch   onbox attach {name} · onbox sweep status {name} · onbox sweep table {name}"]
    lines += [f"  stop    onbox sweep stop {name}      go on  onbox sweep resume {name}"]
    lines += [f"  markers in {paths.markers} will appear: SWEEP_DONE, or SWEEP_FAILED"]
    say(args, data, "\n".join(lines))
    return Exit.DONE


def _is_start(record: Record) -> bool:
    return record["event"] in (Event.CELL_STARTED, Event.CELL_ADOPTED, Event.CELLS_HELD, *CHAIN_ENDS)
