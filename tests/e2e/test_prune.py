"""`onbox prune`: what may go, what stays whatever is typed, and what is left after kill -9 at any step."""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from onbox.cli.app import main
from tests import warm
from tests.box import ONBOX, REPOSITORY, Box
from tests.saved import CONFIG, digest, failed_run, make_old, save
from tests.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

DIE_AT = REPOSITORY / "tests" / "fakes" / "die_at.py"
STEPS = (9, 10, 11, 12, 13)


@pytest.fixture
def saved(box: Box) -> Box:
    return failed_run(box, STEPS)


def plan(box: Box, *words: str, keep: int = 2) -> dict[str, Any]:
    done = box.onbox("prune", "--json", "--keep", str(keep), *words)
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def candidates(box: Box, *words: str, keep: int = 2) -> list[int]:
    return [one["step"] for one in plan(box, *words, keep=keep)["candidates"]]


def steps_there(box: Box) -> list[int]:
    return sorted(int(path.name[5:]) for path in (box.project / "ckpt").glob("step-*"))


def test_a_look_removes_nothing_and_the_word_removes_exactly_the_list(saved: Box) -> None:
    looked = saved.onbox("prune", "--keep", "2")
    assert "3 of 5 checkpoints may go" in looked.stdout
    assert max(map(len, looked.stdout.splitlines())) <= 80
    assert steps_there(saved) == list(STEPS)
    word = plan(saved)["word"]
    make_old(saved.project / "ckpt/step-9", 700)  # somebody wrote to it meanwhile
    refused = saved.onbox("prune", "--keep", "2", "--yes", word)
    assert (refused.returncode, steps_there(saved)) == (64, list(STEPS))
    assert "not the word of this list" in refused.stderr
    done = saved.onbox("prune", "--keep", "2", "--yes", plan(saved)["word"])
    assert done.returncode == 0, done.stderr
    assert "removed 3 checkpoints" in done.stdout
    assert steps_there(saved) == [12, 13]
    assert sorted(path.name for path in saved.project.iterdir() if path.name != ".onbox") == ["ckpt", "onbox.toml"]
    assert "nothing may go" in saved.onbox("prune", "--keep", "2").stdout


def test_a_list_that_grew_at_its_newer_end_is_removed_as_it_was_agreed(saved: Box) -> None:
    """A run at work saves on: nobody could ever agree to a list that must not change."""
    word = plan(saved)["word"]
    save(saved.project / "ckpt/step-14", step=14)
    assert candidates(saved) == [12, 11, 10, 9]
    assert saved.onbox("prune", "--keep", "2", "--yes", word).returncode == 0
    assert steps_there(saved) == [12, 13, 14]


def test_it_is_asked_where_somebody_sits(saved: Box) -> None:
    for answer, left in ((b"n\r", list(STEPS)), (b"y\r", [12, 13])):
        terminal = Terminal([*ONBOX, "prune", "--keep", "2"], saved.project, saved.env)
        try:
            terminal.wait_for("Remove 3 checkpoints", "[y/N]")
            terminal.press(answer)
            assert terminal.wait() == 0
        finally:
            terminal.close()
        assert steps_there(saved) == left


@pytest.mark.parametrize("keep", ["0", "1"])
def test_a_rollback_keeps_one_to_go_back_to(saved: Box, keep: str) -> None:
    assert saved.onbox("prune", "--keep", keep).returncode == 64


def test_whatever_is_typed_these_stay(saved: Box, tmp_path: Path) -> None:
    ckpt = saved.project / "ckpt"
    (ckpt / "best").symlink_to("step-9")
    os.link(ckpt / "step-10/w.npz", tmp_path / "mine.npz")
    save(tmp_path / "elsewhere/step-5", step=5)
    (ckpt / "step-5").symlink_to(tmp_path / "elsewhere/step-5")
    save(ckpt / "step-6", step=6, run_id="another")
    save(ckpt / "step-7", step=7)
    make_old(ckpt / "step-7", 86400.0)  # from before the run
    save(ckpt / "step-8", step=8)
    make_old(ckpt / "step-8/w.npz", -600.0)  # written to just now, by a clock that is ahead
    with open(ckpt / "step-11/w.npz", "rb"):
        found = plan(saved)
    assert found["candidates"] == []
    stays = {one["name"].removeprefix("ckpt/step-"): one["row"] for one in found["guarded"]}
    assert stays == {
        "5": "link", "6": "other_lineage", "7": "before_run", "8": "fresh", "10": "hard_link", "11": "open",
    }  # fmt: skip
    assert candidates(saved) == [11]


def test_what_another_run_wrote_into_the_folder_stays(saved: Box) -> None:
    assert saved.onbox("chain", "--run", "second").returncode == 1
    journal = saved.project / ".onbox/second/events.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    then = datetime.fromtimestamp(time.time() - 900, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    journal.write_text("".join(json.dumps(line | {"at": then}) + "\n" for line in lines))
    make_old(saved.project / "ckpt/step-9", 1800)
    found = plan(saved)
    assert [one["step"] for one in found["candidates"]] == [9]
    assert {one["row"] for one in found["guarded"]} == {"other_run"}


