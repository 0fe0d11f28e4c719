"""`onbox check`: everything that would go wrong, before money is spent; it starts and changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.box import Box


def results(box: Box, **settings: Any) -> dict[str, list[dict[str, Any]]]:
    """By check; every result of each."""
    found: dict[str, list[dict[str, Any]]] = {}
    for result in json.loads(box.onbox("check", "--json", **settings).stdout)["results"]:
        found.setdefault(result["check"], []).append(result)
    return found


def test_a_sound_project_passes_and_nothing_is_left_behind(box: Box) -> None:
    (box.project / "onbox.toml").write_text("[stages.train]\ncmd = 'echo hello'\n")
    result = box.onbox("check")
    assert (result.returncode, result.stderr) == (0, "")
    assert "0 failures" in result.stdout
    assert [path.name for path in box.project.iterdir()] == ["onbox.toml"]


BROKEN = """\
[stages.train]
cmd = "no-such-program --epochs 3"
env = { HF_TOKEN = "env:NOT_SET_ANYWHERE", OTHER = "file:no/such/file" }
[stages.eval]
cmd = "bash eval.sh"
[gates]
memory_free = "900TB"
"""


def test_every_fault_is_told_at_once_each_with_a_remedy(box: Box) -> None:
    (box.project / "onbox.toml").write_text(BROKEN)
    (box.project / "eval.sh").write_bytes(b"echo hi\r\n")
    result = box.onbox("check")
    assert result.returncode == 3
    for text in ("'no-such-program'", "NOT_SET_ANYWHERE", "no/such/file", "eval.sh has Windows", "memory_free"):
        assert text in " ".join(result.stdout.split())
    fails = [one for found in results(box).values() for one in found if one["verdict"] == "FAIL"]
    assert len(fails) == 5  # the memory gate refuses both stages in one line; each variable has its own
    assert [one for one in fails if not one["remedy"]] == []


def test_a_broken_file_is_a_failure_and_the_rest_is_still_looked_at(box: Box) -> None:
    (box.project / "onbox.toml").write_text("[stages.train]\ncmd = 3\nartefacts = []\n")
    found = results(box)
    (configuration,) = found["configuration"]
    assert configuration["verdict"] == "FAIL"
    assert "cmd" in configuration["seen"]
    assert "artefacts" in configuration["seen"]
    assert "memory" in found


@pytest.mark.parametrize("setting", ["OMP_NUM_THREADS", "MKL_NUM_THREADS"])
def test_more_threads_than_cores_are_warned_of(box: Box, setting: str) -> None:
    (threads,) = results(box, env={**box.env, setting: "4096"})["threads"]
    assert threads["verdict"] == "WARN"
    assert f"{setting}=4096" in threads["seen"]


def test_output_that_is_held_back_is_warned_of(box: Box) -> None:
    (box.project / "onbox.toml").write_text("[stages.a]\ncmd = 'true'\nenv = { PYTHONUNBUFFERED = '' }\n")
    assert results(box)["output"][0]["verdict"] == "WARN"


def test_a_shell_of_a_batch_job_is_warned_of(box: Box) -> None:
    (session,) = results(box, env={**box.env, "SLURM_JOB_ID": "7"})["session"]
    assert session["verdict"] == "WARN"
    assert "Slurm" in session["seen"]


def test_an_unwritable_state_folder_fails(box: Box) -> None:
    (box.project / "onbox.toml").write_text("[run]\nstate_dir = '/proc/nowhere'\n[stages.a]\ncmd = 'true'\n")
    (state,) = results(box)["state"]
    assert (state["verdict"], bool(state["remedy"])) == ("FAIL", True)


@pytest.mark.root
def test_exhausted_inodes_are_warned_of_while_bytes_are_free(box: Box, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m,nr_inodes=30", "onbox-test", str(small)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs root and mounts")
    try:
        for number in range(28):
            (small / f"f{number}").touch()
        (box.project / "onbox.toml").write_text(f"[stages.a]\ncwd = '{small}'\ncmd = 'true'\n")
        (disk,) = results(box)[f"disk {small}"]
        assert disk["verdict"] == "WARN"
        assert "inodes used" in disk["seen"]
        assert "bytes do not help" in disk["remedy"]
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def test_results_of_another_command_are_told_before_the_start(box: Box) -> None:
    config = box.project / "onbox.toml"
    config.write_text("[stages.train]\ncmd = 'echo one'\n[stages.eval]\ncmd = 'echo eval'\n")
    assert results(box)["earlier run"][0]["verdict"] == "PASS"
    assert box.onbox("chain").returncode == 0
    assert results(box)["earlier run"][0]["verdict"] == "PASS"
    config.write_text(config.read_text().replace("one", "two"))
    (found,) = results(box)["earlier run"]
    assert found["verdict"] == "FAIL"
    assert "train is DONE with another command" in found["seen"]
    assert box.onbox("chain").returncode == 78


def test_a_runner_at_work_is_told(box: Box) -> None:
    (box.project / "onbox.toml").write_text("[stages.train]\ncmd = 'until test -e go; do sleep 0.05; done'\n")
    assert box.onbox("chain", "-d", "--launch-check", "0").returncode == 0
    (found,) = results(box)["earlier run"]
    assert (found["verdict"], "at work" in found["seen"]) == ("WARN", True)
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
