"""Waiting for runs: real chains, here and over a real sshd; how each way to end is told."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import pytest

from tests.box import Box, is_running, wait_until
from tests.sentinels.waiter import Waiters
from tests.sshd import Sshd, need_sshd

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAITS = "echo begins >>ran; until test -e go; do sleep 0.02; done"
LIMIT = ("--json", "--timeout", "2m")


# Where only a shell is on the box: for what its program has to find out, not for what is judged of that here.
also_by_a_shell = pytest.mark.parametrize("engine", ["python", "sh"])


@pytest.fixture
def engine() -> str:
    """Which program looks on the box."""
    return "python"


@pytest.fixture
def waiters(engine: str, tmp_path: Path, box: Box) -> Iterator[Waiters]:
    """Waits of a project on a box of this machine, without ssh."""
    configure(box)
    made = Waiters(box.project, engine=engine)
    made.env["XDG_STATE_HOME"] = str(tmp_path / "state")
    yield made
    made.close()


def configure(box: Box, stage: str = "") -> None:
    (box.project / "onbox.toml").write_text(
        f'[run]\nname = "digits"\nsample_every = "1s"\n{stage}\n'
        f'[boxes.here]\nbackend = "local"\nproject = "{box.project}"\n'
        f'[boxes.gpu1]\nhost = "gpu1"\nproject = "{box.project}"\n'
    )


def launch(box: Box, *stages: str) -> None:
    assert box.onbox("chain", "-d", "--launch-check", "0", *stages).returncode == 0


def begun(box: Box) -> None:
    wait_until((box.project / "ran").exists, "the stage to begin")


def armed(waiters: Waiters) -> None:
    """Until the wait that was started last has looked at everything once."""
    waiters.wait_for_look()


def start(waiters: Waiters, *words: str) -> subprocess.Popen[str]:
    waiter = waiters.start("wait", *(words or ("here:digits",)), *LIMIT)
    armed(waiters)
    return waiter


def looks(waiters: Waiters) -> int:
    """How many waits have looked at everything once."""
    return sum(any(one["last_contact"].values()) for one in waiters.entries())


@also_by_a_shell
def test_a_run_lands(box: Box, waiters: Waiters) -> None:
    launch(box, f"train={WAITS}", "eval=true")
    waiter = start(waiters)
    (box.project / "go").touch()
    end = waiters.end(waiter)
    assert (end["outcome"], end["detail"]["rule"]) == ("landed", "landed")
    assert end["detail"]["run_id"] == box.marker("CHAIN_DONE")["run_id"]


def test_a_run_over_ssh_lands(box: Box, waiters: Waiters, tmp_path: Path) -> None:
    need_sshd()
    server = Sshd(tmp_path / "ssh")
    waiters.env["ONBOX_SSH_COMMAND"] = " ".join(server.ssh())
    launch(box, f"train={WAITS}")
    waiter = waiters.start("wait", "gpu1:digits", *LIMIT)
    wait_until(server.logins, "a login")
    (box.project / "go").touch()
    assert waiters.end(waiter)["outcome"] == "landed"
    server.close()


def watch(box: Box, *entries: str) -> None:
    path = box.project / "onbox.toml"
    text = path.read_text().replace('host = "gpu1"\n', f'host = "gpu1"\nwatch = [{", ".join(entries)}]\n')
    path.write_text(text.replace('backend = "local"\n', f'backend = "local"\nwatch = [{", ".join(entries)}]\n'))


def test_a_job_that_onbox_did_not_start_is_waited_for_by_its_name(box: Box, waiters: Waiters, tmp_path: Path) -> None:
    need_sshd()
    server = Sshd(tmp_path / "ssh")
    waiters.env["ONBOX_SSH_COMMAND"] = " ".join(server.ssh())
    watch(box, '{ name = "tg", log = "w2v.log", process = "tg.py", done_regex = "^Finished$" }')
    log = box.project / "w2v.log"
    log.write_text("step 1/2\n")
    started = [waiters.start("wait", where, *LIMIT) for where in ("here:tg", "gpu1:tg")]
    for number in (1, 2):
        wait_until(lambda n=number: len(waiters.entries()) >= n, "the waits to begin")  # type: ignore[misc]
    with log.open("a") as file:
        file.write("step 2/2\nFinished\n")
    for waiter in started:
        end = waiters.end(waiter)
        assert (end["outcome"], end["detail"]["line"]) == ("landed", "Finished")
    late = waiters.run("wait", "here:tg", "--timeout", "1m")
    assert late.returncode == 0, late.stderr
    assert f"here:tg: waits for /^Finished$/ in {log}, or until no process matches /tg.py/ any more" in late.stderr
    server.close()


@also_by_a_shell
def test_the_death_of_a_job_that_onbox_did_not_start_ends_the_wait(box: Box, waiters: Waiters, tmp_path: Path) -> None:
    need_sshd()
    server = Sshd(tmp_path / "ssh")
    waiters.env["ONBOX_SSH_COMMAND"] = " ".join(server.ssh())
    watch(box, '{ name = "tg", log = "w2v.log", process = "tg[.]py", done_regex = "^Finished$" }')
    (box.project / "w2v.log").write_text("step 1/2\n")
    (box.project / "tg.py").write_text("import time\ntime.sleep(600)\n")
    with subprocess.Popen([sys.executable, "tg.py"], cwd=box.project, start_new_session=True) as job:
        started = [waiters.start("wait", where, *LIMIT) for where in ("here:tg", "gpu1:tg")]
        wait_until(lambda: looks(waiters) == len(started), "both waits to look")
        job.kill()
        job.wait()
        for waiter in started:
            end = waiters.end(waiter)
            assert end["outcome"] == "gone"
            assert "no process matches /tg[.]py/ any more, and no line of" in end["say"]
    server.close()


def test_a_job_that_ended_long_before_the_wait_is_gone(box: Box, waiters: Waiters) -> None:
    watch(box, '{ name = "tg", log = "w2v.log", process = "tg[.]py" }')
    log = box.project / "w2v.log"
    log.write_text("step 1/2\n")
    os.utime(log, (log.stat().st_mtime - 7200,) * 2)
    waiter = waiters.start("wait", "here:tg", *LIMIT)
    assert waiters.end(waiter)["outcome"] == "gone"


def test_a_job_without_a_log_is_waited_for_by_its_file_or_refused_at_once(box: Box, waiters: Waiters) -> None:
    watch(box, '{ name = "file", process = "no-such-a.py", done_file = "END" }', '{ name = "none", process = "b.py" }')
    (box.project / "END").touch()
    assert waiters.end(waiters.start("wait", "here:file", *LIMIT))["outcome"] == "landed"
    refused = waiters.run("wait", "here:none", "--timeout", "1m")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (64, 1), refused.stderr
    assert "names no log and no done_file; name what ends it: --log here:PATH --regex RE" in refused.stderr


def test_a_new_run_of_the_name_is_waited_for_though_an_earlier_wait_was_for_the_old_one(
    box: Box, waiters: Waiters
) -> None:
    launch(box, f"train={WAITS}")
    begun(box)
    assert waiters.run("wait", "here:digits", "--timeout", "2s").returncode == 124
    assert box.onbox("stop", "digits", "--now").returncode == 0
    shutil.rmtree(box.state)
    (box.project / "ran").unlink()
    launch(box, f"train={WAITS}")
    begun(box)
    waiter = start(waiters)
    (box.project / "go").touch()
    assert waiters.end(waiter)["outcome"] == "landed"


@also_by_a_shell
def test_a_stage_without_its_keeper_is_said_to_need_a_resume(box: Box, waiters: Waiters) -> None:
    launch(box, f"train={WAITS}", "eval=true")
    begun(box)
    slots = [path.read_text() for path in (box.state / "markers").glob(".*.slot")]
    (keeper,) = (int(text.partition("\nkeeper ")[2].split()[0]) for text in slots if "\nkeeper " in text)
    runner = json.loads((box.state / "lock").read_text())["pid"]
    for pid in (runner, keeper):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(runner) and not is_running(keeper), "both to go")
    done = waiters.run("wait", "here:digits", "--once")
    (box.project / "go").touch()
    assert (done.returncode, "`onbox resume` takes over" in done.stdout) == (124, True), done.stdout
    assert "will be continued" not in done.stdout + done.stderr


@also_by_a_shell
def test_cells_that_go_on_without_the_runner_of_their_sweep_are_not_gone(box: Box, waiters: Waiters) -> None:
    started = box.onbox("sweep", "-d", "lr=1,2", "--", "sh", "-c", f": {{lr}}; {WAITS}")
    assert started.returncode == 0, started.stderr
    begun(box)
    (root,) = (path.parent for path in (box.project / ".onbox").glob("*/cells"))
    runner = json.loads((root / "lock").read_text())["pid"]
    os.kill(runner, signal.SIGKILL)
    wait_until(lambda: not is_running(runner), "the runner to go")
    done = waiters.run("wait", f"here:{root.name}", "--once")
    (box.project / "go").touch()
    assert done.returncode == 124, done.stdout
    assert "cells go on, and the first one that ends starts it again" in done.stdout


def test_a_name_that_no_run_has_is_told_with_the_watched_jobs_of_the_box(box: Box, waiters: Waiters) -> None:
    watch(box, '{ name = "llm", log = "x.log" }')
    done = waiters.run("wait", "here:lmm", "--once")
    assert done.returncode == 124
    assert "there is no such run yet; runs there: llm" in done.stdout


@pytest.mark.parametrize("proof", ["log", "file"])
def test_the_proof_of_an_earlier_attempt_does_not_land_a_job_that_runs(box: Box, waiters: Waiters, proof: str) -> None:
    """As the patrol's table says of it: it is done when its own proof is there and no process of it is left."""
    watch(
        box,
        '{ name = "fit", log = "fit.log", process = "fit-here[.]py"%s }' % (', done_file = "OK"' * (proof == "file")),
    )
    log = box.project / "fit.log"
    log.write_text("step 9/9\nTraining completed\n")
    (box.project / "OK").touch()
    code = "import time\nprint('step 1/9', flush=True)\ntime.sleep(600)\n"
    (box.project / "fit-here.py").write_text(code)
    with (
        log.open("a") as out,
        subprocess.Popen([sys.executable, "fit-here.py"], cwd=box.project, stdout=out, start_new_session=True) as job,
        ExitStack() as job_ends,
    ):
        job_ends.callback(job.kill)  # also where an assertion fails: else its end would be waited for
        wait_until(lambda: "step 1/9" in log.read_text(), "the job to begin")
        old = time.time() - 3600
        os.utime(box.project / "OK", (old, old))
        once = waiters.run("wait", "here:fit", "--once")
        assert once.returncode == 124, once.stdout + once.stderr
        waiter = start(waiters, "here:fit")
        with log.open("a") as file:
            file.write("step 9/9\nTraining completed\n")
        os.utime(box.project / "OK")
        job.kill()
        job.wait()
        assert waiters.end(waiter)["outcome"] == "landed"


