"""What hangs on a box costs its own section only; nothing is written there, and nothing lives on."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from onbox.contract.readings import Absent, Unseen
from onbox.model.boxes import BoxSettings, DeclaredCount, Watch
from patrol.memory.run_memory import nothing_remembered
from patrol.probe import frames
from patrol.probe.frames import end_mark, split
from patrol.probe.plan import plan
from patrol.probe.script import build
from patrol.ssh.client import script_with_values
from tests.box import wait_until
from tests.hung_mount import hung_mount
from tests.patrol.probe.local_sh import LocalBox, shell_params

if TYPE_CHECKING:
    from pathlib import Path

NONCE = "c0ffee1234"


def fake(folder: Path, name: str, text: str) -> None:
    """A program of that name, first on the box's path."""
    (folder / "bin").mkdir(exist_ok=True)
    path = folder / "bin" / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def processes_of(session: int) -> list[str]:
    """Command lines of all processes of a session, zombies left out."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b") ")[2].split()
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().replace(b"\0", b" ").decode()
        except (OSError, NotADirectoryError):
            continue
        if len(fields) > 3 and int(fields[3]) == session and fields[0] not in (b"Z", b"X"):
            found.append(words)
    return found


@pytest.mark.long
def test_a_hung_project_costs_its_own_sections_only(box: LocalBox, tmp_path: Path) -> None:
    with hung_mount(tmp_path / "hung") as hung:
        watch = Watch("w", log=str(hung / "train.log"), artifacts=(str(hung / "*.npz"),), process="nobody runs this")
        seen = box.look(BoxSettings("gpu1", "gpu1", project=str(hung / "p"), watches=(watch,)), deadline_seconds=30)
        late = dict(seen.sections_unseen)
        assert {"runs", "log.0", "run_disk"} <= late.keys()
        assert late["runs"].startswith("late")
        assert not isinstance(seen.identity, Absent | Unseen)
        assert not isinstance(seen.memory, Absent | Unseen)
        assert not isinstance(seen.disks, Absent | Unseen)
        assert any(disk.mount == "/" for disk in seen.disks)
        assert not isinstance(seen.runs, Absent | Unseen)
        assert isinstance(seen.runs[0].log, Unseen)
        assert seen.runs[0].stage_alive is False  # the processes could be looked at


def test_a_hung_nvidia_smi_is_late_and_is_ended(box: LocalBox, tmp_path: Path) -> None:
    fake(tmp_path, "nvidia-smi", "echo $$ >$HOME/pid\nsleep 1000 & wait\n")
    box.env["PATH"] = f"{tmp_path}/bin:{box.env['PATH']}"
    seen = box.look(BoxSettings("gpu1", "gpu1"), deadline_seconds=10)
    assert isinstance(seen.gpus, Unseen)
    assert seen.gpus.why.startswith("late")
    assert not isinstance(seen.disks, Absent | Unseen)
    pid = int((tmp_path / "pid").read_text())
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "the hung nvidia-smi to be gone")


@pytest.mark.parametrize("shell", shell_params())
def test_nothing_lives_on_after_a_cut_link(shell: tuple[str, ...], tmp_path: Path) -> None:
    fake(tmp_path, "nvidia-smi", "sleep 1000 & wait\n")
    script, values = build(plan(BoxSettings("b", "b"), ".onbox", nothing_remembered()).calls, NONCE, 4)
    started = subprocess.Popen(
        [*shell, "-s"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "HOME": str(tmp_path)},
        start_new_session=True,
    )
    assert started.stdin
    assert started.stdout
    started.stdin.write(script_with_values(script, values))
    started.stdin.close()
    wait_until(lambda: any("sleep 1000" in words for words in processes_of(started.pid)), "the hung program")
    started.stdout.close()
    started.kill()
    started.wait()
    wait_until(lambda: not processes_of(started.pid), "everything of the probe to be gone")


def test_a_look_leaves_no_process_and_no_file(box: LocalBox, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_bytes(b"step 1/2\n")
    everything = BoxSettings(
        "gpu1",
        "gpu1",
        project=str(tmp_path),
        backend="slurm",
        watches=(Watch("w", log="train.log", process="x", session="s", artifacts=("*.log",)),),
        counts=(DeclaredCount("a", "b"),),
    )
    before = sorted(os.listdir(tmp_path)), os.stat(tmp_path).st_mtime_ns
    for _ in range(2):
        box.look(everything)
        wait_until(lambda: not processes_of(box.last_pid), "everything of the probe to be gone", 20)
    assert (sorted(os.listdir(tmp_path)), os.stat(tmp_path).st_mtime_ns) == before
    assert box.errors == b""


def test_half_a_script_runs_nothing(box: LocalBox, tmp_path: Path) -> None:
    script, values = build(plan(BoxSettings("b", "b"), ".onbox", nothing_remembered()).calls, NONCE, 4)
    stdin = script_with_values(script, values)
    for cut in (len(stdin) // 3, len(stdin) - 40):
        done = subprocess.run([*box.shell, "-s"], input=stdin[:cut], capture_output=True, check=False, timeout=60)
        assert b"<<<" not in done.stdout


def test_a_cut_answer_is_unseen_section_by_section(one_box: LocalBox, tmp_path: Path) -> None:
    one_box.look(BoxSettings("b", "b", project=str(tmp_path)))
    whole = one_box.answer
    nonce = whole.partition(b"<<<")[2].partition(b" ")[0].decode()
    at = whole.index(b" runs>>>")
    cut = split(whole[: at + 20], nonce)
    assert not cut.whole
    assert not isinstance(cut.part("identity"), Unseen)
    assert cut.part("runs") == Unseen("cut off: its end did not come")
    assert cut.part("gpus") == Unseen("cut off: its end did not come")


def test_a_mark_needs_the_nonce_and_a_line_of_its_own() -> None:
    answer = (
        b"<<<x end>>>\n\n<<<abc runs>>>\n<<<abd /runs 0>>>\nx<<<abc /runs 0>>>\n\n<<<abc /runs 7>>>\n\n<<<abc end>>>"
    )
    found = split(answer, "abc")
    assert found.whole
    part = found.part("runs")
    assert not isinstance(part, Unseen)
    assert (part.code, part.data) == (7, b"<<<abd /runs 0>>>\nx<<<abc /runs 0>>>\n")
    assert end_mark("abc") == b"<<<abc end>>>"


def test_a_beat_that_meets_a_full_pipe_loses_no_mark(box: LocalBox, tmp_path: Path) -> None:
    watches = tuple(Watch(f"w{at}", artifacts=(f"none{at}",)) for at in range(80))  # little but marks
    box.slow_seconds = 3.5
    seen = box.look(BoxSettings("b", "b", watches=watches))
    assert [name for name, _ in seen.sections_unseen if name not in ("gpus", "kernel")] == []
    assert not isinstance(seen.runs, Absent | Unseen)
    assert len(seen.runs) == 80


@pytest.mark.parametrize("shell", shell_params())
def test_a_beat_at_the_end_of_a_section_does_not_hide_its_code(shell: tuple[str, ...]) -> None:
    beats = "p_watch() { while kill -USR1 $$; do (:); done; }\n"  # without any pause no fork(2) would ever end
    names = [f"s{at}" for at in range(100)]
    calls = "".join(f"p_section {name} 100000000 {'true' if at % 2 else 'false'}\n" for at, name in enumerate(names))
    script = "{ " + frames.SHELL + beats + frames.BEGIN + calls + frames.END + "} 2>/dev/null\n"
    done = subprocess.run(
        [*shell, "-s", NONCE, "1000000000"], input=script.encode(), capture_output=True, check=True, timeout=60
    )
    parts = split(done.stdout, NONCE).parts
    assert [parts[name].code for name in names] == [1, 0] * 50


def test_what_the_account_exports_does_not_reach_the_probe(box: LocalBox, tmp_path: Path) -> None:
    odd = dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "hostile")
    box.env |= {**odd, "CDPATH": "/", "IFS": "x", "GREP_OPTIONS": "--color=always", "LC_ALL": "tr_TR.UTF-8"}
    box.env["POSIXLY_CORRECT"] = "1"
    seen = box.look(BoxSettings("b", "b", project=str(tmp_path)))
    assert seen.runs == ()
    assert not isinstance(seen.memory, Absent | Unseen)
    assert not isinstance(seen.disks, Absent | Unseen)
