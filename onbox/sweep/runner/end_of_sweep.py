"""The sweep is over: its closing records, its markers, its last status."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from onbox.chain.state.slots import land_marker
from onbox.chain.state.stop_request import read_request
from onbox.contract.events import Event
from onbox.contract.exits import Exit
from onbox.contract.paths import CHAIN, SWEEP
from onbox.contract.states import RunState
from onbox.sweep.runner.plan import CellAction
from onbox.sweep.state.board import SweepStanding, summary, warnings_of
from onbox.sweep.state.progress import progress_of
from onbox.system.clock import monotonic, utc_text, wall
from onbox.system.files import remove_file

if TYPE_CHECKING:
    from onbox.chain.state.recorder import Recorder
    from onbox.sweep.runner.opened_sweep import OpenedSweep
    from onbox.sweep.state.board import Board

LISTED_BYTES = 1500

_ENDS: dict[CellAction, tuple[Exit, str, RunState]] = {
    CellAction.END_DONE: (Exit.DONE, Event.CHAIN_DONE, RunState.DONE),
    CellAction.END_FAILED: (Exit.FAILED, Event.CHAIN_FAILED, RunState.FAILED),
    CellAction.END_TOO_MANY: (Exit.FAILED, Event.CHAIN_FAILED, RunState.FAILED),
    CellAction.END_SAME: (Exit.FAILED, Event.CHAIN_FAILED, RunState.FAILED),
    CellAction.END_REFUSED: (Exit.GATE_REFUSED, Event.GATE_REFUSED, RunState.FAILED),
}
CLOSING = frozenset((*_ENDS, CellAction.END_STOPPED))


class SweepEnd:
    """attempt: of the sweep's own stage, in this launch. began: of this launch, monotonic."""

    def __init__(self, sweep: OpenedSweep, recorder: Recorder, attempt: int, began: float) -> None:
        self._sweep, self._recorder, self._attempt, self._began = sweep, recorder, attempt, began

    def close(self, action: CellAction, *, held: str, problems: list[str]) -> Exit:
        """held: why no cell could start; "": nothing was in the way. problems: of the queue file. Raises
        StateNotWritten.
        """
        if action is CellAction.END_STOPPED:
            return self._close_stopped(problems)
        code, event, state = _ENDS[action]
        data = self._data(code, _why_ended(self._sweep, action, held), problems)
        is_done = event == Event.CHAIN_DONE
        stage = {**data, "event": Event.STAGE_DONE if is_done else Event.STAGE_FAILED, "stage": SWEEP}
        stage["attempt"] = self._attempt
        chain = self._chain_data(data, event)
        chain |= {} if is_done else {"outcome": event, "stopped_at": SWEEP}
        self._recorder.note(stage, chain)
        paths = self._sweep.paths
        for name, told in ((SWEEP, stage), (CHAIN, chain)):
            marker = paths.done(name) if is_done else paths.failed(name)
            land_marker(paths.slot(name), marker, {key: value for key, value in told.items() if key != "event"})
        self._finish(state, event, data["reason"])
        return code

    def _close_stopped(self, problems: list[str]) -> Exit:
        sweep = self._sweep
        asked = read_request(sweep.paths.stop_request) is not None
        why = "stopped on request" if asked else "the runner was asked to end by a signal (shutdown, reclaim, kill)"
        data = self._data(Exit.STOPPED, "", problems)
        data["reason"] = f"{why}; {summary(sweep.board)}"
        stage = {"event": Event.STAGE_INTERRUPTED, "stage": SWEEP, "attempt": self._attempt, "reason": why}
        event, state = Event.CHAIN_STOPPED, RunState.STOPPED
        if not asked:
            event, state = Event.CHAIN_INTERRUPTED, RunState.INTERRUPTED
        chain = {**self._chain_data(data, event), "stopped_at": SWEEP}
        self._recorder.note(stage, chain)
        self._finish(state, event, data["reason"])
        return Exit.STOPPED

    def _chain_data(self, data: dict[str, Any], event: str) -> dict[str, Any]:
        """Of the whole run, where data is of this launch."""
        history = self._sweep.history
        took = history.facts.took_seconds(data["duration_seconds"], wall())
        return {**data, "event": event, "stage": CHAIN, "attempt": history.launches, "duration_seconds": round(took, 3)}

    def _finish(self, state: RunState, event: str, reason: str) -> None:
        shown = progress_of(self._sweep.board, 0, self._sweep.settings, None)
        self._recorder.show(state=state.value, stage=SWEEP, reason=reason, outcome=event, **shown)
        remove_file(self._sweep.paths.stop_request)

    def _data(self, code: Exit, why: str, problems: list[str]) -> dict[str, Any]:
        board, head = self._sweep.board, self._sweep.head
        words = [summary(board), *([why] if why else []), *problems[:5]]
        data: dict[str, Any] = {
            "run_id": head.run_id,
            "fingerprint": head.chain_fingerprint,
            "stages": 1,
            "ended_at": utc_text(wall()),
            "duration_seconds": round(monotonic() - self._began, 3),
            "exit_code": int(code),
            "reason": "; ".join(words),
            "cells": {name.name.lower(): board.counts[name] for name in SweepStanding},
        }
        warnings = warnings_of(board)
        data |= {"warnings": warnings} if warnings else {}
        return {**data, **(_failure_data(board) if board.failures else {})}


def _why_ended(sweep: OpenedSweep, action: CellAction, held: str) -> str:
    if action is CellAction.END_TOO_MANY:
        return f"ended before the rest: more than max_failures = {sweep.settings.max_failures} cells failed"
    if action is CellAction.END_SAME:
        streak = sweep.board.streak
        return f"ended before the rest: {streak.times} cells in a row failed in the same way ({streak.signature})"
    return f"{action.value}: {held}" if action is CellAction.END_REFUSED and held else ""


def _failure_data(board: Board) -> dict[str, Any]:
    """The most frequent failure, and which cells failed, as many as there is room for."""
    kinds = Counter((one.failure_class, one.signature) for one in board.failures.values())
    kind = kinds.most_common(1)[0][0]
    most = next(one for one in board.failures.values() if (one.failure_class, one.signature) == kind)
    names: list[str] = []
    for number in sorted(board.failures):
        names.append(board.name(number))
        if sum(map(len, names)) > LISTED_BYTES:
            names[-1] = f"… and {len(board.failures) - len(names) + 1} more"
            break
    # Not as a signature: that the sweep as a whole ends so again says nothing of a cause.
    return {"failure_class": most.failure_class, "proof": most.proof or most.signature, "failed_cells": names}
