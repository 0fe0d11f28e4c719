"""The look at Slurm from afar: the script in real shells against fake commands, and what its output means."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from onbox.backends.base import Job, JobState
from onbox.backends.slurm.probe import FUNCTIONS, parse_probe, parse_sections
from onbox.contract.readings import Absent, Unseen
from tests.onbox.backends.cases import case

if TYPE_CHECKING:
    from pathlib import Path

SHELLS = [words for words in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(words[0])]


def probe(shell: list[str], path: str, *job_ids: str) -> str:
    done = subprocess.run(
        [*shell, "-s", "--", *job_ids],
        input=FUNCTIONS + 'onbox_slurm "$@"\n',
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={"PATH": path, "SQUEUE_USERS": ""},
    )
    return done.stdout


def test_a_captured_answer_is_understood() -> None:
    words = parse_probe(case("slurm_22.05_probe.txt"), ["26", "19", "999"])
    assert [word.state for word in words.values() if isinstance(word, Job)] == [JobState.STOPPED] * 2
    assert isinstance(words["999"], Absent)


def test_a_job_that_was_not_asked_for_is_unseen() -> None:
    assert isinstance(parse_probe(case("slurm_22.05_probe.txt"), ["5000"])["5000"], Unseen)


@pytest.mark.parametrize("cut", [0, 1, 100, 400])
def test_a_cut_off_answer_is_never_an_end(cut: int) -> None:
    assert isinstance(parse_probe(case("slurm_22.05_probe.txt")[:cut], ["26"])["26"], Unseen)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_no_slurm_at_all_is_said_so(shell: list[str], tmp_path: Path) -> None:
    _only(tmp_path, *shell[:1])
    words = parse_probe(probe([str(tmp_path / shell[0]), *shell[1:]], str(tmp_path), "7"), ["7"])
    assert words["7"] == Unseen("there is no squeue where it was asked")


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_hostile_ids_reach_no_command(shell: list[str], tmp_path: Path) -> None:
    _only(tmp_path, shell[0])
    _fake(tmp_path, "squeue", 'echo "$@" >&2; exit 1')
    out = probe(
        [str(tmp_path / shell[0]), *shell[1:]], f"{tmp_path}:{os.environ['PATH']}", "7", "$(touch x)", "-o", "8;9"
    )
    assert "-j 7 -O" in parse_sections(out)["squeue"].output
    assert set(parse_sections(out)) == {"squeue", "scontrol 7", "sacct"}


def test_no_ids_ask_nothing() -> None:
    assert probe(SHELLS[0], os.environ["PATH"]) == ""


def test_a_controller_that_hangs_is_asked_once(tmp_path: Path) -> None:
    _fake(tmp_path, "timeout", "exit 124")
    _fake(tmp_path, "squeue", "exit 0")
    _fake(tmp_path, "scontrol", "exit 0")
    words = parse_probe(probe(SHELLS[0], f"{tmp_path}:{os.environ['PATH']}", "7", "8"), ["7", "8"])
    assert words["7"] == words["8"] == Unseen("squeue did not answer in time")


def test_what_squeue_shows_is_not_asked_for_again(tmp_path: Path) -> None:
    _fake(tmp_path, "squeue", "printf '%-24s%-24s%-200s\\n' 7 RUNNING None")
    _fake(tmp_path, "scontrol", "exit 1")
    sections = parse_sections(probe(SHELLS[0], f"{tmp_path}:{os.environ['PATH']}", "7", "77"))
    assert [name for name in sections if name.startswith("scontrol")] == ["scontrol 77"]


def _only(folder: Path, program: str) -> None:
    """A PATH that holds this program alone."""
    found = shutil.which(program)
    assert found is not None
    (folder / program).symlink_to(found)


def _fake(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
