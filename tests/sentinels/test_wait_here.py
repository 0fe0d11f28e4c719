"""`sentinel wait` on this machine: logs, artifacts, slices, the register, what follows the end. No ssh."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.box import Box, is_running, wait_until
from tests.fault_server import FaultServer
from tests.sentinels.waiter import SENTINEL, Waiters, land, land_before
from tests.sshd import descendants

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIMIT = ("--json", "--timeout", "2m")


@pytest.fixture(params=["python", "sh"])
def waiters(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Waiters]:
    made = Waiters(tmp_path, engine=request.param)
    yield made
    made.close()


@pytest.fixture
def one_waiter(tmp_path: Path) -> Iterator[Waiters]:
    made = Waiters(tmp_path)
    yield made
    made.close()


def armed(waiters: Waiters, *words: str) -> subprocess.Popen[str]:
    """A wait that has looked at everything once."""
    waiter = waiters.start("wait", *words)

    def looked() -> bool:
        mine = [one for one in waiters.entries() if one["waiter"]["pid"] == waiter.pid]
        return any(any(one["last_contact"].values()) for one in mine)

    wait_until(looked, "the wait to look")
    return waiter


def a_moment(waiters: Waiters) -> float:
    """What lies so far apart has two times; a shell tells times in whole seconds."""
    return 1.1 if waiters.env["SENTINEL_ENGINE"] == "sh" else 0.1


def test_a_word_alone_is_a_file_here_and_says_so(one_waiter: Waiters, tmp_path: Path) -> None:
    (tmp_path / "onbox.toml").write_text('[boxes.gpu1]\nhost = "gpu1"\n')
    said = one_waiter.time_out("wait", "digits", cwd=tmp_path)
    assert said.returncode == 124
    assert f"waits for the file {tmp_path}/digits; for a run on a box: gpu1:digits" in said.stderr
    (tmp_path / "digits").touch()
    assert "waits for the file" not in one_waiter.run("wait", "digits", "--timeout", "1s").stderr


def test_a_word_alone_is_the_run_of_that_name_where_one_is(waiters: Waiters, tmp_path: Path) -> None:
    box = Box(tmp_path, "digits")
    assert box.onbox("chain", "--run", "digits", "a=true").returncode == 0
    for there in (False, True):
        if there:
            (tmp_path / "digits").touch()
        ended = waiters.run("wait", "digits", "--stall-after", "1h", "--timeout", "2m", cwd=tmp_path)
        assert (ended.returncode, "CHAIN_DONE of run" in ended.stdout) == (0, True), ended.stderr
        assert ("for the file: ./digits" in ended.stderr) is there
    (tmp_path / "onbox.toml").write_text('[boxes.here]\nbackend = "local"\nproject = "."\n')
    mistyped = waiters.time_out("wait", "here:digit", cwd=tmp_path)
    assert mistyped.returncode == 124
    assert "there is no such run yet; runs there: digits" in mistyped.stderr


def test_a_run_that_has_not_begun_is_known_by_its_name_in_the_configuration(
    one_waiter: Waiters, tmp_path: Path
) -> None:
    (tmp_path / "onbox.toml").write_text('[run]\nname = "digits"\n[stages.a]\ncmd = "true"\n')
    waiter = armed(one_waiter, "digits", *LIMIT)
    assert Box(tmp_path, "digits").onbox("chain").returncode == 0
    assert one_waiter.end(waiter)["outcome"] == "landed"


# -- logs


def test_a_line_lands_and_a_fail_line_fails(waiters: Waiters, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("Traceback: of an earlier run\n")
    words = ("--log", "log", "--regex", r"epoch \d+/30 done", "--fail-regex", "^Traceback")
    for line, outcome in (("epoch 30/30 done", "landed"), ("Traceback (most recent call last):", "failed")):
        waiter = armed(waiters, *words, "--new-only", *LIMIT)
        with log.open("a") as file:
            file.write(f"epoch x\n{line}\n")
        end = waiters.end(waiter)
        assert (end["outcome"], end["detail"]["line"]) == (outcome, line)


def test_a_line_in_two_pieces_is_one_line(waiters: Waiters, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("")
    waiter = armed(waiters, "--log", "log", "--regex", "QUEUE DONE", *LIMIT)
    with log.open("a", buffering=1) as file:
        file.write("QUEUE ")
        time.sleep(0.4)
        file.write("DONE\n")
    assert waiters.end(waiter)["outcome"] == "landed"


def test_a_last_line_without_its_end_counts_after_a_rest(waiters: Waiters, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("")
    waiter = armed(waiters, "--log", "log", "--regex", "DONE$", *LIMIT)
    with log.open("a") as file:
        file.write("\rstep 9\rDONE")
    assert waiters.end(waiter)["outcome"] == "landed"


def test_a_line_that_is_there_already_lands_at_once_and_the_last_match_tells(waiters: Waiters, tmp_path: Path) -> None:
    """Also far behind in a long log, and beside the crash of an earlier run in the same file."""
    log, filler = tmp_path / "log", "step 1 loss 0.5\n" * 300_000
    words = ("wait", "--log", "log", "--regex", "Training completed", "--fail-regex", "^Traceback", *LIMIT)
    for text, outcome in (
        (f"Traceback (most recent call last):\n{filler}Training completed\n", "landed"),
        (f"Training completed\n{filler}Traceback (most recent call last):\n", "failed"),
    ):
        log.write_text(text)
        once = ("--once",) if outcome == "failed" else ()
        assert waiters.end(waiters.start(*words, *once))["outcome"] == outcome
    assert waiters.time_out("wait", "--log", "log", "--regex", "Training", "--new-only").returncode == 124


def test_a_line_that_comes_after_what_is_there_lands_too(waiters: Waiters, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("step 1\nstep ")
    waiter = armed(waiters, "--log", "log", "--regex", "step 2$", *LIMIT)
    with log.open("a") as file:
        file.write("2\n")
    assert waiters.end(waiter)["detail"]["line"] == "step 2"


@pytest.mark.parametrize("how", ["renamed", "truncated", "removed"])
def test_a_rotated_log_is_followed(waiters: Waiters, tmp_path: Path, how: str) -> None:
    log = tmp_path / "log"
    log.write_text("old line\n" * 50)
    waiter = armed(waiters, "--log", "log", "--regex", "DONE", *LIMIT)
    if how == "renamed":
        log.rename(tmp_path / "log.1")
    elif how == "removed":
        log.unlink()
    log.write_text("new\n")
    time.sleep(0.5)
    with log.open("a") as file:
        file.write("DONE\n")
    assert waiters.end(waiter)["outcome"] == "landed"


def test_the_first_of_two_lines_tells(waiters: Waiters, tmp_path: Path) -> None:
    """Also when both came in one write: a trouble after the work was done does not undo it."""
    log = tmp_path / "log"
    for text, outcome in (("DONE\nTraceback\n", "landed"), ("Traceback\nDONE\n", "failed")):
        log.write_text("begin\n")
        waiter = armed(waiters, "--log", "log", "--regex", "DONE", "--fail-regex", "^Traceback", *LIMIT)
        with log.open("a") as file:
            file.write(text)
        assert waiters.end(waiter)["outcome"] == outcome


def test_what_is_no_log_is_told_and_keeps_no_other_target_from_landing(waiters: Waiters, tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    waiter = armed(waiters, "DONE", "--any", "--log", "log", "--regex", "DONE", *LIMIT)
    time.sleep(1)  # long enough for a program on the box that ends with it to be lost
    land(tmp_path / "DONE")
    out, err = waiter.communicate(timeout=60)
    end = json.loads(out)
    assert (end["outcome"], end["boxes"][0]["drops"]) == ("landed", 0)
    assert "log: cannot be looked at: not a regular file" in err


def test_old_lines_in_a_copy_do_not_fire(waiters: Waiters, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("DONE\n" * 100)
    waiter = armed(waiters, "--log", "log", "--regex", "DONE", "--new-only", *LIMIT)
    shutil.copy(log, tmp_path / "copy")
    (tmp_path / "copy").rename(log)
    time.sleep(1.2)  # long enough for a wrong verdict
    assert waiter.poll() is None
    with log.open("a") as file:
        file.write("DONE again\n")
    assert waiters.end(waiter)["detail"]["line"] == "DONE again"


def test_a_log_that_does_not_exist_yet_is_read_from_its_beginning(waiters: Waiters, tmp_path: Path) -> None:
    waiter = armed(waiters, "--log", "log", "--regex", "DONE", *LIMIT)
    (tmp_path / "log").write_text("DONE\n")
    assert waiters.end(waiter)["outcome"] == "landed"


def test_a_quiet_log_stalls_the_wait(waiters: Waiters, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("step 1\n")
    end = waiters.end(waiters.start("wait", "DONE", "--log", "log", "--stall-after", "2s", *LIMIT))
    assert (end["outcome"], end["exit_code"]) == ("stalled", 5)


# -- artifacts


def test_an_artifact_counts_when_it_is_new_big_and_stable(waiters: Waiters, tmp_path: Path) -> None:
    (tmp_path / "old.pt").write_bytes(b"x" * 5000)
    words = ("--artifact", "*.pt", "--min-bytes", "4kB", "--stable", "4s", "--new-only")
    waiter = armed(waiters, *words, *LIMIT)
    (tmp_path / "small.pt").write_bytes(b"x" * 100)
    new = tmp_path / "new one.pt"
    for _ in range(5):
        with new.open("ab") as file:
            file.write(b"x" * 1000)
        wrote = time.monotonic()
        time.sleep(0.3)
        assert waiter.poll() is None or time.monotonic() - wrote > 4, "this machine held for as long as it asks for"
    end = waiters.end(waiter)
    assert end["outcome"] == "landed"
    assert os.path.basename(end["detail"]["artifact"]) == "new one.pt"


def test_an_artifact_that_is_there_already_counts(waiters: Waiters, tmp_path: Path) -> None:
    for name in ("epoch_4.pt", "epoch_30.pt"):
        (tmp_path / name).write_bytes(b"x" * 5000)
        time.sleep(2 * a_moment(waiters))  # the last one must be stable, too
    words = ("wait", "--artifact", "*.pt", "--min-bytes", "4kB", "--stable", "1s", *LIMIT)
    end = waiters.end(waiters.start(*words))
    assert (end["outcome"], os.path.basename(end["detail"]["artifact"])) == ("landed", "epoch_30.pt")


# -- markers


def test_a_marker_that_landed_while_nobody_waited_lands_at_once(waiters: Waiters, tmp_path: Path) -> None:
    """A wait that was killed, and is armed again: its first question is whether it is done."""
    for only in ((), ("--new-only",)):
        waiter = armed(waiters, "DONE", "--timeout", "1h", *only)
        waiter.kill()
        waiter.wait()
        land(tmp_path / "DONE")
        assert waiters.run("wait", "DONE", "--timeout", "2m", *only).returncode == 0
        (tmp_path / "DONE").unlink()


def test_a_marker_from_before_the_process_that_lives_does_not_count(waiters: Waiters, tmp_path: Path) -> None:
    land(tmp_path / "DONE")
    time.sleep(1.1 + 2 * a_moment(waiters))  # so much older is surely older
    job = subprocess.Popen(["sleep", "60"])
    try:
        waiter = armed(waiters, "DONE", "--pid", str(job.pid), *LIMIT)
        wait_until(lambda: waiters.entries()[0]["memory"], "its memory")
        assert waiter.poll() is None
        land(tmp_path / "DONE")
        out, err = waiter.communicate(timeout=60)
    finally:
        job.kill()
        job.wait()
    assert json.loads(out)["outcome"] == "landed"
    assert f"older than process {job.pid}, which is alive" in err


def test_of_a_marker_and_a_fail_marker_that_are_there_the_younger_tells(waiters: Waiters, tmp_path: Path) -> None:
    for names, outcome in ((("FAILED", "DONE"), "landed"), (("DONE", "FAILED"), "failed")):
        for name in names:
            land(tmp_path / name)
            time.sleep(a_moment(waiters))
        assert waiters.end(waiters.start("wait", "DONE", "--fail", "FAILED", *LIMIT))["outcome"] == outcome


# -- slices


def test_slices_are_one_wait(waiters: Waiters, tmp_path: Path) -> None:
    """What lands between two slices counts; what was there before the first one does not, where only new ones count."""
    land_before(tmp_path / "DONE", "old")
    slice_ = ("wait", "DONE", "--new-only")
    first = waiters.time_out(*slice_)
    assert first.returncode == 124
    assert "there was one before" in first.stderr
    land(tmp_path / "DONE", "new")
    assert waiters.run(*slice_, "--timeout", "2m").returncode == 0
    land_before(tmp_path / "DONE", "new")
    assert waiters.time_out(*slice_).returncode == 124  # the wait has ended: this is another one


def test_a_line_between_two_slices_counts(waiters: Waiters, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("DONE\n")
    slice_ = ("wait", "--log", "log", "--regex", "DONE", "--new-only")
    assert waiters.time_out(*slice_).returncode == 124
    with log.open("a") as file:
        file.write("DONE\n")
    assert waiters.run(*slice_, "--timeout", "2m").returncode == 0


def test_slices_may_name_their_targets_in_another_order(one_waiter: Waiters, tmp_path: Path) -> None:
    """That one target was not there says nothing of the other one, which was."""
    land_before(tmp_path / "OLD")
    assert one_waiter.time_out("wait", "NEW", "OLD", "--new-only").returncode == 124
    assert one_waiter.time_out("wait", "OLD", "NEW", "--any", "--new-only").returncode == 124
    land(tmp_path / "NEW")
    assert one_waiter.run("wait", "OLD", "NEW", "--any", "--timeout", "2m", "--new-only").returncode == 0


def test_a_fresh_wait_forgets_the_slices_before(one_waiter: Waiters, tmp_path: Path) -> None:
    assert one_waiter.time_out("wait", "DONE").returncode == 124
    land_before(tmp_path / "DONE")
    assert one_waiter.time_out("wait", "DONE", "--fresh", "--new-only").returncode == 124


# -- the register


def test_waits_are_listed_and_stopped(one_waiter: Waiters) -> None:
    waiter = armed(one_waiter, "A", "B", "--timeout", "1h")
    row = json.loads(one_waiter.run("list", "--json").stdout)["waits"][0]
    assert (row["targets"], row["state"], row["pid"]) == (["A", "B"], "waiting", waiter.pid)
    assert 3000 < row["left_seconds"] <= 3600
    assert one_waiter.run("stop", "A").returncode == 0
    assert waiter.wait(60) == -signal.SIGTERM
    assert one_waiter.run("list").stdout == "nothing waits\n"


def test_stopping_nobody_is_a_usage_error(one_waiter: Waiters) -> None:
    ended = one_waiter.run("stop", "gpu1:digits")
    assert (ended.returncode, ended.stdout) == (64, "")
    assert "nothing waits for gpu1:digits" in ended.stderr


def test_what_crashed_is_reaped(one_waiter: Waiters, tmp_path: Path) -> None:
    waiter = armed(one_waiter, "A", "--timeout", "1h")
    waiter.kill()
    waiter.wait()
    (tmp_path / "state/onbox/sentinels/feedfeedfeed.json").write_text('{"cut')
    assert json.loads(one_waiter.run("list", "--json").stdout)["waits"][0]["state"] == "dead"
    assert one_waiter.run("reap").returncode == 0
    assert os.listdir(tmp_path / "state/onbox/sentinels") == []


def test_a_killed_wait_leaves_no_process_here(waiters: Waiters) -> None:
    waiter = armed(waiters, "A", "--timeout", "1h")
    children = descendants(waiter.pid)
    waiter.kill()
    waiter.wait()
    wait_until(lambda: not [one for one in children if is_running(one.identity.pid)], "its children to be gone")


# -- what is said, and what follows


def test_a_command_runs_at_the_end_and_is_told_how(one_waiter: Waiters, tmp_path: Path) -> None:
    line = 'echo "$SENTINEL_OUTCOME $SENTINEL_EXIT_CODE $SENTINEL_TARGET" >told; exit 9'
    ended = one_waiter.time_out("wait", "DONE", "--exec", line)
    assert ended.returncode == 124
    assert (tmp_path / "told").read_text() == "timed-out 124 DONE\n"
    assert "exit code 9" in ended.stderr


def test_nobody_to_be_told_is_said_at_once(one_waiter: Waiters, tmp_path: Path) -> None:
    (tmp_path / "DONE").touch()
    ended = one_waiter.run("wait", "DONE", "--notify")
    assert (ended.returncode, "no message will be sent" in ended.stderr) == (0, True)


def test_targets_of_notify_are_told(one_waiter: Waiters, tmp_path: Path) -> None:
    server = FaultServer()
    (tmp_path / "onbox.toml").write_text('[notify]\nurls = ["env:HOOK"]\n')
    one_waiter.env["HOOK"] = server.url("200")
    land(tmp_path / "DONE")
    ended = one_waiter.run("wait", "DONE", "--notify")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "sentinel: marker" in str(server.received[0])
    server.close()


def test_a_shell_goes_on_only_after_success(one_waiter: Waiters, tmp_path: Path) -> None:
    land(tmp_path / "DONE")
    ended = one_waiter.run("wait", "DONE")
    assert ended.returncode == 0
    assert ended.stdout.startswith("landed DONE: marker")
    assert ended.stdout.count("\n") == 1
    assert ended.stderr == ""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("wait",), 64),
        (("wait", "gpu1:"), 64),
        (("wait", "A", "--timeout", "soon"), 64),
        (("wait", "A", "--timeout", "0"), 64),
        (("wait", "A", "--stall-after", "5m"), 64),
        (("wait", "--pid", "7"), 64),
        (("wait", "gpu1:digits"), 78),
        (("wait", "A", "-c", "nowhere.toml"), 78),
        (("what",), 64),
    ],
)
def test_a_wrong_call_is_one_line_and_its_own_code(one_waiter: Waiters, words: tuple[str, ...], code: int) -> None:
    ended = one_waiter.run(*words)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert "Traceback" not in ended.stderr
    assert ended.stderr.startswith("sentinel")


def test_a_register_that_cannot_be_written_keeps_nobody_from_waiting(one_waiter: Waiters, tmp_path: Path) -> None:
    one_waiter.env["XDG_STATE_HOME"] = "/proc"
    land(tmp_path / "DONE")
    ended = one_waiter.run("wait", "DONE")
    assert ended.returncode == 0
    assert "waiting all the same" in ended.stderr


def test_a_marker_that_cannot_be_looked_at_is_told(waiters: Waiters, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may look everywhere")
    (tmp_path / "closed").mkdir(mode=0)
    ended = waiters.time_out("wait", "closed/DONE")
    (tmp_path / "closed").chmod(0o700)
    assert ended.returncode == 124
    assert "Permission denied" in ended.stderr


def test_no_descriptor_of_the_caller_reaches_the_box(one_waiter: Waiters, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    waiter = armed(one_waiter, "A", "--timeout", "1h")
    for child in descendants(waiter.pid):
        links = [
            os.readlink(f"/proc/{child.identity.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{child.identity.pid}/fd")
        ]
        assert os.readlink(f"/proc/self/fd/{writing}") not in links
    os.close(reading)
    os.close(writing)


def test_one_look_takes_what_is_there_and_ends_nobodys_wait(waiters: Waiters, tmp_path: Path) -> None:
    waiter = armed(waiters, "A", "--timeout", "1h")
    looked = waiters.run("wait", "A", "--once")
    assert (looked.returncode, looked.stdout.split()[0]) == (124, "timed-out")
    (tmp_path / "B").touch()
    assert waiters.run("wait", "B", "--once").returncode == 0
    assert waiter.poll() is None


@pytest.mark.parametrize("ssh", ["false", "/no/such/ssh"])
def test_one_look_at_a_box_that_cannot_be_reached_is_one_try(one_waiter: Waiters, ssh: str) -> None:
    """Its limit is the wait's own, 3 h: nothing waits for that."""
    one_waiter.env["ONBOX_SSH_COMMAND"] = ssh
    ended = one_waiter.run("wait", "nohost:/x", "--once", "--json")
    data = json.loads(ended.stdout)
    assert (ended.returncode, data["outcome"], data["boxes"][0]["connections"] <= 1) == (69, "unreachable", True)


