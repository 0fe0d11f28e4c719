"""What is named as a log and is none: one line says what it is, and what to type instead."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
from typing import TYPE_CHECKING

import pytest

from onbox.cli.app import main

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.parametrize("command", COMMANDS)
def test_binary_data_is_no_log(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str) -> None:
    (tmp_path / "model.bin").write_bytes(random.Random(7).randbytes(1 << 18))
    assert "it holds binary data, not text" in refused(capsys, command, "model.bin")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "data",
    [
        LOG.decode().encode("utf-16"),
        b"\0" * (1 << 17) + LOG,  # of a disk that lost power
        random.Random(7).randbytes(1 << 17) + LOG * 64,  # somebody wrote a file over its beginning
        "轮次 3/9 损失 0.5\n".encode("gbk") * 99,
        b"\x1b[1m\x1b[32mstep 3/9\x1b[0m\b\b\r" * 99,
        b"",
    ],
    ids=["UTF-16", "NUL", "half of it", "GBK", "a terminal's", "empty"],
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
        ("other.log", "no log other.log, and no cell of a sweep in"),
    ):
        assert why in refused(capsys, command, name)
