"""Runs that onbox did not start, and the box's own resources: real processes, and programs that answer as real ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.collectors.disk import NOT_COUNTED
from onbox.contract.readings import Absent, Unseen, observed
from onbox.model.boxes import BoxSettings, DeclaredCount, Watch
from patrol.probe.box import gpus as box_gpus
from patrol.probe.box import kernel as box_kernel
from patrol.probe.box import resources as box_resources
from patrol.probe.box import watch as box_watch
from patrol.probe.frames import MarkBlock, SectionPart
from patrol.snapshot import Artifacts, BoxLook, FileCount, RunLook
from tests.box import is_running, wait_until
from tests.patrol.probe.test_bounds import fake

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onbox.contract.readings import Maybe
    from patrol.snapshot import GpuLook
    from tests.patrol.probe.local_sh import LocalBox

MIB = 1 << 20


def run_of(box: LocalBox, watch: Watch, **more: object) -> RunLook:
    seen = box.look(BoxSettings("gpu1", "gpu1", watches=(watch,), **more))  # type: ignore[arg-type]
    assert not isinstance(seen.runs, Absent | Unseen)
    return seen.runs[0]


@pytest.fixture
def job(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A process that can be found by a word of its command line."""
    word = f"train-{tmp_path.name}.py"
    (tmp_path / word).write_text("import sys\nprint('up', flush=True)\nsys.stdin.read()\n")
    started = subprocess.Popen(
        [sys.executable, str(tmp_path / word), "--lr 0.1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert started.stdout
    started.stdout.readline()
    with started:
        yield started, word
        started.kill()


def test_a_process_is_found_by_its_pattern_and_seen_to_end(
    box: LocalBox, job: tuple[subprocess.Popen[bytes], str]
) -> None:
    started, word = job
    pattern = rf"python[0-9.]* .*{word} --lr [0-9.]+$|never (this"[: -len("|never (this")]
    assert run_of(box, Watch("w", process=pattern)).stage_alive is True
    assert box.memories.runs["w"].pids == (started.pid,)
    started.kill()
    wait_until(lambda: not is_running(started.pid), "it to be a zombie")
    assert run_of(box, Watch("w", process=pattern)).stage_alive is False
    started.wait()
    assert run_of(box, Watch("w", process=pattern)).stage_alive is False


def test_the_probe_never_takes_itself_or_an_onlooker_for_the_run(box: LocalBox, tmp_path: Path) -> None:
    word = f"nobody-{tmp_path.name}"
    (tmp_path / word).write_bytes(b"")
    with subprocess.Popen(["tail", "-f", str(tmp_path / word)]) as onlooker:
        assert run_of(box, Watch("w", process=word)).stage_alive is False
        assert run_of(box, Watch("w", process="sh -s")).stage_alive in (True, False)  # whoever else runs that
        onlooker.kill()


def test_a_project_of_the_home_directory_is_looked_at_whole(box: LocalBox, tmp_path: Path) -> None:
    (tmp_path / "digits").mkdir()
    (tmp_path / "digits" / "train.log").write_text("step 1/9\n")
    seen = box.look(BoxSettings("gpu1", "gpu1", project="~/digits", watches=(Watch("w", log="train.log"),)))
    assert not {name for name, _ in seen.sections_unseen} & {"run_disk", "runs", "log.0"}
    assert not isinstance(seen.disks, Absent | Unseen)


def test_another_projects_run_of_the_same_script_is_no_life_of_this_one(box: LocalBox, tmp_path: Path) -> None:
    """Told by the directory that it works in, and only after a run of this project was seen; a live log is believed."""
    script = f"train-{tmp_path.name}.py"
    folders = [tmp_path / "a 'b'", tmp_path / "other"]
    jobs = []
    for folder in folders:
        folder.mkdir()
        (folder / script).write_text("import sys\nsys.stdin.read()\n")
        words = [sys.executable, script]
        jobs.append(subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE))
    watch, log = Watch("w", process=script, log="train.log"), folders[0] / "train.log"
    log.write_text("step 1/9\n")
    try:
        wait_until(lambda: run_of(box, watch, project=str(folders[0])).stage_alive is True, "it to be seen")
        assert box.memories.runs["w"].pids == (jobs[0].pid,)
        jobs[0].kill()
        jobs[0].wait()
        assert run_of(box, watch, project=str(folders[0])).stage_alive is True, "its log was written just now"
        os.utime(log, (log.stat().st_mtime - 600,) * 2)
        assert run_of(box, watch, project=str(folders[0])).stage_alive is False
        box.forget()
        assert run_of(box, watch, project=str(folders[0])).stage_alive is True, "it may have been started elsewhere"
    finally:
        for job in jobs:
            job.kill()
            job.communicate()


def test_a_pattern_that_grep_refuses_is_unseen(box: LocalBox) -> None:
    assert isinstance(run_of(box, Watch("w", process="train(.py")).stage_alive, Unseen)


@pytest.mark.parametrize("pattern", ["--help", "a b'c\"d$(touch PWNED)", "-e"])
def test_a_hostile_pattern_is_only_a_pattern(box: LocalBox, tmp_path: Path, pattern: str) -> None:
    run_of(box, Watch("w", process=pattern, session=pattern, artifacts=(pattern,)))
    assert os.listdir(tmp_path) == []


def test_artifacts_are_counted_with_their_newest(box: LocalBox, tmp_path: Path) -> None:
    folder = tmp_path / "a b" / "ckpt"
    folder.mkdir(parents=True)
    for number in range(3):
        (folder / f"epoch {number}.npz").write_bytes(b"x" * 1000)
    (folder / "epoch 9.npz").mkdir()
    os.utime(folder / "epoch 1.npz", (0, 2_000_000_000))
    watch = Watch("w", artifacts=("ckpt/epoch*.npz", "none*"))
    seen = run_of(box, watch, project=str(tmp_path / "a b"))
    assert seen.artifacts == Artifacts(3, 3000, 0.0)
    none = run_of(box, Watch("w", artifacts=("none*",)), project=str(tmp_path / "a b")).artifacts
    assert none == Artifacts(0, 0, Absent("no such file"))


def test_files_are_counted_on_both_sides(box: LocalBox, tmp_path: Path) -> None:
    for side, number in (("there", 3), ("here", 5)):
        (tmp_path / side / "deep").mkdir(parents=True)
        for at in range(number):
            (tmp_path / side / "deep" / f"new\nline {at}").write_bytes(b"xy")
    counts = (DeclaredCount("here", "there"), DeclaredCount("here", "missing"), DeclaredCount("gone", "there"))
    seen = box.look(BoxSettings("b", "b", project=str(tmp_path), counts=counts))
    none, gone = Absent("no such directory on the box"), Absent(f"no directory {tmp_path}/gone here")
    assert seen.counts == (
        FileCount("there", "here", 3, 5, 6, 10),
        FileCount("missing", "here", none, 5, none, 10),
        FileCount("there", "gone", 3, gone, 6, gone),
    )


@pytest.mark.skipif(not shutil.which("tmux"), reason="no tmux on this machine")
def test_a_tmux_session_is_alive_while_something_runs_in_it(box: LocalBox, tmp_path: Path) -> None:
    def tmux(*words: str) -> None:
        subprocess.run(["tmux", "-S", str(tmp_path / "sock"), *words], check=True, env={**box.env, "TERM": "xterm"})

    fake(tmp_path, "tmux", f'exec {shutil.which("tmux")} -S "{tmp_path}/sock" "$@"\n')
    box.env["PATH"] = f"{tmp_path}/bin:{box.env['PATH']}"
    watch = Watch("w", session="train")
    assert run_of(box, watch).stage_alive is False
    tmux("-f", "/dev/null", "new-session", "-d", "-s", "train2", "sleep 1000")
    try:
        assert run_of(box, watch).stage_alive is False
        tmux("new-session", "-d", "-s", "train", "sleep 1000")
        assert run_of(box, watch).stage_alive is True
        tmux("new-session", "-d", "-s", "idle", "sh")
        wait_until(lambda: run_of(box, Watch("w", session="idle")).stage_alive is False, "an idle shell")
    finally:
        tmux("kill-server")


# -- GPUs: texts of nvidia-smi


def gpus(box: LocalBox, tmp_path: Path, text: str, code: int = 0) -> Maybe[tuple[GpuLook, ...]]:
    fake(tmp_path, "nvidia-smi", f"cat <<'EOF'\n{text}\nEOF\nexit {code}\n")
    box.env["PATH"] = f"{tmp_path}/bin:/usr/bin:/bin"
    return box.look(BoxSettings("b", "b")).gpus


def test_gpus_are_told_with_what_they_cannot_tell(box: LocalBox, tmp_path: Path) -> None:
    rows = (
        "0, 96, 70123, 81559, 61, Disabled, 0\n1, [N/A], 4, 81559, 33, Enabled, [N/A]\n2"
        + 4 * ", [GPU is lost]"
        + ", [N/A], 3"
    )
    found = gpus(box, tmp_path, rows)
    assert not isinstance(found, Absent | Unseen)
    busy, mig, lost = found
    assert (busy.number, busy.utilization_percent, busy.memory_used_bytes, busy.trouble) == (0, 96, 70123 * MIB, "")
    assert mig.utilization_percent == Absent("a card in MIG mode tells no utilisation")
    assert lost.trouble == "GPU is lost"
    assert isinstance(lost.memory_used_bytes, Unseen)


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch\nNVML library", 18, "differ in version"),
        ("Failed to initialize NVML: Unknown Error", 255, "lost its devices"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", 9, "driver is not loaded"),
        ("", 134, "said nothing"),
    ],
)  # fmt: skip
def test_a_driver_that_cannot_be_asked_is_unseen(
    one_box: LocalBox, tmp_path: Path, text: str, code: int, says: str
) -> None:
    found = gpus(one_box, tmp_path, text, code)
    assert isinstance(found, Unseen)
    assert says in found.why