def test_a_full_disk_behind_stdout_does_not_change_the_code(one_waiter: Waiters, tmp_path: Path) -> None:
    land(tmp_path / "DONE")
    full = os.open("/dev/full", os.O_WRONLY)
    ended = subprocess.run(
        [*SENTINEL, "wait", "DONE"],
        stdout=full,
        stderr=subprocess.PIPE,
        env=one_waiter.env,
        cwd=tmp_path,
        check=False,
    )
    os.close(full)
    assert ended.returncode == 0
    assert b"landed DONE" in ended.stderr


def test_a_log_without_a_pattern_waits_for_the_usual_words(one_waiter: Waiters, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("")
    waiter = armed(one_waiter, "--log", "log", *LIMIT)
    (tmp_path / "log").write_text("Training completed\n")
    assert one_waiter.end(waiter)["outcome"] == "landed"


def test_a_long_wait_that_nobody_stands_behind_says_so(one_waiter: Waiters, tmp_path: Path) -> None:
    """For a box; on this machine nothing is lost that the wait would have seen."""
    env = {**one_waiter.env, "ONBOX_SSH_COMMAND": "false"}
    for limit, told in (("2h", True), ("30m", False)):
        waiter = one_waiter.start("wait", "gpu1:/root/DONE", "--timeout", limit, env=env)
        wait_until(lambda: "gpu1" in one_waiter.run("list").stdout, "the wait to begin")
        waiter.terminate()
        _, err = waiter.communicate(timeout=60)
        assert ("patrol install" in err) is told, err
    timed_out = one_waiter.time_out("wait", "NEVER")
    assert "look yourself (handbook resume)" in timed_out.stdout
