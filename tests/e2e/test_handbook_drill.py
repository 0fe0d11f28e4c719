"""The resume drill: somebody who has only the page's text types its next command, and the right thing happens.

Real chains behind a real sshd. In no situation does a second copy of a command come to run.
"""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.box import end_at_once, python, wait_until
from tests.handbooked import Handbooked, Newcomer, handbooked
from tests.patrolled import TRAIN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box

RUN = "gpu1/digits"
# Writes down each start, so that a second copy is seen whoever started it; goes on until it may end.
COUNTED = "train=echo began >>starts; echo $$ >pid; until test -e go; do echo step 1/100 loss 0.5; sleep 0.1; done"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Handbooked]:
    with handbooked(tmp_path) as made:
        yield made


def start(box: Box, *stages: str) -> None:
    done = box.onbox("chain", "-d", "--launch-check", "0.2", *stages)
    assert done.returncode in (0, 1), done.stderr


def running(box: Box, stage: str = COUNTED) -> Box:
    start(box, stage)
    box.wait_for_log("step 1/100")
    return box


def starts(box: Box) -> int:
    path = box.project / "starts"
    return len(path.read_text().splitlines()) if path.exists() else 0


def newcomer(place: Handbooked, tmp_path: Path) -> Newcomer:
    return Newcomer(place, tmp_path / "fresh", place.build())


def attempts(box: Box) -> int:
    return len(box.events("attempt_started"))


def kill_all(box: Box) -> None:
    """What a power cut leaves: no process, and files that claim life."""
    end_at_once(box.processes())
    wait_until(lambda: not box.processes(), "every process to be gone")


def test_running(place: Handbooked, tmp_path: Path) -> None:
    box = running(place.add_box("gpu1"))
    reader = newcomer(place, tmp_path)
    command = reader.command(RUN)
    assert "onbox status digits" in command
    done = reader.type(command)
    assert (done.returncode, "RUNNING" in done.stdout) == (0, True), done.stderr
    assert reader.type(reader.command(RUN, "resume")).returncode == 0, "typed by mistake, it only watches"
    assert (starts(box), attempts(box)) == (1, 1)


def test_onbox_lies_where_no_login_finds_it(place: Handbooked, tmp_path: Path) -> None:
    box = running(place.add_box("gpu1"))
    (box.project / ".venv" / "bin" / "onbox").unlink()
    reader = newcomer(place, tmp_path)
    assert "no `onbox resume --dry-run` on the box answered" not in reader.page
    for word in ("next", "resume"):
        done = reader.type(reader.command(RUN, word))
        assert done.returncode == 0, done.stderr
    assert (starts(box), attempts(box)) == (1, 1)


def test_failed_by_an_error_in_the_code(place: Handbooked, tmp_path: Path) -> None:
    box = place.add_box("gpu1")
    start(box, f"train={python('raise NameError(chr(120))')}", "eval=true")
    box.wait_for_marker("CHAIN_FAILED")
    reader = newcomer(place, tmp_path)
    assert "code_error" in reader.page
    assert "fix the cause, then resume" in reader.page
    done = reader.type(reader.command(RUN))
    assert "NameError" in done.stdout, done.stderr
    assert attempts(box) == 1


def test_failed_by_a_full_disk(place: Handbooked, tmp_path: Path) -> None:
    box = place.add_box("gpu1")
    start(box, "train=echo 'OSError: [Errno 28] No space left on device'; exit 1")
    box.wait_for_marker("CHAIN_FAILED")
    reader = newcomer(place, tmp_path)
    command = reader.command(RUN)
    assert "df -h . && df -i ." in command
    done = reader.type(command)
    assert (done.returncode, "Filesystem" in done.stdout) == (0, True), done.stderr
    assert attempts(box) == 1
    box.project.joinpath("go").touch()
    assert reader.type(reader.command(RUN, "resume")).returncode in (0, 1)
    wait_until(lambda: attempts(box) == 2, "the resume that is due once there is room")


def test_killed_for_memory(place: Handbooked, tmp_path: Path) -> None:
    box = place.add_box("gpu1")
    start(box, "train=echo 'slurmstepd: error: Detected 1 oom_kill event in StepId=1.0'; kill -9 $$")
    box.wait_for_marker("CHAIN_FAILED")
    reader = newcomer(place, tmp_path)
    failed = box.marker("train_FAILED")
    assert failed["failure_class"] == "host_oom", failed
    command = reader.command(RUN)
    assert "onbox logs" in command
    assert "oom_kill" in reader.type(command).stdout
    assert "Fewer workers" in reader.page
    assert attempts(box) == 1


