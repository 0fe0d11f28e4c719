"""A large log is judged by its ends, samples and a search, as if all of it had been read."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.cli.app import main
from onbox.system.places import Places
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence
from onbox.triage.reading.large import Excerpt

if TYPE_CHECKING:
    from pathlib import Path

    from onbox.triage.verdict import Diagnosis

MIB = 1 << 20
NOISE = b"2026-11-21 03:15:01,658 INFO data.py: part of the data set is in the cache\n"
FLOOD = b"rank 3: waiting for the other ranks at the barrier\n"
NO_MEMORY = (
    b'Traceback (most recent call last):\n  File "/w/train.py", line 12, in <module>\n    loss.backward()\n'
    b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 79.3 GiB in total\n"
)


def judge(path: Path, *parts: bytes, exit_code: int | None = None) -> tuple[Diagnosis, Excerpt]:
    log = b"".join(parts)
    path.write_bytes(log)
    with open(path, "rb") as file:
        excerpt = Excerpt(Places(file.fileno(), len(log)))
        return classify(excerpt.parts(), Evidence(exit_code=exit_code)), excerpt


def fill(line: bytes, size: int) -> bytes:
    return line * (size // len(line))


def steps(first: int, count: int) -> bytes:
    return b"".join(b"step %d/90000 loss 2.310 lr 3e-4\n" % step for step in range(first, first + count))


def test_a_crash_at_the_end_keeps_its_line_number(tmp_path: Path) -> None:
    verdict, excerpt = judge(tmp_path / "log", fill(NOISE, 5 * MIB), steps(1, 100), NO_MEMORY)
    assert verdict.failure_class == "cuda_oom"
    assert verdict.line_number == (tmp_path / "log").read_bytes().count(b"\n")
    assert excerpt.only_searched_bytes == 0


def test_a_crash_that_was_survived_is_no_failure(tmp_path: Path) -> None:
    crash = NO_MEMORY + b"restarting from checkpoint\n"
    verdict, _ = judge(tmp_path / "log", steps(1, 50000), crash, steps(1, 80000))
    assert verdict.failure_class == "success_healthy"
    verdict, _ = judge(tmp_path / "log", crash, steps(1, 90000), fill(FLOOD, 3 * MIB))
    assert verdict.failure_class == "success_healthy"


def test_a_cause_above_a_long_flood_is_found(tmp_path: Path) -> None:
    before = steps(1, 100) + fill(NOISE, 5 * MIB) + steps(200, 100)
    verdict, excerpt = judge(tmp_path / "log", before, NO_MEMORY, fill(FLOOD, 20 * MIB), exit_code=1)
    assert verdict.failure_class == "cuda_oom"
    assert verdict.line_number == before.count(b"\n") + 4
    assert excerpt.only_searched_bytes > MIB


def test_a_lost_loss_is_shown_where_it_began(tmp_path: Path) -> None:
    lost = b"".join(b"step %d/90000 loss nan lr 3e-4\n" % step for step in range(60000, 90000))
    verdict, _ = judge(tmp_path / "log", steps(1, 60000), fill(NOISE, 2 * MIB), lost * 3)
    assert verdict.failure_class == "divergence"
    assert verdict.line == "step 60000/90000 loss nan lr 3e-4"


def test_the_pace_is_not_that_of_the_lines_that_were_left_out(tmp_path: Path) -> None:
    """Ten hours of one step a second, then silence for one hour: it stalls."""
    stamps = (divmod(second, 3600) for second in range(1, 60000))
    log = b"".join(
        b"2026-11-%02d %02d:%02d:%02d step %d loss 2.310 lr 3e-4 of the run that goes on\n"
        % (1 + hour // 24, hour % 24, rest // 60, rest % 60, hour * 3600 + rest)
        for hour, rest in stamps
    )
    (tmp_path / "log").write_bytes(log)
    with open(tmp_path / "log", "rb") as file:
        verdict = classify(Excerpt(Places(file.fileno(), len(log))).parts(), Evidence(log_age_seconds=3600))
    assert verdict.failure_class == "hang_stall"


def test_the_command_says_what_it_only_searched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge(tmp_path / "log", steps(1, 100), NO_MEMORY, fill(FLOOD, 12 * MIB))
    assert main(["triage", str(tmp_path / "log")]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("cuda_oom: dead")
    assert "were only searched for the words" in shown.err


def test_a_row_of_the_users_own_is_asked_about_every_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "onbox.toml").write_text("[[triage]]\nregex = 'lamp is dim'\nclass = 'dim_lamp'\n")
    judge(tmp_path / "log", fill(NOISE, 3 * MIB), b"the lamp is dim\n", fill(NOISE, 3 * MIB))
    assert main(["triage", str(tmp_path / "log"), "-c", str(tmp_path / "onbox.toml")]) == 0
    assert capsys.readouterr().out.startswith("dim_lamp: dead")


@pytest.mark.parametrize("between", [0, 4 * MIB, 40 * MIB])
def test_through_a_pipe_it_gets_the_same_verdict(tmp_path: Path, between: int) -> None:
    log = tmp_path / "log"
    judge(log, steps(1, 100), fill(NOISE, between), NO_MEMORY)
    triage = [sys.executable, "-m", "onbox", "triage"]
    named = subprocess.run([*triage, log], capture_output=True, check=True)
    with subprocess.Popen(["cat", log], stdout=subprocess.PIPE) as cat:
        piped = subprocess.run([*triage, "-"], stdin=cat.stdout, capture_output=True, check=True)
    assert piped.stdout == named.stdout
    assert b"cuda_oom: dead" in piped.stdout
    assert b"loss.backward()" in piped.stdout


def test_of_a_pipe_it_says_what_went_by_unread(tmp_path: Path) -> None:
    log = tmp_path / "log"
    judge(log, steps(1, 100), NO_MEMORY, fill(FLOOD, 30 * MIB))
    with subprocess.Popen(["cat", log], stdout=subprocess.PIPE) as cat:
        triage = [sys.executable, "-m", "onbox", "triage", "-"]
        done = subprocess.run(triage, stdin=cat.stdout, capture_output=True, check=True)
    assert b"in the middle of the standard input went by unread" in done.stderr
