"""The success gate: what does not hold never gets DONE, and the refusal says what was seen and wanted."""

from __future__ import annotations

import json

import pytest

from tests.box import Box, is_running

CASES = [
    ("exits non-zero", "exit 3", "", "exit_code: 3"),
    ("artifact missing", "true", 'artifacts = ["model.bin"]', "missing"),
    ("artifact too small", "echo x >model.bin", 'artifacts = [{ path = "model.bin", min_bytes = 1000 }]', "too small"),
    ("artifact old", "true", 'artifacts = ["old.bin"]', "old"),
    (
        "weights are cut off",
        "mkdir -p ckpt/checkpoint-5; cd ckpt/checkpoint-5; touch trainer_state.json; echo x >model.safetensors",
        'artifacts = [{ glob = "ckpt/checkpoint-*" }]',
        "the newest is incomplete (ckpt/checkpoint-5: model.safetensors: its head is damaged or cut off)",
    ),
    (
        "a preset's checkpoint is unfinished",
        "mkdir -p ckpt/checkpoint-5; echo x >ckpt/checkpoint-5/optimizer.pt",
        'checkpoints = { kind = "hf", path = "ckpt" }',
        "no trainer_state.json and no weights",
    ),
    ("too few files", "touch a.pt; echo x >b.pt", 'artifacts = [{ glob = "*.pt", min_count = 2 }]', "1 new"),
    ("links to one file", "echo x >a.pt; ln -s a.pt b.pt", 'artifacts = [{ glob = "*.pt", min_count = 2 }]', "1 new"),
    ("too fast", "true", 'min_duration = "1h"', "min_duration"),
    ("log does not say so", "echo almost", 'done_if_log = "training completed"', "done_if_log"),
]


