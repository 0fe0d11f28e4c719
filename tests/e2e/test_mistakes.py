"""What a person mistypes, deletes or meets at night, and what is said then: true, and with the way on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from onbox.system.files import whose
from tests import warm
from tests.box import REPOSITORY, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.box import Box

NOBODY = 65534
LONG = "until test -e go; do echo step 1/100; sleep 0.1; done"


@pytest.mark.parametrize(
    ("program", "words", "said"),
    [
        ("onbox", ["stauts"], 'did you mean "stats" or "status"?'),
        ("patrol", ["tikc"], 'did you mean "tick"?'),
        ("sentinels", ["wat"], 'did you mean "wait"?'),
        ("handbook", ["resmue"], 'did you mean "resume"?'),
    ],
)
def test_what_was_meant_is_said(program: str, words: list[str], said: str) -> None:
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = warm.run([sys.executable, "-m", program, *words], env=env, cwd=REPOSITORY, timeout=60)
    assert (done.returncode, said in done.stderr) == (64, True), done.stderr
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize(("program", "word"), [("onbox", "stages"), ("patrol", "tick")])
def test_a_wrong_key_is_told_with_its_line(box: Box, program: str, word: str) -> None:
    config = box.project / "onbox.toml"
    config.write_text("[stages.train]\ncmd = 'true'\n\ntimeuot = '1h'\n[[triage]]\nclass = 'x'\nremedy = 'y'\n")
    done = box.run_program([sys.executable, "-m", program, word, "-c", os.fspath(config)])
    assert done.returncode == 78
    assert 'line 4: stages.train.timeuot: "timeuot" is not a known key; did you mean "timeout"?' in done.stderr
    assert "line 5: triage[0].regex: is missing" in done.stderr


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("onbox", ["status"]),
        ("onbox", ["sweep", "status"]),
        ("onbox", ["chain"]),
        ("patrol", ["tick"]),
        ("sentinels", ["wait", "train"]),
        ("handbook", ["build"]),
    ],
)
def test_a_file_that_is_no_toml_is_told_by_every_program(box: Box, program: str, words: list[str]) -> None:
    config = box.project / "onbox.toml"
    config.write_text("[stages.train]\ncmd = 'true'\nartifacts = ['a'\nenv = 'a secret value'\n")
    done = box.run_program([sys.executable, "-m", program, *words, "-c", os.fspath(config)])
    assert done.returncode == 78, done.stderr
    assert "line 4, at env: Unclosed array; a ] is missing\n" in done.stderr
    assert str(config) in done.stderr
    assert "onbox check" in done.stderr
    assert "as frozen" not in done.stderr, "no run was started here"
    assert ("until then nothing is looked at from here" in done.stderr) == (program != "onbox")
    assert "start one:" not in done.stderr
    assert "secret value" not in done.stderr


def test_a_run_is_looked_at_beside_a_broken_file(box: Box) -> None:
    config = box.project / "onbox.toml"
    config.write_text("[stages.train]\ncmd = 'true'\n")
    assert box.onbox("chain").returncode == 0
    config.write_text("[stages.train\n")
    done = box.onbox("status")
    assert (done.returncode, "DONE" in done.stdout) == (0, True), done.stdout
    assert "line 1" in done.stderr
    assert "what was frozen at its start; no setting of the file is used here; all errors: onbox check" in done.stderr
    started = box.onbox("chain")
    assert (started.returncode, "as frozen: onbox status, logs, stop, resume" in started.stderr) == (78, True)


def test_a_file_in_another_encoding_is_noted_with_the_reason(box: Box) -> None:
    (box.project / "onbox.toml").write_text("[stages.train]\ncmd = 'true'\n", encoding="utf-16")
    assert "onbox.toml: is not UTF-8: line 1" in box.onbox("status").stderr


def test_of_several_runs_none_is_guessed_where_the_file_cannot_be_read(box: Box) -> None:
    """The folder's name is that of an older run."""
    assert box.onbox("chain", "train=echo step 1/1; false").returncode == 1
    config = box.project / "onbox.toml"
    whole = "[run]\nname = 'beta'\n[stages.train]\ncmd = 'echo step 1/1'\n"
    config.write_text(whole)
    assert box.onbox("chain").returncode == 0
    config.write_text(whole.removesuffix("'\n"))
    for words in (
        ["status"],
        ["logs"],
        ["series"],
        ["triage"],
        ["stop"],
        ["resume", "-d"],
        ["attach"],
        ["checkpoints"],
    ):
        done = box.onbox(*words)
        assert done.returncode == 64, (words, done.stdout)
        assert f"{config} cannot be read, so which run it names is not known; say which: beta, digits\n" in done.stderr
    assert [one["launch"] for one in box.events("chain_started")] == [1]
    assert "DONE" in box.onbox("status", "beta").stdout
    config.write_text(whole.replace("cmd", "cdm"))  # what can be read of it counts
    assert box.onbox("stop").stdout == "nothing runs\n"
    assert "beta" in box.onbox("status").stdout


