"""`onbox chain` and `onbox resume`: start or continue a chain, and watch it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from onbox.chain.environment import JOB_VARIABLE
from onbox.chain.holder import Holder
from onbox.chain.launch import (
    AlreadyDone,
    Conflicts,
    Definition,
    HolderUnknown,
    Launched,
    OtherStageAlive,
    StillAlive,
    Taken,
    Wishes,
    launch,
    prepare,
    read_head,
    read_stages,
    take_lock,
)
from onbox.chain.process_main import run_chain
from onbox.chain.slots import read_slot
from onbox.commands.aloud import listener
from onbox.commands.definition import check_run_name, define, refuse_renamed
from onbox.commands.project import (
    add_config_option,
    existing_run,
    load_project,
    load_project_to_read,
    removed_under_it,
)
from onbox.contract.config_backends import ENGINES
from onbox.contract.events import Event
from onbox.contract.exits import Exit
from onbox.contract.paths import CHAIN
from onbox.contract.selection import UsageProblem, stages_from_words
from onbox.errors import Trouble
from onbox.system.clock import monotonic
from onbox.system.process import Identity, look_up

if TYPE_CHECKING:
    import argparse

    from onbox.chain.view import Viewer
    from onbox.contract.differences import Difference
    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths

SHOWN_DIFFERENCES = 10
CHAIN_EXAMPLES = """\
examples:
  onbox chain                                   every stage of onbox.toml, in its order
  onbox chain train eval                        these stages
  onbox chain 'train=python train.py' 'eval=python eval.py'    no configuration file needed
  onbox chain -d train eval                     start, check that it runs, return
  onbox chain train eval && ./publish.sh        the exit code is the chain's result
  onbox chain train eval --backend slurm        each stage a Slurm job; status, logs, stop and resume as ever

Repeating the command never starts a second copy: it attaches to the live chain, adopts a live stage of a dead
runner, skips what is done. Ctrl-C asks the chain to stop (twice: now); closing the terminal harms nothing.
"""

RESUME_EXAMPLES = """\
examples:
  onbox resume            continue the run exactly as it was frozen, whatever onbox.toml says now
  onbox resume --dry-run  say what that would start, and from which checkpoint
