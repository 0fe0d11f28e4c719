"""What a stage waits for: it is there, it may come, or it never will."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from onbox.chain.runner.wait_for import Awaited, Never, is_process, name_of_process
from onbox.model.manifest import WaitFor
from onbox.system.process import look_up

if TYPE_CHECKING:
    from pathlib import Path

LINE = WaitFor(None, "train.log", "^Training completed", 60.0, fail_regex="^Traceback")
CRASH = "Traceback (most recent call last):\n"


def why(found: object) -> str:
    assert isinstance(found, Never), found
    return found.why


def own_process() -> str:
    entry = look_up(os.getpid())
    assert entry is not None
    return name_of_process(entry)


def test_a_line_that_is_there_already_counts(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(f"{CRASH}step 1\nTraining completed\n")
    assert Awaited(LINE, str(tmp_path)).look() is True


def test_the_last_of_success_and_failure_tells(tmp_path: Path) -> None:
    log, awaited = tmp_path / "train.log", Awaited(LINE, str(tmp_path))
    log.write_text("Training completed\nstep 1\nTraceback")
    assert "tells of failure: Traceback" in why(awaited.look())
    log.write_text("step 1\n")
    awaited = Awaited(LINE, str(tmp_path))
    assert awaited.look() is False
    with log.open("a") as file:
        file.write(CRASH)
    assert "tells of failure" in why(awaited.look())


def test_it_ends_with_its_producer(tmp_path: Path) -> None:
    job = subprocess.Popen(["sleep", "60"])
    entry = look_up(job.pid)
    assert entry is not None
    wait = LINE._replace(pid=job.pid, process=name_of_process(entry))
    awaited, alone = Awaited(wait, str(tmp_path)), Awaited(wait._replace(log=None, regex=None), str(tmp_path))
    assert (awaited.look(), alone.look()) == (False, False)
    job.kill()
    job.wait()
    assert (awaited.look(), alone.look()) == (False, False)  # what it wrote last may come through somebody else
    assert f"process {job.pid} has gone" in why(awaited.look())
    assert alone.look() is True


def test_a_line_that_its_producer_wrote_last_counts(tmp_path: Path) -> None:
    awaited = Awaited(LINE._replace(pid=os.getpid(), process=""), str(tmp_path))
    assert awaited.look() is False
    (tmp_path / "train.log").write_text("Training completed\n")
    assert awaited.look() is True


def test_another_process_of_the_same_pid_is_not_taken() -> None:
    assert is_process(os.getpid(), own_process())
    assert not is_process(os.getpid(), "1:" + own_process().partition(":")[2])
    assert not is_process(os.getpid(), "")


def test_a_process_that_a_reboot_ended_has_proven_nothing(tmp_path: Path) -> None:
    awaited = Awaited(WaitFor(None, None, None, 60.0, pid=os.getpid(), process="1:another-boot"), str(tmp_path))
    assert awaited.look() is False
    assert "rebooted" in why(awaited.look())


def test_a_log_that_is_quiet_for_too_long_ends_it(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 1\n")
    os.utime(log, (1.0, 1.0))
    awaited = Awaited(LINE._replace(stall_after_seconds=60.0), str(tmp_path))
    assert awaited.look() is False  # nobody has waited for so long yet
    awaited.began_at -= 61
    assert "nothing was written" in why(awaited.look())
