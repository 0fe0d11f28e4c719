"""How far a sweep is: for status.json, and for everybody who reads it. Pure."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from onbox.model.units import format_duration
from onbox.sweep.state.board import SweepStanding, classes_of, counts_of, warnings_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.model.sweep import SweepSettings
    from onbox.sweep.state.board import Board

FAILED_SHOWN, RUNNING_SHOWN = 20, 16


def progress_of(board: Board, running: int, settings: SweepSettings, held: str | None) -> dict[str, Any]:
    """The fields of status.json that a sweep has. held: why no cell starts for now."""
    counts = counts_of(board) | {"running": running}
    counts["open"] += board.counts[SweepStanding.RUNNING] - running
    eta = eta_seconds(board, running, settings.jobs)
    best = best_text(board)
    progress = {
        "current": counts["done"],
        "exact_max": counts["total"],
        "unit": "cells",
        "eta_seconds": eta,
        "text": text_of(board, running, eta),
        "rule": "sweep",
    }
    return {
        "progress": progress,
        "sweep": {
            **counts,
            "classes": classes_of(board),
            "best": best or None,
            "text": text_of(board, running, None),  # the time left is told once, by the progress
            "rows": list(_rows(board)),
            "warnings": warnings_of(board),
        },
        "waiting_for": held,
    }


def _rows(board: Board) -> Iterator[list[str]]:
    """Single cells, for a page: the best, the first that failed, those at work; name, state, metric or class."""
    for value, number in board.top:
        yield [board.name(number), "done", f"{value:.6g}"]
    for number in sorted(board.failures)[:FAILED_SHOWN]:
        yield [board.name(number), "failed", board.failures[number].failure_class]
    for number in islice(board.all(SweepStanding.RUNNING), RUNNING_SHOWN):
        yield [board.name(number), "running", ""]


def text_of(board: Board, running: int, eta: float | None) -> str:
    """`17/20, 2 running, 1 failed: cuda_oom · eta 3h00m · best 0.967 cell lr=1e-3,seed=2`."""
    counts = board.counts
    words = [f"{counts[SweepStanding.DONE]}/{len(board)}"]
    words += [f"{running} running"] if running else []
    failed = counts[SweepStanding.FAILED]
    words += [f"{failed} failed: {_classes(board)}"] if failed else []
    words += [f"{counts[SweepStanding.SKIPPED]} skipped"] if counts[SweepStanding.SKIPPED] else []
    parts = [", ".join(words), "" if eta is None else f"eta {format_duration(eta)}", best_text(board)]
    return " · ".join(filter(None, parts))


def _classes(board: Board) -> str:
    classes = classes_of(board)
    if len(classes) == 1:
        return next(iter(classes))
    return ", ".join(f"{name} {count}" for name, count in list(classes.items())[:3])


def best_text(board: Board) -> str:
    """The best cell by the metric that orders the table; "" where none is told."""
    if board.best is None:
        return ""
    value, number = board.best
    return f"best {value:.6g} cell {board.name(number)}"


def eta_seconds(board: Board, running: int, jobs: int | None) -> float | None:
    """By the mean time of the cells that are done; None: none is, or nothing is left."""
    left = board.counts[SweepStanding.OPEN] + board.counts[SweepStanding.RUNNING]
    if not board.ended_count or not left:
        return None
    at_once = max(1, jobs or running)
    mean = board.seconds_total / board.ended_count
    return round(mean * max(left - running / 2, left / 2) / min(at_once, left), 1)
