"""Who watches a run: Ctrl-C belongs to who started it, a key detaches, and no kill of a viewer reaches the run."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.system.process import process_table
from tests.box import ONBOX, wait_for_words, wait_until

if TYPE_CHECKING:
    from tests.box import Box

WAITS = "echo begins >>ran; until test -e go; do sleep 0.02; done; echo ends >>ran"


def let_it_end(box: Box) -> None:
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    assert box.ran == ["begins", "ends"]


@pytest.mark.parametrize("words", [["attach"], ["chain", f"train={WAITS}"]], ids=["attach", "the same chain again"])
def test_ctrl_c_detaches_who_merely_joined(box: Box, words: list[str]) -> None:
    assert box.onbox("chain", "-d", "--launch-check", "0", f"train={WAITS}").returncode == 0
    viewer = box.start(*words)
    wait_for_words(viewer, "runs already")
    viewer.send_signal(signal.SIGINT)
    said, _ = viewer.communicate(timeout=60)
    assert viewer.returncode == 75
    assert "the run goes on" in said
    let_it_end(box)
    assert box.onbox("attach").returncode == 0


def test_a_key_detaches_and_is_shown_beforehand(box: Box) -> None:
    pid, terminal = os.forkpty()
    if pid == 0:
        os.chdir(box.project)
        os.execve(sys.executable, [*ONBOX, "chain", f"train={WAITS}"], box.env)
    shown = b""
    while b"d detaches, and the run goes on" not in shown:
        shown += os.read(terminal, 65536)
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    os.write(terminal, b"d")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 75
    os.close(terminal)
    let_it_end(box)


def test_whoever_ends_the_viewer_hears_that_the_run_goes_on(box: Box) -> None:
    viewer = box.start("chain", f"train={WAITS}")
    wait_for_words(viewer, "attempt 1")  # it watches
    viewer.send_signal(signal.SIGTERM)
    said, _ = viewer.communicate(timeout=60)
    assert viewer.returncode == -signal.SIGTERM
    assert "ended by SIGTERM; the run goes on" in said
    assert "onbox attach" in said
    let_it_end(box)


def test_a_kill_of_the_viewers_process_tree_does_not_reach_the_run(box: Box) -> None:
    viewer = box.start("chain", f"train={WAITS}")
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    children: dict[int, list[int]] = {}
    for entry in process_table():
        children.setdefault(entry.parent, []).append(entry.identity.pid)
    tree = [viewer.pid]
    for pid in tree:
        tree += children.get(pid, [])
    for pid in tree:
        os.kill(pid, signal.SIGKILL)
    viewer.wait(60)
    assert tree == [viewer.pid]
    let_it_end(box)
