"""Metrics that a cell leaves, the table of them, and how far the sweep is."""

from __future__ import annotations

import pytest

from onbox.contract.events import Event
from onbox.model.sweep import Cell, SweepSettings
from onbox.sweep.results import CellResult, table_of
from onbox.sweep.runner.cell_metrics import from_json, from_log
from onbox.sweep.state.board import Board, SweepStanding, summary, warnings_of
from onbox.sweep.state.event_text import narrate
from onbox.sweep.state.progress import progress_of, text_of


@pytest.mark.parametrize(
    ("text", "metrics"),
    [
        (b'{"accuracy": 0.967, "epoch": 3, "name": "x", "ok": true}', {"accuracy": 0.967, "epoch": 3.0}),
        (b'{"val": {"loss": 0.5}, "bad": NaN}', {"val.loss": 0.5}),
        (b'{"accuracy": 0.9', {}),
        (b"[1]", {}),
        (None, {}),
    ],
)
def test_the_numbers_of_a_json_file(text: bytes | None, metrics: dict[str, float]) -> None:
    assert metrics == from_json(text)


@pytest.mark.parametrize(
    ("regex", "metrics"),
    [
        (r"acc=(?P<accuracy>[0-9.]+)", {"accuracy": 0.9}),
        (r"acc=([0-9.]+)", {"value": 0.9}),
        (r"acc=(?P<a>\S+) (?P<b>\w+)?", {"a": 0.9}),
        (r"nothing", {}),
    ],
)
def test_the_last_line_of_a_log_that_matches(regex: str, metrics: dict[str, float]) -> None:
    assert metrics == from_log(regex, b"acc=0.1\nacc=0.9 x\nbye\n")


def board_of(*records: dict[str, object]) -> Board:
    board = Board()
    board.sort = "-accuracy"
    for number in range(1, 5):
        board.add(Cell(number, f"n={number}", (("n", str(number)),)), 0)
    for record in records:
        board.apply(record)
    return board


def ended(number: int, outcome: str, **more: object) -> dict[str, object]:
    return {"event": Event.CELL_ENDED, "n": number, "outcome": outcome, **more}


def test_how_far_it_is_in_one_line() -> None:
    board = board_of(
        ended(1, "done", seconds=60.0, metrics={"accuracy": 0.9}),
        ended(2, "failed", failure_class="cuda_oom", signature="s"),
        {"event": Event.CELL_STARTED, "n": 3},
    )
    shown = progress_of(board, 1, SweepSettings(), None)
    assert text_of(board, 1, 60.0) == "1/4, 1 running, 1 failed: cuda_oom · eta 1m00s · best 0.9 cell n=1"
    assert shown["sweep"]["open"] == 1
    assert shown["sweep"]["rows"] == [["n=1", "done", "0.9"], ["n=2", "failed", "cuda_oom"], ["n=3", "running", ""]]
    assert "eta" not in shown["sweep"]["text"], "the time left is told once"
    assert summary(board) == "1 of 4 done, 2 not run, 1 failed: cuda_oom 1"


def test_a_warning_is_told_once_for_all_its_cells_and_goes_with_a_cell_that_runs_again() -> None:
    nan = ["the loss is nan"]
    board = board_of(*(ended(number, "done", warnings=nan) for number in range(1, 5)))
    assert warnings_of(board) == ["4 cells: the loss is nan (n=1; n=2; n=3; …)"]
    for number in (1, 2, 3):
        board.apply({"event": Event.CELL_REOPENED, "n": number})
    assert warnings_of(board) == ["cell n=4: the loss is nan"]


def test_the_best_is_by_the_sign() -> None:
    records = [ended(one, "done", metrics={"accuracy": value}) for one, value in ((1, 0.5), (2, 0.9), (3, 0.7))]
    assert board_of(*records).best == (0.9, 2)


