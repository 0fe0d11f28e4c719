"""The table that judges a run: every row is reached, and none by mistake."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onbox.contract.states import RunState
from sentinels.judge.engine_state import EngineWord
from sentinels.judge.outcome import Outcome
from sentinels.judge.run_facts import RunFold, facts_of
from sentinels.judge.run_rows import ROWS, RunTerms, judge_run

PRINT = "a" * 16
HEAD = {"run": "digits", "run_id": "R1", "project": "/p", "chain_fingerprint": PRINT, "stage_count": 2}
MARKER = {"schema": 1, "run_id": "R1", "stage": "CHAIN", "attempt": 2, "fingerprint": PRINT}
STARTED = {"schema": 1, "at": "2026-11-21T05:00:00.000Z", "event": "chain_started", "launch": 2}
BY_DEFAULT = {"stage": "train", "state": "stalled", "stage_state": "stalled", "stalls_by_default": True}
STALLED = {"schema": 1, "at": "2026-11-21T05:00:00.000Z", "event": "stage_stalled", "stage": "train"}
SUBMITTED = {"schema": 1, "at": "2026-11-21T06:00:00.000Z", "event": "job_submitted", "stage": "train", "job_id": "7"}
ON_SLURM = json.dumps({**HEAD, "backend": {"name": "slurm"}})[:-1] + ', "stages": ['
ON_RAY = ON_SLURM.replace("slurm", "ray")
AWAY = {"head": ON_SLURM, "runner": "gone", "stage": "gone"}
STALLED_AT = 1795237200.0
PROVED_TWICE = {"gone", "failed_unmarked", "done_unmarked", "unproved", "ended_on_engine"}


def parts(**changes: Any) -> dict[str, bytes]:
    """A run of two stages that lives, in its second launch; changes as data."""
    head = json.dumps(HEAD)[:-1] + ', "stages": ['
    whole: dict[str, Any] = {
        "runner": "alive", "stage": "-", "boot": "B", "now": "1.0", "head": head, "journal": [STARTED],
        "lock": {"boot_id": "B"}, "status": {"stage": "train", "state": "running"},
        **changes,
    }  # fmt: skip
    lines = "".join(json.dumps(record) + "\n" for record in whole["journal"])
    whole.pop("word", None)
    return {
        name: (lines if name == "journal" else value if isinstance(value, str) else json.dumps(value)).encode()
        for name, value in whole.items()
    }


def facts(**changes: Any) -> RunFold:
    """The look; `word` of the changes is the engine's."""
    return facts_of(parts(**changes))._replace(word=changes.get("word"))


def said(state: RunState, rule: str = "", **fields: Any) -> EngineWord:
    return EngineWord(state, rule, "train", "slurm job 7: WORDS", **fields)


def end(event: str, **fields: Any) -> dict[str, Any]:
    return {"schema": 1, "at": "2026-11-21T05:10:00.000Z", "event": event, "attempt": 2, **fields}


