"""A patrol as a user has it: real chains behind a real sshd, real ticks, real kills, real cron."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from onbox.system.process import look_up
from tests.box import ONBOX, python, wait_until
from tests.patrolled import Patrolled, patrolled, running, start_chain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Patrolled]:
    with patrolled(tmp_path) as made:
        yield made


# -- what is said


def test_one_line_per_run_of_every_kind(place: Patrolled) -> None:
    """Healthy, failed, done, killed; one connection per box."""
    running(place.add_box("well"))
    start_chain(place.add_box("failed"), f"train={python('raise ValueError(1)')}")
    start_chain(place.add_box("done"), "train=echo ok")
    killed = running(place.add_box("killed"))
    place.boxes["failed"].wait_for_marker("CHAIN_FAILED")
    place.boxes["done"].wait_for_marker("CHAIN_DONE")
    killed.end_everything()
    before = place.sshd.logins()
    said = place.tick()
    assert place.sshd.logins() == before + 4
    assert said["killed/digits"]["state"] == "unknown", "one look does not prove a death"
    said = place.tick()
    assert {name: one["state"] for name, one in said.items()} == {
        "well/digits": "running",
        "failed/digits": "failed",
        "done/digits": "done",
        "killed/digits": "interrupted",
    }
    assert said["killed/digits"]["next_command"]
    lines = place.patrol("tick", "--quiet").stdout.splitlines()
    assert len(lines) == 4
    assert all(len(line) < 200 for line in lines)


@pytest.mark.parametrize(("stage", "ended"), [("exit 3", "exit_code: 3"), ("kill -9 $$", "killed by SIGKILL")])
def test_how_it_ended_is_said_where_the_log_does_not_tell_why(place: Patrolled, stage: str, ended: str) -> None:
    box = place.add_box("gpu1")
    start_chain(box, f"train=echo 'train: 28%| 5660/20000'; {stage}")
    box.wait_for_marker("CHAIN_FAILED")
    said = place.tick()["gpu1/digits"]
    assert ended in said["say"], "a progress bar is not a reason"
    assert ended in place.patrol("tick").stdout.splitlines()[0]


def test_of_a_killed_run_the_log_tells_how_far_it_came(place: Patrolled) -> None:
    box = place.add_box("gpu1")
    start_chain(box, "train=n=0; while :; do n=$((n+1)); echo step $n/100000 loss 0.5; sleep 0.05; done")
    box.wait_for_log("step 20/")
    box.end_everything()
    last = box.log().splitlines()[-1]
    said = place.patrol("tick").stdout.splitlines()[0]
    assert f" ~{last.split()[1]} " in said, "its heartbeat is older, and no figure contradicts the last line"


def test_a_line_also_when_nothing_changed(place: Patrolled) -> None:
    running(place.add_box("gpu1"))
    for _ in range(3):
        (line,) = place.patrol("tick", "--quiet").stdout.splitlines()
        assert "gpu1/digits RUNNING" in line


def test_a_bare_nohup_training_gets_the_same_line(place: Patrolled) -> None:
    box = place.add_box("gpu1", 'watch = { name = "llm", log = "train.log", process = "bare_training.py" }')
    (box.project / "bare_training.py").write_text(
        "import time\nfor n in range(900):\n print(f'step {n}/900 loss 0.5', flush=True)\n time.sleep(.1)\n"
    )
    start = f"nohup {sys.executable} bare_training.py >train.log 2>&1 & echo $!"
    pid = int(box.run_program(["sh", "-c", start]).stdout)
    wait_until(lambda: "step 3" in (box.project / "train.log").read_text(), "the log to begin")
    assert "gpu1/llm" in place.tick(), place.patrol("tick").stdout
    said = place.tick()["gpu1/llm"]
    assert (said["state"], said["managed"]) == ("running", False)
    assert "/900" in said["line"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: place.tick()["gpu1/llm"]["state"] == "interrupted", "its end to be believed")


def test_of_a_run_that_is_done_its_results_are_shown_as_they_are(place: Patrolled) -> None:
    box = place.add_box("gpu1", 'results = ["out/*.csv", "missing.txt"]')
    text = 'name,acc\n"it\'s, 1",0.91230000\n'
    assert box.onbox("chain", f"train=mkdir -p out; printf %s {shlex.quote(text)} > out/a.csv").returncode == 0
    place.wait_for_rule("gpu1/digits", "done")
    lines = place.patrol("tick").stdout.splitlines()
    at = lines.index(next(line for line in lines if line.startswith("  result ") and line.endswith("out/a.csv")))
    assert lines[at + 1 : at + 3] == [f"    | {line}" for line in text.splitlines()]


def test_a_failure_is_reported_with_its_whole_traceback(place: Patrolled) -> None:
    box = place.add_box("gpu1")
    script = "def deep(n):\n    return 1 / n if not n else deep(n - 1)\n\n\nprint('epoch 1')\ndeep(9)\n"
    (box.project / "t.py").write_text(script)
    assert box.onbox("chain", f"train={shlex.quote(sys.executable)} t.py").returncode != 0
    place.wait_for_rule("gpu1/digits", "failed")
    assert "· «ZeroDivisionError: division by zero»" in place.patrol("status").stdout
    said = place.patrol("tick", "--wide").stdout
    assert "    | Traceback (most recent call last):" in said
    assert "    |     return 1 / n if not n else deep(n - 1)" in said
    assert "    | ZeroDivisionError: division by zero" in said


def test_a_stopping_point_is_told_and_ends_the_watch(place: Patrolled) -> None:
    running(place.add_box("gpu1", "stop_at = { step = 1 }"))
    place.wait_for_rule("gpu1/digits", "stop-point")
    assert "the stopping point that was set (step 1 of 1)" in " ".join(place.patrol("tick").stdout.split())


def test_a_run_that_was_replaced_is_a_new_one(place: Patrolled) -> None:
    box = place.add_box("gpu1")
    start_chain(box, "train=exit 7")
    box.wait_for_marker("CHAIN_FAILED")
    assert place.tick()["gpu1/digits"]["state"] == "failed"
    assert place.patrol("ack", "gpu1/digits").returncode == 0
    assert place.tick()["gpu1/digits"]["acknowledged"]
    subprocess.run(["rm", "-rf", box.state], check=True)
    start_chain(box, "train=sleep 1; exit 8")  # told apart by size and whole second: not both the same
    box.wait_for_marker("CHAIN_FAILED")
    said = place.tick()["gpu1/digits"]
    assert (said["state"], said["acknowledged"]) == ("failed", False)


def test_a_run_of_an_earlier_boot_is_no_running_one(place: Patrolled) -> None:
    """A process that has the number and even the start time of the dead runner, in another boot, is none of it."""
    box = running(place.add_box("gpu1"))
    assert place.tick()["gpu1/digits"]["state"] == "running"
    box.end_everything()
    me = look_up(os.getpid())
    assert me is not None
    lock = box.state / "lock"
    holder = json.loads(lock.read_text()) | {"pid": os.getpid(), "start_ticks": me.identity.start_ticks}
    lock.write_text(json.dumps(holder | {"boot_id": "00000000-0000-4000-8000-000000000000"}))
    place.tick()
    assert place.tick()["gpu1/digits"]["state"] == "interrupted"


def test_a_run_that_vanished_is_told(place: Patrolled) -> None:
    box = running(place.add_box("gpu1"))
    place.tick()
    box.end_everything()
    subprocess.run(["rm", "-rf", box.state], check=True)
    assert place.tick()["gpu1/digits"]["state"] == "unknown"


def test_what_was_taken_out_of_the_configuration_has_not_vanished(place: Patrolled) -> None:
    """A watch that was renamed and a box that looks elsewhere now: nothing was removed on the box."""
    box = place.add_box("gpu1", 'watch = { name = "old", log = "train.log" }')
    (box.project / "train.log").write_text("step 1/9\n")
    start_chain(box, "train=echo ok")
    assert set(place.tick()) == {"gpu1/digits", "gpu1/old"}
    config = place.local / "onbox.toml"
    config.write_text(config.read_text().replace('name = "old"', 'name = "new"'))
    assert set(place.tick()) == {"gpu1/digits", "gpu1/new"}
    assert "gpu1/old" not in place.patrol("status").stdout
    assert "gpu1/old" in place.patrol("history").stdout, "what was said of it stays on record"
    (box.project.parent / "other").mkdir()
    config.write_text(config.read_text().replace(f'"{box.project}"', f'"{box.project.parent}/other"'))
    assert "gpu1/digits" not in place.tick()


def test_a_name_that_no_tick_saw_has_no_history(place: Patrolled) -> None:
    running(place.add_box("gpu1"))
    place.tick()
    done = place.patrol("history", "gpu2")
    assert (done.returncode, "gpu1/digits" in done.stderr) == (64, True)
    assert place.patrol("history", "gpu1").returncode == 0


def test_a_box_that_is_gone_says_nothing_of_its_run(place: Patrolled) -> None:
    running(place.add_box("gpu1"))
    place.tick()
    place.sshd.stop()
    done = place.patrol("tick")
    place.sshd.start()
    assert "gpu1/digits UNKNOWN" in done.stdout
    assert "refused" in done.stdout
    assert "console" in done.stdout
    assert done.returncode == 3
    assert place.tick()["gpu1/digits"]["state"] == "running"


def test_a_box_that_does_not_answer_is_looked_at_again_at_every_tick(place: Patrolled) -> None:
    running(place.add_box("gpu1"))
    place.tick()
    place.sshd.stop()
    seen = [place.tick()["gpu1/digits"] for _ in range(5)]
    unattended = place.patrol("tick", "--unattended").stdout
    place.sshd.start()
    assert "refused" in unattended
    assert "6 times in a row" in unattended
    assert {one["rule"] for one in seen} == {"unreachable"}
    assert len({one["since"] for one in seen}) == 1, "since when it is away is not forgotten"
    assert place.tick()["gpu1/digits"]["state"] == "running"


def test_acknowledged_trouble_does_not_count(place: Patrolled) -> None:
    box = place.add_box("gpu1")
    start_chain(box, "train=exit 7")
    box.wait_for_marker("CHAIN_FAILED")
    assert place.patrol("tick").returncode == 2
    assert place.patrol("status").returncode == 2
    assert place.patrol("ack", "gpu1/digits", "--by", "ann", "--why", "a new disk comes").returncode == 0
    done = place.patrol("tick")
    assert (done.returncode, "FAILED" in done.stdout, "acked by ann (a new disk comes)" in done.stdout) == (
        0,
        True,
        True,
    )
    assert "acknowledged by ann: a new disk comes" in place.patrol("tick", "--nagios").stdout
    assert "acknowledged by ann" in place.patrol("history", "--acts").stdout
    assert place.patrol("status").returncode == 0
    assert place.patrol("ack", "gpu1/digits", "--undo").returncode == 0
    assert place.patrol("tick").returncode == 2
    assert place.patrol("silence", "gpu1/digits", "1h").returncode == 0
    assert place.patrol("tick").returncode == 0
    assert place.patrol("silence", "gpu1/digits", "0").returncode == 0
    acts = place.patrol("history", "--acts").stdout
    assert "silenced until 20" in acts
    assert "no longer silenced" in acts
    assert place.patrol("tick").returncode == 2


# -- nothing is touched, nothing is left


def checksum(folder: Path) -> str:
    """Of every name, content and time of change."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        seen = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(seen.st_mode) else b""
        digest.update(repr((str(path), seen.st_mode, seen.st_mtime_ns, seen.st_ctime_ns, content)).encode())
    return digest.hexdigest()