def test_of_several_sweeps_none_is_guessed_beside_a_broken_file(box: Box) -> None:
    for name in ("sweep", "wide"):
        assert box.onbox("sweep", "--name", name, "n=1", "--", "echo {n}").returncode == 0
    (box.project / "onbox.toml").write_text("[sweep]\nname = 'wide\n")
    for words in (["sweep", "status"], ["sweep", "retry-failed"], ["sweep", "stop"]):
        done = box.onbox(*words)
        assert (done.returncode, "there are: sweep, wide" in done.stderr) == (64, True), (words, done.stderr)
    assert "sweep wide " in box.onbox("sweep", "status", "wide").stdout


def test_an_edited_file_is_shown_beside_what_runs(box: Box) -> None:
    config = box.project / "onbox.toml"
    config.write_text(f'[stages.train]\ncmd = "{LONG}"\n')
    assert box.onbox("chain", "-d", "--launch-check", "0").returncode == 0
    config.write_text(f'[stages.train]\ncmd = "{LONG}; echo more"\n')
    again = box.onbox("chain")
    assert again.returncode == 75
    assert f"- train cmd: {LONG}\n" in again.stderr
    assert f"+ train cmd: {LONG}; echo more\n" in again.stderr


def test_a_broken_file_without_a_run_has_no_frozen_definition(box: Box) -> None:
    (box.project / "onbox.toml").write_text("[run]\nnmae = 'x'\n")
    done = box.onbox("check")
    assert 'did you mean "name"?' in " ".join(done.stdout.split())
    assert "frozen" not in done.stderr


def test_where_the_state_was_removed_nobody_is_told_to_start_a_second_copy(box: Box, tmp_path: Path) -> None:
    box.env["XDG_STATE_HOME"] = os.fspath(tmp_path / "state")
    other = tmp_path / "other"  # a project that is known here: the answer is not about that one
    other.mkdir()
    (other / "onbox.toml").write_text('[boxes.here]\nhost = "localhost"\nbackend = "local"\n')
    tick = [sys.executable, "-m", "patrol", "tick"]
    assert warm.run(tick, env=box.env, cwd=other, timeout=60).returncode == 0
    assert box.onbox("chain", "-d", "--launch-check", "0", f"train={LONG}").returncode == 0
    box.wait_for_log("step 1")
    box.remove(box.state.parent)
    for word in ("status", "logs", "stop", "resume"):
        done = box.onbox(word)
        assert done.returncode == 75, done.stderr
        (pids,) = re.findall(r"end them yourself: kill ([0-9 ]+)", done.stderr)
        assert "start one" not in done.stderr
    told = box.run_program([sys.executable, "-m", "handbook", "resume"])
    assert (told.returncode, "end them yourself: kill " in told.stderr) == (75, True), told.stderr
    subprocess.run(["kill", "-9", *pids.split()], check=False)
    wait_until(lambda: box.onbox("status").returncode == 64, "every process to be gone")