CASES: tuple[tuple[str, Outcome | None, dict[str, Any], RunTerms], ...] = (
    ("unseen", None, {"unseen": "Permission denied"}, RunTerms()),
    ("unseen", None, {"head": "garbage"}, RunTerms()),
    ("no_run", None, {"head": "", "runner": "gone", "stage": "gone"}, RunTerms()),
    ("removed_alive", None, {"head": "", "runner": "gone", "stage": "gone", "orphans": "7 8"}, RunTerms()),
    ("removed_alive", None, {"head": "", "runner": "gone", "stage": "gone", "orphans": "7 8"}, RunTerms(bound="R1")),
    ("vanished", None, {"head": "", "runner": "gone", "stage": "gone"}, RunTerms(bound="R1")),
    ("replaced", Outcome.SUPERSEDED, {}, RunTerms(bound="R0")),
    ("landed", Outcome.LANDED, {"done": MARKER}, RunTerms(bound="R1")),
    ("failed", Outcome.FAILED, {"ended": {**MARKER, "outcome": "chain_failed", "stopped_at": "train"}}, RunTerms()),
    ("stopped", Outcome.STOPPED, {"journal": [STARTED, end("chain_stopped")]}, RunTerms()),
    ("stopped", Outcome.STOPPED, {"journal": [STARTED, end("chain_interrupted")]}, RunTerms()),
    ("failed_unmarked", Outcome.FAILED, {"runner": "gone", "journal": [end("chain_failed")]}, RunTerms()),
    ("done_unmarked", Outcome.GONE, {"runner": "gone", "journal": [end("chain_done")]}, RunTerms()),
    ("own_stall", Outcome.STALLED, {"journal": [STARTED, STALLED], "now": f"{STALLED_AT + 5}"}, RunTerms()),
    ("alive", None, {"journal": [STARTED, STALLED], "now": f"{STALLED_AT + 1}"}, RunTerms()),
    ("alive", None, {"journal": [STARTED, STALLED], "now": f"{STALLED_AT + 5}", "status": BY_DEFAULT}, RunTerms()),
    (
        "quiet",
        Outcome.STALLED,
        {"journal": [STARTED, STALLED], "now": f"{STALLED_AT + 5}", "status": BY_DEFAULT},
        RunTerms(stall_after_seconds=60, quiet_seconds=1900),
    ),
    ("quiet", Outcome.STALLED, {}, RunTerms(stall_after_seconds=60, quiet_seconds=61)),
    ("alive", None, {}, RunTerms(stall_after_seconds=60, quiet_seconds=59)),
    ("alive", None, {"done": {**MARKER, "run_id": "R0"}}, RunTerms()),
    ("alive", None, {"done": {**MARKER, "fingerprint": "b" * 16}}, RunTerms()),
    ("alive", None, {"done": {**MARKER, "attempt": 1}}, RunTerms()),
    ("alive", None, {"done": "", "ended": "{}"}, RunTerms()),
    ("adopted", None, {"runner": "gone", "stage": "alive"}, RunTerms()),
    ("unsure", None, {"runner": "? no flock on the box"}, RunTerms()),
    ("unsure", None, {"runner": "gone", "stage": "? Permission denied"}, RunTerms()),
    ("gone", Outcome.GONE, {"runner": "gone", "stage": "gone"}, RunTerms()),
    ("with_engine", None, {"head": ON_SLURM, "runner": "gone", "stage": "gone"}, RunTerms()),
    ("with_engine", None, {"head": ON_SLURM, "runner": "gone", "stage": "gone", "lock": {"boot_id": "A"}}, RunTerms()),
    (
        "with_engine",
        None,
        {"head": ON_SLURM, "runner": "gone", "journal": [STARTED, end("chain_interrupted")]},
        RunTerms(),
    ),
    ("with_engine", None, {"head": ON_SLURM, "runner": "gone", "journal": [end("chain_done")]}, RunTerms()),
    ("stopped", Outcome.STOPPED, {"head": ON_SLURM, "journal": [STARTED, end("chain_stopped")]}, RunTerms()),
    (
        "with_engine",
        None,
        {"head": ON_SLURM, "runner": "gone", "journal": [end("chain_stopped"), SUBMITTED]},
        RunTerms(),
    ),
    (
        "with_engine",
        None,
        {"head": ON_SLURM, "runner": "gone", "journal": [end("chain_failed"), SUBMITTED], "ended": MARKER},
        RunTerms(),
    ),
    (
        "with_engine",
        None,
        {"head": ON_SLURM, "runner": "gone", "journal": [end("chain_done"), SUBMITTED], "done": MARKER},
        RunTerms(),
    ),
    ("unconfirmed", None, {**AWAY, "done": MARKER}, RunTerms()),
    ("unconfirmed", None, {**AWAY, "done": MARKER, "word": said(RunState.RUNNING, live=True)}, RunTerms()),
    ("unconfirmed", None, {**AWAY, "done": MARKER, "word": said(RunState.UNKNOWN, "could-not-look")}, RunTerms()),
    ("landed", Outcome.LANDED, {**AWAY, "done": MARKER, "word": said(RunState.DONE, "done")}, RunTerms()),
    ("landed", Outcome.LANDED, {**AWAY, "done": MARKER, "word": said(RunState.UNKNOWN, no_jobs=True)}, RunTerms()),
    ("landed", Outcome.LANDED, {**AWAY, "done": MARKER, "word": said(RunState.UNKNOWN, no_commands=True)}, RunTerms()),
    ("landed", Outcome.LANDED, {"head": ON_RAY, "runner": "gone", "done": MARKER}, RunTerms()),
    (
        "unproved",
        Outcome.FAILED,
        {**AWAY, "done": MARKER, "word": said(RunState.FAILED, "done-but-job-not")},
        RunTerms(),
    ),
    ("ended_on_engine", Outcome.FAILED, {**AWAY, "word": said(RunState.FAILED, failure_class="host_oom")}, RunTerms()),
    ("ended_on_engine", Outcome.STOPPED, {**AWAY, "word": said(RunState.INTERRUPTED)}, RunTerms()),
    ("ended_on_engine", Outcome.STOPPED, {"head": ON_SLURM, "word": said(RunState.INTERRUPTED)}, RunTerms()),
    ("ended_on_engine", Outcome.GONE, {**AWAY, "word": said(RunState.UNKNOWN, "forgotten")}, RunTerms()),
    ("ended_on_engine", Outcome.GONE, {**AWAY, "word": said(RunState.DONE)}, RunTerms()),
    ("with_engine", None, {**AWAY, "word": said(RunState.UNKNOWN, "could-not-look", live=True)}, RunTerms()),
    ("with_engine", None, {**AWAY, "word": said(RunState.PENDING, live=True)}, RunTerms()),
    ("with_engine", None, {**AWAY, "word": said(RunState.FAILED, live=True)}, RunTerms()),
    ("with_engine", None, {**AWAY, "word": said(RunState.UNKNOWN, no_commands=True)}, RunTerms()),
    ("with_engine", None, {"head": ON_RAY, "runner": "gone", "word": said(RunState.FAILED)}, RunTerms()),
    (
        "failed",
        Outcome.FAILED,
        {
            "head": ON_SLURM,
            "runner": "gone",
            "journal": [end("chain_failed")],
            "ended": {**MARKER, "stopped_at": "train"},
        },
        RunTerms(),
    ),
    (
        "failed_unmarked",
        Outcome.FAILED,
        {"head": ON_SLURM, "runner": "gone", "journal": [end("chain_failed")]},
        RunTerms(),
    ),
    ("alive", None, {"head": ON_SLURM}, RunTerms()),
    ("gone", Outcome.GONE, {"runner": "gone", "stage": "gone", "lock": {"boot_id": "A"}}, RunTerms()),
)