def test_no_card_is_absent_and_a_card_off_the_bus_is_a_row(one_box: LocalBox, tmp_path: Path) -> None:
    assert isinstance(gpus(one_box, tmp_path, "No devices were found", 6), Absent)
    line = (
        "Unable to determine the device handle for GPU0000:05:00.0: GPU is lost.  Reboot the system to recover this GPU"
    )
    found = gpus(one_box, tmp_path, f"0, 5, 4, 81559, 33, Disabled, 0\n{line}", 15)
    assert not isinstance(found, Absent | Unseen)
    assert [gpu.trouble for gpu in found] == ["", line]


def test_an_older_driver_is_asked_again_for_less(one_box: LocalBox, tmp_path: Path) -> None:
    fake(
        tmp_path,
        "nvidia-smi",
        'case $1 in *mig*) echo " \\"x\\" is not a valid field to query."; exit 2;; esac\necho "0, 5, 4, 81559, 33"\n',
    )
    one_box.env["PATH"] = f"{tmp_path}/bin:/usr/bin:/bin"
    found = one_box.look(BoxSettings("b", "b")).gpus
    assert not isinstance(found, Absent | Unseen)
    assert found[0].utilization_percent == 5


# -- the kernel's log, memory, disks: texts of other boxes


def part(data: bytes, *blocks: MarkBlock, code: int | None = 0) -> SectionPart:
    return SectionPart(data, blocks, code)