def test_numbered_results_are_not_taken_for_checkpoints(saved: Box) -> None:
    (saved.project / "onbox.toml").write_text(CONFIG.replace("ckpt/step-*/metadata.json", "shards/part_*.npz"))
    assert saved.onbox("chain").returncode == 1
    for number in range(5):
        (saved.project / "shards").mkdir(exist_ok=True)
        (saved.project / f"shards/part_{number}.npz").write_bytes((saved.project / "ckpt/step-9/w.npz").read_bytes())
    make_old(saved.project / "shards")
    found = plan(saved)
    assert found["candidates"] == []
    assert found["guarded"]


def test_milestones_and_what_the_gate_counts_stay(saved: Box) -> None:
    assert candidates(saved, "--milestones", "5") == [11]  # 9 and 10 are the first at or after 5 and 10
    assert candidates(saved, keep=3) == [10, 9]
    config = CONFIG.replace('metadata.json" }', 'metadata.json", min_count = 4 }')
    (saved.project / "onbox.toml").write_text(config)
    assert saved.onbox("chain").returncode == 1
    assert candidates(saved) == [9]
    raised = saved.onbox("prune", "--dry-run", "--keep", "2").stdout
    assert raised.startswith("--keep 2 becomes 4: `min_count` of an artifact asks for so many\n")


def test_incomplete_ones_are_no_reason_to_remove_whole_ones(saved: Box) -> None:
    for step in (12, 13):
        (saved.project / f"ckpt/step-{step}/metadata.json").unlink()
        make_old(saved.project / f"ckpt/step-{step}")
    assert candidates(saved) == [9]


def test_half_a_look_removes_nothing(box: Box) -> None:
    config = CONFIG.replace(
        "[stages.train]", '[gates]\ncheckpoints = { path = "big", size = "1kB", keep = 2 }\n[stages.train]'
    )
    (box.project / "big").mkdir()
    failed_run(box, STEPS, config)
    (box.project / "big").rmdir()
    (box.project / "big").symlink_to("big")  # a link that leads nowhere, as of a disk that is not mounted properly
    refused = box.onbox("prune", "--keep", "2")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (3, 1)
    assert f"could not look at {box.project}/big" in refused.stderr
    assert box.onbox("checkpoints", "--select").returncode == 3


def test_what_lies_aside_without_a_record_was_agreed_to_and_is_finished(saved: Box) -> None:
    """On a disk without room for a record the name alone tells it."""
    (saved.project / ".ckpt.onbox").mkdir()
    (saved.project / "ckpt/step-9").rename(saved.project / ".ckpt.onbox/pruned-0123abcd-step-9")
    assert "onbox prune digits --yes 0123abcd" in saved.onbox("prune", "--keep", "2").stdout
    done = saved.onbox("prune", "--yes", "0123abcd")
    assert (done.returncode, done.stdout[:20]) == (0, "removed 1 checkpoint"), done.stderr
    assert not (saved.project / ".ckpt.onbox").exists()
    assert steps_there(saved) == [10, 11, 12, 13]


def dying(box: Box, at: int, word: str) -> bool:
    """`onbox prune --yes WORD`, killed at this step. False: it was through before."""
    count = box.project.parent / "count"
    count.unlink(missing_ok=True)
    words = [sys.executable, str(DIE_AT), str(at), "torn", str(count), "prune", "--keep", "2", "--yes", word]
    warm.run(words, cwd=box.project, env=box.env, timeout=60)
    return not count.exists()


def test_kill_at_any_step_leaves_whole_ones_and_says_what_was_begun(
    saved: Box, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ckpt = saved.project / "ckpt"
    monkeypatch.chdir(saved.project)

    def look() -> dict[str, Any]:
        capsys.readouterr()
        assert main(["prune", "--json", "--keep", "2"]) == 0
        data: dict[str, Any] = json.loads(capsys.readouterr().out)
        return data

    for at in range(1, 500, 1 if os.environ.get("ONBOX_EVERY_STEP") else 5):
        for step in STEPS:
            if not (ckpt / f"step-{step}").exists():
                save(ckpt / f"step-{step}", step=step)
        before = {step: digest(ckpt / f"step-{step}") for step in STEPS}
        word = look()["word"]
        killed = dying(saved, at, word)
        trace, there = f"killed at step {at}", steps_there(saved)
        assert set(there) >= {12, 13}, trace
        assert {step: digest(ckpt / f"step-{step}") for step in there} == {step: before[step] for step in there}, trace
        if not killed:
            assert at > 20, "the sweep saw too few steps to mean anything"
            return
        if there != list(STEPS) and look()["begun"]:
            assert [one["word"] for one in look()["begun"]] == [word], trace
        code = main(["prune", "--keep", "2", "--yes", word])
        assert code in (0, 64), trace  # 64: all was done but the last word of the record
        assert steps_there(saved) == [12, 13], trace
        assert look()["begun"] == [], trace
        assert not list(saved.project.glob(".*.onbox")), trace