def test_nothing_on_the_box_changes(place: Patrolled) -> None:
    box = place.add_box("gpu1")
    start_chain(box, "train=echo ok", "eval=exit 3")
    box.wait_for_marker("CHAIN_FAILED")
    wait_until(lambda: not box.processes(), "the chain to be over")
    before = checksum(box.project.parent), checksum(place.sshd.home)
    for words in (["tick"], ["tick"], ["check"], ["explain", "gpu1"], ["watch", "--count", "1"]):
        assert place.patrol(*words).stdout
    assert (checksum(box.project.parent), checksum(place.sshd.home)) == before
    wait_until(lambda: not place.sshd.sessions(), "every session to end")


def test_its_own_files_are_private(place: Patrolled) -> None:
    running(place.add_box("gpu1"))
    place.tick()
    for path in place.state.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert stat.S_IMODE(place.state.stat().st_mode) == 0o700


# -- two at once, killed, damaged


def test_a_second_tick_leaves_at_once(place: Patrolled) -> None:
    running(place.add_box("gpu1"))
    place.sshd.process.send_signal(signal.SIGSTOP)  # type: ignore[union-attr]
    first = place.start("tick")
    try:
        wait_until(lambda: [*(place.folder / "state").glob("onbox/*/heartbeat.json")], "a tick to begin")
        second = place.patrol("tick")
    finally:
        place.sshd.process.send_signal(signal.SIGCONT)  # type: ignore[union-attr]
    assert (second.returncode, second.stdout) == (3, "")
    assert "another tick" in second.stderr
    out, _ = first.communicate(timeout=60)
    assert "gpu1/digits RUNNING" in out