def test_a_watched_job_that_died_behind_an_old_proof_is_gone(box: Box, waiters: Waiters) -> None:
    watch(box, '{ name = "fit", log = "fit.log", process = "fit-here[.]py" }')
    log = box.project / "fit.log"
    log.write_text("step 9/9\nTraining completed\n" + "".join(f"step {at}/60\n" for at in range(1, 20)))
    (box.project / "fit-here.py").write_text("import time\ntime.sleep(600)\n")
    with (
        subprocess.Popen([sys.executable, "fit-here.py"], cwd=box.project, start_new_session=True) as job,
        ExitStack() as job_ends,
    ):
        job_ends.callback(job.kill)
        waiter = start(waiters, "here:fit")
        job.kill()
        job.wait()
        end = waiters.end(waiter)
    assert end["outcome"] == "gone"
    assert "what is there does not prove this attempt's success" in end["say"]


@also_by_a_shell
def test_a_failure_is_told_with_class_and_remedy(box: Box, waiters: Waiters) -> None:
    line = f"{WAITS}; echo 'RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB'; exit 1"
    launch(box, f"train={line}", "eval=true")
    waiter = start(waiters)
    (box.project / "go").touch()
    end = waiters.end(waiter)
    failed = box.marker("train_FAILED")
    assert (end["outcome"], waiter.returncode) == ("failed", 1)
    assert end["detail"]["failure_class"] == failed["failure_class"]
    assert end["detail"]["remedy"] == failed["remedy"]
    assert "stage train failed" in end["say"]