"""


def add(subparsers: Any) -> None:
    chain = subparsers.add_parser(
        "chain", help="run stages one after the other, each behind its success gate", epilog=CHAIN_EXAMPLES
    )
    chain.add_argument("stages", nargs="*", metavar="STAGE", help="a stage of onbox.toml, or NAME=COMMAND")
    chain.add_argument("--run", metavar="NAME", help="name of the run (default: from onbox.toml, or the directory's)")
    _add_launch_options(chain)
    chain.add_argument("--backend", choices=ENGINES, help="what runs the stages (default: [run] backend, or local)")
    chain.add_argument(
        "--frozen", metavar="RUN_DIR", help="with --inline: STAGE (or all) of the run frozen there, as a job does"
    )
    chain.set_defaults(function=run_chain_command)
    resume = subparsers.add_parser("resume", help="continue an interrupted or stopped run", epilog=RESUME_EXAMPLES)
    resume.add_argument("run", nargs="?", metavar="RUN", help="name of the run")
    _add_launch_options(resume)
    resume.add_argument("--dry-run", action="store_true", help="say what would happen, and change nothing")
    resume.add_argument(
        "--any-checkpoint", action="store_true", help="also where the newest is certainly of another lineage"
    )
    resume.set_defaults(function=run_resume_command)


def _add_launch_options(parser: argparse.ArgumentParser) -> None:
    add_config_option(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("-d", "--detach", action="store_true", help="return once the first stage is seen to run")
    how.add_argument("--inline", action="store_true", help="run in this process (sbatch, containers, systemd)")
    parser.add_argument(
        "--launch-check",
        type=float,
        default=2.0,
        metavar="SECONDS",
        help="with --detach: how long to watch for first output or an immediate crash (default: 2)",
    )
    parser.add_argument("--accept-done", action="append", default=[], metavar="STAGE", help="its earlier DONE counts")
    parser.add_argument("--redo", action="append", default=[], metavar="STAGE", help="run it again though it is DONE")
    parser.add_argument(
        "--forget-jobs", action="store_true", help="jobs that their engine has lost are over: you have looked"
    )
    parser.add_argument("--json", action="store_true", help="journal records as JSON lines instead of narration")


def run_chain_command(args: argparse.Namespace) -> int:
    if args.frozen is not None:
        from onbox.commands.frozen import run_frozen  # noqa: PLC0415 - only in a job

        return run_frozen(args, listener(_teller(args)))
    project = load_project(args.config)
    backend = args.backend or project.config.backend
    if args.inline:
        if args.backend not in (None, "local"):
            raise Trouble(Exit.USAGE, "--inline runs the stages in this process, --backend hands them to another")
        backend = "local"
    try:
        stages = stages_from_words(args.stages, project.config)
    except UsageProblem as problem:
        raise Trouble(Exit.USAGE, str(problem)) from problem
    if args.run is not None:
        check_run_name(args.run)
    paths = project.paths(args.run)
    if args.run is None and project.config_path is None and not os.path.exists(paths.manifest):
        refuse_renamed(project)
    return _start(args, define(project, paths, stages, backend))


def run_resume_command(args: argparse.Namespace) -> int:
    project = load_project_to_read(args.config)
    paths = existing_run(project, args.run)
    try:
        head = read_head(paths)
        frozen_stages = list(read_stages(paths))
    except ValueError as error:
        raise Trouble(
            Exit.CONFIG, f"{paths.manifest} is damaged: {error}; start from the configuration: onbox chain"
        ) from error
    assert head is not None
    if args.dry_run:
        from onbox.commands.forecast import tell_forecast  # noqa: PLC0415 - only then

        config = project.config
        return tell_forecast(paths, head, frozen_stages, config.stages, config.contract, as_json=args.json)
    if not args.any_checkpoint:
        from onbox.commands.forecast import refuse_other_lineage  # noqa: PLC0415 - looks at checkpoints

        refuse_other_lineage(paths, head, frozen_stages, project.config.contract)
    stages = [(frozen.stage, frozen.fingerprint) for frozen in frozen_stages]
    for name, value in dict(head.data.get("environment") or {}).items():
        os.environ[name] = value
    here = ("schema", "stages", "backend") if args.inline else ("schema", "stages")
    kept = {key: value for key, value in head.data.items() if key not in here}
    return _start(args, Definition(paths, kept, stages, head.chain_fingerprint))


def _start(args: argparse.Namespace, definition: Definition) -> int:
    paths = definition.paths
    _check_wishes(args, definition)
    if "backend" in definition.head:
        return _start_on_engine(args, definition)
    _refuse_live_jobs(paths)
    try:
        lock = take_lock(paths)
    except StillAlive as alive:
        raise Trouble(
            Exit.ANOTHER_RUNNER,
            f"{paths.lock} was removed, but its runner is alive: let it end, or end it: kill {alive.pids[0]}",
        ) from alive
    except HolderUnknown as unknown:
        raise Trouble(Exit.ANOTHER_RUNNER, f"{paths.lock} is held by a runner that does not say who it is") from unknown
    if isinstance(lock, Holder):
        return _attach(args, definition, lock)
    try:
        if args.inline:
            return _run_inline(args, definition, lock)
        offset = _size(paths.journal)
        started = launch(definition, Wishes(args.accept_done, args.redo), lock, _announcer(args))
    except StillAlive as alive:
        os.close(lock.lock_fd)
        raise Trouble(
            Exit.ANOTHER_RUNNER,
            removed_under_it(paths.root, alive.pids),
        ) from alive
    except OtherStageAlive as other:
        os.close(lock.lock_fd)
        raise Trouble(
            Exit.ANOTHER_RUNNER,
            f"stage {other.stage} of an earlier chain of this run is still alive (its runner is gone)\n"
            "  let it finish: onbox resume; end it: onbox stop; beside it: onbox chain --run NAME …",
        ) from other
    except Conflicts as conflicts:
        from onbox.commands.conflicts import describe_conflicts  # noqa: PLC0415 - only then

        os.close(lock.lock_fd)
        raise Trouble(_conflict_code(conflicts), describe_conflicts(paths, conflicts)) from conflicts
    if isinstance(started, AlreadyDone):
        _say(args, {"event": "already_done", "stages": started.stage_count}, _already_done_text(paths, started))
        return Exit.DONE
    return _follow_launch(args, definition, started, offset)


def _start_on_engine(args: argparse.Namespace, definition: Definition) -> int:
    from onbox.commands.backend_run import start_on_backend  # noqa: PLC0415 - only for an engine

    try:
        return start_on_backend(args, definition, _teller(args))
    except Conflicts as conflicts:
        from onbox.commands.conflicts import describe_conflicts  # noqa: PLC0415 - only then

        raise Trouble(_conflict_code(conflicts), describe_conflicts(definition.paths, conflicts)) from conflicts


def _refuse_live_jobs(paths: RunPaths) -> None:
    """A run that was handed to an engine starts here only when none of its jobs can be alive, or in one of them."""
    head = read_head(paths) if os.path.exists(paths.manifest) and JOB_VARIABLE not in os.environ else None
    if head is None or not isinstance(head.data.get("backend"), dict):
        return
    from onbox.commands.backend_run import refuse_second_copy  # noqa: PLC0415 - only for an engine

    refuse_second_copy(paths, head)


def _check_wishes(args: argparse.Namespace, definition: Definition) -> None:
    names = [stage.name for stage, _ in definition.stages]
    unknown = [name for name in (*args.accept_done, *args.redo) if name not in names]
    if unknown:
        raise Trouble(Exit.USAGE, f"no stage {', '.join(unknown)} in this chain; there are: {', '.join(names[:20])}")


def _conflict_code(conflicts: Conflicts) -> Exit:
    live = any(conflict.action.name == "REFUSE_LIVE" for conflict in conflicts.found)
    return Exit.ANOTHER_RUNNER if live else Exit.CONFIG


def _already_done_text(paths: RunPaths, done: AlreadyDone) -> str:
    return f"all {done.stage_count} stages are done already; markers in {paths.markers}; to run one again: --redo STAGE"


def _announcer(args: argparse.Namespace) -> Any:
    """Tells what differs from the launch before, ahead of the start."""

    def announce(differences: tuple[Difference, ...]) -> None:
        from onbox.commands.conflicts import difference_lines  # noqa: PLC0415 - only then

        text = "\n".join(["this launch differs from the one before:", *difference_lines(differences)])
        _say(args, {"event": "changed", "differences": [one._asdict() for one in differences]}, text)

    return announce


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _say(args: argparse.Namespace, data: dict[str, Any], text: str) -> None:
    print(json.dumps(data) if args.json else text, flush=True)


def _teller(args: argparse.Namespace) -> Any:
    from onbox.chain.narrate import narrate  # noqa: PLC0415 - loaded while the first stage starts

    return json.dumps if args.json else narrate


# -- the three ways to run


def _run_inline(args: argparse.Namespace, definition: Definition, lock: Taken) -> int:
    from onbox.chain.identity import freeze_git  # noqa: PLC0415 - only inline is it before the start

    prepare(definition, Wishes(args.accept_done, args.redo), _announcer(args))
    freeze_git(definition.paths, str(definition.head["project"]))
    return run_chain(definition.paths, lock.lock_fd, listen=listener(_teller(args)))


def _follow_launch(args: argparse.Namespace, definition: Definition, started: Launched, offset: int) -> int:
    # Loaded while the first stage starts, not before.
    from onbox.chain.identity import freeze_git  # noqa: PLC0415
    from onbox.chain.view import Viewer  # noqa: PLC0415

    paths = definition.paths
    entry = look_up(started.pid)
    identity = entry.identity if entry else Identity(started.pid, 0)
    viewer = Viewer(paths, identity, journal_offset=offset, bell_fd=started.bell_fd, child=True, tell=_teller(args))
    _tell_what_is_done(args, definition)
    if not args.detach:
        freeze_git(paths, str(definition.head["project"]))
        return _final(viewer.follow())
    result = viewer.follow(until=_is_start, limit_seconds=60.0)
    freeze_git(paths, str(definition.head["project"]))
    if result is None:
        result = _launch_check(viewer, definition, args.launch_check)
    if result is None:
        _say(args, _launched(definition, started), _launched_text(definition, started))
        return Exit.DONE
    return _final(result)


def _tell_what_is_done(args: argparse.Namespace, definition: Definition) -> None:
    """Stages that are skipped leave no record: say how many there are."""
    marked = set(os.listdir(definition.paths.markers))
    done = sum(1 for stage, _ in definition.stages if f"{stage.name}_DONE" in marked)
    if done and not args.json:
        print(f"{done} of {len(definition.stages)} stages done already", flush=True)


def _is_start(record: Record) -> bool:
    return bool(record["event"] in (Event.ATTEMPT_STARTED, Event.ATTEMPT_ADOPTED, Event.STAGE_WAITING))


def _launch_check(viewer: Viewer, definition: Definition, seconds: float) -> int | None:
    """Watch for an immediate crash until the stage says a word: the chain's exit code if it ended, else None."""
    deadline = monotonic() + max(0.0, seconds)
    while (left := deadline - monotonic()) > 0:
        result = viewer.follow(limit_seconds=min(0.1, left))
        if result is not None:
            return result
        if _has_output(definition) and _has_live_stage(definition):
            break
    return None