def test_a_tick_killed_anywhere_leaves_no_trace(place: Patrolled) -> None:
    """Killed at many instants: the next one works, knows whole ticks only, and says the same."""
    for name in ("a", "b", "c"):
        running(place.add_box(name))
    place.tick()
    began = time.monotonic()
    place.tick()
    whole = time.monotonic() - began
    for number in range(6):
        victim = place.start("tick")
        time.sleep(whole * number / 5)  # the instant to kill at
        victim.kill()
        victim.communicate()
        history = json.loads(place.patrol("history", "--ticks", "--json", "-n", "1000").stdout)["rows"]
        assert all(row["runs"] == 3 for row in history)
        said = json.loads(place.patrol("status", "--json").stdout)
        assert len({row["at"] for row in said["runs"]}) == 1, "half a tick was remembered"
    done = place.patrol("tick", "--quiet")
    assert done.stderr == ""
    assert [line.split()[1:3] for line in sorted(done.stdout.splitlines())] == [
        [f"{name}/digits", "RUNNING"] for name in "abc"
    ]


def test_a_damaged_memory_is_set_aside(place: Patrolled) -> None:
    running(place.add_box("gpu1"))
    place.tick()
    (place.state / "memory.db").write_bytes(b"rubbish" * 1000)
    done = place.patrol("tick")
    assert "gpu1/digits RUNNING" in done.stdout
    assert "set aside" in done.stderr
    assert done.returncode == 1
    done = place.patrol("tick")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_memory_that_cannot_be_written_is_said(place: Patrolled) -> None:
    """A folder in its place that cannot be renamed: the tick looks and reports all the same, and its heart beats."""
    running(place.add_box("gpu1"))
    place.tick()
    (place.state / "memory.db").unlink()
    (place.state / "memory.db").symlink_to("/dev/full")
    done = place.patrol("tick")
    assert "gpu1/digits RUNNING" in done.stdout
    assert done.returncode in (0, 1)
    assert json.loads((place.state / "heartbeat.json").read_text())["exit_code"] == done.returncode