def test_a_refused_gate_is_told_as_failed(box: Box, waiters: Waiters) -> None:
    configure(box, '[gates]\ndisk_free = "900PB"')
    box.onbox("chain", "train=true")
    end = waiters.end(waiters.start("wait", "here:digits", *LIMIT))
    assert (end["outcome"], end["detail"]["rule"]) == ("failed", "failed")
    assert "gate refused" in end["say"]
    assert "disk_free" in end["say"]


@also_by_a_shell
def test_a_stopped_run_is_told_at_once(box: Box, waiters: Waiters) -> None:
    launch(box, f"train={WAITS}")
    begun(box)
    waiter = start(waiters)
    assert box.onbox("stop").returncode == 0
    end = waiters.end(waiter)
    assert (end["outcome"], waiter.returncode) == ("stopped", 3)


@also_by_a_shell
def test_a_run_that_was_killed_whole_is_gone(box: Box, waiters: Waiters) -> None:
    launch(box, f"train={WAITS}")
    begun(box)
    waiter = start(waiters)
    kill_run(box)
    end = waiters.end(waiter)
    assert (end["outcome"], waiter.returncode) == ("gone", 3)


def kill_run(box: Box) -> None:
    """kill -9 of runner, keeper and stage, so that nobody continues."""
    keeper = int((box.state / "markers/.train.slot").read_text().split("keeper ")[1].split()[0])
    runner = box.runner_pid()
    os.kill(keeper, signal.SIGKILL)
    os.kill(runner, signal.SIGKILL)
    for pid in box.processes():
        with suppress(ProcessLookupError, FileNotFoundError):  # it went with the others
            if not waiter_like(pid):
                os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(runner), "the runner to be gone")


