"""What a rented box does to a run: killed runners, killed keepers, reboots, reused pids, two callers, a stop."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.box import ONBOX, Box, is_running, wait_for_words, wait_until

if TYPE_CHECKING:
    from pathlib import Path

WAITS = "echo begins >>ran; until test -e go; do sleep 0.02; done; echo ends >>ran"


def start_waiting(box: Box, *more: str, line: str = WAITS) -> tuple[str, ...]:
    """A detached chain whose first stage waits for the file `go`; the words of the chain."""
    stages = (f"train={line}", *more)
    assert box.onbox("chain", "-d", "--launch-check", "0", *stages).returncode == 0
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    return stages


def keeper_pid(box: Box) -> int:
    text = (box.state / "markers" / ".train.slot").read_text()
    return int(text.split("keeper ")[1].split()[0])


# -- the runner dies


def test_a_live_stage_is_adopted_not_doubled(box: Box) -> None:
    stages = start_waiting(box, "eval=echo eval >>ran")
    box.kill_runner()
    again = box.start("chain", *stages)
    box.wait_for_event("attempt_adopted")
    (box.project / "go").touch()
    assert again.wait(60) == 0
    assert box.ran == ["begins", "ends", "eval"]
    assert box.marker("train_DONE")["attempt"] == 1


def test_an_adopted_stage_keeps_its_true_exit_code(box: Box) -> None:
    stages = start_waiting(box, "eval=echo eval >>ran", line=WAITS + "; exit 5")
    box.kill_runner()
    again = box.start("chain", *stages)
    box.wait_for_event("attempt_adopted")
    (box.project / "go").touch()
    assert again.wait(60) == 1
    assert box.marker("train_FAILED")["exit_code"] == 5
    assert box.ran == ["begins", "ends"]


def test_the_chain_completes_though_nobody_comes_back(box: Box) -> None:
    start_waiting(box, "eval=echo eval >>ran")
    box.kill_runner()
    assert "eval" not in box.ran
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    assert box.ran == ["begins", "ends", "eval"]


def test_a_stage_that_ended_unwatched_is_not_run_again(box: Box) -> None:
    """Runner killed, keeper kept from continuing (the lock is held): judged later by its exit record."""
    stages = start_waiting(box, "eval=echo eval >>ran")
    box.kill_runner()
    holder = subprocess.Popen(["flock", os.fspath(box.state / "lock"), "cat"], stdin=subprocess.PIPE)
    wait_until(lambda: is_locked_by_other(box), "the lock to be held")
    pid = keeper_pid(box)
    (box.project / "go").touch()
    wait_until(lambda: not is_running(pid), "the keeper to end")
    holder.communicate()
    assert box.onbox("chain", *stages).returncode == 0
    assert box.ran == ["begins", "ends", "eval"]


def is_locked_by_other(box: Box) -> bool:
    return subprocess.run(["flock", "-n", os.fspath(box.state / "lock"), "true"], check=False).returncode != 0


def test_a_live_stage_is_not_redone_by_adopting_it(box: Box) -> None:
    start_waiting(box)
    box.kill_runner()
    refused = box.onbox("chain", f"train={WAITS}", "--redo", "train")
    assert refused.returncode == 75
    assert "still alive" in refused.stderr
    assert box.events("stage_redo") == []
    (box.project / "go").touch()
    assert box.wait_for_marker("CHAIN_DONE")


def test_a_definition_that_was_cut_off_is_not_taken_for_whole(box: Box) -> None:
    assert box.onbox("chain", "train=test -e go", "eval=true").returncode == 1
    (box.project / "go").touch()
    lines = (box.state / "run.json").read_text().splitlines(keepends=True)
    (box.state / "run.json").write_text("".join(lines[:2]))
    for words in (("resume",), ("status",)):
        result = box.onbox(*words)
        assert (result.returncode, result.stdout) == (78, "")
        assert "is damaged" in result.stderr
    assert "CHAIN_DONE" not in box.markers


def test_without_links_beside_the_logs_a_stage_still_runs(box: Box) -> None:
    (box.state / "logs" / "train.log").mkdir(parents=True)
    assert box.onbox("chain", "train=true").returncode == 0
    assert box.events("attempt_adopted") == []


def test_who_merely_looks_does_not_keep_the_chain_from_completing(box: Box) -> None:
    start_waiting(box, "eval=true")
    box.kill_runner()
    with (box.state / "lock").open("rb") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)  # as `onbox status` does, but for longer
        (box.project / "go").touch()
        wait_until(lambda: "exit 0" in (box.state / "markers" / ".train.slot").read_text(), "the stage to end")
        time.sleep(0.5)  # what the keeper does meanwhile leaves no trace
    assert box.wait_for_marker("CHAIN_DONE")


def test_what_an_unwatched_stage_left_behind_is_ended(box: Box) -> None:
    start_waiting(box, "eval=true", line="sleep 300 & echo $! >left; " + WAITS)
    box.kill_runner()
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    assert not is_running(int((box.project / "left").read_text()))


def test_runner_and_keeper_killed_the_command_is_waited_for(box: Box) -> None:
    stages = start_waiting(box, "eval=echo eval >>ran")
    keeper = keeper_pid(box)
    box.kill_runner()
    os.kill(keeper, signal.SIGKILL)
    wait_until(lambda: not is_running(keeper), "the keeper to be gone")
    assert box.status()["stage_alive"]
    again = box.start("chain", *stages)
    box.wait_for_event("attempt_adopted")
    assert box.ran == ["begins"]  # no second copy while the first one lives
    (box.project / "go").touch()
    assert again.wait(60) == 0
    assert box.ran == ["begins", "ends", "begins", "ends", "eval"]  # its end was seen by nobody: it runs again
    assert box.marker("train_DONE")["attempt"] == 2


def test_a_killed_keeper_is_a_failure_not_a_success(box: Box) -> None:
    start_waiting(box)
    os.kill(keeper_pid(box), signal.SIGKILL)
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_FAILED")
    assert "train_DONE" not in box.markers
    assert "exit code is unknown" in box.marker("train_FAILED")["reason"]


def test_everything_killed_restarts_with_resume_set(box: Box) -> None:
    line = "echo $ONBOX_ATTEMPT $ONBOX_RESUME >>said; " + WAITS
    stages = start_waiting(box, line=line)
    box.end_everything()
    assert box.status()["state"] == "interrupted"
    (box.project / "go").touch()
    assert box.onbox("chain", *stages).returncode == 0
    assert (box.project / "said").read_text().splitlines() == ["1 0", "2 1"]
    assert box.events("stage_interrupted")[0]["reason"] == "runner and stage were gone, and nobody recorded how"


def test_triage_and_status_agree_on_a_run_that_was_cut_off(box: Box) -> None:
    start_waiting(box)
    box.end_everything()
    assert box.status()["step"] == "interrupted"
    assert box.status()["next_command"] == "onbox resume -d digits"
    verdict = json.loads(box.onbox("triage", "--json").stdout)
    assert (verdict["rule"], verdict["retry"]) == ("cut-off", True)
    assert "Resume it" in verdict["remedy"]


def test_triage_and_status_agree_on_a_stage_that_stands_still(box: Box) -> None:
    (box.project / "onbox.toml").write_text(
        f"[run]\nname = '{box.run}'\nsample_every = '200ms'\n[stages.train]\ncmd = {WAITS!r}\nstall_after = '3s'\n"
    )
    assert box.onbox("chain", "-d", "--launch-check", "0").returncode == 0
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    group = keeper_pid(box)
    os.killpg(group, signal.SIGSTOP)
    try:
        wait_until(lambda: box.status()["state"] == "stalled", "the stall")
        verdict = json.loads(box.onbox("triage", "--json").stdout)
        assert (verdict["class"], verdict["state"]) == ("hang_stall", "stalled")
        assert "until it was ended" not in verdict["remedy"]
    finally:
        os.killpg(group, signal.SIGCONT)


def test_a_reused_pid_is_neither_adopted_nor_killed(box: Box) -> None:
    stages = start_waiting(box)
    box.end_everything()
    foreign = subprocess.Popen(["sleep", "60"])
    slot = box.state / "markers" / ".train.slot"
    old = f"keeper {slot.read_text().split('keeper ')[1].split()[0]}\n"
    slot.write_text(slot.read_text().replace(old, f"keeper {foreign.pid}\n"))
    lock = json.loads((box.state / "lock").read_text()) | {"pid": foreign.pid}
    (box.state / "lock").write_text(json.dumps(lock) + "\n")
    assert box.onbox("stop").returncode == 0
    (box.project / "go").touch()
    assert box.onbox("chain", *stages).returncode == 0
    assert foreign.poll() is None
    foreign.kill()
    foreign.wait()


@pytest.mark.root
def test_after_a_reboot_no_pid_is_trusted(box: Box, tmp_path: Path) -> None:
    """Another boot id, bind-mounted over the kernel's in a mount namespace of its own."""
    other = tmp_path / "boot_id"
    other.write_text("00000000-1111-2222-3333-444444444444\n")
    namespace = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"']
    if subprocess.run([*namespace, os.fspath(other), "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs root and mount namespaces")
    stages = start_waiting(box, line="echo $ONBOX_ATTEMPT $ONBOX_RESUME >>said; " + WAITS)
    box.end_everything()
    (box.project / "go").touch()
    done = box.run_program([*namespace, os.fspath(other), *ONBOX, "chain", *stages])
    assert done.returncode == 0, done.stderr
    assert (box.project / "said").read_text().splitlines() == ["1 0", "2 1"]
    assert box.events("stage_interrupted")[0]["reason"] == "the machine was rebooted"


# -- two callers


def test_many_simultaneous_starts_are_one_chain(box: Box) -> None:
    words = ("chain", "train=echo begins >>ran; sleep 0.5; echo ends >>ran", "eval=echo eval >>ran")
    with ThreadPoolExecutor(12) as pool:
        codes = list(pool.map(lambda _: box.onbox(*words).returncode, range(12)))
    assert codes == [0] * 12
    assert box.ran == ["begins", "ends", "eval"]
    assert len(box.events("attempt_started")) == 2


def test_the_second_caller_watches_the_same_chain(box: Box) -> None:
    stages = start_waiting(box)
    second = box.start("chain", *stages)
    wait_until(lambda: second.poll() is None, "the second caller to run")
    (box.project / "go").touch()
    assert second.wait(60) == 0
    assert len(box.events("chain_started")) == 1


def test_another_chain_is_refused_while_one_runs(box: Box) -> None:
    start_waiting(box)
    refused = box.onbox("chain", "other=touch never")
    assert refused.returncode == 75
    assert str(box.runner_pid()) in refused.stderr
    assert not (box.project / "never").exists()


def test_another_command_is_refused_while_the_old_one_lives(box: Box) -> None:
    start_waiting(box)
    box.kill_runner()
    refused = box.onbox("chain", "train=echo other")
    assert refused.returncode == 75
    assert "still alive" in refused.stderr
    assert box.ran == ["begins"]


# -- the viewer goes away


def test_the_run_goes_on_when_its_viewer_is_killed(box: Box) -> None:
    viewer = box.start("chain", f"train={WAITS}", "eval=echo eval >>ran")
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    os.killpg(viewer.pid, signal.SIGKILL)
    viewer.wait()
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    assert box.ran == ["begins", "ends", "eval"]


def test_the_run_goes_on_when_its_terminal_is_closed(box: Box) -> None:
    """A real terminal hangs up: SIGHUP to everything that has it. The stage is one that dies of SIGHUP."""
    pid, terminal = os.forkpty()
    if pid == 0:
        os.chdir(box.project)
        os.execve(sys.executable, [*ONBOX, "chain", f"train={WAITS}"], box.env)
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    os.close(terminal)
    os.waitpid(pid, 0)
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")


def test_a_terminal_shows_one_live_line(box: Box) -> None:
    pid, terminal = os.forkpty()
    if pid == 0:
        os.chdir(box.project)
        os.execve(
            sys.executable, [*ONBOX, "chain", "train=echo epoch 3/30; until test -e go; do sleep 0.05; done"], box.env
        )
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        shown += part
        if b"\r\x1b[K" in shown and b"epoch 3/30" in shown:
            (box.project / "go").touch()
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert b"\r\x1b[K" in shown
    assert b"epoch 3/30" in shown


# -- stop


def test_stop_ends_the_whole_tree_and_resume_continues(box: Box) -> None:
    line = "echo begins >>ran; setsid sleep 300 & (setsid sh -c 'sleep 300 & sleep 300' &) ; test -e go || sleep 300"
    viewer = box.start("chain", f"train={line}", "eval=echo eval >>ran")
    wait_until(lambda: "begins" in box.ran and len(box.processes()) >= 7, "the tree to grow")
    assert box.onbox("stop", "--grace", "5").returncode == 0
    assert viewer.wait(60) == 4
    assert box.processes() == []
    assert (box.status()["state"], box.markers) == ("stopped", [])
    (box.project / "go").touch()
    assert box.onbox("resume").returncode == 0
    assert box.ran == ["begins", "begins", "eval"]


def test_stop_is_bounded_though_the_stage_ignores_sigterm(box: Box) -> None:
    start_waiting(box, line="trap '' TERM; " + WAITS)
    assert box.onbox("stop", "--grace", "0.3").returncode == 0
    assert box.processes() == []


def test_stop_gives_the_stage_time_to_save(box: Box) -> None:
    line = "trap 'sleep 0.3; echo saved >>ran; exit 143' TERM; echo begins >>ran; while :; do sleep 0.05; done"
    start_waiting(box, line=line)
    assert box.onbox("stop").returncode == 0
    assert box.ran == ["begins", "saved"]


def test_stop_takes_any_grace(box: Box) -> None:
    start_waiting(box)
    assert box.onbox("stop", "--grace", "100000000").returncode == 0
    assert box.status()["state"] == "stopped"


def test_stop_ends_a_stage_whose_runner_is_gone(box: Box) -> None:
    start_waiting(box, "eval=echo eval >>ran")
    box.kill_runner()
    assert box.onbox("stop").returncode == 0
    wait_until(lambda: box.processes() == [], "everything to end")
    assert (box.ran, box.status()["state"]) == (["begins"], "stopped")
    (box.project / "go").touch()
    assert box.onbox("resume").returncode == 0
    assert box.marker("train_DONE")["attempt"] == 2


def test_ctrl_c_in_the_viewer_asks_the_chain_to_stop(box: Box) -> None:
    viewer = box.start("chain", f"train={WAITS}")
    wait_for_words(viewer, "attempt 1")  # it watches: Ctrl-C has its meaning
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    viewer.send_signal(signal.SIGINT)
    assert viewer.wait(60) == 4
    assert box.status()["state"] == "stopped"
    assert box.processes() == []


def test_ctrl_c_twice_does_not_wait_for_the_grace(box: Box) -> None:
    (box.project / "onbox.toml").write_text('[run]\ngrace = "10m"\n')
    viewer = box.start("chain", f"train=trap '' TERM; {WAITS}")
    wait_for_words(viewer, "attempt 1")  # it watches: Ctrl-C has its meaning
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    viewer.send_signal(signal.SIGINT)
    wait_until((box.state / "stop.json").exists, "the wish to stop")
    viewer.send_signal(signal.SIGINT)
    assert viewer.wait(60) == 4  # long before the grace is over
    assert box.processes() == []


def test_a_second_ctrl_c_is_heard_while_the_first_is_answered(box: Box) -> None:
    (box.project / "onbox.toml").write_text('[run]\ngrace = "10m"\n')
    viewer = box.start("chain", f"train=trap '' TERM; {WAITS}")
    wait_for_words(viewer, "attempt 1")  # it watches: Ctrl-C has its meaning
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    viewer.send_signal(signal.SIGINT)
    wait_for_words(viewer, "gracefully")  # said before the wish to stop is written
    viewer.send_signal(signal.SIGINT)
    assert viewer.wait(60) == 4  # long before the grace is over
    assert box.processes() == []


def test_sigterm_to_the_runner_is_an_interruption(box: Box) -> None:
    start_waiting(box)
    runner = box.runner_pid()
    os.kill(runner, signal.SIGTERM)
    box.wait_for_event("chain_interrupted")
    wait_until(lambda: box.processes() == [], "everything to end")
    # Who dies loses its memory, by which it is found, before its lock.
    wait_until(lambda: not os.path.exists(f"/proc/{runner}"), "the runner to let go of its lock")
    assert box.status()["state"] == "interrupted"
    (box.project / "go").touch()
    assert box.onbox("resume").returncode == 0


def test_stop_with_nothing_running_says_so(box: Box) -> None:
    box.onbox("chain", "train=true")
    result = box.onbox("stop")
    assert (result.returncode, result.stdout) == (0, "nothing runs\n")


# -- odd places


def test_a_file_system_without_locks_is_named(box: Box) -> None:
    fake = box.project / "no_flock.py"
    fake.write_text(
        "import errno, fcntl, os, sys\n"
        "def refuse(*_): raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))\n"
        "fcntl.flock = refuse\n"
        "from onbox.cli.app import main\n"
        "sys.exit(main(['chain', 'a=touch ran']))\n"
    )
    done = box.run_program([sys.executable, os.fspath(fake)])
    assert done.returncode == 74
    assert "cannot lock" in done.stderr
    assert "state_dir" in done.stderr
    assert not (box.project / "ran").exists()


def test_a_moved_project_directory_still_reads(box: Box) -> None:
    box.onbox("chain", "train=echo hi")
    moved = box.project.parent / "moved" / "digits"
    moved.parent.mkdir()
    shutil.move(box.project, moved)
    assert Box(moved).status()["state"] == "done"
    box.project.mkdir()


def test_a_damaged_journal_line_is_passed_over_and_told(box: Box) -> None:
    box.onbox("chain", "train=true")
    journal = box.state / "events.jsonl"
    journal.write_bytes(journal.read_bytes() + b"\x00\xff garbage\n" + b'{"torn": ')
    assert box.status()["journal_damaged_lines"] == 1
    assert box.onbox("chain", "train=true", "eval=echo eval >>ran").returncode == 0
    assert box.ran == ["eval"]


def test_a_launch_that_was_cut_off_at_once_does_not_fail_again_for_an_old_failure(box: Box) -> None:
    """A full disk can end a launch between its first record and its first attempt."""
    assert box.onbox("chain", "--again", "train=test -e fixed").returncode == 1
    journal = box.state / "events.jsonl"
    begun = next(line for line in journal.read_text().splitlines() if '"chain_started"' in line)
    with journal.open("a") as file:
        file.write(begun + "\n")
    assert box.status()["state"] == "interrupted"
    (box.project / "fixed").touch()
    resumed = box.onbox("resume")
    assert (resumed.returncode, box.status()["state"]) == (0, "done"), resumed.stdout


def test_the_run_holds_nothing_that_its_caller_had_open(box: Box) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    words = ("chain", "-d", "--launch-check", "0", "train=until test -e go; do sleep 0.02; done")
    assert box.onbox(*words, close_fds=False).returncode == 0
    os.close(writing)
    assert os.read(reading, 1) == b""  # would block for as long as the run has the other end
    os.close(reading)
    assert box.status()["state"] == "running"


def test_a_state_directory_removed_under_a_run_doubles_nothing(box: Box) -> None:
    stages = start_waiting(box)
    box.remove(box.state.parent)
    refused = box.onbox("chain", *stages)
    assert refused.returncode == 75
    assert "was removed" in refused.stderr  # the whole folder, or its lock where the runner has written into it again
    assert box.ran == ["begins"]


def test_runs_lists_the_processes_of_a_run_whose_state_was_removed(box: Box) -> None:
    start_waiting(box)
    box.kill_runner()  # a live one writes its status there again
    box.remove(box.state.parent)
    for words in (("runs",), ("runs", "--json"), ("status",)):
        told = box.onbox(*words)
        assert (told.returncode, told.stdout) == (75, "")
        assert "its state was removed under it" in told.stderr
        assert "onbox chain" not in told.stderr


@pytest.mark.parametrize("changed", ['state_dir = "st2"', 'state_dir = "st2"\nname = "b"'])
@pytest.mark.parametrize("runner_lives", [True, False])
def test_another_state_directory_makes_no_second_copy(box: Box, changed: str, *, runner_lives: bool) -> None:
    stage = f'[stages.train]\ncmd = "{WAITS}"\nartifacts = ["model.bin"]\n'
    config = box.project / "onbox.toml"
    config.write_text(stage)
    assert box.onbox("chain", "-d", "--launch-check", "0").returncode == 0
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    if not runner_lives:
        box.kill_runner()
    config.write_text(f"[run]\n{changed}\n{stage}")
    assert box.onbox("chain", "-d").returncode == 75
    told = box.onbox("status")
    assert told.returncode == 75
    assert "is alive in .onbox" in told.stderr
    assert box.ran == ["begins"]


def test_a_stages_environment_does_not_reach_the_next_one(box: Box) -> None:
    """Also not when the keeper of the first stage is what started the runner of the second."""
    (box.project / "onbox.toml").write_text(
        '[stages.train]\nenv = { FOO = "of train", A_TOKEN = "env:SECRET" }\n'
        f"cmd = '''test \"$FOO$A_TOKEN\" = \"of train's $' \\\"x\" && {WAITS}'''\n"
        "[stages.eval]\ncmd = 'env >eval-env'\n"
    )
    box.env["SECRET"] = "'s $' \"x"
    assert box.onbox("chain", "-d", "--launch-check", "0").returncode == 0
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    box.kill_runner()
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    assert "of train" not in (box.project / "eval-env").read_text()
    assert "ONBOX_SET" not in (box.project / "eval-env").read_text()


def test_status_tells_when_the_keeper_is_gone_too(box: Box) -> None:
    start_waiting(box)
    box.kill_runner()
    told = " ".join(box.onbox("status").stdout.split())
    assert "when it ends the runner starts again" in told
    assert "the resume starts the runner now" in told, "what is next does not speak against it"
    assert box.status()["step"] == "runner-gone", "as patrol and handbook say"
    os.kill(keeper_pid(box), signal.SIGKILL)
    wait_until(lambda: "so is the keeper" in box.onbox("status").stdout, "status to tell")
    assert "when it ends the runner starts again" not in " ".join(box.onbox("status").stdout.split())


def test_a_live_stage_of_another_chain_is_not_forgotten(box: Box) -> None:
    start_waiting(box, "eval=true")
    box.kill_runner()
    refused = box.onbox("chain", "other=touch never")
    assert refused.returncode == 75
    assert "stage train" in refused.stderr
    assert not (box.project / "never").exists()


def test_stop_holds_though_the_runner_dies_meanwhile(box: Box) -> None:
    start_waiting(box, line="trap '' TERM; " + WAITS)
    stop = box.start("stop", "--grace", "3")
    box.wait_for_file(".onbox/digits/stop.json")
    with suppress(ProcessLookupError):  # three seconds may be over where the whole machine pauses
        box.kill_runner()
    assert stop.wait(60) == 0
    wait_until(lambda: box.processes() == [], "everything to end")
    assert box.status()["state"] == "stopped"


def test_a_removed_lock_file_leads_to_no_second_runner(box: Box) -> None:
    stages = start_waiting(box)
    box.wait_for_file(".onbox/digits/status.json")
    (box.state / "lock").unlink()
    refused = box.onbox("chain", *stages)
    assert refused.returncode == 75
    assert "removed" in refused.stderr


def test_a_renamed_project_is_not_started_twice(box: Box) -> None:
    stages = start_waiting(box)
    renamed = box.project.parent / "renamed"
    box.project.rename(renamed)
    refused = box.onbox("chain", *stages, cwd=renamed)
    assert refused.returncode == 75
    assert "--run digits" in refused.stderr
    box.end_everything()


def test_a_broken_configuration_does_not_keep_from_stopping(box: Box) -> None:
    config = box.project / "onbox.toml"
    config.write_text(f"[stages.train]\ncmd = '''{WAITS}'''\n")
    box.onbox("chain", "-d", "--launch-check", "0")
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    config.write_text(config.read_text() + "zz = [")
    assert box.status()["state"] == "running"
    assert box.onbox("stop").returncode == 0
    (box.project / "go").touch()
    assert box.onbox("resume").returncode == 0


def test_a_stage_that_closed_everything_is_outwaited(box: Box) -> None:
    code = "import os, time; os.closerange(0, 100)\nwhile not os.path.exists('go'): time.sleep(0.02)"
    line = f"echo begins >>ran; exec {sys.executable} -c {shlex.quote(code)}"
    stages = start_waiting(box, line=line)
    keeper = keeper_pid(box)
    box.kill_runner()
    os.kill(keeper, signal.SIGKILL)
    again = box.start("chain", *stages)
    wait_until(lambda: box.ran == ["begins"] and again.poll() is None, "the second caller to wait")
    (box.project / "go").touch()
    assert again.wait(60) == 0
    assert box.ran == ["begins", "begins"]


# -- a walk that does not end

MAZE = "mkdir -p maze && ln -sfn . maze/a && ln -sfn . maze/b && ln -sfn . maze/c"  # `**` finds 3 ** 40 folders there


@pytest.mark.parametrize("when", ["before", "gate"])
def test_a_stop_is_heard_while_artifacts_are_looked_for(box: Box, when: str) -> None:
    """And what the stage had done by then counts when the run is resumed."""
    line = f"echo ran >>ran; mkdir -p maze; echo 1 >maze/x.bin; {MAZE if when == 'gate' else 'true'}"
    (box.project / "onbox.toml").write_text(
        f'[run]\nname = "digits"\n[stages.train]\ncmd = "{line}"\nartifacts = [{{ glob = "maze/**/x.bin" }}]\n'
    )
    if when == "before":
        box.run_program(["sh", "-c", MAZE])
    box.start("chain", "-d", "--launch-check", "0")
    if when == "gate":
        wait_until((box.project / "maze" / "c").is_symlink, "the stage to end")
    box.wait_for_event("chain_started")
    box.runner_pid()
    stopped = box.onbox("stop", "--now")
    assert stopped.returncode == 0, stopped.stderr
    assert box.status()["state"] in ("stopped", "interrupted")
    for name in "abc":
        (box.project / "maze" / name).unlink()
    assert box.onbox("resume").returncode == 0
    assert box.ran == ["ran"]


def test_the_signal_of_a_killed_keeper_is_not_taken_for_the_stages_own(box: Box) -> None:
    start_waiting(box)
    os.kill(keeper_pid(box), signal.SIGKILL)
    wait_until(lambda: box.status()["step"] == "keeper-gone", "status to tell that its end will not be recorded")
    assert "goes on by itself" not in box.onbox("status").stdout
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_FAILED")
    failure = box.status()["failure"]
    assert (failure["rule"], box.marker("train_FAILED")["signal"]) == ("keeper-lost", None)
    assert "a resume is safe" not in failure["remedy"]
    assert "how it ended is not known" in box.onbox("triage", "--json").stdout


def test_status_tells_of_a_frozen_runner(box: Box) -> None:
    start_waiting(box)
    pid = box.status()["runner_pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(lambda: box.status()["step"] == "runner-frozen", "status to tell")
        assert f"kill -CONT {pid}" in box.onbox("status").stdout
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: box.status()["step"] == "well", "the runner to go on")