def test_check_says_nothing_good_of_a_project_that_is_not_there(place: Patrolled) -> None:
    """Also where something else of the box could be looked at."""
    box = place.add_box("gpu1", 'watch = { process = "no-such-training" }')
    box.project.rmdir()
    found = json.loads(place.patrol("check", "--json").stdout)["boxes"]["gpu1"]
    (project,) = [item for item in found if item["what"] == "project"]
    assert project["severity"] == "critical"


def test_a_folder_that_cannot_be_made_is_no_reason_not_to_look(place: Patrolled) -> None:
    running(place.add_box("gpu1"))
    (place.folder / "no-folder").touch()
    done = place.patrol("tick", env={**place.env, "XDG_STATE_HOME": os.fspath(place.folder / "no-folder")})
    assert "gpu1/digits RUNNING" in done.stdout
    assert "own folder cannot be used" in done.stderr
    assert done.returncode == 1


def test_a_reader_that_leaves_does_not_end_the_tick(place: Patrolled) -> None:
    for name in ("a", "b", "c"):
        running(place.add_box(name))
    tick = place.start("tick")
    assert tick.stdout is not None
    tick.stdout.close()
    tick.stdout = None
    tick.communicate(timeout=60)
    assert len(json.loads(place.patrol("status", "--json").stdout)["runs"]) == 3