def test_a_stall_says_what_is_quiet_and_since_when(box: Box) -> None:
    (box.project / "onbox.toml").write_text(
        '[run]\nsample_every = "1s"\n[stages.train]\ncmd = "echo begun; sleep 600"\nstall_after = "1s"\n'
    )
    assert box.onbox("chain", "-d", "--launch-check", "0").returncode == 0
    wait_until(lambda: box.status()["state"] == "stalled", "the stall to be seen")
    said = " ".join(box.onbox("status").stdout.split())
    assert "all quiet for longer than stall_after (1.0s); it wrote last " in said
    assert re.search(r" stacks gdb -p \d+ -batch -ex 'thread apply all bt' ask ", said)
    assert " eta " not in said
    assert " stalled train · for " in said
    box.onbox("stop", "--now")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_of_somebody_elses_run_the_owner_is_named(box: Box, tmp_path: Path) -> None:
    closed = tmp_path / "state"
    (closed / "digits").mkdir(parents=True)
    closed.chmod(0o700)
    for folder in [closed, *closed.parents][1:3]:
        folder.chmod(0o711)
    os.seteuid(NOBODY)
    try:
        said = whose(str(closed / "digits" / "run.json"))
    finally:
        os.seteuid(0)
    assert "belongs to root, and this is nobody" in said


def test_a_detached_start_says_whom_it_cannot_tell(box: Box) -> None:
    (box.project / "onbox.toml").write_text(f'[stages.train]\ncmd = "{LONG}"\n[notify]\nurls = ["env:NO_SUCH_HOOK"]\n')
    said = box.onbox("chain", "-d", "--launch-check", "0")
    assert said.returncode == 0
    assert "nothing reaches NO_SUCH_HOOK yet: the variable NO_SUCH_HOOK is not set here" in said.stdout


def test_a_flush_that_delivered_nothing_is_not_done(box: Box) -> None:
    (box.project / "onbox.toml").write_text(
        '[stages.train]\ncmd = "true"\n[notify]\nurls = ["env:HOOK"]\nattempt_timeout = "1s"\n'
    )
    env = {**box.env, "HOOK": "http://127.0.0.1:9/hook"}
    assert box.onbox("chain", env=env).returncode == 0
    deadline = time.monotonic() + 60
    while (
        "another deliverer is at work"
        in (flushed := box.onbox("notify", "flush", "--limit", "1", env=env)).stdout + flushed.stderr
    ):  # the chain's own, still at its last try
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert flushed.returncode == 1
    assert re.match(r"\d+ not delivered: tried, and kept\n", flushed.stdout), flushed.stdout
    assert flushed.stderr.startswith("onbox: trying to deliver ")


def test_what_never_started_has_no_log_to_miss(box: Box) -> None:
    (box.project / "onbox.toml").write_text(
        '[stages.train]\ncmd = "true"\nwait_for = { file = "never", timeout = "0.3s" }\n'
    )
    assert box.onbox("chain").returncode == 1
    assert "No such file" not in box.onbox("status").stdout
    assert "log" not in box.marker("train_FAILED")


def test_state_is_no_part_of_the_project_for_git(box: Box) -> None:
    git = ["git", "-C", str(box.project)]
    assert box.run_program([*git, "init", "-q"]).returncode == 0
    assert box.onbox("chain", "train=true").returncode == 0
    assert box.run_program([*git, "status", "--porcelain"]).stdout == ""
    (box.project / "data").mkdir()
    (box.project / "onbox.toml").write_text('[run]\nstate_dir = "data"\n[stages.train]\ncmd = "true"\n')
    assert box.onbox("chain").returncode == 0
    assert not (box.project / "data" / ".gitignore").exists(), "it may hold more than state"
