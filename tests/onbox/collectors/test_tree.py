"""The processes of a stage: all of them, with what they use, and which the kernel holds."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.collectors.tree import BIGGEST, PAGE_BYTES, Member, Tree, read_tree
from onbox.commands.show import process_tree
from onbox.contract.readings import Absent, Unseen
from onbox.system.process import TICKS_PER_SECOND, Identity, look_up
from tests.trees import plant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from onbox.contract.readings import Maybe

LEADER = Identity(70, 9070)
FAMILY = """
import subprocess, sys, threading
stop = threading.Event()
threads = [threading.Thread(target=stop.wait) for _ in range(3)]
for thread in threads:
    thread.start()
with subprocess.Popen(["/bin/sh", "-c", "read -r line"], stdin=subprocess.PIPE):
    held = bytearray(32 << 20)
    print("here", flush=True)
    sys.stdin.read()
stop.set()
"""


def stat(pid: int, parent: int, session: int, state: str = "S", ticks: int = 0, rss_pages: int = 1) -> dict[str, str]:
    """/proc/<pid>/stat as the kernel writes it (proc_pid_stat(5)): 4 threads, started at 9000 + pid."""
    text = (
        f"{pid} (py thon) {state} {parent} {session} {session} 0 -1 4194304 1 2 3 4 {ticks} {ticks} 7 8 20 0 4 0 "
        f"{9000 + pid} 1000000 {rss_pages} 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n"
    )
    return {f"proc/{pid}/stat": text, f"proc/{pid}/fd/": ""}


def read(tmp_path: Path, *processes: dict[str, str]) -> Tree:
    files: dict[str, str] = {}
    for one in processes:
        files |= one
    tree = read_tree(LEADER, plant(tmp_path, files))
    assert isinstance(tree, Tree)
    return tree


def test_session_and_descendants_are_one_tree(tmp_path: Path) -> None:
    session = (stat(70, 1, 70, rss_pages=10), stat(71, 70, 70, rss_pages=30, ticks=TICKS_PER_SECOND))
    left_it = (stat(72, 71, 72, rss_pages=20), stat(73, 72, 73))
    strangers = (stat(1, 0, 1), stat(80, 1, 80, rss_pages=999, state="D"))
    tree = read(tmp_path, *session, *left_it, *strangers)
    assert (tree.processes, tree.threads, tree.held, tree.open_files) == (4, 16, (), 0)
    assert (tree.rss_bytes, tree.cpu_seconds) == (61 * PAGE_BYTES, 2.0)
    assert Member(71, "py thon", 30 * PAGE_BYTES, 2.0, 4, "S") == tree.biggest[0]
    assert [member.pid for member in tree.biggest] == [71, 72, 70, 73]


def test_processes_that_the_kernel_holds_are_named(tmp_path: Path) -> None:
    tree = read(tmp_path, stat(70, 1, 70), stat(71, 70, 70, "D"), stat(72, 70, 70, "R"), stat(73, 70, 70, "D"))
    assert tree.held == (71, 73)


def test_an_ended_child_is_not_counted(tmp_path: Path) -> None:
    assert read(tmp_path, stat(70, 1, 70), stat(71, 70, 70, "Z")).processes == 1


def test_only_the_biggest_are_listed(tmp_path: Path) -> None:
    tree = read(tmp_path, stat(70, 1, 70), *(stat(pid, 70, 70, rss_pages=pid) for pid in range(100, 150)))
    assert (tree.processes, len(tree.biggest)) == (51, BIGGEST)
    assert [member.pid for member in tree.biggest] == [149, 148, 147, 146, 145]


def test_descriptors_of_all_are_added_up(tmp_path: Path) -> None:
    fds = {f"proc/70/fd/{number}": "" for number in range(3)} | {"proc/71/fd/0": ""}
    assert read(tmp_path, stat(70, 1, 70), stat(71, 70, 70), fds).open_files == 4


def test_descriptors_that_may_not_be_seen_are_unseen(tmp_path: Path) -> None:
    files = stat(70, 1, 70)
    del files["proc/70/fd/"]
    tree = read(tmp_path, files, {"proc/70/fd": "an error when it is listed\n"})
    assert isinstance(tree.open_files, Unseen)
    assert tree.processes == 1


def test_a_process_without_descriptors_has_just_ended(tmp_path: Path) -> None:
    files = stat(71, 70, 70)
    del files["proc/71/fd/"]
    assert read(tmp_path, stat(70, 1, 70), files).open_files == 0


@pytest.mark.parametrize("leader", [Identity(70, 1), Identity(99, 9099)])
def test_a_leader_that_is_another_one_has_ended(tmp_path: Path, leader: Identity) -> None:
    assert isinstance(read_tree(leader, plant(tmp_path, stat(70, 1, 70))), Absent)


def test_with_psutil_a_leader_that_is_another_one_has_ended(family: Identity) -> None:
    assert isinstance(process_tree.read_tree(family._replace(start_ticks=1)), Absent)


def test_without_proc_nothing_is_known(tmp_path: Path) -> None:
    assert isinstance(read_tree(LEADER, str(tmp_path)), Unseen)


@pytest.fixture
def family() -> Iterator[Identity]:
    """A real process with four threads and 32 MiB, in a session of its own, and its child."""
    words = [sys.executable, "-c", FAMILY]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as leader:
        assert leader.stdout is not None
        assert leader.stdout.readline() == "here\n"
        entry = look_up(leader.pid)
        assert entry is not None
        yield entry.identity
        leader.communicate()


@pytest.mark.parametrize("reader", [read_tree, process_tree.read_tree], ids=["proc", "psutil"])
def test_a_real_tree_is_read_whole(family: Identity, reader: Callable[[Identity], Maybe[Tree]]) -> None:
    tree = reader(family)
    assert isinstance(tree, Tree)
    assert (tree.processes, tree.threads, tree.held) == (2, 5, ())
    assert family.pid == tree.biggest[0].pid
    assert 32 << 20 <= tree.biggest[0].rss_bytes <= tree.rss_bytes
    assert isinstance(tree.open_files, int)
    assert len(os.listdir(f"/proc/{family.pid}/fd")) < tree.open_files
