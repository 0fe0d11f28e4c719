"""Looks and verdicts come back from the store as they were written, and nothing of another type does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onbox.contract.progress import Progress
from onbox.contract.readings import Absent, Unseen
from onbox.contract.states import RunState
from onbox.logs.cursor import Cursor
from onbox.model.boxes import StopAt
from onbox.model.tracker import TrackerIdentity
from onbox.trackers.reading import TrackerRun
from onbox.trackers.trackio_db import Alert
from onbox.triage.repeats import AttemptEnd
from patrol.memory.codec import look_from_text, look_to_text, run_look_from_data, verdict_from_text, verdict_to_text
from patrol.memory.typed import NOT_UNDERSTOOD
from patrol.snapshot import (
    Artifacts,
    BoxIdentity,
    BoxLook,
    DiskLook,
    Failure,
    GpuLook,
    KernelFault,
    LogLook,
    MemoryLook,
    Pressure,
    ResultFile,
    RunLook,
    Scheduler,
    TrackerLook,
    Unreachable,
)
from patrol.verdict import Finding, Severity, Verdict

if TYPE_CHECKING:
    from patrol.snapshot import Snapshot

RUN = RunLook(
    "digits", True, "/root/digits/.onbox/digits", "20261121-00000001", "train", 2, 0, 2, "running", True, Unseen("cut"),
    ends=(AttemptEnd("train", 1, "code_error", "ab", 4.0),), failure=Failure("a", "b", None, "c", "d", "e", "log"),
    progress=Progress(4.0, 10, "step", loss="nan"), log=LogLook("l", Cursor(1, 2, 3, "x"), "grown", 5, 0.5, 1, 0, "z"),
    artifacts=Artifacts(1, 2, Absent("none")), undelivered=3,
    scheduler=Scheduler("slurm", "7", "running", "R", troubles=("node down",)), log_words=("a", "b"),
    trackers=(TrackerLook("train", TrackerIdentity("wandb", "abc"), ("other",), TrackerRun("wandb", "abc"),
                          TrackerRun("wandb", "abc"), Absent("not asked"), (Alert(1.0, "warn", "t", "u"),)),),
    stop_at=StopAt(step=9.0), results=(ResultFile("r.csv", "a,b", True),),
)  # fmt: skip
LOOK = BoxLook(
    "gpu1", 1.5, BoxIdentity("host", "boot", Unseen("no"), 1.0, 0.0), (RUN,), MemoryLook(1, Absent("none"), 0, 2, 3),
    Pressure(0.5, 0.0, 0.0, False), (DiskLook("/", 1, 2, 3, Absent("not counted")),),
    (GpuLook(0, 1, 2, 3, Unseen("N/A")),),
    (KernelFault("xid", "x", 1.0, 79),), (("gpus", "late"),), 0.4, True, 2,
)  # fmt: skip
VERDICT = Verdict(
    "gpu1", "digits", RunState.FAILED, Finding("failed", Severity.CRITICAL, "say", "remedy", "cmd"),
    (Finding("disk", Severity.WARNING, "full"),), 5.0, True, asked=(("stop it", "onbox stop"),), signs=("x",),
)  # fmt: skip


@pytest.mark.parametrize(
    "look", [LOOK, LOOK._replace(runs=Unseen("the link was cut")), Unreachable("gpu1", 1.0, "auth", "denied")]
)
def test_a_look_comes_back_as_it_was(look: Snapshot) -> None:
    assert look_from_text(look_to_text(look)) == look


def test_a_verdict_comes_back_as_it_was() -> None:
    assert verdict_from_text(verdict_to_text(VERDICT)) == VERDICT


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"box": 1}', '{"box": "a", "at": "b"}', "{" * 99])
def test_what_is_no_look_and_no_verdict_is_none(text: str | None) -> None:
    assert look_from_text(text) is None
    assert verdict_from_text(text or "") is None


def test_a_value_of_another_type_is_never_passed_on() -> None:
    data = json.loads(look_to_text(LOOK))["runs"][0]
    odd = {"attempt": "2", "stages_done": [1], "failure": {"stage": 7}, "trackers": [{"stage": "a"}, 5], "reason": None}
    found = run_look_from_data({**data, **odd, "nobody": "knows it"})
    assert found is not None
    assert (found.attempt, found.failure) == (NOT_UNDERSTOOD, NOT_UNDERSTOOD)
    assert (found.stages_done, found.trackers, found.reason) == (0, (), "")
    assert found.progress == RUN.progress
    assert run_look_from_data({**data, "managed": "yes"}) is None