@pytest.mark.parametrize(("row", "outcome", "changes", "terms"), CASES)
def test_a_look_is_judged(row: str, outcome: Outcome | None, changes: dict[str, Any], terms: RunTerms) -> None:
    judged = judge_run(facts(**changes), terms)
    assert (judged.row, judged.outcome) == (row, outcome)
    assert judged.say


def test_every_row_has_a_name_of_its_own_and_is_reached() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    assert {case[0] for case in CASES} == set(names)


def test_what_is_told_as_gone_or_unmarked_needs_a_second_look() -> None:
    for row, _, changes, terms in CASES:
        judged = judge_run(facts(**changes), terms)
        assert (judged.proof_seconds is not None) == (row in PROVED_TWICE)


def test_of_a_sweep_its_own_marker_and_its_cells_are_told() -> None:
    done = {**MARKER, "cells": {"done": 2, "failed": 0}}
    assert judge_run(facts(done=done), RunTerms()).say == "SWEEP_DONE of run R1, 2 cells done"


def test_a_failure_tells_class_remedy_and_proof_without_secrets() -> None:
    own = {
        "stage": "train",
        "failure_class": "oom",
        "remedy": "use less",
        "proof": "token=abcdefgh12345678 \x1b[31mboom",
    }
    ended = {**MARKER, "outcome": "chain_failed", "stopped_at": "train"}
    say = judge_run(facts_of(parts(ended=ended, failed=own)), RunTerms()).say
    assert "oom" in say
    assert "remedy: use less" in say
    assert "abcdefgh12345678" not in say
    assert "\x1b" not in say


def test_a_reason_that_is_the_finding_is_told_once() -> None:
    finding = {"gate": "exit_code", "seen": "3", "wanted": "0"}
    own = {"stage": "train", "reason": "exit_code: 3, wanted 0", "findings": [finding]}
    ended = {**MARKER, "outcome": "chain_failed", "stopped_at": "train"}
    assert judge_run(facts_of(parts(ended=ended, failed=own)), RunTerms()).say.count("exit_code") == 1


def test_a_reboot_is_named() -> None:
    look = parts(runner="gone", stage="gone", lock={"boot_id": "A"})
    assert "rebooted" in judge_run(facts_of(look), RunTerms()).say


def test_any_bytes_are_survived() -> None:
    for junk in (b"\xff\x00{", b"[" * 5000, b"null", b'{"event": 3}\n', b"{}"):
        for name in parts():
            judge_run(facts_of({**parts(), name: junk}), RunTerms())


def test_a_stall_that_nobody_set_a_limit_for_is_said_while_it_is_waited_on() -> None:
    told = parts(journal=[STARTED, STALLED], now=f"{STALLED_AT + 5}", status=BY_DEFAULT)
    judged = judge_run(facts_of(told), RunTerms())
    assert (judged.outcome, judged.warn) == (None, True)
    assert judged.say == "train stalled: no sign of life (--stall-after would end this wait)"


@pytest.mark.parametrize(
    ("room", "then"),
    [
        ("1000000000 500", "no marker; `onbox resume` continues it"),
        ("1000000000 -", "no marker; `onbox resume` continues it"),
        ("", "no marker; `onbox resume` continues it"),
        ("4096 500", "its disk has only 4.1 kB free now: free some room, then `onbox resume` continues it"),
        ("1000000000 0", "its disk has only 0 free inodes now: free some room, then `onbox resume` continues it"),
        ("junk -1", "no marker; `onbox resume` continues it"),
    ],
)
def test_of_a_run_that_went_it_is_said_whether_it_can_go_on(room: str, then: str) -> None:
    judged = judge_run(facts(runner="gone", stage="gone", room=room), RunTerms())
    assert judged.row == "gone"
    assert judged.say.endswith(then)