def test_a_cell_that_is_to_run_once_more_is_not_the_best() -> None:
    records = [ended(one, "done", metrics={"accuracy": value}) for one, value in ((1, 0.5), (2, 0.9), (3, 0.7))]
    board = board_of(*records, {"event": Event.CELL_REOPENED, "n": 2})
    assert board.top == [(0.7, 3), (0.5, 1)]
    board.apply(ended(2, "done", metrics={"accuracy": 0.6}))
    assert board.top == [(0.7, 3), (0.6, 2), (0.5, 1)]


def test_a_reopened_cell_is_open_and_no_failure() -> None:
    board = board_of(ended(1, "failed", failure_class="x"), {"event": Event.CELL_REOPENED, "n": 1})
    assert board.standing(1) is SweepStanding.OPEN
    assert board.failures == {}
    assert board.next_open() == 1


@pytest.mark.parametrize("record", [ended(0, "done"), ended(9, "done"), {"event": Event.CELL_ENDED}, {"event": "x"}])
def test_a_record_of_no_known_cell_is_passed_over(record: dict[str, object]) -> None:
    assert board_of(record).counts[SweepStanding.OPEN] == 4


def test_the_highest_priority_goes_first() -> None:
    board = board_of()
    board.add(Cell(5, "n=5", (("n", "5"),), priority=3), 0)
    assert board.next_open() == 5


@pytest.mark.parametrize(("sort", "cells"), [("-acc", "bac"), ("acc", "abc"), ("n", "cab"), ("", "abc")])
def test_the_table_is_in_the_order_that_was_asked_for(sort: str, cells: str) -> None:
    results = [
        CellResult("a", {"n": "2"}, "done", "", 1.0, {"acc": 0.1}),
        CellResult("b", {"n": "3"}, "done", "", 1.0, {"acc": 0.9}),
        CellResult("c", {"n": "1"}, "failed", "cuda_oom", None, {}),
    ]
    table = table_of(results, sort)
    assert table.columns == ("state", "n", "acc", "seconds", "cell")
    assert "".join(row[-1] for row in table.rows) == cells
    assert ("failed: cuda_oom", "1", None, None, "c") in table.rows


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (ended(1, "done", cell="n=1", seconds=2.0, metrics={"acc": 0.5}), "cell n=1  done  2.0s · acc 0.5"),
        (
            ended(
                1,
                "failed",
                cell="n=1",
                seconds=2.0,
                failure_class="cuda_oom",
                stage_failed="run",
                proof="out of memory",
            ),
            "cell n=1  FAILED  2.0s at run · cuda_oom: out of memory",
        ),
        (ended(1, "interrupted", cell="n=1", reason="cut off"), "cell n=1  interrupted · cut off"),
        ({"event": Event.CELL_STARTED, "cell": "n=1", "gpus": [2, 3]}, "cell n=1  started · GPU 2, 3"),
        ({"event": Event.CELL_SKIPPED, "cell": "n=1"}, "cell n=1  skipped by a person's word"),
        ({"event": Event.CHAIN_FAILED, "cells": {}, "reason": "3 of 4 done"}, "sweep FAILED: 3 of 4 done"),
        ({"event": Event.CELLS_HELD, "reason": "disk_free: 1 GB"}, "no cell starts for now: disk_free: 1 GB"),
    ],
)
def test_each_event_is_one_line(record: dict[str, object], line: str) -> None:
    assert narrate({"at": "2026-11-21T05:11:20.000Z", **record}) == f"05:11:20 {line}"


def test_a_chain_is_told_as_ever() -> None:
    record = {"at": "2026-11-21T05:11:20.000Z", "event": Event.CHAIN_STARTED, "stages": 2, "pid": 7}
    assert narrate(record) == "05:11:20 chain        started      2 stages · runner pid 7"


def test_every_event_of_cells_is_told() -> None:
    known = [value for name, value in vars(Event).items() if name.startswith("CELL")]
    assert all(narrate({"at": "", "event": event, "outcome": "done"}) for event in known)
