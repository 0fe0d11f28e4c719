"""Real full disks and exhausted inodes on a small tmpfs: never a false DONE, and with room again the job finishes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from patrol.decide.table import BOX_FLAGS
from tests.box import Box, wait_until
from tests.fault_server import FaultServer
from tests.patrolled import PATROL, TRAIN, Patrolled, patrolled
from tests.saved import failed_run

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.root


class SmallDisk:
    """A tmpfs whose room and inodes can be taken away and given back."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", os.fspath(self.path)], check=True)

    def take_inodes(self) -> None:
        wait_until(self._take_inodes, "a moment in which nobody makes a file between the look and the limit")

    def _take_inodes(self) -> bool:
        seen = os.statvfs(self.path)
        try:
            self.remount(f"nr_inodes={seen.f_files - seen.f_ffree}")
        except subprocess.CalledProcessError:  # a file was made meanwhile: fewer than are in use are refused
            return False
        return True

    def give_inodes(self) -> None:
        self.remount("nr_inodes=4096")

    def take_bytes(self) -> None:
        fd = os.open(self.path / "filler", os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(fd, b"x" * 4096)
        except OSError:
            return
        finally:
            os.close(fd)

    def give_bytes(self) -> None:
        (self.path / "filler").unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    path = tmp_path / "small"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m,nr_inodes=4096", "onbox-test", os.fspath(path)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs root and mounts")
    yield SmallDisk(path)
    subprocess.run(["umount", "-l", os.fspath(path)], check=True)


@pytest.fixture
def small_box(disk: SmallDisk, tmp_path: Path) -> Iterator[Box]:
    """A project on the small disk; what its stages tell goes to `tmp_path`, which has room."""
    project = disk.path / "digits"
    project.mkdir()
    made = Box(project)
    made.env["TOLD"] = os.fspath(tmp_path / "told")
    made.env["GO"] = os.fspath(tmp_path / "go")
    yield made
    made.end_everything()


def told(box: Box) -> list[str]:
    path = Path(box.env["TOLD"])
    return path.read_text().split() if path.exists() else []


STAGES = (
    "train=echo train >>$TOLD; until test -e $GO; do sleep 0.02; done",
    "eval=echo eval >>$TOLD",
)


@pytest.mark.parametrize("kind", ["inodes", "bytes"])
def test_a_marker_lands_on_a_full_disk_and_nothing_is_repeated(small_box: Box, disk: SmallDisk, kind: str) -> None:
    """The disk fills while the stage runs. Its marker's place was reserved; the next stage cannot be started."""
    chain = small_box.start("chain", *STAGES)
    wait_until(lambda: told(small_box) == ["train"], "the stage to begin")
    getattr(disk, f"take_{kind}")()
    Path(small_box.env["GO"]).touch()
    shown = chain.communicate(timeout=60)[0]
    assert chain.returncode == 74
    assert "No space left" in shown
    assert told(small_box) == ["train"]
    assert "train_DONE" in small_box.markers or kind == "bytes"  # which the journal's line may lack
    assert "eval_DONE" not in small_box.markers
    assert "CHAIN_DONE" not in small_box.markers
    assert f"0 of {os.statvfs(disk.path).f_files} inodes free" in shown or kind == "bytes"
    now = small_box.status()
    assert now["step"] == {"bytes": "disk-full-now", "inodes": "inodes-gone-now"}[kind]
    assert now["warnings"][-1].startswith(f"{small_box.state}: its disk has only ")
    assert "NO ROOM" in small_box.onbox("resume", "--dry-run").stdout
    getattr(disk, f"give_{kind}")()
    assert small_box.status()["step"] in ("stage-not-begun", "stage-not-judged")
    assert small_box.onbox("resume").returncode == 0
    assert told(small_box) == ["train", "eval"]
    assert small_box.markers == ["CHAIN_DONE", "eval_DONE", "train_DONE"]


@pytest.mark.parametrize("kind", ["inodes", "bytes"])
def test_a_full_disk_at_the_start_starts_nothing(small_box: Box, disk: SmallDisk, kind: str) -> None:
    getattr(disk, f"take_{kind}")()
    Path(small_box.env["GO"]).touch()
    refused = small_box.onbox("chain", *STAGES)
    assert refused.returncode == 74
    assert "No space left" in refused.stderr + refused.stdout
    assert ("make room, then repeat the command" in refused.stderr) != (small_box.state / "run.json").exists()
    assert told(small_box) == []
    getattr(disk, f"give_{kind}")()
    assert small_box.onbox("chain", *STAGES).returncode == 0
    assert told(small_box) == ["train", "eval"]