def waiter_like(pid: int) -> bool:
    """Whether this is a wait's own process, which the environment of the test marks, too."""
    with open(f"/proc/{pid}/environ", "rb") as file:
        return b"SENTINEL_ENGINE=" in file.read()


@also_by_a_shell
def test_a_killed_runner_alone_is_no_end(box: Box, waiters: Waiters) -> None:
    launch(box, f"train={WAITS}", "eval=true")
    begun(box)
    waiter = start(waiters)
    box.kill_runner()
    time.sleep(4)  # long enough for a wrong verdict
    assert waiter.poll() is None
    (box.project / "go").touch()
    assert waiters.end(waiter)["outcome"] == "landed"


@also_by_a_shell
def test_after_a_reboot_the_run_is_gone(box: Box, waiters: Waiters) -> None:
    """What a reboot leaves: files of another boot, and no process."""
    launch(box, f"train={WAITS}")
    begun(box)
    kill_run(box)
    lock = json.loads((box.state / "lock").read_text()) | {"boot_id": "0" * 8, "pid": os.getpid()}
    (box.state / "lock").write_text(json.dumps(lock) + "\n")
    end = waiters.end(waiters.start("wait", "here:digits", *LIMIT))
    assert end["outcome"] == "gone"
    assert "rebooted" in end["say"]