@pytest.mark.parametrize(
    ("blocks", "folders"),
    [
        ([("folders", b"/a\n/b\n")], ["/a", "/b"]),
        ([("folders", b"/b\n"), ("folders_singly", b"\n/b\n")], ["", "/b"]),
        ([("folders", b"/a\nand more\n/b\n")], ["", ""]),
        ([], ["", ""]),
    ],
    ids=["all", "one of another account", "a line break in a name", "none"],
)
def test_folders_of_processes_stay_with_their_process(blocks: list[tuple[str, bytes]], folders: list[str]) -> None:
    marks = [MarkBlock((word,), data) for word, data in blocks]
    found = box_watch.parse_processes(part(b"7 S 100 python train.py\n8 R 200 python train.py\n", *marks))
    assert not isinstance(found, Absent | Unseen)
    assert [process.folder for process in found] == folders


def test_inodes_of_gnu_df_come_with_the_bytes() -> None:
    text = b"1K-blocks  Used Avail IFree Inodes Mounted on\n 1000  900  100  0  500 /my disk\n 100 50 50 - - /btrfs\n"
    seen = box_resources.parse_disks(part(text))
    assert not isinstance(seen, Absent | Unseen)
    assert [(disk.mount, disk.bytes_free, disk.inodes_free, disk.inodes_total) for disk in seen] == [
        ("/my disk", 102400, 0, 500),
        ("/btrfs", 51200, NOT_COUNTED, NOT_COUNTED),
    ]