def test_a_stage_that_fills_the_disk_fails_and_can_go_on(small_box: Box, disk: SmallDisk) -> None:
    line = "test $ONBOX_RESUME = 1 || dd if=/dev/zero of=ckpt.bin bs=4096 2>&1; echo saved >>$TOLD"
    assert small_box.onbox("chain", f"train={line}", "eval=echo eval >>$TOLD").returncode in (1, 74)
    assert told(small_box) == []
    assert "train_DONE" not in small_box.markers
    (small_box.project / "ckpt.bin").unlink()
    assert small_box.onbox("chain", f"train={line}", "eval=echo eval >>$TOLD").returncode == 0
    assert told(small_box) == ["saved", "eval"]


def test_a_resume_after_one_that_found_no_room_tries_again(small_box: Box, disk: SmallDisk) -> None:
    """On the full disk neither the attempt's last words nor the records of its end could be written."""
    line = "echo step 1/2 && dd if=/dev/zero of=new.bin bs=4096 count=1100 2>&1 && echo saved >>$TOLD"
    assert small_box.onbox("chain", f"train={line}").returncode == 1
    disk.take_bytes()
    refused = small_box.onbox("resume")
    assert (refused.returncode, "make room, then: onbox resume digits\n" in refused.stderr) == (74, True), refused
    assert small_box.onbox("resume").returncode == 74
    disk.remount("size=64m")
    resumed = small_box.onbox("resume")
    assert (resumed.returncode, told(small_box)) == (0, ["saved"]), resumed.stdout


def test_a_sweep_that_found_no_room_at_its_start_is_begun_by_the_same_command(small_box: Box, disk: SmallDisk) -> None:
    words = ("sweep", "n=1,2", "--", "echo {n} >>$TOLD")
    disk.take_bytes()
    refused = small_box.onbox(*words)
    assert (refused.returncode, "make room, then repeat the command\n" in refused.stderr) == (74, True), refused
    disk.give_bytes()
    assert small_box.onbox(*words).returncode == 0
    assert told(small_box) == ["1", "2"]


@pytest.mark.parametrize("kind", ["inodes", "bytes"])
def test_a_sweep_waits_for_room_and_loses_no_cell(small_box: Box, disk: SmallDisk, kind: str) -> None:
    """The disk fills while two cells run: no third one starts, and with room again all of them end well."""
    sweep = Box(small_box.project, "sweep")
    sweep.env = small_box.env
    line = "echo {n} >>$TOLD; until test -e $GO; do sleep 0.02; done"
    assert sweep.onbox("sweep", "-d", "-j", "2", "n=1..4", "--", line).returncode == 0
    wait_until(lambda: sorted(told(sweep)) == ["1", "2"], "two cells to begin")
    getattr(disk, f"take_{kind}")()
    Path(sweep.env["GO"]).touch()
    wait_until(lambda: len(sweep.processes()) == 1, "the cells to end, and the sweep to wait")
    assert sorted(told(sweep)) == ["1", "2"]
    assert "SWEEP_DONE" not in sweep.markers
    getattr(disk, f"give_{kind}")()
    os.kill(sweep.runner_pid(), signal.SIGUSR1)  # or within half a minute
    wait_until(lambda: "CHAIN_DONE" in sweep.markers, "the end of the sweep")
    assert sorted(told(sweep)) == ["1", "2", "3", "4"]


@pytest.mark.parametrize("inodes_left", range(1, 24, 2))
def test_no_number_of_inodes_leads_to_a_false_done(small_box: Box, disk: SmallDisk, inodes_left: int) -> None:
    """Inodes run out at another step each time."""
    Path(small_box.env["GO"]).touch()
    seen = os.statvfs(disk.path)
    disk.remount(f"nr_inodes={seen.f_files - seen.f_ffree + inodes_left}")
    code = small_box.onbox("chain", *STAGES).returncode
    assert code in (0, 74)
    done = [name for name in ("train", "eval") if f"{name}_DONE" in small_box.markers]
    assert set(done) <= set(told(small_box))
    disk.give_inodes()
    assert small_box.onbox("chain", *STAGES).returncode == 0
    assert told(small_box) == ["train", "eval"]


