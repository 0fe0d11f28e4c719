"""A sweep as it is now, from the disk and the kernel. Looking never changes anything."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from onbox.chain.lock.lock_owner import read_holder
from onbox.chain.run_room import find_short_room, place_of
from onbox.chain.state.read_status import read_status
from onbox.contract.events import Event
from onbox.contract.states import RunState
from onbox.named_tuple import NamedTuple
from onbox.runs.acts import Act
from onbox.runs.next_step import Standing, next_step
from onbox.runs.signs import Sign, signs_of_failure, signs_of_room
from onbox.runs.state import state_of
from onbox.sweep.cells.queue_file import read_queue
from onbox.sweep.cells.template import wanted_by
from onbox.sweep.launch import read_known
from onbox.sweep.runner import cell_run
from onbox.sweep.state import board as boards
from onbox.sweep.state.frozen_sweep import read_definition
from onbox.sweep.state.progress import best_text, eta_seconds, text_of
from onbox.system.lock import is_locked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.contract.paths import RunPaths
    from onbox.sweep.launch import KnownSweep
    from onbox.sweep.state.frozen_sweep import SweepDefinition

FAILED_LISTED = 1000


class SweepView(NamedTuple):
    """data: as JSON-ready data; the text form shows a part of it."""

    data: dict[str, Any]


def look_at_sweep(paths: RunPaths) -> SweepView:
    """Raises OSError, ValueError (a damaged run.json)."""
    found = read_definition(paths)
    if found is None:
        raise ValueError(f"there is no sweep at {paths.root}")
    known = read_known(paths, found.frozen.settings.sort)
    board, facts = known
    runner_alive = bool(is_locked(paths.lock))
    status = (read_status(paths) or {}) if runner_alive else {}
    running = list(_running(paths, board))
    state = state_of(facts, runner_alive=runner_alive, stage_alive=bool(running), claims_stall=False)
    eta = eta_seconds(board, len(running), found.frozen.settings.jobs) if runner_alive else None
    problems, failed = _queue_problems(found), list(_failed(paths, board))
    reason = (facts.end or {}).get("reason") or None
    settled = state is RunState.FAILED and not problems and _failed_were_skipped(known)
    if settled:
        reason = f"{boards.summary(board)}; each cell that failed was skipped after the end"
    data = {
        "schema": 1,
        "run": found.head.run,
        "run_id": found.head.run_id,
        "kind": "sweep",
        "state": state.value,
        "text": text_of(board, len(running), eta),
        "reason": reason,
        "outcome": (facts.end or {}).get("event"),
        "waiting_for": status.get("waiting_for"),
        "cells": {**boards.counts_of(board), "running": len(running)},
        "classes": boards.classes_of(board),
        "best": best_text(board).removeprefix("best ") or None,
        "eta_seconds": eta,
        "running_cells": running,
        "failed_cells": failed,
        "warnings": boards.warnings_of(board),
        "queue_problems": problems,
        "runner_alive": runner_alive,
        "runner": _runner_text(paths, runner_alive=runner_alive, cells_alive=len(running), known=known),
        "markers": paths.markers,
        "state_dir": paths.root,
        "project": found.head.project,
    }
    signs = {Sign.CELLS_SKIPPED} if settled else _signs(state, known, runner_alive=runner_alive, lives=bool(running))
    standing = Standing(state, frozenset(signs))
    room = find_short_room(paths, found.head, None) if next_step(standing).continues else None
    standing = standing._replace(signs=standing.signs | signs_of_room(room))
    data["disk"] = None if room is None else room.words
    place = place_of(room, str(found.head.project))
    return SweepView({**data, **_step(found.head.run, standing, failed, place)})


def _running(paths: RunPaths, board: boards.Board) -> Iterator[dict[str, Any]]:
    """Cells that live, by the kernel's word."""
    for number in board.all(boards.SweepStanding.RUNNING):
        cell = cell_run.cell_paths(paths, board.name(number))
        if is_locked(cell.lock) or cell_run.has_live_stage(cell):
            gpus = list(board.cards.get(number, ()))
            yield {"cell": board.name(number), "log": cell.logs, "gpus": gpus, "state_dir": cell.root}


def _failed(paths: RunPaths, board: boards.Board) -> Iterator[dict[str, Any]]:
    for number in sorted(board.failures)[:FAILED_LISTED]:
        failure, cell = board.failures[number], cell_run.cell_paths(paths, board.name(number))
        yield {"cell": board.name(number), "failure_class": failure.failure_class, "log": cell.logs}


def _queue_problems(found: SweepDefinition) -> list[str]:
    if found.frozen.queue is None:
        return []
    try:
        return list(read_queue(found.frozen.queue, wanted_by(found.frozen.template)).problems[:10])
    except OSError as error:
        return [f"{found.frozen.queue} cannot be read ({error.strerror})"]


def _runner_text(paths: RunPaths, *, runner_alive: bool, cells_alive: int, known: KnownSweep) -> str:
    if runner_alive:
        holder = read_holder(paths.lock)
        return f"alive, pid {holder.pid} on {holder.host}" if holder else "alive, pid not known"
    if cells_alive:
        return f"gone; {cells_alive} of its cells go on, and the first one that ends starts it again"
    return "none" if known.facts.end else "none, and the sweep has not ended: interrupted"


def _failed_were_skipped(known: KnownSweep) -> bool:
    """Whether it failed by its cells, and none of them counts as failed any more."""
    board, end = known.board, known.facts.end or {}
    is_skipped = bool(board.counts[boards.SweepStanding.SKIPPED])
    return end.get("event") == Event.CHAIN_FAILED and is_skipped and not board.failures


def _signs(state: RunState, known: KnownSweep, *, runner_alive: bool, lives: bool) -> set[Sign]:
    signs: set[Sign] = set()
    if (known.facts.end or {}).get("event") == Event.GATE_REFUSED:
        signs.add(Sign.GATE_REFUSED)
    elif state is RunState.FAILED and known.board.failures:
        most = next(iter(boards.classes_of(known.board)))
        signs |= {Sign.CELLS_FAILED, *signs_of_failure(most)}
    if boards.warnings_of(known.board):
        signs.add(Sign.DOUBTED)
    if not runner_alive and lives:
        signs.add(Sign.RUNNER_GONE)
    if state is RunState.PENDING:
        signs.add(Sign.UNATTENDED)
    return signs


def _step(run: str, standing: Standing, failed: list[dict[str, Any]], place: str) -> dict[str, Any]:
    """What to do about it, by the same table as everywhere; of failed cells the first one's log says why, not the
    sweep's. place: whose disk has no room.
    """
    step = next_step(standing)
    command = None if step.act.is_local else step.act.line(run, place=place)
    then = step.then
    if step.name == "interrupted":
        then = "the resume runs the cells that are open; look again in a minute"
    if standing.has(Sign.CELLS_FAILED):
        then = f"find out why cells failed, then: onbox sweep retry-failed {run}"
        if step.act is Act.LOGS and failed:
            command = shlex.join(("onbox", "logs", failed[0]["cell"], "--run", run))
    return {"step": step.name, "next_command": command, "then": then, "never": step.never}