def test_runner_killed_and_the_stage_alive(place: Handbooked, tmp_path: Path) -> None:
    box = running(place.add_box("gpu1"))
    box.kill_runner()
    reader = newcomer(place, tmp_path)
    command = reader.command(RUN)
    assert "onbox resume -d digits" in command
    assert reader.type(command).returncode == 0
    box.wait_for_event("attempt_adopted")
    assert (starts(box), attempts(box)) == (1, 1)
    box.project.joinpath("go").touch()
    box.wait_for_marker("CHAIN_DONE")
    assert starts(box) == 1


def test_everything_killed_as_by_a_reboot(place: Handbooked, tmp_path: Path) -> None:
    box = running(place.add_box("gpu1"))
    place.tick()
    kill_all(box)
    place.tick()
    reader = newcomer(place, tmp_path)
    command = reader.command(RUN)
    assert "onbox resume -d digits" in command
    assert reader.type(command).returncode == 0
    wait_until(lambda: starts(box) == 2, "the second attempt")
    assert reader.type(command).returncode == 0, "typed twice, it starts nothing"
    assert (starts(box), attempts(box)) == (2, 2)
    assert box.events("attempt_started")[1]["resume"] is True


def test_box_unreachable(place: Handbooked, tmp_path: Path) -> None:
    box = running(place.add_box("gpu1"))
    place.build()
    place.sshd.close()
    reader = newcomer(place, tmp_path)
    command = reader.command(RUN)
    assert command.startswith("patrol "), command
    said = reader.type(command)
    assert said.returncode != 0
    assert "refused" in said.stdout + said.stderr
    assert "onbox resume -d digits" in reader.command(RUN, "resume"), "all that is needed when it returns stands there"
    assert "train_DONE" in reader.page
    assert "until test -e go" in reader.page, "the chain's definition is known without the box"
    assert (starts(box), attempts(box)) == (1, 1)


def test_done(place: Handbooked, tmp_path: Path) -> None:
    box = place.add_box("gpu1")
    start(box, "train=echo ok")
    box.wait_for_marker("CHAIN_DONE")
    reader = newcomer(place, tmp_path)
    home = reader.type(reader.command(RUN))
    assert "next: patrol verify " in home.stdout, home.stderr
    assert "onbox resume -d" not in reader.page, "of a run that is done there is nothing to resume"
    assert attempts(box) == 1


def test_done_and_the_results_are_missing(place: Handbooked, tmp_path: Path) -> None:
    box = place.add_box("gpu1")
    (box.project / "onbox.toml").write_text(
        '[run]\nname = "digits"\n[stages.train]\ncmd = "echo x > best.npz"\nartifacts = ["best.npz"]\n'
    )
    start(box)
    box.wait_for_marker("CHAIN_DONE")
    place.build()
    (box.project / "best.npz").unlink()
    assert "MISSING best.npz" in place.handbook("resume").stdout
    reader = Newcomer(place, tmp_path / "fresh", (place.local / "HANDBOOK.md").read_text())
    assert "MISSING: `best.npz` of stage train" in reader.page
    done = reader.type(reader.command(RUN))
    assert "onbox resume --redo train digits" in done.stdout, done.stderr
    assert attempts(box) == 1


def test_two_runs_of_which_one_is_stalled(place: Handbooked, tmp_path: Path) -> None:
    well, ill = running(place.add_box("gpu1")), place.add_box("gpu2")
    (ill.project / "onbox.toml").write_text(
        '[run]\nname = "digits"\nsample_every = "200ms"\n[stages.train]\n'
        'cmd = "echo began >>starts; echo step 7/100; sleep 600"\nstall_after = "1s"\n'
    )
    start(ill)
    ill.wait_for_event("stage_stalled")
    place.head = '[patrol.thresholds]\nstart_grace = "1s"\n'
    place.write()
    place.wait_for_rule("gpu2/digits", "stalled")
    reader = newcomer(place, tmp_path)
    table = [line for line in reader.page.splitlines() if line.startswith("| gpu")]
    assert "gpu2/digits | STALLED" in table[0], "who needs somebody stands first"
    assert "onbox logs" in reader.command("gpu2/digits")
    assert "step 7/100" in reader.type(reader.command("gpu2/digits")).stdout
    assert reader.type(reader.command(RUN)).returncode == 0
    assert (starts(well), starts(ill)) == (1, 1)


