"""What a person who watches a run is told, and what the viewer's own exit code says. The runner is a process that does
nothing; its journal is written by the test.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from onbox.chain.state.stop_request import read_request
from onbox.chain.viewer.viewer import CODE_MARK, JournalReader, Viewer, ask_to_stop
from onbox.contract.events import Event, render_event
from onbox.contract.exits import Exit
from onbox.contract.paths import RunPaths
from onbox.system.process import Identity, look_up
from tests.box import BOUND_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AT = "2026-11-22T10:00:00.000Z"


class Watched:
    """A run directory, and a process that stands for its runner."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.paths = RunPaths(str(folder))
        self.process = subprocess.Popen(["sleep", "600"], **settings)
        entry = look_up(self.process.pid)
        assert entry is not None
        self.runner = entry.identity

    def journals(self, event: str, **fields: Any) -> None:
        with open(self.paths.journal, "ab") as file:
            file.write(render_event({"at": AT, "event": event, **fields}))

    def ends(self) -> None:
        self.process.kill()
        self.process.wait()

    def viewer(self, *, bell_fd: int | None = None, may_stop: bool = True, offset: int = 0) -> Viewer:
        return Viewer(self.paths, self.runner, journal_offset=offset, bell_fd=bell_fd, may_stop=may_stop)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    made = Watched(tmp_path)
    yield made
    made.ends()


def rung(words: bytes) -> int:
    """A bell that a runner rang before it ended."""
    listening, bell = os.pipe()
    os.write(bell, words)
    os.close(bell)
    return listening


# -- how it ended


def test_the_exit_code_is_the_runners_by_the_bell(watched: Watched) -> None:
    watched.ends()
    assert watched.viewer(bell_fd=rung(b"..." + CODE_MARK + b"3")).follow() == 3


def test_the_journal_tells_the_end_where_no_bell_does(watched: Watched, capfd: pytest.CaptureFixture[str]) -> None:
    watched.journals(Event.CHAIN_STARTED, launch=1, stages=1)
    watched.journals(Event.CHAIN_FAILED, reason="exit code 7", stopped_at="train", exit_code=1)
    watched.ends()
    assert watched.viewer().follow() == Exit.FAILED
    assert "exit code 7" in capfd.readouterr().out


def test_who_came_after_the_end_is_still_told_it(watched: Watched, capfd: pytest.CaptureFixture[str]) -> None:
    watched.journals(Event.CHAIN_STARTED, launch=1, stages=1)
    watched.journals(Event.CHAIN_FAILED, reason="exit code 7", stopped_at="train", exit_code=1)
    watched.ends()
    assert watched.viewer(offset=os.path.getsize(watched.paths.journal)).follow() == Exit.FAILED
    assert "exit code 7" in capfd.readouterr().out


def test_an_end_of_an_earlier_launch_is_not_taken_for_this_ones(watched: Watched) -> None:
    """By whoever started the runner: it was killed before it journaled anything."""
    watched.journals(Event.CHAIN_DONE, exit_code=0)
    watched.ends()
    offset = os.path.getsize(watched.paths.journal)
    assert watched.viewer(bell_fd=rung(b""), offset=offset).follow() == Exit.STOPPED


def test_a_runner_that_vanished_is_told_with_the_way_on(watched: Watched, capfd: pytest.CaptureFixture[str]) -> None:
    watched.journals(Event.CHAIN_STARTED, launch=1, stages=1)
    watched.ends()
    assert watched.viewer(bell_fd=rung(b".")).follow() == Exit.STOPPED
    run = os.path.basename(watched.paths.root)
    assert f"`onbox resume {run}`" in capfd.readouterr().err


def test_the_last_words_of_a_runner_without_a_disk_come_by_the_bell(
    watched: Watched, capfd: pytest.CaptureFixture[str]
) -> None:
    watched.ends()
    words = b"..onbox: No space left on device\n" + CODE_MARK + b"74"
    assert watched.viewer(bell_fd=rung(words)).follow() == Exit.STATE_NOT_WRITTEN
    assert capfd.readouterr().err == "onbox: No space left on device\n"


