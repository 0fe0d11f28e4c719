"""What is seen of a chain that runs: the launch check of one that was just started, or another's, to its end."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from onbox.chain.command.code_identity import freeze_git
from onbox.chain.launch import differences_from_frozen
from onbox.chain.observe.patrol_watch import is_patrolled
from onbox.chain.viewer.viewer import Viewer
from onbox.commands.launch.conflicts import difference_lines
from onbox.commands.launch.launch_check import LaunchCheck, will_appear
from onbox.commands.launch.say import say, size_of
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.notify.targets import NotSet, frozen_targets, resolve_target
from onbox.sweep.state.event_text import narrate
from onbox.system.clock import wall
from onbox.system.process import Identity, look_up

if TYPE_CHECKING:
    from onbox.chain.launch import Definition, Launched
    from onbox.chain.lock.lock_owner import Holder
    from onbox.cli.command import Options
    from onbox.contract.paths import RunPaths

SHOWN_DIFFERENCES = 10


def teller(args: Options) -> Any:
    """What makes a line of a record: JSON for programs, else words."""
    return json.dumps if args.json else narrate


def follow_launch(args: Options, definition: Definition, started: Launched, offset: int) -> int:
    """Watch what was just started; the exit code. offset: bytes of the journal that tell of earlier launches."""
    paths = definition.paths
    entry = look_up(started.pid)
    identity = entry.identity if entry else Identity(started.pid, 0)
    viewer = Viewer(
        paths,
        identity,
        journal_offset=offset,
        bell_fd=started.bell_fd,
        may_stop=not args.detach,
        tell=teller(args),
        says_progress=not (args.detach or args.json),
    )
    _tell_what_is_done(args, definition, viewer)
    if not args.detach:
        freeze_git(paths, str(definition.head["project"]))
        return viewer.watch()
    check = LaunchCheck(viewer, paths)
    check.begin()
    freeze_git(paths, str(definition.head["project"]))
    check.watch(args.launch_check, lambda text: print(f"onbox: {text}", file=sys.stderr, flush=True))
    if check.result is not None:
        return check.result
    data = {**_launched(definition, started), "first_line": check.said or None}
    say(args, data, _launched_text(definition, started, check.said))
    return Exit.DONE


def _open_stages(definition: Definition) -> list[str]:
    """Names of those that have no DONE yet."""
    marked = set(os.listdir(definition.paths.markers))
    return [stage.name for stage, _ in definition.stages if f"{stage.name}_DONE" not in marked]


def _tell_what_is_done(args: Options, definition: Definition, viewer: Viewer) -> None:
    """Stages that are skipped leave no record: say how many there are."""
    done = len(definition.stages) - len(_open_stages(definition))
    if done and not args.json:
        viewer.print_text(f"{done} of {len(definition.stages)} stages done already\n")


def _launched(definition: Definition, started: Launched) -> dict[str, Any]:
    paths = definition.paths
    names = definition.names
    return {
        "event": "launched",
        "run": os.path.basename(paths.root),
        "run_id": definition.head["run_id"],
        "runner_pid": started.pid,
        "state_dir": paths.root,
        "markers": [paths.done(name) for name in names[:50]] + [paths.done("CHAIN"), paths.failed("CHAIN")],
    }


def _launched_text(definition: Definition, started: Launched, said: str) -> str:
    run = os.path.basename(definition.paths.root)
    lines = [f"run {run} ({definition.head['run_id']}) goes on by itself, runner pid {started.pid}"]
    lines += [f"  said    {said}" if said else "  said    nothing yet"]
    lines += [f"  markers {will_appear(definition.paths, _open_stages(definition))}"]
    lines += [f"  watch   onbox attach {run} · onbox status {run} · onbox logs -f --run {run}"]
    lines += [f"  stop    onbox stop {run}      continue  onbox resume {run}"]
    lines += [f"  notify  {trouble}" for trouble in _not_to_be_told(definition)]
    lines += [f"  missing {text}" for text in missing_layers(definition)]
    return "\n".join(lines)


def missing_layers(definition: Definition) -> list[str]:
    """Who would not notice that it dies in the night. A hang is noticed by default."""
    found = []
    notify = definition.head.get("notify")
    if not notify or not notify.get("targets"):
        found.append("a message to you when it ends: onbox.toml has no [notify]")
    if not is_patrolled(definition.paths, wall()):
        found.append("a patrol that looks at this machine: on your own machine, type patrol add, patrol install")
    return found


def _not_to_be_told(definition: Definition) -> list[str]:
    """Targets whose URL or secret is not to be found in this shell, which is the runner's, too: better known now."""
    if not definition.head.get("notify"):
        return []
    found = []
    for name, target in frozen_targets(definition.head).items():
        try:
            resolve_target(target, os.environ, str(definition.head["project"]))
        except NotSet as trouble:
            found.append(f"nothing reaches {name} yet: {trouble}; what is to be told waits (onbox notify flush)")
    return found


def attach(args: Options, definition: Definition, holder: Holder) -> int:
    """Another runner has the run: the same chain is watched to its end, another one is refused."""
    if args.accept_done or args.redo:
        raise Trouble(
            Exit.ANOTHER_RUNNER, f"runner pid {holder.pid} is at work: stop it before --again, --redo or --accept-done"
        )
    run = os.path.basename(definition.paths.root)
    if holder.chain_fingerprint != definition.chain_fingerprint:
        raise Trouble(
            Exit.ANOTHER_RUNNER,
            f"run {run} is held by another chain: runner pid {holder.pid} on "
            f"{holder.host}, run id {holder.run_id}{_what_differs(definition)}\n  see it: onbox status "
            f"{run}; end it: onbox stop {run}; beside it under another name: onbox chain --run NAME …",
        )
    if holder.host != os.uname().nodename:
        raise Trouble(Exit.ANOTHER_RUNNER, f"this chain runs on another host: {holder.host}, pid {holder.pid}")
    if args.detach:
        say(args, *_attached(holder))
        return Exit.DONE
    return watch_holder(args, definition.paths, holder)


def watch_holder(args: Options, paths: RunPaths, holder: Holder) -> int:
    """Watch a runner that another command started: its result, or that the person detached."""
    offset = size_of(paths.journal)
    viewer = Viewer(
        paths,
        holder.identity,
        journal_offset=offset,
        bell_fd=None,
        may_stop=False,
        tell=teller(args),
        says_progress=not args.json,
    )
    return viewer.watch(lambda: say(args, *_attached(holder)))


def _attached(holder: Holder) -> tuple[dict[str, Any], str]:
    return {"event": "attached", "runner_pid": holder.pid}, f"this chain runs already (runner pid {holder.pid})"


def _what_differs(definition: Definition) -> str:
    """From what runs there, as lines; "" where that cannot be compared."""
    lines = difference_lines(differences_from_frozen(definition))
    lines = [*lines[:SHOWN_DIFFERENCES], "  …"] if len(lines) > SHOWN_DIFFERENCES else lines
    return "".join(f"\n{line}" for line in lines)
