"""OOM kills: the change of the right counters, and never a 0 that nobody counted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from onbox.collectors.groups import ControlGroup, find_group
from onbox.collectors.oom import KillWatch, count_kills
from onbox.contract.readings import Absent, Unseen
from tests.box import wait_until
from tests.trees import plant, process, v1_mount

if TYPE_CHECKING:
    from collections.abc import Iterator

HUNGRY = "b = []\nwhile True: b.append(bytearray(1 << 20))"


class Groups:
    """Groups below a folder, with a counter each. own: where the runner stands."""

    def __init__(self, folder: Path, version: int, own: str = "own") -> None:
        self.folder, self.version, self.own = folder, version, own
        self.set(own, 0)

    def set(self, name: str, kills: int) -> None:
        name_of = "memory.oom_control" if self.version == 1 else "memory.events"
        plant(self.folder, {f"{name}/{name_of}": f"oom 99\nunder_oom 0\noom_kill {kills}\noom_group_kill 99\n"})

    def remove(self, name: str) -> None:
        for file in (self.folder / name).iterdir():
            file.unlink()
        (self.folder / name).rmdir()

    @property
    def group(self) -> ControlGroup:
        return ControlGroup(self.version, (str(self.folder / self.own), str(self.folder)))

    def watch(self) -> KillWatch:
        return KillWatch(self.group, count_kills(self.group))


@pytest.fixture(params=[1, 2])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Groups:
    return Groups(tmp_path, request.param)


@pytest.fixture
def v1(tmp_path: Path) -> Groups:
    return Groups(tmp_path, 1)


@pytest.fixture
def v2(tmp_path: Path) -> Groups:
    return Groups(tmp_path, 2)


# -- what counts


def test_kills_before_the_attempt_are_not_counted(either: Groups) -> None:
    either.set("own", 7)
    watch = either.watch()
    assert watch.delta() == 0
    either.set("own", 9)
    assert watch.delta() == 2
    assert watch.delta() == 2


def test_v1_adds_up_groups_from_before_and_new_ones(v1: Groups) -> None:
    v1.set("own/old", 5)
    v1.set("own/old/deep", 1)
    watch = v1.watch()
    v1.set("own/old", 6)
    v1.set("own/old/deep", 3)
    v1.set("own/new", 4)
    v1.set("beside", 50)
    assert watch.delta() == 1 + 2 + 4


def test_v2_counts_the_subtree_itself(v2: Groups) -> None:
    watch = v2.watch()
    v2.set("own/new", 4)
    v2.set("own", 4)
    assert watch.delta() == 4


def test_a_counter_that_shrank_is_a_new_groups(v1: Groups) -> None:
    v1.set("own/job", 5)
    watch = v1.watch()
    v1.set("own/job", 2)
    assert watch.delta() == 2


def test_a_group_removed_after_its_kill_still_counts(v1: Groups) -> None:
    watch = v1.watch()
    v1.set("own/job", 1)
    assert watch.delta() == 1
    v1.remove("own/job")
    assert watch.delta() == 1


def test_at_the_machines_root_strangers_are_not_counted(v1: Groups) -> None:
    plant(v1.folder, {"own/release_agent": "\n"})
    watch = v1.watch()
    v1.set("own/stranger", 3)
    assert watch.delta() == 0
    v1.set("own", 1)
    assert watch.delta() == 1


def test_more_groups_than_a_job_has_stay_bounded(v1: Groups) -> None:
    for number in range(200):
        v1.set(f"own/{number}", 1)
    assert len(count_kills(v1.group)) <= 65


# -- nothing counted is not zero


def test_a_kernel_without_the_counter_is_unseen(tmp_path: Path) -> None:
    plant(tmp_path, {"own/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\n"})
    group = ControlGroup(1, (str(tmp_path / "own"),))
    assert count_kills(group) == {}
    assert isinstance(KillWatch(group, count_kills(group)).delta(), Unseen)


def test_without_a_baseline_old_kills_are_not_told_as_new(either: Groups) -> None:
    either.set("own", 7)
    assert isinstance(KillWatch(either.group, None).delta(), Unseen)
    assert isinstance(KillWatch(either.group, {}).delta(), Unseen)


@pytest.mark.parametrize("why", [Absent("not mounted"), Unseen("no proc")])
def test_without_a_group_the_reason_is_told(why: Absent | Unseen) -> None:
    delta = KillWatch(why, None).delta()
    assert isinstance(delta, Unseen)
    assert why.why in delta.why


def test_a_counter_that_is_gone_is_unseen_unless_it_rose(either: Groups) -> None:
    quiet, rising = either.watch(), either.watch()
    either.set("own", 2)
    assert rising.delta() == 2
    either.remove("own")
    assert isinstance(quiet.delta(), Unseen)
    assert rising.delta() == 2


def test_a_runner_from_another_session_counts_the_first_one(either: Groups) -> None:
    """The runner that began the attempt stood in own; the one that takes over stands elsewhere, with old kills."""
    baseline = count_kills(either.group)
    either.set("session-2", 30)
    either.set("own", 1)
    watch = KillWatch(either.group._replace(levels=(str(either.folder / "session-2"),)), baseline)
    assert watch.delta() == 1


# -- processes that moved


def test_a_process_that_moved_elsewhere_brings_its_group(tmp_path: Path) -> None:
    tree = Groups(tmp_path / "sys/fs/cgroup/memory", 1)
    tree.set("job", 5)
    root = plant(tmp_path, process("4:memory:/job\n", v1_mount("memory"), "77"))
    watch = KillWatch(tree.group, count_kills(tree.group), root)
    watch.look_at([77, 78])
    assert watch.delta() == 0
    tree.set("job", 7)
    tree.set("job/below", 1)
    watch.look_at([77])
    assert watch.delta() == 3


# -- this machine


class RealGroups:
    """Real v1 groups below a fresh one of this process's."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.made = [top]

    @property
    def group(self) -> ControlGroup:
        return ControlGroup(1, (str(self.top),))

    def make(self, name: str) -> Path:
        made = self.top / name
        made.mkdir()
        self.made.append(made)
        return made

    def kill_one(self, folder: Path) -> None:
        """Let the kernel kill a process in there."""
        (folder / "memory.limit_in_bytes").write_text(str(16 << 20))
        words = ["/bin/sh", "-c", f'echo $$ >{folder}/cgroup.procs; exec "$0" -c "$1"', sys.executable, HUNGRY]
        assert subprocess.run(words, check=False, timeout=60).returncode == -signal.SIGKILL

    def remove(self, folder: Path) -> None:
        wait_until(lambda: not (folder / "cgroup.procs").read_text(), "the group to be empty")
        folder.rmdir()

    def end(self) -> None:
        for folder in reversed(self.made):
            with suppress(FileNotFoundError):
                self.remove(folder)


