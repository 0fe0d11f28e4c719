"""A runner that loads while the command does runs what it is handed; nothing stays of one that is handed nothing."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from _socket import AF_UNIX, SOCK_SEQPACKET, socketpair
from typing import TYPE_CHECKING

import pytest

from onbox.chain.runner import early_runner
from onbox.chain.runner.early_runner import hand_over, receive
from onbox.contract.paths import RunPaths
from onbox.system.process import look_up
from tests.box import BOUND_SECONDS, is_running, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box

# What `onbox chain` does, with something between the start of the interpreter that waits and the rest.
EARLY = """
import os, signal, sys
from onbox.chain.runner import early_runner
early_runner.start_early()
waits = early_runner._waiting[0].pid
print(waits, flush=True)
{between}
from onbox.cli.app import main
sys.exit(main(["chain", *sys.argv[1:]]))
"""


def start_chain(box: Box, between: str, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", EARLY.format(between=between), *words],
        cwd=box.project,
        env=box.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def waiting_pid(chain: subprocess.Popen[str]) -> int:
    assert chain.stdout is not None
    return int(chain.stdout.readline())


def exit_code(chain: subprocess.Popen[str]) -> int:
    chain.communicate(timeout=BOUND_SECONDS)
    return chain.returncode


def test_the_one_that_waited_runs_the_chain(box: Box) -> None:
    chain = start_chain(box, "", "-d", "--launch-check", "0", "train=until test -e go; do sleep 0.02; done")
    pid = waiting_pid(chain)
    assert exit_code(chain) == 0
    assert box.runner_pid() == pid
    entry = look_up(pid)
    assert entry is not None
    assert entry.session == pid, "a session of its own"
    opened = {number: os.readlink(f"/proc/{pid}/fd/{number}") for number in ("0", "1", "2", "7")}
    log, lock = str(box.state / "runner.log"), str(box.state / "lock")
    assert opened == {"0": "/dev/null", "1": log, "2": log, "7": lock}
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")


def test_a_command_that_is_killed_before_leaves_nothing(box: Box) -> None:
    chain = start_chain(box, "sys.stdin.read()", "train=echo >>ran")
    pid = waiting_pid(chain)
    chain.kill()
    assert exit_code(chain) == -9
    wait_until(lambda: not is_running(pid), "the one that waited to end")
    assert not (box.project / ".onbox").exists()


@pytest.mark.parametrize("words", [["--backend", "nowhere"], ["--help"], ["a b="]])
def test_a_command_that_starts_nothing_leaves_nothing(box: Box, words: list[str]) -> None:
    box.onbox("chain", *words)
    wait_until(lambda: box.processes() == [], "everything to end")


def test_a_chain_runs_though_the_one_that_waited_was_killed(box: Box) -> None:
    gone = "os.kill(waits, signal.SIGKILL)\nwhile os.path.exists(f'/proc/{waits}/exe'): pass"
    chain = start_chain(box, gone, "train=echo x >>ran")
    assert exit_code(chain) == 0
    assert (box.ran, box.markers) == (["x"], ["CHAIN_DONE", "train_DONE"])


def test_of_two_that_start_at_once_one_runs_the_chain(box: Box) -> None:
    chains = [start_chain(box, "", "train=echo x >>ran; sleep 0.3") for _ in range(2)]
    assert [exit_code(chain) for chain in chains] == [0, 0]
    assert box.ran == ["x"]
    wait_until(lambda: box.processes() == [], "everything to end")


def test_a_user_s_descriptors_do_not_reach_the_runner(box: Box) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as told:
        line = "train=until test -e go; do sleep 0.02; done"
        code = EARLY.format(between="")
        subprocess.run(
            [sys.executable, "-c", code, "-d", "--launch-check", "0", line],
            cwd=box.project, env=box.env, pass_fds=[writing], check=True, timeout=BOUND_SECONDS,
        )  # fmt: skip
        os.close(writing)
        seen, _, _ = select.select([told], [], [], BOUND_SECONDS)
        assert seen, "the end of the pipe, while the chain is alive"
        assert is_running(box.runner_pid())
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")


@pytest.fixture
def link(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Both ends in this process."""
    ours, its = socketpair(AF_UNIX, SOCK_SEQPACKET)
    monkeypatch.setattr(early_runner, "SOCKET_FD", its.detach())
    monkeypatch.setattr(early_runner, "_waiting", [early_runner._Waiting(os.getpid(), ours)])
    yield
    ours.close()


@pytest.mark.usefixtures("link")
def test_who_waited_too_long_is_handed_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(early_runner, "WAITS_SECONDS", 0.01)
    assert receive() is None
    assert hand_over(RunPaths(str(tmp_path)), 0, 1) is None


@pytest.mark.usefixtures("link")
def test_what_was_sent_in_time_is_received(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(early_runner, "WAITS_SECONDS", 0.0)
    folder = tmp_path / ("ü" * 100)
    folder.mkdir()
    assert hand_over(RunPaths(str(folder)), 0, 1) == os.getpid()
    assert hand_over(RunPaths(str(folder)), 0, 1) is None, "there is only one"
    handed = receive()
    assert handed is not None
    run_dir, *fds = handed
    assert run_dir == str(folder)
    assert os.readlink(f"/proc/self/fd/{fds[0]}") == str(folder / "runner.log")
    assert [os.path.sameopenfile(*pair) for pair in zip(fds[1:], (0, 1), strict=True)] == [True, True]
    for fd in fds:
        os.close(fd)


@pytest.mark.usefixtures("link")
def test_without_a_log_the_command_says_why(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        hand_over(RunPaths(str(tmp_path / "gone")), 0, 1)
