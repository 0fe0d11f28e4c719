"""The journal of a sweep as lines for people. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.chain.viewer.event_text import narrate as narrate_chain
from onbox.contract.events import CHAIN_ENDS, Event
from onbox.contract.json_text import as_number, as_whole
from onbox.contract.paths import SWEEP
from onbox.model.units import counted, format_duration
from onbox.outside import safe_line
from onbox.sweep.state.board import known_metrics

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.events import Record

METRICS_SHOWN = 4
_WORDS = {
    Event.CHAIN_DONE: "done",
    Event.CHAIN_FAILED: "FAILED",
    Event.CHAIN_STOPPED: "stopped",
    Event.CHAIN_INTERRUPTED: "interrupted",
    Event.GATE_REFUSED: "REFUSED",
}


def narrate(record: Record) -> str | None:
    """One line, such as `05:11:20 cell lr=1e-3,seed=2  done  56.2s · accuracy 0.967`; None: not worth a line."""
    if record.get("stage") == SWEEP and record["event"] not in CHAIN_ENDS:
        return None  # the sweep's own end tells it
    teller = _TELLERS.get(record["event"])
    is_chains = record["event"] in (*CHAIN_ENDS, Event.CHAIN_STARTED) and "cells" not in record
    if teller is None or is_chains:
        return narrate_chain(record)
    told = teller(record)
    return None if told is None else safe_line(f"{str(record.get('at', ''))[11:19]} {told}")


def _cell(word: str, text: Callable[[Record], str]) -> Callable[[Record], str]:
    return lambda record: f"cell {record.get('cell')}  {word} {text(record)}".rstrip()


def _cards(record: Record) -> str:
    gpus = record.get("gpus")
    return f"· GPU {', '.join(map(str, gpus))}" if isinstance(gpus, list) and gpus else ""


def _ended(record: Record) -> str | None:
    outcome, seconds = record.get("outcome"), as_number(record.get("seconds"))
    took = "" if seconds is None else format_duration(max(0.0, seconds))
    if outcome == "done":
        numbers = list(known_metrics(record.get("metrics")).items())[:METRICS_SHOWN]
        shown = "".join(f" · {name} {value:.6g}" for name, value in numbers)
        return f"cell {record.get('cell')}  done  {took}{shown}"
    if outcome == "failed":
        where = f" at {record['stage_failed']}" if record.get("stage_failed") else ""
        said = record.get("proof") or record.get("reason") or ""
        return f"cell {record.get('cell')}  FAILED  {took}{where} · {record.get('failure_class')}: {said}"
    why = record.get("reason") or "it is still to be run"
    return f"cell {record.get('cell')}  {outcome} · {why}" + (f" · after {took}" if took else "")


def _end(record: Record) -> str:
    return f"sweep {_WORDS[record['event']]}: {record.get('reason')}"


_TELLERS: dict[str, Callable[[Record], str | None]] = {
    Event.CHAIN_STARTED: lambda r: (
        f"sweep started · {counted(as_whole(r.get('cells')) or 0, 'cell')}, {r.get('open')} to run"
        f" · runner pid {r.get('pid')}"
    ),
    Event.CELLS_ADDED: lambda r: f"{r.get('count')} cells added from {r.get('origin')}",
    Event.CELL_STARTED: _cell("started", _cards),
    Event.CELL_ADOPTED: _cell("adopted", lambda r: "· it ran on without the sweep's runner"),
    Event.CELL_ENDED: _ended,
    Event.CELL_SKIPPED: _cell("skipped", lambda r: "by a person's word"),
    Event.CELL_REOPENED: _cell("open again", lambda r: f"· {r.get('reason')}"),
    Event.CELLS_HELD: lambda r: f"no cell starts for now: {r.get('reason')}",
    Event.CELLS_RELEASED: lambda r: "cells start again",
    **dict.fromkeys(_WORDS, _end),
}
