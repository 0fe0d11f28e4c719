"""From a run's records to what the page says of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handbook.box.records import RawRecords, read
from handbook.box.run_facts import PatrolKept, describe
from onbox.contract.progress import Progress
from onbox.contract.runfile import NOT_LOOKED_YET, render_runfile
from onbox.contract.states import RunState
from patrol.decide.remote_command import Way
from patrol.snapshot import Cells, RunLook
from patrol.verdict import Finding, Severity, Verdict

CLEAN, LATER = {"commit": "a" * 40, "dirty": False}, {"commit": "b" * 40, "dirty": False}
A, B = "a" * 12, "b" * 12


def codes(run_json: dict[str, Any], *launches: dict[str, Any]) -> list[str]:
    head = {
        "run": "digits", "run_id": "20261121-00000001", "project": "/root/digits", "git": run_json,
        "chain_fingerprint": "ab", "stage_count": 0,
    }  # fmt: skip
    lines = [
        {"schema": 1, "at": "2026-11-21T05:03:00.000Z", "event": "chain_started", "launch": number, **one}
        for number, one in enumerate(launches, 1)
    ]
    record = read(RawRecords(render_runfile(head, []).decode(), "\n".join(map(json.dumps, lines)) + "\n", "", {}, ""))
    told = PatrolKept("gpu1", "digits", RunLook("digits", managed=True, place=""), None, None)
    return [one.code for one in describe(told, Way("gpu1", "gpu1", "/root/digits"), record, None).launches]


@pytest.mark.parametrize(
    ("run_json", "launches", "said"),
    [
        (CLEAN, [{"git": NOT_LOOKED_YET}], [A]),
        (NOT_LOOKED_YET, [{"git": NOT_LOOKED_YET}], ["not looked yet"]),
        (CLEAN, [{"git": NOT_LOOKED_YET}, {"git": CLEAN}], [A, A]),
        (LATER, [{"git": NOT_LOOKED_YET}, {"git": LATER, "changed": [["commit", A, B]]}], [A, B]),
        (LATER, [{"git": NOT_LOOKED_YET}, {"git": NOT_LOOKED_YET}], ["not recorded", B]),
    ],
)
def test_a_launch_has_the_code_that_is_proven_for_it(
    run_json: dict[str, Any], launches: list[dict[str, Any]], said: list[str]
) -> None:
    """The first launch is recorded before its code was looked at."""
    assert codes(run_json, *launches) == said


@pytest.mark.parametrize(
    ("events", "said"),
    [
        (["rollback_begun"], "NOT finished: onbox rollback --finish"),
        (
            ["rollback_begun", "rollback_done"],
            "rolled back to step 250 at 2026-11-21T05:03:00.000Z by ann: loss climbs",
        ),
        (["rollback_begun", "rollback_done", "rollback_undoing", "rollback_undone"], ""),
    ],
)
def test_the_rollback_that_holds_is_named(events: list[str], said: str) -> None:
    head = {
        "run": "digits",
        "run_id": "20261121-00000001",
        "project": "/p",
        "chain_fingerprint": "ab",
        "stage_count": 0,
    }
    about = {"schema": 1, "at": "2026-11-21T05:03:00.000Z", "stage": "train", "number": 1, "step": 250, "by": "ann"}
    lines = "".join(json.dumps({**about, "reason": "loss climbs", "event": event}) + "\n" for event in events)
    record = read(RawRecords(render_runfile(head, []).decode(), "", lines, {}, ""))
    told = PatrolKept("gpu1", "digits", RunLook("digits", managed=True, place=""), None, None)
    words = describe(told, Way("gpu1", "gpu1", "/p"), record, None).rollback
    assert said in words
    assert bool(words) == bool(said)


def test_of_a_sweep_that_is_done_with_skipped_cells_no_share_is_told() -> None:
    progress = Progress(current=2, exact_max=4, unit="cells", rule="sweep")
    cells = Cells("2/4, 2 skipped · best 0.9 cell n=1", 2, 4)
    look = RunLook("lr", managed=True, place="", cells=cells, progress=progress)
    for state, said in ((RunState.DONE, "2/4, 2 skipped"), (RunState.FAILED, "~2/4 (50%)")):
        verdict = Verdict("gpu1", "lr", state, Finding("done", Severity.OK, "done"))
        told = describe(PatrolKept("gpu1", "lr", look, verdict, 1.0), Way("gpu1", "gpu1", "/p"), None, None)
        assert told.progress == said


def test_a_kill_that_nothing_shows_to_concern_the_run_is_not_told_of_it() -> None:
    look = RunLook("digits", managed=True, place="")
    beside = (
        Finding("oom-elsewhere", Severity.OK, "an OOM kill"),
        Finding("disk-trend", Severity.WARNING, "full in 4h"),
    )
    verdict = Verdict("gpu1", "digits", RunState.RUNNING, Finding("healthy", Severity.OK, "well"), further=beside)
    told = describe(PatrolKept("gpu1", "digits", look, verdict, 1.0), Way("gpu1", "gpu1", "/p"), None, None)
    assert told.further == (("disk-trend", "full in 4h"),)