def test_the_command_was_changed_meanwhile(place: Handbooked, tmp_path: Path) -> None:
    box = place.add_box("gpu1")
    config = '[run]\nname = "digits"\n[stages.train]\n'
    config += 'cmd = "echo began >>starts; until test -e go; do echo step {}/100; sleep 0.1; done"\n'
    (box.project / "onbox.toml").write_text(config.format(1))
    running(box, "train")
    place.tick()
    kill_all(box)
    (box.project / "onbox.toml").write_text(config.format(2))
    place.tick()
    reader = newcomer(place, tmp_path)
    assert "onbox.toml differs from the frozen definition" in reader.page
    assert reader.type(reader.command(RUN)).returncode == 0
    wait_until(lambda: starts(box) == 2, "the resumed attempt")
    box.wait_for_log("step 1/100")
    assert "step 2/100" not in box.log(), "a resume runs what was frozen"
    box.project.joinpath("go").touch()
    box.wait_for_marker("CHAIN_DONE")
    # 75 while the runner, which the newcomer's shell started, still takes leave
    wait_until(lambda: box.onbox("chain", "train").returncode == 78, "a chain of another command to ask first")
    assert starts(box) == 2


def test_a_notification_is_stuck(place: Handbooked, tmp_path: Path) -> None:
    box = place.add_box("gpu1")
    (box.project / "onbox.toml").write_text(
        '[run]\nname = "digits"\n[notify]\nurls = ["env:NOWHERE"]\non = ["stage_done"]\n'
        '[stages.first]\ncmd = "true"\n[stages.train]\n'
        'cmd = "echo began >>starts; until test -e go; do echo step 1/100; sleep 0.1; done"\n'
    )
    start(box)
    box.wait_for_log("step 1/100")
    for _ in range(8):
        if "notifications-stuck" in [one["rule"] for one in place.tick()[RUN]["further"]]:
            break
    reader = newcomer(place, tmp_path)
    command = reader.command(RUN)
    assert "onbox notify list" in command
    done = reader.type(command)
    assert (done.returncode, "stage_done" in done.stdout or "NOWHERE" in done.stdout) == (0, True), done.stdout
    assert starts(box) == 1


def test_the_first_command_says_the_same_and_changes_nothing(place: Handbooked, tmp_path: Path) -> None:
    box = running(place.add_box("gpu1"), TRAIN)
    reader = newcomer(place, tmp_path)
    box.kill_runner()
    done = reader.type(reader.first_command())
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert len([line for line in lines if not line.startswith(" ")]) <= 10, done.stdout
    assert max(map(len, lines[:-1])) <= 80, done.stdout
    assert lines[-1].startswith("next: ")
    assert "differs from the handbook" in done.stdout
    assert "onbox resume -d digits" in lines[-1]
    assert attempts(box) == 1


def test_the_loss_is_no_number(place: Handbooked, tmp_path: Path) -> None:
    box = place.add_box("gpu1")
    start(box, "train=echo began >>starts; until test -e go; do echo step 7/100 loss nan; sleep 0.1; done")
    box.wait_for_log("loss nan")
    place.wait_for_rule(RUN, "loss-lost")
    reader = newcomer(place, tmp_path)
    assert "**do not** continue from the newest checkpoint" in reader.page
    assert "(not now: first do what is above)" in reader.page
    assert "loss nan" in reader.type(reader.command(RUN)).stdout
    assert (starts(box), attempts(box)) == (1, 1)


def test_a_bare_session_under_another_name_is_not_called_dead(place: Handbooked, tmp_path: Path) -> None:
    box = place.add_box("gpu1", 'watch = { name = "old", log = "train.log", session = "no-such-session" }')
    job = subprocess.Popen(
        ["sh", "-c", "while :; do echo epoch 3/50 loss 0.3 >>train.log; sleep 0.1; done"], cwd=box.project
    )
    try:
        wait_until((box.project / "train.log").exists, "its log")

        def is_called_a_writer() -> bool:
            time.sleep(1.5)  # the log must be younger than the look before by more than a second
            return bool(place.tick()["gpu1/old"]["rule"] == "unseen-writer")

        wait_until(is_called_a_writer, "a look that sees it write beside one that found no process")
        reader = newcomer(place, tmp_path)
        assert "**do not** start it a second time" in reader.page
        assert "Resume: " not in reader.page
        assert "epoch 3/50" in reader.type(reader.command("gpu1/old")).stdout
    finally:
        job.kill()
        job.wait()
