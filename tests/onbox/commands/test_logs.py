"""A log on a terminal cannot speak to the terminal; in a pipe it is what it is, but for secrets and endless lines."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.commands.logs import Printer
from onbox.commands.shared.log_lines import WIDTH, GrowingLines, shown_lines
from tests.box import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

LOG = b"a\x1b[31mred\x1b[0m\x1b]52;c;ZXZpbA==\x07\x00\xffb\r 10%|##  |\r 20%|### | \xe2\x80\xae\xe2\x9c\x93\n\tend\n"
SHOWN = "ared\ufffdb\r 10%|##  |\r 20%|### | <U+202E>✓\n\tend\n"


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1000])
def test_a_log_in_pieces_shows_only_what_is_printed(size: int) -> None:
    raw = io.BytesIO()
    printer = Printer(Terminal(raw, encoding="utf-8", newline=""))
    for at in range(0, len(LOG), size):
        printer.print(LOG[at : at + size])
    printer.print(b"", last=True)
    assert raw.getvalue().decode() == SHOWN


def test_into_a_pipe_it_goes_as_it_is() -> None:
    raw = io.BytesIO()
    printer = Printer(io.TextIOWrapper(raw))
    printer.print(LOG)
    assert raw.getvalue() == LOG


def test_a_sequence_that_never_ends_hides_nothing() -> None:
    raw = io.BytesIO()
    printer = Printer(Terminal(raw, encoding="utf-8", newline=""))
    printer.print(b"\x1b]0;" + b"x" * 5000 + b"\nshown\n\x1b[")
    printer.print(b"", last=True)
    assert raw.getvalue().decode().endswith("\nshown\n")


def test_onbox_logs_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(LOG)
    env = {**os.environ, "PYTHONPATH": os.fspath(REPOSITORY)}
    onbox = [sys.executable, "-m", "onbox"]
    subprocess.run(
        [*onbox, "chain", "train=cat log"], cwd=tmp_path, env=env, check=True, capture_output=True, timeout=60
    )
    piped = subprocess.run([*onbox, "logs"], cwd=tmp_path, env=env, check=True, capture_output=True, timeout=60)
    assert piped.stdout == LOG
    outer, inner = os.openpty()
    with subprocess.Popen([*onbox, "logs"], cwd=tmp_path, env=env, stdout=inner) as shown:
        os.close(inner)
        assert shown.wait(60) == 0
        text = os.read(outer, 65536).decode()
    os.close(outer)
    assert text.replace("\r\n", "\n") == SHOWN


def test_a_line_without_end_is_cut_and_says_how_much_is_left_out() -> None:
    shown = shown_lines(b"begins" + b"x" * 3_000_000 + b"ends\nstep 1\n").decode()
    first, second, rest = shown.split("\n")
    assert (first[:6], first[-4:], second, rest) == ("begins", "ends", "step 1", "")
    assert f" {3_000_010 - WIDTH} characters left out " in first
    assert len(first) < WIDTH + 50


@pytest.mark.parametrize("before", [0, WIDTH // 2 - 20, WIDTH, 90_000])
def test_a_secret_is_masked_wherever_it_stands(before: int) -> None:
    secret = "hf_" + "aB3dE6gH9jK2mN5pQ8sT1vW4" + "xY"
    line = f"{'x ' * (before // 2)} HF_TOKEN={secret} {'y ' * 90}\n".encode()
    growing = GrowingLines()
    pieces = b"".join(growing.take(line[at : at + 7]) for at in range(0, len(line), 7)) + growing.rest()
    for shown in (shown_lines(line), pieces):
        assert secret[:12] not in shown.decode()
        assert secret[-12:] not in shown.decode()


def test_a_log_that_grows_is_shown_whole() -> None:
    growing = GrowingLines()
    pieces = b"".join(growing.take(LOG[at : at + 3]) + growing.rest() for at in range(0, len(LOG), 3))
    assert pieces == LOG