def test_kernel_lines_since_the_last_look() -> None:
    text = (
        b"[  100.500000] Out of memory: Killed process 7 (python)\n"
        b"[24190.854461] NVRM: Xid (PCI:0000:05:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    )
    found = box_kernel.parse(part(text), 200.0, 30000.0)
    assert not isinstance(found, Absent | Unseen)
    assert [(fault.kind, fault.xid, fault.uptime_seconds) for fault in found] == [("xid", 79, 24190.854461)]
    assert isinstance(box_kernel.parse(part(b"[0] dmesg says no\n"), None, None), Unseen)


def test_an_account_that_may_not_read_dmesg_sees_nothing_there(box: LocalBox, tmp_path: Path) -> None:
    fake(tmp_path, "dmesg", "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1\n")
    box.env["PATH"] = f"{tmp_path}/bin:/usr/bin:/bin"
    assert isinstance(box.look(BoxSettings("b", "b")).kernel_faults, Unseen)


MEMINFO = "/proc/meminfo:MemTotal:       1000000 kB\n/proc/meminfo:MemAvailable:    500000 kB\n"


@pytest.mark.parametrize(
    ("version", "text", "held", "limit"),
    [
        (2, "max:max current:900 stat:inactive_file=3 ../max:1000 ../current:950 ../stat:inactive_file=50",
            900, 1000),
        (2, "max:2000 current:1990 stat:inactive_file=0 ../max:5000 ../current:4999 ../stat:inactive_file=0",
            4999, 5000),
        (2, "../current:77 ../stat:inactive_file=7", 70, None),
        (1, ("limit_in_bytes:9223372036854771712 usage_in_bytes:500 stat:total_inactive_file=99 "
            "stat:hierarchical_memory_limit=800"),
            401, 800),
        (1, "limit_in_bytes:9223372036854771712 usage_in_bytes:500 stat:total_inactive_file=100", 400, None),
    ],
)  # fmt: skip
def test_the_level_with_the_least_room_binds(version: int, text: str, held: int, limit: int | None) -> None:
    lines = [f"memory.{word}" if word[0] != "." else word.replace("../", "../memory.") for word in text.split()]
    group = MarkBlock(("group", "17", str(version)), ("\n".join(lines).replace("=", " ") + "\n" + MEMINFO).encode())
    found = box_resources.parse_memory(part(b"", group, code=None))
    assert not isinstance(found, Unseen)
    assert found.memory.held_bytes == held
    assert found.memory.limit_bytes == limit if limit else isinstance(found.memory.limit_bytes, Absent)
    assert found.memory.host_total_bytes == 1000000 * 1024


def test_inodes_that_are_not_counted_are_absent() -> None:
    df = (
        b"Filesystem     1024-blocks     Used Available Capacity Mounted on\n"
        b"/dev/sd a        1000    900       100      90% /my disk\n"
        b"none                100      100         0     100% /full\n"
        b"btrfs               100       50        50      50% /btrfs\n"
    )
    seen = box_resources.parse_disks(part(df, MarkBlock(("inodes",), b"0 500\n10 100\n0 0\n")))
    assert not isinstance(seen, Absent | Unseen)
    assert [(disk.mount, disk.bytes_free, disk.inodes_free, disk.inodes_total) for disk in seen] == [
        ("/my disk", 102400, 0, 500),
        ("/full", 0, 10, 100),
        ("/btrfs", 51200, NOT_COUNTED, NOT_COUNTED),
    ]
    assert isinstance(box_resources.parse_disks(part(b"")), Unseen)


def test_what_is_kept_for_root_is_not_called_used() -> None:
    """As df itself counts: 42 of 106 are used, though the file system has 264."""
    df = b"/dev/vda 264212084 42316700 64074212 40% /\n"
    disks = observed(box_resources.parse_disks(part(df, MarkBlock(("inodes",), b"10 100\n"))))
    assert disks is not None
    assert round(100 * (1 - disks[0].bytes_free / disks[0].bytes_total)) == 40


def test_the_real_memory_is_that_of_this_machine(box: LocalBox) -> None:
    seen: BoxLook = box.look(BoxSettings("b", "b"))
    assert not isinstance(seen.memory, Absent | Unseen)
    assert isinstance(seen.memory.host_total_bytes, int)
    assert isinstance(seen.memory.held_bytes, int)
    assert 0 < seen.memory.held_bytes < seen.memory.host_total_bytes
    assert box_gpus.FIELDS[0] == "index"


def test_a_file_that_says_done_counts_unless_the_log_went_on_after_it(box: LocalBox, tmp_path: Path) -> None:
    log, mark = tmp_path / "train.log", tmp_path / "DONE it's"
    watch = Watch("w", log=str(log), done_file=str(mark))
    log.write_text("step 10/10\n")
    assert isinstance(run_of(box, watch).done, Absent)
    mark.touch()
    assert run_of(box, watch).done == str(mark)
    os.utime(mark, (0, os.stat(log).st_mtime - 3600))
    found = run_of(box, watch).done
    assert isinstance(found, Absent)
    assert "earlier run" in found.why


def test_a_file_that_says_done_needs_no_log(box: LocalBox, tmp_path: Path) -> None:
    watch = Watch("w", process="no-such-program-anywhere", done_file=str(tmp_path / "DONE"))
    assert isinstance(run_of(box, watch).done, Absent | Unseen)
    (tmp_path / "DONE").touch()
    assert run_of(box, watch).done == str(tmp_path / "DONE")


def test_so_many_files_say_done(box: LocalBox, tmp_path: Path) -> None:
    watch = Watch("w", process="no-such-program-anywhere", artifacts=(f"{tmp_path}/*.json",), done_count=2)
    (tmp_path / "a.json").touch()
    assert run_of(box, watch).done == Absent("1 of 2 files are there")
    (tmp_path / "b.json").touch()
    assert run_of(box, watch).done == "2 of 2 files"
