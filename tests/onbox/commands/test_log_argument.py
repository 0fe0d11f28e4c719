"""What is named as a log and is none: one line says what it is, and what to type instead."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from onbox.cli.app import main

LOG = b"step 1/9 loss 0.5\nstep 2/9 loss 0.4\n" * 40
COMMANDS = ("triage", "progress")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 64
    said = capsys.readouterr()
    assert not said.out
    assert len(said.err.splitlines()) == 1, said.err
    return said.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("compress", "tool"), [(gzip.compress, "zcat"), (bz2.compress, "bzcat"), (lzma.compress, "xzcat")]
)
def test_a_compressed_log_is_to_be_piped(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, compress: object, tool: str
) -> None:
    assert callable(compress)
    (tmp_path / "a b.log").write_bytes(compress(LOG))
    assert f"{tool} 'a b.log' | onbox {command} -" in refused(capsys, command, "a b.log")


def test_a_log_is_found_as_the_chain_tells_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for run in ("digits", "other"):
        (tmp_path / ".onbox" / run / "logs").mkdir(parents=True)
        (tmp_path / ".onbox" / run / "logs" / "train.1.log").write_bytes(LOG)
    said = refused(capsys, "progress", "logs/train.1.log")
    assert "several runs have a logs/train.1.log (digits, other): add --run NAME" in said
    assert "--stage chooses" in refused(capsys, "progress", "--run", "digits", "--stage", "eval", "logs/train.1.log")
    assert main(["progress", "--run", "digits", "logs/train.1.log"]) == 0
    assert "2/9" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "magic", "what"),
    [
        ("a.out", b"\x7fELF\x02\x01\x01", "a program or a library"),
        ("model.pt", b"PK\x03\x04", "a zip archive"),
        ("x.npy", b"\x93NUMPY\x01", "an array"),
        ("best.pkl", b"\x80\x04\x95\x1a\x00", "a pickle of Python"),
    ],
)
def test_what_its_first_bytes_name_is_no_log(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, name: str, magic: bytes, what: str
) -> None:
    (tmp_path / name).write_bytes(magic + LOG * 64)
    assert f"{name} is no log, but {what}" in refused(capsys, command, name)


@pytest.mark.parametrize("command", COMMANDS)
def test_binary_data_is_no_log(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str) -> None:
    (tmp_path / "model.bin").write_bytes(random.Random(7).randbytes(1 << 18))
    assert "it holds binary data, not text" in refused(capsys, command, "model.bin")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "data",
    [
        LOG.decode().encode("utf-16"),
        b"%s%s\n%s" % (LOG, random.Random(7).randbytes(300), LOG),  # junk between its lines
        b"\0" * (1 << 17) + LOG,  # of a disk that lost power
        random.Random(7).randbytes(1 << 17) + LOG * 64,  # somebody wrote a file over its beginning
        "轮次 3/9 损失 0.5\n".encode("gbk") * 99,
        b"\x1b[1m\x1b[32mstep 3/9\x1b[0m\b\b\r" * 99,
        b"",
    ],
    ids=["UTF-16", "junk", "NUL", "half of it", "GBK", "a terminal's", "empty"],
)
def test_a_log_of_any_encoding_is_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, data: bytes
) -> None:
    (tmp_path / "train.log").write_bytes(data)
    assert main([command, "train.log"]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_devices_links_and_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str) -> None:
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    for name, why in (
        ("/dev/zero", "it is a device, not a file"),
        ("/dev/null", "it is a device, not a file"),
        ("gone", "it is a link to a file that is gone"),
        ("loop", os.strerror(40)),
        ("", "LOG is empty: name a file"),
        (str(tmp_path), f"{tmp_path} is a folder: name a log in it"),
        ("other.log", "no log other.log, and no cell of a sweep in"),
    ):
        assert why in refused(capsys, command, name)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_with_a_line_break_is_told_in_one_line(capsys: pytest.CaptureFixture[str], command: str) -> None:
    Path("bin\nary").write_bytes(random.Random(7).randbytes(1 << 17))
    Path("pack\ned.gz").write_bytes(gzip.compress(LOG))
    Path("fol\nder").mkdir()
    for name in ("bin\nary", "pack\ned.gz", "fol\nder", "no\nlog"):
        assert name.replace("\n", "⏎") in refused(capsys, command, name)


def test_a_project_in_a_folder_with_a_line_break_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("pro\nject").mkdir()
    monkeypatch.chdir("pro\nject")
    for words in (["status"], ["logs"], ["triage"], ["triage", "no.log"], ["check", "-c", "no\nfile"]):
        assert main(words) in (64, 78)
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_a_log_may_come_from_a_command(command: str) -> None:
    words = f"{sys.executable} -m onbox {command} <(printf 'step 1/9 loss 0.5\\nstep 2/9 loss 0.4\\n')"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=True)
    assert "2/9" in done.stdout
    assert not done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_who_waits_for_the_writer_of_a_fifo_is_told_so(command: str) -> None:
    os.mkfifo("pi\npe")
    words = [sys.executable, "-m", "onbox", command, "pi\npe"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as reader:
        assert reader.stderr is not None
        assert reader.stderr.readline() == "onbox: pi⏎pe is a FIFO: waiting for a program that writes to it\n"
        Path("pi\npe").write_bytes(LOG)
        said, errors = reader.communicate()
    assert (reader.returncode, errors) == (0, "")
    assert "2/9" in said


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--exit-code", "999", "999 is not in the range"),
        ("--oom-kill-delta", "-1", "-1 is not in the range"),
        ("--inodes-free", "-1", "-1 is not in the range"),
        ("--signal", "0", "0 is no signal: give 1 to 64 or a name such as TERM"),
        ("--signal", "SIGNONE", "SIGNONE is no signal"),
    ],
)
def test_what_no_run_ends_with_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str, value: str, said: str
) -> None:
    (tmp_path / "train.log").write_bytes(LOG)
    assert main(["triage", "train.log", option, value]) == 64
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        ("TIMEOUT", "time_limit"),
        ("OUT_OF_ME+", "host_oom"),
        ("CANCELLED by 0", "user_interrupt"),
        ("Evicted", "preempted"),
    ],
)
def test_a_schedulers_word_is_taken_as_it_prints_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, state: str, verdict: str
) -> None:
    (tmp_path / "train.log").write_bytes(LOG)
    assert main(["triage", "train.log", "--scheduler-state", state]) == 0
    assert capsys.readouterr().out.startswith(f"{verdict}: dead")


def test_a_schedulers_word_that_says_nothing_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "train.log").write_bytes(LOG)
    assert main(["triage", "train.log", "--scheduler-state", "BOGUS"]) == 0
    said = capsys.readouterr()
    assert said.err == "onbox triage: --scheduler-state BOGUS says nothing of how a run ends\n"
    assert said.out.startswith("success_healthy: running")


def test_a_maximum_below_the_log_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "onbox.toml").write_text("[progress]\nmax = 1\n")
    (tmp_path / "train.log").write_bytes(LOG)
    assert main(["progress", "train.log"]) == 0
    assert "[progress] max = 1 is below 2, where the log stands" in capsys.readouterr().err


def test_classes_that_one_line_proves_stand_together(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "train.log").write_bytes(b"step 1/9\nTerminated\n")
    assert main(["triage", "train.log"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[1:3] == ["  line 2: Terminated", "  the same line also fits preempted, time_limit"]


def test_a_counted_kill_that_the_log_does_not_show_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "train.log").write_bytes(LOG)
    assert main(["triage", "train.log", "--oom-kill-delta", "1"]) == 0
    assert "an OOM kill was counted, and nothing shows that the run died of it" in capsys.readouterr().err


def test_of_a_pipe_it_is_not_known_whether_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_bytes(b"nothing to see\n")
    done = subprocess.run(
        [sys.executable, "-m", "onbox", "triage", "-"], input=b"hello\nworld\n", capture_output=True, check=True
    )
    assert b"see whether its process runs, or give --age" in done.stdout


def test_a_file_that_is_the_standard_input_has_its_age(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(LOG)
    os.utime(log, (1, 1))
    with open(log, "rb") as stream:
        triage = [sys.executable, "-m", "onbox", "triage", "-"]
        done = subprocess.run(triage, stdin=stream, capture_output=True, check=True)
    assert done.stdout.startswith(b"hang_stall: stalled")
    with open(log, "rb") as stream:
        progress = [sys.executable, "-m", "onbox", "progress", "-", "--json"]
        done = subprocess.run(progress, stdin=stream, capture_output=True, check=True)
    assert json.loads(done.stdout)["log_age_seconds"] > 86400


@pytest.mark.parametrize("command", ["triage", "progress"])
def test_binary_data_from_a_pipe_is_no_log(command: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "onbox", command, "-"],
        input=random.Random(7).randbytes(1 << 18),
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (64, b"")
    assert b"the standard input is no log: it holds binary data, not text" in ran.stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--stage", "--run"])
@pytest.mark.parametrize("log", ["a.log", "-"])
def test_a_log_and_a_run_are_not_both_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, option: str, log: str
) -> None:
    (tmp_path / "a.log").write_bytes(LOG)
    assert f"{option} chooses a log of a run" in refused(capsys, command, option, "x", log)


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (b"step 9/9 loss 0.1\nTraining completed\n", "~9/9 (100%) loss 0.1 · finished\n"),
        (b"early stopping at step 3: no improvement\n", "· finished\n"),
        (b"step 3/9 loss 0.4\n", "~3/9 (33%) loss 0.4\n"),
        (b"step 9/9 loss 0.1\nOSError: [Errno 28] No space left on device\n", "~9/9 (100%) loss 0.1\n"),
    ],
)
def test_progress_says_in_words_that_the_run_has_ended(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, last: bytes, said: str
) -> None:
    (tmp_path / "train.log").write_bytes(LOG[: len(LOG) // 40 * 2] + last)
    assert main(["progress", "train.log"]) == 0
    assert capsys.readouterr().out.endswith(said)


@pytest.mark.parametrize("last", [b"x" * 200_000, b"ValueError: " + b"word " * 40_000, b"\xe6\xbc\xa2" * 70_000])
@pytest.mark.parametrize("options", [(), ("--exit-code", "1"), ("--json",)])
def test_a_last_line_without_end_is_shown_in_part(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, last: bytes, options: tuple[str, ...]
) -> None:
    (tmp_path / "train.log").write_bytes(LOG + last + b"\n")
    assert main(["triage", "train.log", *options]) == 0
    assert len(capsys.readouterr().out) < 4_000