@also_by_a_shell
def test_a_stalled_stage_is_told(box: Box, waiters: Waiters) -> None:
    configure(box, '[stages.train]\ncmd = "echo begins >>ran; sleep 300"\nstall_after = "1s"')
    launch(box, "train")
    end = waiters.end(waiters.start("wait", "here:digits", *LIMIT))
    assert (end["outcome"], end["exit_code"]) == ("stalled", 5)


def test_a_quiet_run_is_told_when_asked_for(box: Box, waiters: Waiters) -> None:
    launch(box, f"train={WAITS}")
    begun(box)
    end = waiters.end(waiters.start("wait", "here:digits", "--stall-after", "3s", *LIMIT))
    assert (end["outcome"], end["detail"]["rule"]) == ("stalled", "quiet")


def test_of_a_run_that_has_ended_its_end_is_told(box: Box, waiters: Waiters) -> None:
    box.onbox("chain", "train=true")
    end = waiters.end(waiters.start("wait", "here:digits", *LIMIT))
    assert end["outcome"] == "landed"
    assert end["since"] is not None


def test_an_older_launch_does_not_count(box: Box, waiters: Waiters) -> None:
    """It failed, and runs again: the end of now is waited for."""
    assert box.onbox("chain", "train=test -e fixed", "eval=true").returncode == 1
    (box.project / "fixed").touch()
    launch(box, "train=test -e fixed", f"eval={WAITS}")
    begun(box)
    waiter = start(waiters)
    assert waiter.poll() is None
    (box.project / "go").touch()
    assert waiters.end(waiter)["outcome"] == "landed"


def test_a_replaced_run_is_told_as_superseded(box: Box, waiters: Waiters) -> None:
    launch(box, f"train={WAITS}")
    begun(box)
    waiter = start(waiters)
    assert box.onbox("stop", "--now").returncode in (0, 64)
    kept = box.state.with_name("old")
    box.state.rename(kept)
    end_or_new = box.onbox("chain", "-d", "--launch-check", "0", f"train={WAITS}")
    assert end_or_new.returncode == 0
    assert waiters.end(waiter)["outcome"] in ("superseded", "stopped")
    shutil.rmtree(kept)


@also_by_a_shell
def test_a_run_may_be_waited_for_before_it_begins(box: Box, waiters: Waiters) -> None:
    waiter = start(waiters)
    launch(box, "train=true")
    assert waiters.end(waiter)["outcome"] == "landed"
    assert waiter.returncode == 0


def test_a_stage_marker_does_not_wait_for_a_failed_run(box: Box, waiters: Waiters) -> None:
    launch(box, f"train={WAITS}; exit 3", "eval=true")
    waiter = start(waiters, f"{box.state}/markers/eval_DONE")
    (box.project / "go").touch()
    assert waiters.end(waiter)["outcome"] == "failed"


@also_by_a_shell
def test_a_stage_marker_of_another_command_does_not_count(box: Box, waiters: Waiters) -> None:
    launch(box, f"train={WAITS}", "eval=true")
    begun(box)
    waiter = start(waiters, f"{box.state}/markers/train_DONE")
    marker = {"schema": 1, "run_id": "r", "stage": "train", "attempt": 1, "fingerprint": "f" * 16}
    forged = box.state / "markers/train_DONE"
    forged.with_suffix(".x").write_text(json.dumps(marker))
    forged.with_suffix(".x").rename(forged)
    time.sleep(1.5)  # long enough for a wrong verdict
    assert waiter.poll() is None
    forged.unlink()
    (box.project / "go").touch()
    assert waiters.end(waiter)["outcome"] == "landed"