@pytest.fixture
def real() -> Iterator[RealGroups]:
    own = find_group("memory")
    if not isinstance(own, ControlGroup) or own.version != 1:
        pytest.skip("needs a memory cgroup (v1)")
    top = Path(own.own) / f"onbox-test-{uuid.uuid4().hex[:8]}"
    try:
        top.mkdir()
    except OSError:
        pytest.skip("needs the right to make memory cgroups")
    made = RealGroups(top)
    yield made
    made.end()


@pytest.mark.alone
@pytest.mark.root
def test_real_kills_count_from_the_attempts_beginning(real: RealGroups) -> None:
    before = real.make("before")
    real.kill_one(before)
    watch = KillWatch(real.group, count_kills(real.group))
    assert watch.delta() == 0
    real.kill_one(before)
    assert watch.delta() == 1
    real.kill_one(real.make("during"))
    assert watch.delta() == 2


@pytest.mark.alone
@pytest.mark.root
def test_a_real_kill_beside_is_not_ours(real: RealGroups) -> None:
    ours, theirs = real.make("ours"), real.make("theirs")
    group = ControlGroup(1, (str(ours), str(real.top)))
    watch = KillWatch(group, count_kills(group))
    real.kill_one(theirs)
    assert watch.delta() == 0


@pytest.mark.alone
@pytest.mark.root
def test_a_real_process_that_moved_is_followed(real: RealGroups) -> None:
    ours, other = real.make("ours"), real.make("other")
    real.kill_one(other)
    group = ControlGroup(1, (str(ours), str(real.top)))
    watch = KillWatch(group, count_kills(group))
    words = ["/bin/sh", "-c", f"echo $$ >{other}/cgroup.procs; echo here; read -r line"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "here\n"
        watch.look_at([child.pid, os.getpid()])
        child.communicate()
    assert watch.delta() == 0
    real.kill_one(other)
    assert watch.delta() == 1
