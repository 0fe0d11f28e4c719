"""What an engine's answer makes of a run: real shell text against commands that answer like Slurm's."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from onbox.backends.slurm.text import SQUEUE_FORMAT
from onbox.contract.states import RunState
from sentinels.box.engine_sh import ASK
from sentinels.judge.engine_state import word_of

if TYPE_CHECKING:
    from pathlib import Path

WIDTHS = [int(column.partition(":")[2]) for column in SQUEUE_FORMAT.split(",")]
UNKNOWN_JOB = 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1'
NO_ACCOUNTING = 'echo "Slurm accounting storage is disabled" >&2; exit 1'
DOWN = 'echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1'


def row(job_id: int, state: str, reason: str = "None", code: int = 0) -> str:
    cells = (str(job_id), state, reason, str(code), "0", "")
    return "".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True))


def put_commands(folder: Path, **bodies: str) -> None:
    for name, body in bodies.items():
        path = folder / name
        path.write_text(f'#!/bin/sh\necho {name} "$*" >>{folder}/asked\n{body}\n')
        path.chmod(0o755)


def put_run(root: Path, *stages: str, markers: tuple[str, ...] = ("train_DONE",), ended: str = "") -> None:
    (root / "markers").mkdir(parents=True)
    for marker in markers:
        (root / "markers" / marker).write_text("{}")
    lines = []
    for number, stage in enumerate(stages, 1):
        about = {"schema": 1, "at": "2026-11-21T05:00:00.000Z", "stage": stage, "backend": "slurm"}
        lines.append({**about, "event": "job_submitting", "name": f"r-{stage}-1"})
        lines.append({**about, "event": "job_submitted", "name": f"r-{stage}-1", "job_id": str(number)})
    if ended:
        state = {"state": "interrupted", "native_state": ended, "job_id": "1"}
        lines.append({"schema": 1, "at": "x", "event": "job_ended", "stage": stages[0], "backend": "slurm", **state})
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (root / "events.jsonl").write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    return tmp_path / "run's"


def ask(root: Path, **environ: str) -> str:
    env = {"PATH": f"{root.parent}/bin:{os.environ['PATH']}", "SENTINEL_ASK": ASK, **environ}
    argv = ["sh", "-c", 'eval "$SENTINEL_ASK"; onbox_engine "$1"', "sh", str(root)]
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=True, timeout=60).stdout


def shown(*rows: str) -> str:
    return "cat <<'END'\n" + "\n".join(rows) + "\nEND"


@pytest.mark.parametrize(
    ("markers", "rows", "expected"),
    [
        (("train_DONE",), (row(1, "COMPLETED"),), (RunState.DONE, "done", False)),
        (("train_DONE",), (row(1, "COMPLETING"),), (RunState.RUNNING, "done-but-job-ending", True)),
        (("train_DONE",), (row(1, "OUT_OF_MEMORY", "OutOfMemory", 125),), (RunState.FAILED, "done-but-job-not", False)),
        ((), (row(1, "RUNNING"),), (RunState.RUNNING, "runs", True)),
        ((), (row(1, "PENDING", "Resources"),), (RunState.PENDING, "waits", True)),
        ((), (row(1, "TIMEOUT", "TimeLimit"),), (RunState.INTERRUPTED, "interrupted", False)),
        ((), (row(1, "NODE_FAIL"),), (RunState.INTERRUPTED, "interrupted", False)),
        ((), (row(1, "CANCELLED", "DependencyNeverSatisfied"),), (RunState.INTERRUPTED, "never-ran", False)),
        ((), (row(1, "COMPLETED"),), (RunState.FAILED, "success-without-marker", False)),
        ((), (row(1, "SOMETHING_NEW"),), (RunState.UNKNOWN, "unknown-word", True)),
    ],
)
def test_one_job(root: Path, markers: tuple[str, ...], rows: tuple[str, ...], expected: tuple[object, ...]) -> None:
    put_run(root, "train", markers=markers)
    put_commands(root.parent / "bin", squeue=shown(*rows), scontrol=UNKNOWN_JOB, sacct=NO_ACCOUNTING)
    word = word_of(ask(root), 2.5)
    assert (word.state, word.rule, word.live) == expected
    assert word.at == 2.5


def test_a_lost_stage_decides_and_not_what_waits_behind_it(root: Path) -> None:
    put_run(root, "train", "eval", markers=())
    rows = row(1, "TIMEOUT", "TimeLimit"), row(2, "CANCELLED", "DependencyNeverSatisfied")
    put_commands(root.parent / "bin", squeue=shown(*rows), scontrol=UNKNOWN_JOB, sacct=NO_ACCOUNTING)
    word = word_of(ask(root), 0.0)
    assert (word.state, word.stage, word.failure_class) == (RunState.INTERRUPTED, "train", "time_limit")


def test_forgotten_is_not_could_not_look(root: Path) -> None:
    put_run(root, "train", markers=())
    put_commands(root.parent / "bin", squeue=UNKNOWN_JOB, scontrol=UNKNOWN_JOB, sacct=NO_ACCOUNTING)
    assert word_of(ask(root), 0.0).is_forgotten
    put_commands(root.parent / "bin", squeue=DOWN, scontrol=DOWN)
    word = word_of(ask(root), 0.0)
    assert (word.state, word.is_forgotten, word.rule) == (RunState.UNKNOWN, False, "could-not-look")
    assert "Unable to contact" in word.says


def test_a_forgotten_job_with_a_marker_is_done(root: Path) -> None:
    put_run(root, "train", "eval")
    put_commands(root.parent / "bin", squeue=UNKNOWN_JOB, scontrol=UNKNOWN_JOB, sacct=NO_ACCOUNTING)
    assert word_of(ask(root), 0.0).is_forgotten  # eval left none
    (root / "markers/eval_DONE").write_text("{}")
    assert word_of(ask(root), 0.0).state is RunState.DONE


def test_the_accounting_speaks_where_the_controller_has_forgotten(root: Path) -> None:
    put_run(root, "train", markers=())
    put_commands(root.parent / "bin", squeue=UNKNOWN_JOB, scontrol=UNKNOWN_JOB, sacct="echo '1|NODE_FAIL|1:0'")
    assert word_of(ask(root), 0.0).state is RunState.INTERRUPTED


def test_an_end_on_record_is_not_asked_for_again(root: Path) -> None:
    put_run(root, "train", markers=(), ended="TIMEOUT")
    put_commands(root.parent / "bin", squeue=DOWN, scontrol=DOWN, sacct=DOWN)
    assert word_of(ask(root), 0.0).state is RunState.INTERRUPTED
    assert not (root.parent / "bin/asked").exists()


def test_no_commands_and_no_jobs_are_told_apart(root: Path) -> None:
    put_run(root, "train")
    tools = root.parent / "tools"
    tools.mkdir()
    for name in ("grep", "tail", "sed", "tr", "head", "sh"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    word = word_of(ask(root, PATH=str(tools)), 0.0)
    assert (word.no_commands, word.no_jobs) == (True, False)
    (root / "events.jsonl").write_text("")
    assert word_of(ask(root), 0.0).no_jobs


def test_commands_are_found_where_the_submission_found_them(root: Path) -> None:
    put_run(root, "train")
    conf = "/etc/slurm/other.conf"
    head = {"run": "r", "environment": {"PATH": f"{root.parent}/bin", "SLURM_CONF": conf}}
    (root / "run.json").write_text(json.dumps(head) + "\n")
    body = f'test "$SLURM_CONF" = {conf} || exit 1\n' + shown(row(1, "COMPLETED"))
    put_commands(root.parent / "bin", squeue=body, scontrol=UNKNOWN_JOB, sacct=NO_ACCOUNTING)
    tools = root.parent / "tools"
    tools.mkdir()
    for name in ("grep", "tail", "sed", "tr", "head", "sh", "cat"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    assert word_of(ask(root, PATH=str(tools)), 0.0).state is RunState.DONE


def test_an_answer_that_is_cut_off_anywhere_ends_nothing(root: Path) -> None:
    put_run(root, "train", "eval", markers=())
    rows = row(1, "TIMEOUT", "TimeLimit"), row(2, "CANCELLED", "DependencyNeverSatisfied")
    put_commands(root.parent / "bin", squeue=shown(*rows), scontrol=UNKNOWN_JOB, sacct=NO_ACCOUNTING)
    whole = ask(root)
    for length in range(0, len(whole.rstrip()), 7):
        word = word_of(whole[:length], 0.0)
        assert word.state is RunState.UNKNOWN
        assert not word.is_forgotten
