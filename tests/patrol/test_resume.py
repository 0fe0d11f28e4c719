"""When `onbox resume` may be typed by the patrol: only with every proof, never twice for the same failure."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from onbox.contract.readings import Absent
from onbox.contract.states import RunState
from onbox.runs.room import RunRoom
from patrol.act import resume as actions
from patrol.act.resume import NotDone, PlannedResume, plan_resume, read_resume, resume_stdin, still_agrees
from patrol.decide.decide import decide_run
from patrol.memory.rows import PatrolAct
from patrol.snapshot import Failure, RunLook
from patrol.ssh.client import Answer, NoAnswer
from patrol.verdict import Finding, Severity, Verdict
from tests.patrol.makers import WAY, before, box, box_before, dead

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_790_000_000.0


def verdict(**more: Any) -> Verdict:
    finding = Finding(more.pop("rule", "interrupted"), Severity.CRITICAL, "gone")
    return Verdict("gpu1", "digits", RunState.INTERRUPTED, finding, **{"may_resume": True, **more})


def look(signature: str | None = None, *, retry: object = True, **more: Any) -> RunLook:
    managed = more.pop("managed", True)
    failure = Absent("none") if signature is None else _failure(signature, retry=bool(retry))
    return RunLook("digits", managed, "/p/.onbox/digits", run_id="r1", failure=failure, **more)


def _failure(signature: str, *, retry: bool) -> Failure:
    return Failure("oom", "less", retry, signature, "proof", "x:1", "marker")


def act(age: float, subject: str = "", run: str = "digits") -> PatrolAct:
    return PatrolAct(NOW - age, "gpu1", run, "resume", subject, "trying", "")


def plan(of: Verdict, at: RunLook, *past: PatrolAct, per_day: int = 3) -> PlannedResume | NotDone:
    return plan_resume(of, at, past, NOW, per_day)


def test_nothing_is_resumed_where_there_is_no_room() -> None:
    refused = plan(verdict(), look(room=RunRoom("/p/.onbox", 0, 0)))
    assert refused == NotDone("/p/.onbox: its disk has only 0 B free now")


@pytest.mark.parametrize(
    ("path", "step", "command"),
    [("~/digits", "inodes-gone-now", "df -i ."), ("/scratch/s", "inodes-gone-now", "df -i /scratch/s")],
)
def test_a_dead_run_without_room_is_told_to_be_given_some_first(path: str, step: str, command: str) -> None:
    gone = dead(room=RunRoom(path, 1 << 30, 0), stage_signs=("STAGE_NOT_BEGUN",))
    told = decide_run(gone, box(), before(gone_ticks=1), box_before(), NOW, way=WAY)
    assert (told.finding.rule, told.step) == ("interrupted", step)
    assert command in told.finding.command
    assert told.finding.remedy == f"Free some room, then resume: {path}: its disk has only 0 free inodes now."
    told = decide_run(gone._replace(room=None), box(), before(gone_ticks=1), box_before(), NOW, way=WAY)
    assert told.step == "stage-not-begun"


def test_a_project_of_the_home_directory_is_resumed_there(tmp_path: Path) -> None:
    program = tmp_path / "digits" / "venv" / "bin" / "onbox"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$PWD $*"\n')
    program.chmod(0o755)
    done = subprocess.run(
        ["sh", "-s"],
        input=resume_stdin("~/digits", "r 1", "/no/such/python"),
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=True,
    )
    output = done.stdout.partition(actions.END_MARK)[0]
    found = read_resume(Answer(output, 0, 1.0, 0.5))
    assert found == ("resumed", f"{tmp_path}/digits resume -d -- r 1")


def test_a_proven_death_may_be_resumed() -> None:
    assert plan(verdict(), look()) == PlannedResume("")
    assert plan(verdict(), look("sig")) == PlannedResume("sig")


@pytest.mark.parametrize(
    ("of", "at", "past"),
    [
        (verdict(may_resume=False), look(), ()),
        (verdict(soft=True), look(), ()),
        (verdict(acknowledged=True), look(), ()),
        (verdict(silenced_until=NOW + 5), look(), ()),
        (verdict(), look(managed=False), ()),
        (verdict(), look("sig", retry=False), ()),
        (verdict(), look("sig"), (act(90 * 86400, "sig"),)),
        (verdict(), look(), (act(1), act(2), act(3))),
    ],
    ids=["rule", "soft", "acknowledged", "silenced", "watched", "class", "same failure", "budget"],
)
def test_anything_missing_refuses(of: Verdict, at: RunLook, past: tuple[PatrolAct, ...]) -> None:
    assert isinstance(plan(of, at, *past), NotDone)


def test_the_budget_is_of_a_day_and_of_this_run() -> None:
    old, others = [act(86401)] * 9, [act(1, run="other")] * 9
    assert plan(verdict(), look(), *old, *others, act(1), act(2)) == PlannedResume("")
    assert isinstance(plan(verdict(), look(), per_day=0), NotDone)


def test_a_second_look_must_say_the_same() -> None:
    assert still_agrees(verdict(), verdict(), look(), look()) is None
    assert still_agrees(verdict(), verdict(rule="healthy"), look(), look()) is not None
    assert still_agrees(verdict(), verdict(may_resume=False), look(), look()) is not None
    assert still_agrees(verdict(), verdict(), look(), look()._replace(run_id="r2")) is not None


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        (b"launched\n0\n", "resumed"),
        (b"somebody is there\n75\n", "running"),
        (b"no onbox\n127\n", "failed"),
        (b"\x1b[31mgate refused\xff\n3\n", "failed"),
        (b"", "unknown"),
        (b"launched\n", "unknown"),
    ],
)
def test_what_the_box_said(output: bytes, outcome: str) -> None:
    done = read_resume(Answer(output, 0, 1.0, 0.5))
    assert done.outcome == outcome
    assert "\x1b" not in done.says


def test_no_answer_is_no_failure() -> None:
    assert read_resume(NoAnswer("cut", "the link broke", b"", 1.0)).outcome == "unknown"