def test_notices_that_found_no_inode_are_not_lost(small_box: Box, disk: SmallDisk) -> None:
    server = FaultServer()
    small_box.env["HOOK"] = server.url()
    notify = "[notify]\nurls = ['env:HOOK']\non = ['stage_done', 'chain_done']\n"
    line = "'until test -e $GO; do sleep 0.02; done'"
    (small_box.project / "onbox.toml").write_text(f"[stages.a]\ncmd = {line}\n[stages.b]\ncmd = 'true'\n{notify}")
    chain = small_box.start("chain")
    small_box.wait_for_event("attempt_started")
    disk.take_inodes()
    Path(small_box.env["GO"]).touch()
    assert chain.wait(60) == 74, "there is no room for the second stage"
    assert server.received == []
    disk.give_inodes()
    assert small_box.onbox("resume").returncode == 0
    wait_until(lambda: len(server.acknowledged) >= 3, "delivery")
    told_of = [(one.json()["data"]["event"], one.json()["data"].get("stage")) for one in server.acknowledged]
    assert told_of == [("stage_done", "a"), ("stage_done", "b"), ("chain_done", None)]
    server.close()


@pytest.mark.parametrize("short_of", ["bytes", "inodes"])
def test_a_full_disk_is_pruned(small_box: Box, disk: SmallDisk, short_of: str) -> None:
    """That is what it is for: neither its lock nor its record may need room that is not there."""
    box = failed_run(small_box, (1, 2, 3, 4))
    take = disk.take_bytes if short_of == "bytes" else disk.take_inodes
    take()
    word = json.loads(box.onbox("prune", "--keep", "2", "--json").stdout)["word"]
    done = box.onbox("prune", "--keep", "2", "--yes", word)
    assert (done.returncode, done.stdout[:21]) == (0, "removed 2 checkpoints"), done.stderr
    assert sorted(path.name for path in (box.project / "ckpt").iterdir()) == ["step-3", "step-4"]
    assert json.loads(box.onbox("prune", "--keep", "2", "--json").stdout)["begun"] == []


def test_a_read_only_disk_is_told_in_one_line(small_box: Box, disk: SmallDisk) -> None:
    box = failed_run(small_box, (1, 2, 3, 4))
    disk.remount("ro")
    word = json.loads(box.onbox("prune", "--keep", "2", "--json").stdout)["word"]
    done = box.onbox("prune", "--keep", "2", "--yes", word)
    disk.remount("rw")
    assert (done.returncode, len(done.stderr.splitlines())) == (74, 1)
    assert "Read-only file system" in done.stderr
    assert len(list((box.project / "ckpt").iterdir())) == 4


# -- the disk of the machine that patrols


@pytest.fixture
def patrolling(disk: SmallDisk, tmp_path: Path, server: FaultServer) -> Iterator[Patrolled]:
    """Its state lies on the small disk, its boxes do not."""
    with patrolled(tmp_path) as made:
        made.head = "[notify]\nurls = ['file:url']\n"
        (made.local / "url").write_text(server.url())
        made.env["XDG_STATE_HOME"] = os.fspath(disk.path / "state")
        yield made


def messages(server: FaultServer) -> list[tuple[str, str]]:
    return [(one.json()["data"]["event"], one.json()["data"]["run"]) for one in server.acknowledged]


def test_people_are_told_once_though_the_disk_here_is_full(
    patrolling: Patrolled, disk: SmallDisk, server: FaultServer
) -> None:
    box, away = patrolling.add_box("gpu1"), patrolling.add_box("gpu2")
    for one in (box, away):
        assert one.onbox("chain", "-d", "--launch-check", "0.2", "--run", one.run, TRAIN).returncode in (0, 1)
        one.wait_for_log("step 1/100")

    def look() -> str:
        return patrolling.patrol("tick", "--unattended").stderr

    look()
    disk.take_bytes()
    box.end_everything()
    patrolling.tables["gpu2"] = patrolling.tables["gpu2"].replace('host = "gpu2"', 'host = "nobody@127.0.0.1:1"')
    patrolling.write()
    said = [look() for _ in range(4)]
    assert sorted(messages(server)) == [("patrol_trouble", "gpu1/digits"), ("patrol_trouble", "gpu2/digits")]
    assert any("went out straight from memory" in text for text in said), said
    assert all("No space left on device" in text for text in said), said
    assert box.onbox("resume", "-d", "--launch-check", "0.2").returncode in (0, 1)
    look()
    assert messages(server)[2:] == [("patrol_recovered", "gpu1/digits")]
    disk.give_bytes()
    assert "No space" not in look()
    box.end_everything()
    for _ in range(3):
        look()
    assert messages(server)[3:] == [("patrol_trouble", "gpu1/digits")], "by the outbox again, and nothing twice"