@pytest.mark.parametrize(
    ("line", "settings", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_no_done_when(box: Box, line: str, settings: str, expected: str) -> None:
    (box.project / "old.bin").write_text("from an earlier run")
    (box.project / "onbox.toml").write_text(
        f"[stages.a]\ncmd = {line!r}\n{settings}\n[stages.b]\ncmd = 'touch downstream'\n"
    )
    result = box.onbox("chain")
    assert result.returncode == 1
    assert box.markers == ["CHAIN_FAILED", "a_FAILED"]
    assert expected in box.marker("CHAIN_FAILED")["reason"]
    assert expected in box.marker("a_FAILED")["reason"]
    assert not (box.project / "downstream").exists()


def test_an_artifact_added_within_a_series_must_be_new_too(box: Box) -> None:
    (box.project / "old.csv").write_text("of last month")
    stage = "[stages.train]\ncmd = 'bash -c \"echo x >a; test -e go || exec sleep 100\"'\n"
    (box.project / "onbox.toml").write_text(stage + 'artifacts = ["a"]\n')
    box.onbox("chain", "-d", "--launch-check", "0")
    box.wait_for_file("a")
    box.onbox("stop", "--now")
    (box.project / "go").touch()
    (box.project / "onbox.toml").write_text(stage + 'artifacts = ["a", "old.csv"]\n')
    assert box.onbox("chain").returncode == 1
    assert box.marker("train_FAILED")["findings"][0]["gate"] == "artifact old.csv"


def test_files_of_an_earlier_command_do_not_count_for_another(box: Box) -> None:
    artifacts = 'artifacts = ["a"]\n'
    (box.project / "onbox.toml").write_text(
        "[stages.train]\ncmd = 'bash -c \"echo x >a; exec sleep 100\"'\n" + artifacts
    )
    box.onbox("chain", "-d", "--launch-check", "0")
    box.wait_for_file("a")
    box.onbox("stop", "--now")
    (box.project / "onbox.toml").write_text("[stages.train]\ncmd = 'true'\n" + artifacts)
    assert box.onbox("chain").returncode == 1
    assert box.markers == ["CHAIN_FAILED", "train_FAILED"]


def test_done_when_everything_holds(box: Box) -> None:
    (box.project / "old.bin").write_text("from an earlier run")
    (box.project / "onbox.toml").write_text(
        "[stages.a]\ncmd = 'echo fresh >old.bin; echo 1 >x.pt; echo 2 >y.pt; echo training completed'\n"
        "artifacts = ['old.bin', { glob = '*.pt', min_count = 2 }]\ndone_if_log = 'training completed'\n"
    )
    assert box.onbox("chain").returncode == 0
    marker = box.marker("a_DONE")
    assert (marker["artifact_count"], marker["artifact_bytes_total"]) == (3, 10)


def test_an_artifact_from_before_an_interruption_counts(box: Box) -> None:
    """The best checkpoint may well be from before the stop: a resumed training need not beat it."""
    (box.project / "onbox.toml").write_text(
        "[stages.a]\ncmd = 'test $ONBOX_RESUME = 1 || { echo best >best.pt; sleep 60; }'\nartifacts = ['best.pt']\n"
    )
    chain = box.start("chain")
    box.wait_for_file("best.pt")
    box.onbox("stop", "--now")
    assert chain.wait(60) == 4
    assert box.onbox("resume").returncode == 0
    assert box.marker("a_DONE")["attempt"] == 2


def test_a_finished_training_passes_its_gate_after_a_failed_attempt(box: Box) -> None:
    """The attempt before wrote all there is to write; the resumed one has nothing left to do, and is quick."""
    (box.project / "old.pt").write_text("of last week")
    (box.project / "onbox.toml").write_text(
        "[stages.a]\ncmd = 'test -e best.pt || { echo all >best.pt; sleep 1; exit 1; }'\n"
        "artifacts = ['best.pt']\nmin_duration = '1s'\n"
    )
    assert box.onbox("chain").returncode == 1
    assert box.onbox("chain").returncode == 0, box.marker("a_FAILED")["reason"]
    assert [one["path"] for one in box.marker("a_DONE")["artifacts"]] == ["best.pt"]


def test_a_failed_gate_is_asked_again_without_running_anything(box: Box) -> None:
    (box.project / "stale.csv").write_text("of last week")
    stage = "[stages.a]\ncmd = 'echo x >>ran; echo x >best.pt; echo acc 0.9'\nartifacts = "
    (box.project / "onbox.toml").write_text(stage + "['bets.pt']\n")
    assert box.onbox("chain").returncode == 1
    (box.project / "onbox.toml").write_text(stage + "['best.pt', 'stale.csv']\n")
    refused = box.onbox("chain", "--recheck", "a")
    assert refused.returncode == 1
    assert "artifact stale.csv: 0 new, 1 old (from before the stage's first attempt)" in refused.stdout
    (box.project / "onbox.toml").write_text(stage + "['best.pt']\n")
    assert box.onbox("chain", "--recheck", "a").returncode == 0
    assert box.markers == ["CHAIN_FAILED", "a_DONE"]
    assert box.marker("a_DONE")["metric"] == "acc 0.9"
    status = box.status()
    assert (status["step"], status["next_command"]) == ("rechecked", f"onbox resume -d {box.state.name}")
    assert "stage a was judged again and is DONE since" in status["reason"]
    assert box.onbox("chain").returncode == 0
    assert box.ran == ["x"]
    assert "has no failed attempt to judge again: done" in box.onbox("chain", "--recheck", "a").stderr


def test_a_disk_gate_refuses_before_anything_starts(box: Box) -> None:
    (box.project / "onbox.toml").write_text("[stages.a]\ncmd = 'touch ran'\n[gates]\ndisk_free = '900PB'\n")
    result = box.onbox("chain")
    assert result.returncode == 3
    assert not (box.project / "ran").exists()
    assert "900.0 PB" in box.marker("CHAIN_FAILED")["reason"]
    assert f"run {box.state.name}: REFUSED" in box.onbox("status").stdout.replace(f" ({box.status()['run_id']})", "")
    assert "REFUSED" in box.onbox("runs").stdout
    assert "a_FAILED" not in box.markers


def test_leftover_processes_do_not_outlive_their_stage(box: Box) -> None:
    assert box.onbox("chain", "a=sleep 300 & echo $! >pid").returncode == 0
    assert not is_running(int((box.project / "pid").read_text()))


def test_a_loss_that_is_no_number_at_the_end_is_told_beside_done(box: Box) -> None:
    line = "for i in 1 2 3; do echo step $i/3 loss nan; done"
    assert box.onbox("chain", f"train={line}").returncode == 0
    says = "the last loss in its log is nan"
    assert box.marker("train_DONE")["warnings"] == [says]
    assert box.marker("CHAIN_DONE")["warnings"] == [f"train: {says}"]
    assert f"WARNING  train: {says}" in box.onbox("status").stdout
    assert box.status()["warnings"] == [f"train: {says}"]


@pytest.mark.parametrize(
    ("line", "settings", "failure_class"),
    [
        ("echo step 1/1 loss nan", 'finite_loss = "refuse"', "divergence"),
        ("echo left out shard 3; echo done", 'fail_if_log = "left out"', "false_success"),
    ],
)
def test_a_sign_in_the_log_refuses_an_exit_code_of_zero(box: Box, line: str, settings: str, failure_class: str) -> None:
    (box.project / "onbox.toml").write_text(f"[stages.train]\ncmd = '{line}'\n{settings}\n")
    assert box.onbox("chain").returncode == 1
    failed = box.marker("train_FAILED")
    assert failed["failure_class"] == failure_class
    assert line.partition("echo ")[2].partition(";")[0].rpartition(" ")[2] in failed["reason"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("python3 -c 'raise ValueError(1)' || true", "code_error, line 3: ValueError: 1"),
        ("echo all parts written; echo results incomplete", "line 2: results incomplete"),
        ("for i in 1 2 3; do echo step $i/3 elbo=nan; done", "divergence, line 1: step 1/3 elbo=nan"),
        ("python3 -c 'raise ValueError(1)' || true; echo Training finished", "code_error, line 3: ValueError: 1"),
        ("nosuchprogram --all || true; echo backup finished: 74 bytes", "nosuchprogram: command not found"),
    ],
)
def test_a_log_that_tells_of_a_failure_beside_exit_code_0_is_told_beside_done(box: Box, line: str, told: str) -> None:
    assert box.onbox("chain", f"train={line}").returncode == 0
    (says,) = box.marker("train_DONE")["warnings"]
    assert says.startswith("it ended with 0, yet its log tells of a failure: ")
    assert says.endswith(told)
    assert box.status()["warnings"] == [f"train: {says}"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("for i in 1 2 3; do echo Epoch $i/30 - loss: 0.3; done", "its log stops at ~3/30 and does not say why"),
        ("echo merging; echo merged 3 of 6 parts", "its last line counts a part only: merged 3 of 6 parts"),
        ("echo start; echo 8 of 12 samples processed, 4 failed", "a part only: 8 of 12 samples processed, 4 failed"),
        ("echo scanning in/*.csv; echo matched 0 files; echo done", "it counts none of its work: matched 0 files"),
        ("echo Output: 0 clips", "it counts none of its work: Output: 0 clips"),
        (
            "echo final checkpoint not saved; echo done",
            "it says that a result was not kept: final checkpoint not saved",
        ),
    ],
)
def test_work_that_stops_short_beside_exit_code_0_is_told_beside_done(box: Box, line: str, told: str) -> None:
    assert box.onbox("chain", f"train={line}").returncode == 0
    (says,) = box.marker("train_DONE")["warnings"]
    assert says.startswith("it ended with 0, yet ")
    assert told in says