def _has_live_stage(definition: Definition) -> bool:
    """Whether a stage's command runs at this moment; one that crashed is examined before the chain ends."""
    for entry in os.scandir(definition.paths.markers):
        if entry.name.endswith(".slot") and entry.name != f".{CHAIN}.slot":
            slot, _, locked = read_slot(entry.path)
            if locked and slot is not None and slot.exit_code is None:
                return True
    return False


def _has_output(definition: Definition) -> bool:
    logs = definition.paths.logs
    return any(entry.is_file() and entry.stat().st_size for entry in os.scandir(logs))


def _launched(definition: Definition, started: Launched) -> dict[str, Any]:
    paths = definition.paths
    names = [stage.name for stage, _ in definition.stages]
    return {
        "event": "launched",
        "run": os.path.basename(paths.root),
        "run_id": definition.head["run_id"],
        "runner_pid": started.pid,
        "state_dir": paths.root,
        "markers": [paths.done(name) for name in names[:50]] + [paths.done("CHAIN"), paths.failed("CHAIN")],
    }


def _launched_text(definition: Definition, started: Launched) -> str:
    data = _launched(definition, started)
    shown = data["markers"] if len(data["markers"]) <= 8 else [*data["markers"][:3], "…", *data["markers"][-2:]]
    lines = [f"run {data['run']} ({data['run_id']}) goes on by itself, runner pid {started.pid}"]
    lines += [f"  marker  {path}" for path in shown]
    lines += ["  watch   onbox status · onbox logs -f", "  stop    onbox stop      continue  onbox resume"]
    lines += [f"  notify  {trouble}" for trouble in _not_to_be_told(definition)]
    return "\n".join(lines)