@pytest.mark.parametrize("trouble", ["read-only", "full before the first tick"])
def test_people_are_told_once_though_nothing_can_be_written_here(
    patrolling: Patrolled, disk: SmallDisk, server: FaultServer, trouble: str
) -> None:
    """Each tick says what it sees into a log on the same disk."""
    box = patrolling.add_box("gpu1")
    assert box.onbox("chain", "-d", "--launch-check", "0.2", "--run", box.run, TRAIN).returncode in (0, 1)
    box.wait_for_log("step 1/100")

    def look() -> str:
        with open("/dev/full", "w") as log:
            command = [*PATROL, "tick", "--unattended"]
            done = subprocess.run(
                command, env=patrolling.env, cwd=patrolling.local, stdout=log, stderr=subprocess.PIPE, check=False
            )
        return done.stderr.decode()

    if trouble == "read-only":
        look()
        disk.remount("ro")
    else:
        disk.take_bytes()
    look()
    box.end_everything()
    said = [look() for _ in range(4)]
    assert messages(server) == [("patrol_trouble", "gpu1/digits")], said
    assert all("the patrol's own folder cannot be used" in text for text in said), said
    disk.remount("rw") if trouble == "read-only" else disk.give_bytes()
    for _ in range(2):
        assert "cannot be used" not in look()
    assert messages(server) == [("patrol_trouble", "gpu1/digits")], "what was told is known here again"
    assert box.onbox("resume", "-d", "--launch-check", "0.2").returncode in (0, 1)
    look()
    assert messages(server)[1:] == [("patrol_recovered", "gpu1/digits")]


def test_a_receiver_that_is_down_while_the_disk_here_is_full_gets_it_later_once(
    patrolling: Patrolled, disk: SmallDisk, server: FaultServer
) -> None:
    box = patrolling.add_box("gpu1")
    assert box.onbox("chain", "-d", "--launch-check", "0.2", "--run", box.run, TRAIN).returncode in (0, 1)
    box.wait_for_log("step 1/100")
    patrolling.patrol("tick", "--unattended")
    (patrolling.local / "url").write_text(server.url("500"))
    box.end_everything()
    assert "not told yet" not in patrolling.patrol("tick", "--unattended").stderr, "one look alone proves nothing"
    disk.take_bytes()
    for _ in range(2):
        assert "is not told yet (HTTP 500" in patrolling.patrol("tick", "--unattended").stderr
    (patrolling.local / "url").write_text(server.url())
    for _ in range(2):
        patrolling.patrol("tick", "--unattended")
    disk.give_bytes()
    patrolling.patrol("tick", "--unattended")
    assert messages(server) == [("patrol_trouble", "gpu1/digits")]


@pytest.mark.parametrize("has_room", [True, False])
def test_a_full_disk_of_a_box_is_one_message(
    tmp_path: Path, disk: SmallDisk, server: FaultServer, *, has_room: bool
) -> None:
    """The box tells it in room that it took before; where that is gone, too, the patrol does."""
    (tmp_path / "boxes").mkdir()
    (tmp_path / "boxes" / "gpu1").symlink_to(disk.path)
    notify = "[notify]\nurls = ['file:url']\n"
    with patrolled(tmp_path) as place:
        box = place.add_box("gpu1")
        for folder in (place.local, box.project):
            (folder / "url").write_text(server.url())
        quiet = "".join(
            f"[[patrol.rules]]\nname = '{rule.name}'\nenabled = false\n"
            for rule in BOX_FLAGS
            if "disk" not in rule.name
        )
        (place.local / "onbox.toml").write_text(f"{notify}{quiet}{place.tables['gpu1']}")
        line = "until test -e go; do echo step 1/100; sleep 0.1; done; cat /dev/zero >big"
        (box.project / "onbox.toml").write_text(f"[stages.train]\ncmd = {json.dumps(line)}\n{notify}")
        assert box.onbox("chain", "-d", "--launch-check", "0.2").returncode in (0, 1)
        box.wait_for_log("step 1/100")
        place.patrol("tick", "--unattended")
        wait_until((box.state / "outbox" / ".room").exists, "the room that the box takes")
        if not has_room:
            (box.state / "outbox" / ".room").unlink()
        (box.project / "go").touch()
        wait_until(lambda box=box: "CHAIN_FAILED" in box.markers, "its end")  # type: ignore[misc]
        if has_room:
            wait_until(lambda: server.acknowledged, "the box's own word")
        for _ in range(4):
            assert "disk_full" in place.patrol("tick", "--unattended").stdout
        assert [event for event, _ in messages(server)] == ["stage_failed" if has_room else "patrol_trouble"]
