"""`onbox rollback`: later checkpoints are set aside on record, a resume starts from the step, and it can be undone."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.cli.app import main
from tests import warm
from tests.box import REPOSITORY, Box
from tests.saved import CONFIG, digest, failed_run, save

if TYPE_CHECKING:
    from pathlib import Path

DIE_AT = REPOSITORY / "tests" / "fakes" / "die_at.py"
STEPS = (9, 10, 11, 100)
BACK = ("rollback", "--to", "10", "--reason", "loss climbs", "--yes")


@pytest.fixture
def saved(box: Box) -> Box:
    return failed_run(box, STEPS)


def steps_there(box: Box) -> list[int]:
    return sorted(int(path.name[5:]) for path in (box.project / "ckpt").glob("step-*"))


def test_a_resume_goes_on_from_the_step_and_the_record_says_why(saved: Box) -> None:
    ckpt = saved.project / "ckpt"
    (ckpt / "latest").symlink_to("step-100")
    (ckpt / "latest_checkpointed_iteration.txt").write_text("100\n")
    done = saved.onbox(*BACK)
    assert done.returncode == 0, done.stderr
    assert "latest_checkpointed_iteration.txt names 100" in done.stdout
    assert (steps_there(saved), (ckpt / "latest").is_symlink()) == ([9, 10], False)
    aside = saved.project / ".ckpt.onbox"
    assert sorted(path.name for path in aside.iterdir()) == [
        "rejected-1-latest", "rejected-1-step-100", "rejected-1-step-11",
    ]  # fmt: skip
    told = " ".join(saved.onbox("status").stdout.split())
    assert "loss climbs; a resume continues from there" in told
    assert "train failed: start again with ONBOX_RESUME=1" in " ".join(
        saved.onbox("resume", "--dry-run").stdout.split()
    )
    saved.onbox("resume")
    assert "a resume continues from there" not in saved.onbox("status").stdout
    assert f"from={ckpt}/step-10\n" == (saved.state / "logs/train.2.log").read_text()
    [begun] = saved.events("rollback_begun")
    assert (begun["step"], begun["reason"], len(begun["moved"])) == (10, "loss climbs", 3)
    kept = json.loads(saved.onbox("checkpoints", "--json", "--keep", "2").stdout)
    assert "rollback_target" in next(one["kept"] for one in kept["checkpoints"] if one["step"] == 10)
    assert [one["state"] for one in kept["stages"][0]["rollbacks"]] == ["done"]
    assert "loss climbs; 3 rejected ones in" in " ".join(saved.onbox("checkpoints").stdout.split())
    late = saved.onbox("rollback", "--undo", "--yes")
    assert (late.returncode, "attempt 2 has begun since" in late.stderr) == (64, True)


def test_it_can_be_undone(saved: Box) -> None:
    ckpt = saved.project / "ckpt"
    (ckpt / "latest").symlink_to("step-100")
    before = digest(ckpt)
    assert saved.onbox(*BACK).returncode == 0
    done = saved.onbox("rollback", "--undo", "--yes")
    assert done.returncode == 0, done.stderr
    assert digest(ckpt) == before
    assert (saved.project / ".ckpt.onbox").exists() is False
    assert saved.onbox("checkpoints", "--select").stdout.strip() == f"{ckpt}/step-100"


def test_a_persons_word_and_a_reason_are_wanted(saved: Box) -> None:
    asked = saved.onbox("rollback", "--to", "10", "--reason", "x")
    assert (asked.returncode, "--yes" in asked.stderr) == (64, True)
    assert saved.onbox("rollback", "--to", "10", "--yes").returncode == 64
    assert steps_there(saved) == list(STEPS)


def test_what_cannot_be_gone_back_to_is_refused(saved: Box) -> None:
    (saved.project / "ckpt/step-9/metadata.json").unlink()
    for step, code, says in (("12", 64, "whole ones of stage train: 100, 11, 10"), ("9", 3, "no metadata.json")):
        refused = saved.onbox("rollback", "--to", step, "--reason", "x", "--yes")
        assert (refused.returncode, len(refused.stderr.splitlines())) == (code, 1)
        assert says in refused.stderr
    assert steps_there(saved) == list(STEPS)


def test_nothing_that_runs_is_rolled_back(box: Box) -> None:
    (box.project / "onbox.toml").write_text(CONFIG.replace("test -e go", "until test -e go; do sleep 0.05; done"))
    save(box.project / "ckpt/step-1", step=1)
    assert box.onbox("chain", "-d", "--launch-check", "0.1").returncode == 0
    refused = box.onbox("rollback", "--to", "1", "--reason", "x", "--yes")
    assert (refused.returncode, "onbox stop digits" in refused.stderr) == (75, True)
    box.kill_runner()
    refused = box.onbox("rollback", "--to", "1", "--reason", "x", "--yes")
    assert (refused.returncode, "stage train" in refused.stderr) == (75, True)


def dying(box: Box, at: int, words: tuple[str, ...]) -> bool:
    """Killed at this step. False: it was through before."""
    count = box.project.parent / "count"
    count.unlink(missing_ok=True)
    argv = [sys.executable, str(DIE_AT), str(at), "torn", str(count), *words]
    warm.run(argv, cwd=box.project, env=box.env, timeout=60)
    return not count.exists()


def everything(project: Path) -> dict[str, str]:
    """By checkpoint, wherever it lies."""
    places = [
        *(project / "ckpt").iterdir(),
        *((project / ".ckpt.onbox").iterdir() if (project / ".ckpt.onbox").exists() else ()),
    ]
    return {path.name.rpartition("-")[2]: digest(path) for path in places}


@pytest.mark.parametrize("words", [BACK, ("rollback", "--undo", "--yes")], ids=["rollback", "undo"])
def test_kill_at_any_step_loses_nothing_and_no_resume_takes_what_is_rejected(
    saved: Box, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(saved.project)
    before = everything(saved.project)
    for at in range(1, 500, 1 if os.environ.get("ONBOX_EVERY_STEP") else 3):
        if words != BACK:
            assert main(list(BACK)) == 0
        killed = dying(saved, at, words)
        trace = f"killed at step {at}"
        assert everything(saved.project) == before, trace
        if not killed:
            assert at > 12, "the sweep saw too few steps to mean anything"
            return
        capsys.readouterr()
        assert main(["checkpoints", "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        state = ([one["state"] for one in data["stages"][0]["rollbacks"]] or ["none"])[-1]
        taken = data["select"]["step"]
        assert (state, taken) in (("none", 100), ("undone", 100), ("begun", 10), ("undoing", 10), ("done", 10)), trace
        if state in ("begun", "undoing"):
            if steps_there(saved) != [9, 10]:
                assert main(["resume", "--dry-run"]) == 3, trace
            assert main(["rollback", "--finish", "--yes"]) == 0, trace
        if state in ("begun", "done"):
            assert steps_there(saved) == [9, 10], trace
            assert main(["rollback", "--undo", "--yes"]) == 0, trace
        assert steps_there(saved) == list(STEPS), trace
        assert everything(saved.project) == before, trace


def test_an_attempt_that_starts_by_itself_takes_nothing_that_half_a_rollback_rejects(saved: Box) -> None:
    rejected = saved.project / "ckpt/step-100"
    moved = [{"path": str(rejected), "aside": str(saved.project / "gone"), "identity": [1, 2]}]
    about = {"schema": 1, "at": "2026-11-22T10:00:00.000Z", "event": "rollback_begun", "stage": "train"}
    record = {**about, "number": 1, "step": 11, "reason": "x", "by": "ann", "moved": moved}
    with open(saved.state / "events.jsonl", "a", encoding="ascii") as file:
        file.write(json.dumps(record) + "\n")
    refused = saved.onbox("resume")
    assert (refused.returncode, "onbox rollback --finish" in refused.stderr) == (3, True)
    saved.onbox("chain")  # as a keeper's or a boot's runner: nobody is asked
    assert (saved.state / "logs/train.2.log").read_text() == f"from={saved.project}/ckpt/step-11\n"


def test_of_a_run_that_is_done_it_says_what_goes_on_from_the_step(saved: Box) -> None:
    (saved.project / "go").touch()
    assert saved.onbox("resume").returncode == 0
    refused = saved.onbox("rollback", "--to", "9", "--reason", "worse since")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (64, 1)
    assert "onbox resume --redo train digits" in refused.stderr
    typed = shlex.split(refused.stderr.partition("does: onbox ")[2].partition(" (to begin")[0])
    assert typed[:3] == ["chain", "--run", "digits-9"]
    (saved.project / "onbox.toml").unlink()
    assert saved.onbox(*typed).returncode == 0
    log = (saved.project / ".onbox/digits-9/logs/train.1.log").read_text()
    assert log == f"from={saved.project}/ckpt/step-9\n"
    assert "there is no checkpoint of step 8" in saved.onbox("rollback", "--to", "8", "--reason", "x", "digits").stderr
