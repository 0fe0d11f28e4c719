"""What a finished run left, as a real shell tells it: files that are gone or cut, and small results, once."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from onbox.contract.readings import Unseen
from patrol.memory.run_manifest import ArtifactPromise
from patrol.probe.box import left as box_left
from patrol.probe.frames import end_mark, split
from patrol.probe.left_behind import lost_of
from patrol.probe.script import SectionCall, build
from patrol.ssh.client import script_with_values
from tests.patrol.probe.local_sh import shell_params

if TYPE_CHECKING:
    from pathlib import Path

    from patrol.probe.frames import SectionPart

PROMISES = {
    "train": (
        ArtifactPromise("best.pt", is_glob=False, min_count=1),
        ArtifactPromise("e*.pt", is_glob=True, min_count=2),
    ),
    "eval": (ArtifactPromise("out", is_glob=False, min_count=1),),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    markers = folder / ".onbox" / "digits" / "markers"
    markers.mkdir(parents=True)
    run = folder / ".onbox" / "digits" / "run.json"
    run.write_text("{}")
    os.utime(run, (1, 1))
    (folder / "out").mkdir()
    (folder / "out" / "a b").write_text("x")
    files = {"best.pt": "weights", "e1.pt": "1", "e2.pt": "2", "e3.pt": "3"}
    for name, text in files.items():
        (folder / name).write_text(text)
    listed = [{"path": name, "bytes": len(text), "mtime": 1} for name, text in files.items()]
    cmd = 'echo "cwd": "/etc" {"path": "no", "bytes": 1'
    train = {"run_id": "r1", "cmd": cmd, "cwd": ".", "artifacts": listed, "artifact_count": 4}
    (markers / "train_DONE").write_text(json.dumps(train) + "\n")
    evaluation = {"cwd": str(folder), "artifacts": [{"path": "out", "bytes": 1}], "artifact_count": 1}
    (markers / "eval_DONE").write_text(json.dumps(evaluation))
    (markers / "CHAIN_DONE").write_text("{}")
    return folder


def section(shell: tuple[str, ...], *values: str) -> SectionPart:
    script, words = build((SectionCall("left", values),), "ab12", 20)
    stdin = script_with_values(script, words)
    done = subprocess.run([*shell, "-s"], input=stdin, capture_output=True, timeout=60, check=False)
    part = split(done.stdout + b"\n" + end_mark("ab12") + b"\n", "ab12").part("left")
    assert not isinstance(part, Unseen), part
    return part


def look(shell: tuple[str, ...], project: Path, *told: str) -> tuple[tuple[str, ...], dict[str, str]]:
    left = box_left.parse(section(shell, str(project), ".onbox", *told))["digits"]
    return lost_of(left, PROMISES), {file.path: file.text for file in left.results}


@pytest.mark.parametrize("shell", shell_params())
def test_what_is_gone_or_cut_is_told_by_the_rule_of_the_gate(shell: tuple[str, ...], project: Path) -> None:
    assert look(shell, project)[0] == ()
    (project / "e1.pt").unlink()
    assert look(shell, project)[0] == (), "two are left, and two are asked for"
    (project / "e2.pt").unlink()
    assert look(shell, project)[0] == (
        "e1.pt of stage train is not there any more",
        "e2.pt of stage train is not there any more",
    )
    (project / "best.pt").write_text("cut")
    (project / "out" / "a b").unlink()
    told = look(shell, project)[0]
    assert "best.pt of stage train has 3 B, and had 7 B" in told
    assert "out of stage eval is not there any more" in told


@pytest.mark.parametrize("shell", shell_params())
def test_small_results_come_once_without_configuration(shell: tuple[str, ...], project: Path) -> None:
    (project / "metrics.json").write_text('{"accuracy": 0.97}')
    assert look(shell, project)[1] == {"metrics.json": '{"accuracy": 0.97}'}
    assert look(shell, project, "other", "digits")[1] == {}
