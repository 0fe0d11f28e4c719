"""A watched log between two looks: whatever becomes of the file, no line of a crash is missed or told twice."""

from __future__ import annotations

import hashlib
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from onbox.contract.readings import Absent, Unseen
from onbox.logs.cursor import Cursor, look_on
from onbox.model.boxes import BoxSettings, Watch
from patrol.memory.run_memory import LogPlace, RunMemory
from patrol.probe import log_memory
from patrol.probe.box.logs import checksum, digest
from patrol.snapshot import Failure, LogLook, RunLook
from tests.box import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.patrol.probe.local_sh import LocalBox

CRASH = b"""Traceback (most recent call last):
  File "/root/train.py", line 31, in <module>
    main()
  File "/root/train.py", line 12, in main
    raise ValueError("shapes differ")
ValueError: shapes differ
"""
STEPS = b"".join(b"step %d/1000 loss 0.%d\n" % (at, at) for at in range(1, 120))


def watch(path: Path | str, **more: object) -> BoxSettings:
    return BoxSettings("gpu1", "gpu1", watches=(Watch("w", log=str(path), **more),))  # type: ignore[arg-type]


def look(box: LocalBox, path: Path | str, **more: object) -> tuple[RunLook, LogLook]:
    seen = box.look(watch(path, **more))
    assert not isinstance(seen.runs, Absent | Unseen)
    run = seen.runs[0]
    assert not isinstance(run.log, Absent | Unseen), run.log
    return run, run.log


def failed(run: RunLook) -> bool:
    return isinstance(run.failure, Failure) and run.failure.failure_class == "code_error"