@pytest.mark.parametrize("said", [("ack", "gpu1/digits"), ("ack", "gpu1:digits")])
def test_a_word_on_a_living_run_does_not_hide_that_it_vanished(place: Patrolled, said: tuple[str, ...]) -> None:
    box = running(place.add_box("gpu1"))
    place.tick()
    assert place.patrol(*said).returncode == 0
    box.end_everything()
    shutil.rmtree(box.state)
    seen = place.tick("gpu1/digits")
    assert (seen["gpu1/digits"]["rule"], seen["gpu1/digits"]["acknowledged"]) == ("vanished", False)
    assert place.patrol("ack", "gpu1/digits").returncode == 0
    assert "gpu1/digits" not in place.tick(), "what a person knows to be gone is spoken of no more"


# -- resume


RECOVER = 'recover = "resume"'


def onbox_on_the_box(place: Patrolled) -> None:
    """An `onbox` where a login finds one."""
    folder = place.sshd.home / ".local" / "bin"
    folder.mkdir(parents=True)
    words = " ".join(ONBOX)
    (folder / "onbox").write_text(
        f'#!/bin/sh\nPYTHONPATH={os.environ.get("PYTHONPATH", "")}:{place.env["PYTHONPATH"]} exec {words} "$@"\n'
    )
    (folder / "onbox").chmod(0o755)


def test_a_dead_run_is_resumed_where_it_is_allowed(place: Patrolled) -> None:
    onbox_on_the_box(place)
    box = running(place.add_box("gpu1", RECOVER))
    other = running(place.add_box("gpu2"))
    place.tick()
    for one in (box, other):
        one.end_everything()
    lines = []
    for _ in range(3):
        lines.append(place.patrol("tick", "--quiet").stdout)
        if "resumed by this patrol" in lines[-1]:  # now: two minutes later it is over
            wait_until(lambda: len(place.looks_to_come()) == 1, "one look to come, two minutes later")
    assert sum("resumed by this patrol" in text for text in lines) == 1, "\n".join(lines)
    place.end_looks_to_come()  # one that came due would be in the way of the ticks below
    wait_until(lambda: place.tick("--look-only")["gpu1/digits"]["state"] == "running", "the run to run again")
    assert place.tick("--look-only")["gpu2/digits"]["state"] == "interrupted"
    again = place.patrol("tick", "--unattended", "--after", "0", "gpu1").stdout
    assert "gpu1/digits RUNNING" in again
    assert place.looks_to_come() == []
    acts = place.patrol("history", "--acts").stdout
    assert "resume trying" in acts
    assert "resume-outcome resumed" in acts
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    box.end_everything()