@pytest.mark.parametrize(
    "line",
    [
        "for i in 1 2 3; do echo epoch $i/30 loss 0.3; done; echo early stopping at epoch 3",
        "for i in 1 2 3; do echo epoch $i/3 loss 0.3; done",
        "for i in 1 2; do echo step $i/2; done; echo best trial is 3 of 20",
        "echo uploaded 0 files, all 120 unchanged",
        "echo found 0 corrupt files; echo 0 new records imported",
    ],
)
def test_work_that_came_to_an_end_of_its_own_is_no_warning(box: Box, line: str) -> None:
    assert box.onbox("chain", f"train={line}").returncode == 0
    assert "warnings" not in box.marker("train_DONE")


@pytest.mark.parametrize(
    "line",
    ["echo 0 errors, 0 failed", "echo step 1/1 loss nan", "rm gone || true", "echo oom-killer 3; echo 12 killed"],
)
def test_words_of_trouble_and_a_loss_that_is_ignored_are_no_warning(box: Box, line: str) -> None:
    (box.project / "onbox.toml").write_text(f"[stages.train]\ncmd = '{line}'\nfinite_loss = false\n")
    assert box.onbox("chain").returncode == 0
    assert "warnings" not in box.marker("train_DONE")


def test_an_attempt_that_trains_nothing_does_not_wash_a_lost_loss(box: Box) -> None:
    line = 'if [ "$ONBOX_RESUME" = 1 ]; then echo nothing left to train; else echo step 1/1 loss nan; fi'
    config = f"[stages.train]\ncmd = {json.dumps(line)}\nfinite_loss = 'refuse'\n"
    (box.project / "onbox.toml").write_text(config)
    assert box.onbox("chain").returncode == 1
    resumed = box.onbox("resume")
    assert resumed.returncode == 1, resumed.stdout
    assert "nan (of the attempt before" in box.marker("train_FAILED")["reason"]


def test_a_loss_that_came_right_again_is_no_warning(box: Box) -> None:
    assert box.onbox("chain", "train=echo step 1/2 loss nan; echo step 2/2 loss 0.5").returncode == 0
    assert "warnings" not in box.marker("train_DONE")


def test_what_was_silent_when_its_time_was_over_hung(box: Box) -> None:
    (box.project / "onbox.toml").write_text(
        "[run]\ngrace = 0\n[stages.train]\ncmd = 'echo step 5; sleep 60'\nstall_after = '0.5s'\ntimeout = '3s'\n"
    )
    assert box.onbox("chain").returncode == 1
    failed = box.marker("train_FAILED")
    assert (failed["cause"], failed["failure_class"]) == ("stalled", "hang_stall")
    assert "before its timeout of 3 s" in failed["reason"]
