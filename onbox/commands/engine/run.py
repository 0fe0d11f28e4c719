"""`onbox chain` and `onbox resume` on an engine: settle what was, submit what is to be done, follow it."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.backends.base import Job, JobState
from onbox.chain.command.code_identity import freeze_git
from onbox.chain.jobs.job_specs import chain_order, stage_orders
from onbox.chain.jobs.submit import Desk, NotTaken, Unanswered, make_job_folder
from onbox.chain.launch import Definition, is_all_done, prepare
from onbox.chain.runner.runner_process import run_chain
from onbox.chain.state.earlier_results import ResultWishes
from onbox.chain.state.frozen_run import read_head, read_stages
from onbox.chain.state.plan import Action, plan_stage
from onbox.chain.state.replay import replay
from onbox.chain.state.stage_evidence import look_at_stage
from onbox.commands.engine.desk import AlreadyAtWork, alive_of, desk_of, jobs_of, refuse_live, settle
from onbox.commands.engine.stop import stop_jobs
from onbox.commands.engine.view import follow, refuse_unaccepted
from onbox.commands.shared.typed_command import already_done_text, typed_command
from onbox.contract.events import parse_events
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.outside import safe_line, safe_text
from onbox.runs.jobs import WHOLE, Jobs, job_of_record
from onbox.system.files import StateNotWritten
from onbox.system.journal import read_lines
from onbox.trust import accept_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onbox.backends.base import Backend
    from onbox.chain.jobs.submit import Planned
    from onbox.cli.command import Options
    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import RunHead
    from onbox.model.manifest import Stage
    from onbox.runs.jobs import KnownJob


def start_on_backend(args: Options, definition: Definition, tell: Callable[[Record], str | None]) -> int:
    """Submit what is not done, unless the run is at work: then follow that. Raises Trouble, Conflicts."""
    paths = definition.paths
    with suppress(StateNotWritten):  # no home to keep it in: then ONBOX_TRUST was set, and has to be set again
        accept_engine(definition.head["backend"], os.environ)
    offset = os.path.getsize(paths.journal) if os.path.exists(paths.journal) else 0
    try:
        with desk_of(paths, definition.head["backend"]) as (desk, lock_fd):
            live = settle(desk, forget=args.forget_jobs)
            if live:
                taken = _complete(desk, definition, live)
            else:
                _refuse_unproven(desk.jobs, definition, args)
                if is_all_done(definition) and not args.accept_done and not args.redo:
                    return _say_done(args, definition)
                planned = _freeze(desk, definition, ResultWishes(args.accept_done, args.redo))
                if not planned:  # all that is missing is the chain's own end
                    return run_chain(paths, os.dup(lock_fd))
                taken = _submit(desk, definition, planned)
    except AlreadyAtWork as alive:
        _attach(args, definition, alive)
        taken = []
    return _go_on(args, definition, taken, offset, tell)


def _complete(desk: Desk, definition: Definition, live: Mapping[str, Job]) -> list[KnownJob]:
    """Submit the stages behind the last live job that have none: a submitter died in between. Raises Alive where
    nothing is missing.
    """
    paths = definition.paths
    alive = alive_of(desk, paths, live)
    head = read_head(paths)
    names = definition.names
    places = [names.index(stage) for stage in live if stage in names]
    if head is None or alive.fingerprint != definition.chain_fingerprint or not desk.backend.per_stage or not places:
        raise alive
    missing = [frozen.stage for frozen in read_stages(paths)][max(places) + 1 :]
    if not missing:
        raise alive
    last = live[names[max(places)]]
    return _submit(desk, definition, stage_orders(paths, head, missing, sys.executable), after=last.job_id)


def refuse_second_copy(paths: RunPaths, head: RunHead) -> None:
    """Raises Trouble while a job of the run lives, or where that cannot be known."""
    try:
        refuse_unaccepted(head.data["backend"], head, paths)
        with desk_of(paths, head.data["backend"]) as (desk, _):
            refuse_live(desk, paths)
    except AlreadyAtWork as alive:
        run = os.path.basename(paths.root)
        raise Trouble(
            Exit.ANOTHER_RUNNER,
            f"run {run} is with an engine: {alive.who}; see it: onbox status {run}; end it: onbox stop {run}; "
            "beside it under another name: onbox chain --run NAME …",
        ) from alive


def _refuse_unproven(jobs: Jobs, definition: Definition, args: Options) -> None:
    """A marker whose job did not end well proves nothing (an OOM kill beside the script that left it)."""
    lines = []
    typed, settled = typed_command(args, definition.paths), {*args.accept_done, *args.redo}
    marked = set(os.listdir(definition.paths.markers))
    for stage, _ in definition.stages:
        known = jobs.of.get(stage.name)
        word = job_of_record(known.ended) if known is not None and known.ended is not None else None
        if not isinstance(word, Job) or word.state is JobState.SUCCEEDED or stage.name in settled:
            continue
        if f"{stage.name}_DONE" in marked:
            lines.append(
                f"stage {stage.name} left its marker, but its {known.backend if known else ''} job {word.job_id} "
                f"ended {word.native_state}\n"
                f"  keep the result:  {typed.again('--accept-done', stage.name)}\n"
                f"  run it again:     {typed.again('--redo', stage.name)}"
            )
    if lines:
        raise Trouble(Exit.CONFIG, "nothing was started\n" + "\n".join(lines))


def _freeze(desk: Desk, definition: Definition, wishes: ResultWishes) -> list[Planned]:
    """Freeze the definition; the orders for what is not done. Raises Conflicts, StateNotWritten."""
    prepare(definition, wishes)
    desk.jobs = jobs_of(definition.paths)
    freeze_git(definition.paths, str(definition.head["project"]))
    return _plan(definition, desk.backend)


def _plan(definition: Definition, backend: Backend) -> list[Planned]:
    """The orders for what is not done."""
    paths = definition.paths
    head = read_head(paths)
    assert head is not None
    history = replay(parse_events(read_lines(paths.journal)))
    todo: list[Stage] = []
    for frozen in read_stages(paths):
        evidence = look_at_stage(paths, frozen, history, chain_open=False)
        if todo or plan_stage(evidence).action is not Action.SKIP:
            todo.append(frozen.stage)
    if not todo:
        return []
    if backend.per_stage:
        return stage_orders(paths, head, todo, sys.executable)
    return [chain_order(paths, head, [stage for stage, _ in definition.stages], sys.executable)]


def _submit(desk: Desk, definition: Definition, planned: list[Planned], *, after: str | None = None) -> list[KnownJob]:
    paths = definition.paths
    make_job_folder(paths, desk.backend.files)
    try:
        return desk.submit(planned, str(definition.head["run"]), str(definition.head["run_id"]), after=after)
    except NotTaken as refusal:
        kept = f"; could not be ended again: job {', '.join(refusal.left)}" if refusal.left else ""
        what = f"stage {refusal.stage}" if refusal.stage != WHOLE else "the chain"
        raise Trouble(
            Exit.UNAVAILABLE,
            f"{desk.backend.name} refused {what}: {safe_text(refusal)}{kept}\n"
            "  nothing of this chain was left in its queue; correct its definition, then: onbox chain",
        ) from refusal
    except Unanswered as unanswered:
        raise Trouble(Exit.UNAVAILABLE, safe_line(unanswered)) from unanswered


def _attach(args: Options, definition: Definition, alive: AlreadyAtWork) -> None:
    if args.accept_done or args.redo:
        raise Trouble(Exit.ANOTHER_RUNNER, f"{alive.who} is at work: stop it before --again, --redo or --accept-done")
    if alive.fingerprint != definition.chain_fingerprint:
        run = os.path.basename(definition.paths.root)
        raise Trouble(
            Exit.ANOTHER_RUNNER,
            f"run {run} is at work on another chain: {alive.who}\n  see it: onbox status {run}; "
            f"end it: onbox stop {run}; beside it under another name: onbox chain --run NAME …",
        )
    text = f"this chain is at work already ({alive.who}); nothing was submitted"
    print(json.dumps({"event": "attached", "who": alive.who}) if args.json else text, flush=True)


def _go_on(
    args: Options,
    definition: Definition,
    taken: list[KnownJob],
    offset: int,
    tell: Callable[[Record], str | None],
) -> int:
    """Say what was submitted, and follow it unless that is not wanted."""
    paths = definition.paths
    if taken:
        _say_submitted(args, definition, taken)
    return int(Exit.DONE) if args.detach else follow(paths, offset, tell, lambda: _stop(paths))


def _say_done(args: Options, definition: Definition) -> int:
    text = already_done_text(definition, typed_command(args, definition.paths))
    print(json.dumps({"event": "already_done", "stages": len(definition.stages)}) if args.json else text, flush=True)
    return int(Exit.DONE)


def _say_submitted(args: Options, definition: Definition, taken: list[KnownJob]) -> None:
    paths = definition.paths
    if args.json:
        print(json.dumps(_submitted_data(definition, taken)), flush=True)
        return
    backend = definition.head["backend"]["name"]
    jobs = " → ".join(f"{job.job_id} {job.stage}".strip() for job in taken)
    run = os.path.basename(paths.root)
    lines = [f"run {definition.head['run']} ({definition.head['run_id']}) is with {backend}: job {jobs}"]
    lines += [f"  marker  {path}" for path in (paths.done("CHAIN"), paths.failed("CHAIN"))]
    lines += [f"  watch   onbox status {run} · onbox logs -f --run {run}"]
    lines += [f"  stop    onbox stop {run}      continue  onbox resume {run}"]
    print(safe_text("\n".join(lines)), flush=True)


def _submitted_data(definition: Definition, taken: list[KnownJob]) -> Mapping[str, Any]:
    paths = definition.paths
    return {
        "event": "submitted",
        "run": definition.head["run"],
        "run_id": definition.head["run_id"],
        "backend": definition.head["backend"]["name"],
        "jobs": [{"stage": job.stage or None, "job_id": job.job_id, "name": job.name} for job in taken],
        "state_dir": paths.root,
        "markers": [*(paths.done(stage.name) for stage, _ in definition.stages), paths.done("CHAIN")],
    }


def _stop(paths: RunPaths) -> None:
    stop_jobs(paths, None)