# -- meanwhile


def test_it_follows_until_what_is_waited_for_has_happened(watched: Watched) -> None:
    watched.journals(Event.CHAIN_STARTED, launch=1, stages=1)
    assert watched.viewer().follow(lambda record: record["event"] == Event.CHAIN_STARTED) is None


def test_a_limit_ends_the_following_and_not_the_run(watched: Watched) -> None:
    assert watched.viewer().follow(limit_seconds=0.0) is None
    assert watched.process.poll() is None


def test_half_a_line_is_not_told_before_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    line = render_event({"at": AT, "event": Event.CHAIN_STARTED})
    path.write_bytes(line + line[:20])
    journal = JournalReader(str(path), 0)
    assert len(list(journal.new())) == 1
    assert list(journal.new()) == []
    with path.open("ab") as file:
        file.write(line[20:])
    assert len(list(journal.new())) == 1


def test_a_damaged_line_hides_none_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\0\0\0\n" + render_event({"at": AT, "event": Event.CHAIN_STARTED}))
    assert [record["event"] for record in JournalReader(str(path), 0).new()] == [Event.CHAIN_STARTED]


# -- a person's Ctrl-C


def interrupted(watched: Watched, *, may_stop: bool) -> int:
    """The end of a viewer that gets a Ctrl-C once it has begun."""
    viewer = watched.viewer(may_stop=may_stop)
    return viewer.watch(begin=lambda: os.kill(os.getpid(), signal.SIGINT))


def test_ctrl_c_of_one_that_joined_ends_the_viewer_alone(watched: Watched, capfd: pytest.CaptureFixture[str]) -> None:
    assert interrupted(watched, may_stop=False) == Exit.ANOTHER_RUNNER
    assert watched.process.poll() is None
    assert read_request(watched.paths.stop_request) is None
    assert f"the run goes on (runner pid {watched.runner.pid})" in capfd.readouterr().err


def test_ctrl_c_of_the_one_that_started_it_asks_the_runner_to_stop(tmp_path: Path) -> None:
    with open(tmp_path / "lock", "w") as lock:  # which a runner holds open
        watched = Watched(tmp_path, pass_fds=[lock.fileno()])
    assert interrupted(watched, may_stop=True) == Exit.STOPPED
    assert watched.process.wait(BOUND_SECONDS) == -signal.SIGTERM
    assert read_request(watched.paths.stop_request) is not None


def test_a_process_that_does_not_hold_the_run_is_never_signalled(watched: Watched) -> None:
    """What stands in a file is not proof of who it is: its pid may be another's by now."""
    assert ask_to_stop(watched.paths, watched.runner, 5.0)
    assert watched.process.poll() is None
    request = read_request(watched.paths.stop_request)
    assert request is not None
    assert request.grace_seconds == 5.0


def test_a_stop_of_a_runner_that_has_gone_is_no_error(watched: Watched) -> None:
    watched.ends()
    assert ask_to_stop(watched.paths, Identity(watched.process.pid, 1), None)


def test_a_wish_that_cannot_be_left_is_said(watched: Watched, capfd: pytest.CaptureFixture[str]) -> None:
    paths = RunPaths(f"{watched.paths.root}/nowhere")
    assert not ask_to_stop(paths, watched.runner, 5.0)
    assert "interruption" in capfd.readouterr().err


def test_what_nobody_hears_ends_nothing(watched: Watched) -> None:
    """`onbox chain … | head -1`: in a process of its own, whose output ends in a pipe that nobody reads."""
    watched.journals(Event.CHAIN_STARTED, launch=1, stages=1)
    watched.journals(Event.CHAIN_DONE, exit_code=0, stages=1)
    watched.ends()
    pid = os.fork()
    if not pid:
        code = 99
        try:
            listening, speaking = os.pipe()
            os.close(listening)
            sys.stdout = os.fdopen(speaking, "w")
            code = watched.viewer().follow() or 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
