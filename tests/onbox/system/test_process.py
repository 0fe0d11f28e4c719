"""Processes: told apart for ever, found wherever they went, ended whole."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.system.process import (
    BOOT_ID_FILE,
    Files,
    Identity,
    ProcessEntry,
    boot_id,
    end_tree,
    find_tree,
    has_variable,
    high_pipe,
    holder_of,
    is_alive,
    look_up,
    nameless_file,
    parse_stat,
    process_table,
    send_signal,
    start_detached,
    wait_for_ends,
)
from tests.box import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

REST = "S 10 20 30 0 -1 4194304 1 2 3 4 50 6 7 8 20 0 1 0 9876 1000 100"
FORK_TWICE = """
import os, sys
if os.fork():
    os.wait()
    sys.exit()
os.setsid()
if os.fork():
    os._exit(0)
os.execv("/bin/sleep", ["sleep", "600"])
"""
END_WHEN_ASKED = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
print(1, flush=True)
print(int(signal.sigwait([signal.SIGTERM])), flush=True)
"""


class Family:
    """Processes that carry a variable of their own, and what is left of them at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variable = f"ONBOX_FAMILY={folder}"
        self.assignment = self.variable.encode()
        self.children: list[int] = []

    @property
    def env(self) -> Mapping[str, str]:
        name, _, value = self.variable.partition("=")
        return {**os.environ, name: value}

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> Identity:
        pid = start_detached(words, self.env if env is None else env, Files(output=str(self.folder / "out")))
        self.children.append(pid)
        entry = look_up(pid)
        assert entry is not None
        return entry.identity

    def sleeper(self, env: Mapping[str, str] | None = None) -> Identity:
        return self.start("/bin/sleep", "600", env=env)

    def said(self) -> list[int]:
        """The numbers that its processes have printed."""
        return [int(word) for word in (self.folder / "out").read_text().split()]

    def end(self) -> None:
        end_tree(None, self.assignment, 0.0)
        for pid in self.children:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                continue


@pytest.fixture
def family(tmp_path: Path) -> Iterator[Family]:
    made = Family(tmp_path)
    yield made
    made.end()


def pids(entries: list[ProcessEntry]) -> list[int]:
    return [entry.identity.pid for entry in entries]


# -- telling processes apart


@pytest.mark.parametrize("name", ["python", "two words", "a) S 1 2", "((", "))", "", "a\nb", "\udcff"])
def test_a_hostile_process_name_is_only_a_name(name: str) -> None:
    text = f"77 ({name}) {REST}\n".encode("utf-8", "surrogateescape")
    entry = parse_stat(text)
    assert entry is not None
    wanted = ProcessEntry(Identity(77, 9876), 10, 20, 30, is_zombie=False, state="S", cpu_ticks=56)
    assert wanted[:7] == entry[:7]


@pytest.mark.parametrize(("zombie", "state"), [(False, "R"), (False, "D"), (False, "T"), (True, "Z"), (True, "X")])
def test_a_zombie_has_ended(state: str, *, zombie: bool) -> None:
    entry = parse_stat(f"77 (x) {state}{REST[1:]}".encode())
    assert entry is not None
    assert (zombie, state) == (entry.is_zombie, entry.state)


@pytest.mark.parametrize("text", [b"", b"\n", b"77", b"77 (x)", b"77 (x) S 1 2 3", b"x (x) S" + b" 1" * 30, b"\0" * 50])
def test_what_is_no_stat_line_is_none(text: bytes) -> None:
    assert parse_stat(text) is None


def test_this_process_is_looked_up() -> None:
    entry = look_up(os.getpid())
    assert entry is not None
    assert (os.getpid(), os.getppid(), os.getpgrp(), os.getsid(0)) == (
        entry.identity.pid,
        entry.parent,
        entry.group,
        entry.session,
    )
    assert is_alive(entry.identity)


def test_a_later_process_of_the_same_pid_is_another_one(family: Family) -> None:
    alive = family.sleeper()
    assert is_alive(alive)
    assert not is_alive(alive._replace(start_ticks=alive.start_ticks - 1))


def test_an_ended_process_is_not_alive_even_unwaited_for(family: Family) -> None:
    ended = family.start("/bin/true")
    assert wait_for_ends([ended], 30.0)
    assert not is_alive(ended)
    assert look_up(ended.pid) is not None


def make_proc(root: Path, stats: Mapping[int, str]) -> str:
    """A fake /proc below `root`."""
    (root / os.path.dirname(BOOT_ID_FILE)).mkdir(parents=True)
    (root / BOOT_ID_FILE).write_text("779b4df6-635f\n")
    for pid, text in stats.items():
        (root / "proc" / str(pid)).mkdir()
        (root / "proc" / str(pid) / "stat").write_text(text)
    return str(root)


def test_another_root_has_its_own_boot_and_processes(tmp_path: Path) -> None:
    root = make_proc(tmp_path, {77: f"77 (a b) {REST}", 78: "garbage", 79: ""})
    assert boot_id(root) == "779b4df6-635f"
    assert pids(list(process_table(root))) == [77]
    assert is_alive(Identity(77, 9876), root)
    assert not is_alive(Identity(77, 1), root)
    assert look_up(80, root) is None


def test_a_missing_proc_tells_nothing(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert (boot_id(root), look_up(1, root), has_variable(1, b"A=1", root)) == (None, None, False)
    assert holder_of(1, 9, root, root) is None


def test_the_boot_is_known_here() -> None:
    assert boot_id()
    assert boot_id() == boot_id()


def test_a_holder_has_the_file_open(tmp_path: Path, family: Family) -> None:
    path, other = str(tmp_path / "slot"), str(tmp_path / "other")
    fd, other_fd = os.open(path, os.O_RDWR | os.O_CREAT), os.open(other, os.O_RDWR | os.O_CREAT)
    try:
        me, stranger = look_up(os.getpid()), family.sleeper()
        assert me is not None
        assert me.identity == holder_of(os.getpid(), fd, path)
        assert holder_of(os.getpid(), other_fd, path) is None
        assert holder_of(os.getpid(), 4000, path) is None
        wait_until(lambda: holder_of(stranger.pid, fd, path) is None, "the stranger to have closed our files")
        assert holder_of(os.getpid(), fd, path + ".gone") is None
        os.unlink(path)
        assert holder_of(os.getpid(), fd, path) is None
    finally:
        os.close(fd)
        os.close(other_fd)


@pytest.mark.parametrize(("found", "change"), [(True, ""), (False, "x")])
def test_a_variable_is_seen_only_whole(family: Family, change: str, *, found: bool) -> None:
    child = family.sleeper()
    wait_until(lambda: has_variable(child.pid, family.assignment), "the child to be itself")
    assert found is has_variable(child.pid, family.assignment + change.encode())


# -- finding a tree


def test_a_child_that_left_session_and_parent_is_found(family: Family) -> None:
    parent = family.start(sys.executable, "-I", "-S", "-c", FORK_TWICE)
    os.waitpid(parent.pid, 0)
    (orphan,) = wait_until(lambda: find_tree(parent, family.assignment), "the orphan to be found by its variable")
    assert orphan.parent != parent.pid
    assert orphan.session not in (parent.pid, os.getsid(0))


def test_a_descendant_without_the_variable_is_found(family: Family) -> None:
    script = "env -i setsid sleep 600 & echo $! $$; wait"
    family.start("/bin/sh", "-c", script)
    wait_until(lambda: len(family.said()) == 2, "the child to be named")
    assert sorted(family.said()) == pids(find_tree(None, family.assignment))


def test_the_leaders_session_is_found_without_variable(family: Family) -> None:
    bare = {"PATH": os.environ["PATH"]}
    leader = family.start("/bin/sh", "-c", "(sleep 600 & echo $!); echo $$; exec sleep 600", env=bare)
    wait_until(lambda: len(family.said()) == 2, "the child to be named")
    assert sorted(family.said()) == pids(find_tree(leader, family.assignment))
    for pid in family.said():
        if pid != leader.pid:
            os.kill(pid, signal.SIGKILL)


def test_a_stranger_on_the_leaders_pid_is_not_found(family: Family) -> None:
    stranger = family.sleeper(env={"PATH": os.environ["PATH"]})
    recorded = stranger._replace(start_ticks=stranger.start_ticks - 1)
    assert find_tree(recorded, family.assignment) == []
    assert end_tree(recorded, family.assignment, 0.0) == []
    assert is_alive(stranger)


def test_a_stranger_on_a_recorded_pid_is_not_signalled(family: Family) -> None:
    stranger = family.sleeper()
    entry = look_up(stranger.pid)
    assert entry is not None
    send_signal([entry._replace(identity=stranger._replace(start_ticks=1))], signal.SIGKILL)
    assert is_alive(stranger)
    send_signal([entry], signal.SIGKILL)
    assert wait_for_ends([stranger], 30.0)


def test_nobody_finds_himself_or_those_above() -> None:
    me = look_up(os.getpid())
    assert me is not None
    environ = b"PATH=" + os.environb[b"PATH"]
    found = pids(find_tree(me.identity, environ))
    assert os.getpid() not in found
    assert os.getppid() not in found
    assert 1 not in found


def test_without_such_processes_nothing_is_found(family: Family) -> None:
    assert find_tree(None, family.assignment) == []
    assert end_tree(None, family.assignment, 30.0) == []


# -- ending it


def test_a_tree_ends_when_asked(family: Family) -> None:
    leader = family.start(sys.executable, "-I", "-S", "-c", END_WHEN_ASKED)
    wait_until(lambda: family.said() == [1], "the program to wait for its signal")
    assert end_tree(leader, family.assignment, 30.0) == []
    assert (family.said(), find_tree(None, family.assignment)) == ([1, 15], [])


def test_a_tree_that_ignores_being_asked_is_killed(family: Family) -> None:
    leader = family.start("/bin/sh", "-c", "trap '' TERM; sleep 600 & echo $!; wait")
    wait_until(lambda: len(family.said()) == 1, "the trap to be set")
    assert end_tree(leader, family.assignment, 0.05) == []
    assert not is_alive(leader)


def test_a_stopped_tree_is_ended(family: Family) -> None:
    leader = family.sleeper()
    os.kill(leader.pid, signal.SIGSTOP)
    assert end_tree(leader, family.assignment, 30.0) == []
    assert os.WTERMSIG(os.waitpid(leader.pid, 0)[1]) == signal.SIGTERM


def test_waiting_ends_when_urged(family: Family) -> None:
    leader = family.sleeper()
    assert not wait_for_ends([leader], 600.0, urged=lambda: True)
    assert not wait_for_ends([leader], 0.0)
    assert wait_for_ends([leader._replace(start_ticks=1)], 600.0)
    assert wait_for_ends([], 0.0)


def test_waiting_is_woken_by_a_descriptor(family: Family) -> None:
    leader = family.sleeper()
    reading, writing = high_pipe()
    asked: list[bool] = []

    def urged() -> bool:
        os.write(writing, b".")
        asked.append(True)
        return len(asked) > 1

    try:
        assert not wait_for_ends([leader], 600.0, wake_fd=reading, urged=urged)
    finally:
        os.close(reading)
        os.close(writing)


# -- starting


def test_a_started_program_is_on_its_own(family: Family) -> None:
    child = family.start("/bin/sh", "-c", 'echo $$; read -r line < /proc/$$/stat; set -- $line; echo "$5" "$6"')
    os.waitpid(child.pid, 0)
    assert [child.pid] * 3 == family.said()


def test_no_ignored_signal_leaks_into_a_program(family: Family) -> None:
    child = family.start("/bin/sh", "-c", "grep -E '^Sig(Ign|Blk)' /proc/self/status | cut -f2")
    os.waitpid(child.pid, 0)
    masks = [int(word, 16) for word in (family.folder / "out").read_text().split()]
    ours = sum(1 << (number - 1) for number in signal.valid_signals())  # 32 and 33 are the C library's own
    assert [mask & ours for mask in masks] == [0, 0]


def test_a_missing_program_raises(family: Family) -> None:
    with pytest.raises(FileNotFoundError):
        start_detached(["/no/such/program"], {}, Files())


def test_a_nameless_file_where_the_kernel_has_none_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError("not here")

    monkeypatch.setattr(os, "memfd_create", refuse)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    fd = nameless_file(b"echo hello\n")
    try:
        assert os.pread(fd, 100, 0) == b"echo hello\n"
        assert not list(tmp_path.iterdir())
    finally:
        os.close(fd)