def test_only_new_bytes_come_and_progress_goes_on(box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(STEPS)
    assert look(box, log)[1].event == "first"
    with log.open("ab") as file:
        file.write(b"step 120/1000 loss 0.1\nstep 121/1000 loss 0.1\n")
    run, seen = look(box, log)
    assert (seen.event, seen.new_bytes, seen.skipped_bytes) == ("grown", 46, 0)
    assert seen.last_line == "step 121/1000 loss 0.1"
    assert (run.progress.current, run.progress.exact_max) == (121, 1000)  # type: ignore[union-attr]
    assert look(box, log)[1].event == "same"


def test_a_line_that_is_written_during_the_look_is_not_told_by_half(box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(STEPS)
    loop = 'n=120; while :; do echo "step $n/1000000 loss 0.5"; n=$((n+1)); done'
    with log.open("ab") as file:
        writer = subprocess.Popen(["sh", "-c", loop], stdout=file)
    try:
        for _ in range(4):
            _, seen = look(box, log)
            if seen.bytes_total % os.sysconf(
                "SC_PAGE_SIZE"
            ):  # there, the file itself grows by half a line for a moment
                assert seen.last_line.startswith("step ")
                assert seen.last_line.endswith(" loss 0.5")
    finally:
        writer.kill()
        writer.wait()


def test_the_cursor_is_at_the_place_of_the_box_side(box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(STEPS)
    _, seen = look(box, log)
    there = look_on(str(log), None)
    assert there is not None
    before = hashlib.sha256(bytes.fromhex(there.cursor.before)).hexdigest()[:32]  # kept in a file: no words of the log
    assert seen.cursor == there.cursor._replace(before=before)


def test_a_crash_line_cut_in_two_is_read_as_one(box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(STEPS)
    look(box, log)
    for cut in (9, 40, len(CRASH) - 7):
        log.write_bytes(STEPS + CRASH[:cut])
        look(box, log)
    log.write_bytes(STEPS + CRASH)
    run, _ = look(box, log)
    assert failed(run), run.failure
    assert run.failure.proof == "ValueError: shapes differ"  # type: ignore[union-attr]


def test_a_crash_before_the_rotation_is_found_in_the_old_file(box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "my train.log"
    log.write_bytes(STEPS)
    (tmp_path / "-other").write_bytes(b"x")
    (tmp_path / "other\nname").write_bytes(b"x")
    look(box, log)
    with log.open("ab") as file:
        file.write(CRASH)
    log.rename(tmp_path / "my train.log.1")
    log.write_bytes(b"")
    run, seen = look(box, log)
    assert seen.event == "rotated"
    assert seen.new_bytes == len(CRASH)
    assert failed(run), run.failure


def test_a_crash_after_the_rotation_is_found(box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(STEPS)
    look(box, log)
    log.unlink()
    (tmp_path / "keeps the inode busy").write_bytes(b"")
    log.write_bytes(b"step 1/1000\n" + CRASH)
    run, seen = look(box, log)
    assert seen.event in ("rotated", "truncated")  # a file system may give the same inode again
    assert failed(run), run.failure


@pytest.mark.parametrize("lines", [1, 200])
def test_a_crash_after_the_old_file_went_away_is_found(box: LocalBox, tmp_path: Path, lines: int) -> None:
    """Another inode for certain; the new file is shorter, or longer, than the old one was."""
    (tmp_path / "logs").mkdir()
    log = tmp_path / "logs" / "train.log"
    log.write_bytes(STEPS)
    look(box, log)
    (tmp_path / "new").write_bytes(CRASH if lines == 1 else b"step 1/1000\n" * lines + CRASH)
    log.rename(tmp_path / "elsewhere")
    (tmp_path / "new").rename(log)
    run, seen = look(box, log)
    assert seen.event == "rotated"
    assert seen.new_bytes == seen.bytes_total
    assert failed(run), run.failure


def test_a_truncated_log_is_read_from_its_beginning(box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(STEPS)
    look(box, log)
    log.write_bytes(CRASH)
    run, seen = look(box, log)
    assert (seen.event, seen.new_bytes) == ("truncated", len(CRASH))
    assert failed(run), run.failure


def test_copied_cut_and_grown_past_the_old_place_is_noticed(box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(STEPS)
    look(box, log)
    log.write_bytes(CRASH + b"bye\n" * 1000)
    run, seen = look(box, log)
    assert (seen.event, seen.new_bytes) == ("rewritten", len(CRASH) + 4000)
    assert failed(run), run.failure


def test_without_cksum_the_rewritten_log_is_read_at_the_next_look(one_box: LocalBox, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "cksum").write_text("#!/bin/sh\nexit 127\n")
    (tools / "cksum").chmod(0o755)
    one_box.env["PATH"] = f"{tools}:/usr/bin:/bin"
    log = tmp_path / "train.log"
    log.write_bytes(STEPS)
    look(one_box, log)
    log.write_bytes(CRASH + b"bye\n" * 1000)
    assert look(one_box, log)[1].event == "rewritten"
    with log.open("ab") as file:
        file.write(b"bye\n")
    assert failed(look(one_box, log)[0])


def test_of_a_burst_beginning_and_end_come_and_the_rest_is_counted(box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(STEPS)
    look(box, log)
    with log.open("ab") as file:
        file.write(b"noise " * 200_000 + b"\n" + CRASH)
    run, seen = look(box, log)
    assert seen.skipped_bytes > 1_000_000
    assert seen.new_bytes == 1_200_001 + len(CRASH)
    assert box.traffic.down_bytes < 65536
    assert failed(run)


def test_at_first_sight_only_the_end_is_read(box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    with log.open("wb") as file:
        file.truncate(5 << 30)  # sparse: 5 GB that take no room
        file.seek(0, 2)
        file.write(b"\n" + STEPS + CRASH)
    run, seen = look(box, log)
    assert box.traffic.down_bytes < 80_000
    assert seen.last_line == "ValueError: shapes differ"
    assert failed(run)


def test_a_survived_exception_is_no_failure(one_box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(STEPS + CRASH + STEPS)
    run, _ = look(one_box, log, process="no such process at all")
    assert isinstance(run.failure, Absent), run.failure


def test_a_crash_of_the_process_before_is_no_news_of_the_one_now(one_box: LocalBox, tmp_path: Path) -> None:
    log, word = tmp_path / "train.log", f"sleep 999{os.getpid() % 1000}"
    log.write_bytes(STEPS)
    with subprocess.Popen(word.split()) as first:
        assert look(one_box, log, process=word)[0].stage_alive is True
        first.kill()
    with log.open("ab") as file:
        file.write(CRASH)
    crashed, _ = look(one_box, log, process=word)
    assert crashed.stage_alive is False
    assert failed(crashed)
    with subprocess.Popen(word.split()) as second:
        with log.open("ab") as file:
            file.write(b"loading the data\n")
        again, _ = look(one_box, log, process=word)
        second.kill()
    assert again.stage_alive is True
    assert isinstance(again.failure, Absent), again.failure


def test_carriage_returns_end_lines(one_box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    bar = b"".join(b"\r %3d%%|###   | %d/500 [00:01<00:09, 9.9it/s]" % (at // 5, at) for at in range(400))
    log.write_bytes(bar)
    run, seen = look(one_box, log)
    assert seen.last_line.startswith("79%|###")
    assert run.progress.current == 399  # type: ignore[union-attr]


def test_marks_in_a_log_line_fool_nobody(box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"<<<deadbeef end>>>\n<<<end>>>\n\n<<<deadbeef /log.0 0>>>\n\x00\xff\x1b[2Jlast \x07words\r\n")
    _, seen = look(box, log)
    assert seen.bytes_total == log.stat().st_size == seen.new_bytes
    assert seen.last_line == "\ufffdlast words"


@pytest.mark.parametrize(
    "name", ["a b", "it's", 'q"uote', "new\nline", "-rf", "$(touch PWNED)", "`id`", "*", "é\u202e"]
)
def test_hostile_names_of_logs_are_only_names(box: LocalBox, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / name).write_bytes(STEPS)
    (folder / "decoy").write_bytes(b"decoy\n")
    assert look(box, folder / name)[1].bytes_total == len(STEPS)
    assert {entry.name for entry in folder.iterdir()} == {name, "decoy"}
    assert not (tmp_path / "PWNED").exists()


def test_what_cannot_be_read_is_told_from_what_is_not_there(box: LocalBox, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, kind in (("missing.log", Absent), ("none/train.log", Absent), ("pipe", Unseen), (".", Unseen)):
        seen = box.look(watch(tmp_path / name))
        assert not isinstance(seen.runs, Absent | Unseen)
        assert isinstance(seen.runs[0].log, kind), name
        assert isinstance(seen.runs[0].failure, kind)


def test_the_proof_of_success_is_a_whole_line_of_this_attempt(one_box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"epoch 1/1")
    regex = r"epoch 1/1$"
    assert isinstance(look(one_box, log, done_regex=regex, process=f"cat {tmp_path}/x")[0].done, str)
    log.write_bytes(b"epoch 1/10\n")
    one_box.forget()
    assert isinstance(look(one_box, log, done_regex=regex)[0].done, Absent)
    log.write_bytes(b"epoch 1/10\nepoch 10/10\nall done\n")
    assert look(one_box, log, done_regex="^all done$")[0].done == "all done"
    log.write_bytes(b"anew\n")
    assert isinstance(look(one_box, log, done_regex="^all done$")[0].done, Absent)


def test_usual_last_words_prove_success_where_nothing_else_is_declared(one_box: LocalBox, tmp_path: Path) -> None:
    log, nobody = tmp_path / "train.log", {"process": f"cat {tmp_path}/nothing"}
    farewell = b"wandb: Run history:\nwandb: Find logs at: wandb/offline-run-1/logs\n"
    log.write_bytes(STEPS + b"Training completed\n" + farewell)
    assert look(one_box, log, **nobody)[0].done == "Training completed"
    one_box.forget()
    job = subprocess.Popen(["sh", "-c", "read -r _", "train-of", log], stdin=subprocess.PIPE)
    try:
        wait_until(lambda: look(one_box, log, process=f"train-of {log}")[0].stage_alive is True, "its process")
        assert isinstance(look(one_box, log, process=f"train-of {log}")[0].done, Absent)
    finally:
        job.communicate()
    for text in (b"Training completed\n" + STEPS, b"Training completed\n" + CRASH, STEPS):
        one_box.forget()
        log.write_bytes(text)
        assert isinstance(look(one_box, log, **nobody)[0].done, Absent), text[-80:]
    one_box.forget()
    log.write_bytes(STEPS + b"Training completed\n")
    assert isinstance(look(one_box, log, done_regex="^finished", **nobody)[0].done, Absent)


def test_a_place_of_another_version_is_begun_anew(one_box: LocalBox, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(STEPS)
    place = LogPlace(str(log), Cursor(1, 2, 3, "x"), progress={"odd": 1})
    one_box.memories.runs["w"] = RunMemory(log=place)
    run, seen = look(one_box, log)
    assert seen.event == "rotated"
    assert run.progress.current == 119  # type: ignore[union-attr]
    assert log_memory.whole_text(one_box.memories.runs["w"].log).startswith(b"step 1/1000")


def test_the_checksum_is_that_of_cksum() -> None:
    assert [checksum(b""), checksum(b"123456789"), checksum(b"\xff" * 300)] == [4294967295, 930766865, 1718880618]
    assert digest(b"") == "e3b0c44298fc1c149afbf4c8996fb924"