def test_what_is_to_be_typed_works_where_a_login_finds_no_onbox(place: Patrolled) -> None:
    """An environment that only a terminal activates: the run's own records know the interpreter."""
    if subprocess.run([sys.executable, "-c", "import onbox"], cwd="/", env={}, check=False).returncode:
        pytest.skip("needs an installed onbox")
    start_chain(place.add_box("gpu1"), f"train={python('raise ValueError(1)')}")
    dead = running(place.add_box("gpu2", RECOVER))
    place.boxes["gpu1"].wait_for_marker("CHAIN_FAILED")
    command = place.tick()["gpu1/digits"]["next_command"]
    pasted = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (pasted.returncode, "ValueError: 1" in pasted.stdout) == (0, True), (command, pasted.stderr)
    dead.end_everything()
    lines = [place.patrol("tick", "--quiet", "gpu2").stdout for _ in range(3)]
    assert sum("resumed by this patrol" in text for text in lines) == 1, "\n".join(lines)


def test_two_ticks_and_a_person_start_one_process(place: Patrolled) -> None:
    onbox_on_the_box(place)
    box = place.add_box("gpu1", RECOVER)
    start_chain(box, "train=echo $$ >>pids; until test -e go; do sleep 0.05; done")
    box.wait_for_file("pids")
    place.tick()
    box.end_everything()
    place.tick("--look-only")
    other = Patrolled.__new__(Patrolled)
    other.__dict__.update(place.__dict__, env={**place.env, "XDG_STATE_HOME": os.fspath(place.folder / "state2")})
    other.tick("--look-only")
    started = [place.start("tick"), other.start("tick"), box.start("resume")]
    for tick in started[:2]:
        tick.communicate(timeout=90)
    wait_until(lambda: len((box.project / "pids").read_text().split()) >= 2, "the stage to run again")
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    started[2].communicate(timeout=60)
    assert len((box.project / "pids").read_text().split()) == 2


def test_from_anywhere_the_patrol_knows_its_projects(place: Patrolled, tmp_path: Path) -> None:
    running(place.add_box("gpu1"))
    assert "gpu1/digits" in place.patrol("tick").stdout
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    assert "gpu1/digits RUNNING" in place.patrol("tick", cwd=nowhere).stdout
    assert "gpu1/digits RUNNING" in place.patrol("status", cwd=nowhere).stdout
    other = tmp_path / "other"
    other.mkdir()
    (other / "onbox.toml").write_text((place.local / "onbox.toml").read_text().replace("gpu1", "gpu9"))
    place.patrol("tick", cwd=other)
    said = place.patrol("status", cwd=nowhere).stdout
    assert f"== {place.local}\n" in said
    assert f"== {other}\n" in said
    refused = place.patrol("ack", "gpu1/digits", cwd=nowhere)
    assert (refused.returncode, "several are known" in refused.stderr) == (64, True)


def test_one_box_with_several_projects_is_down_once(place: Patrolled) -> None:
    boxes = [running(place.add_box(name)) for name in ("one", "two")]
    folders = []
    for number, box in enumerate(boxes):
        folder = box.project.parent / f"work{number}"
        folder.symlink_to(box.project)
        folders.append(str(folder))
    place.tables = {"gpu1": f'[boxes.gpu1]\nhost = "gpu1"\nprojects = {json.dumps(folders)}\n'}
    place.write()
    said = place.patrol("tick", "gpu1").stdout
    assert "gpu1-work0/digits RUNNING" in said
    assert "gpu1-work1/digits RUNNING" in said
    place.sshd.stop()
    down = place.patrol("tick").stdout
    place.sshd.start()
    assert down.count("  remedy ") == 1, down
    assert len(re.findall(r"^\d\d:\d\d gpu1-work\d/digits UNKNOWN", down, re.M)) == 2