def _not_to_be_told(definition: Definition) -> list[str]:
    """Targets whose URL or secret is not to be found in this shell, which is the runner's, too: better known now."""
    if not definition.head.get("notify"):
        return []
    from onbox.notify.targets import NotSet, frozen_targets, resolve_target  # noqa: PLC0415 - only where somebody is told

    found = []
    for name, target in frozen_targets(definition.head).items():
        try:
            resolve_target(target, os.environ, str(definition.head["project"]))
        except NotSet as trouble:
            found.append(f"nothing reaches {name} yet: {trouble}; what is to be told waits (onbox notify flush)")
    return found


def _attach(args: argparse.Namespace, definition: Definition, holder: Holder) -> int:
    """Another runner has the run: the same chain is watched to its end, another one is refused."""
    if args.accept_done or args.redo:
        raise Trouble(
            Exit.ANOTHER_RUNNER, f"runner pid {holder.pid} is at work: stop it before --redo or --accept-done"
        )
    if holder.chain_fingerprint != definition.chain_fingerprint:
        raise Trouble(
            Exit.ANOTHER_RUNNER,
            f"run {os.path.basename(definition.paths.root)} is held by another chain: runner pid {holder.pid} on "
            f"{holder.host}, run id {holder.run_id}{_what_differs(definition)}\n  see it: onbox status; "
            "end it: onbox stop; beside it under another name: onbox chain --run NAME …",
        )
    if holder.host != os.uname().nodename:
        raise Trouble(Exit.ANOTHER_RUNNER, f"this chain runs on another host: {holder.host}, pid {holder.pid}")
    _say(args, {"event": "attached", "runner_pid": holder.pid}, f"this chain runs already (runner pid {holder.pid})")
    if args.detach:
        return Exit.DONE
    from onbox.chain.view import Viewer  # noqa: PLC0415 - as above

    viewer = Viewer(
        definition.paths,
        holder.identity,
        journal_offset=_size(definition.paths.journal),
        bell_fd=None,
        child=False,
        tell=_teller(args),
    )
    return _final(viewer.follow())


def _what_differs(definition: Definition) -> str:
    """From what runs there, as lines; "" where that cannot be compared."""
    from onbox.chain.launch import differences_from_frozen  # noqa: PLC0415 - only then
    from onbox.commands.conflicts import difference_lines  # noqa: PLC0415 - only then

    lines = difference_lines(differences_from_frozen(definition))
    lines = [*lines[:SHOWN_DIFFERENCES], "  …"] if len(lines) > SHOWN_DIFFERENCES else lines
    return "".join(f"\n{line}" for line in lines)


def _final(result: int | None) -> int:
    return int(Exit.INTERNAL) if result is None else result
