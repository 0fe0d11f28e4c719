"""Before the first launch, and in another directory: what a newcomer meets first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from patrol.decide.table import BOX_FLAGS
from tests import warm
from tests.box import Box
from tests.handbooked import HANDBOOK

if TYPE_CHECKING:
    from pathlib import Path

PLAN = '[run]\nname = "e"\n[stages.train]\ncmd = "true"\n'
BOX = '[boxes.gpu1]\nhost = "gpu1"\nproject = "/root/e"\n'


@pytest.mark.parametrize("boxes", ["", BOX], ids=["on the box itself", "beside a box that nobody looked at"])
def test_record_and_issue_begin_before_the_launch(tmp_path: Path, boxes: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    config = project / "onbox.toml"
    config.write_text(PLAN + boxes)
    env = {**Box(project).env, "XDG_STATE_HOME": os.fspath(tmp_path / "state")}

    def handbook(*words: str) -> subprocess.CompletedProcess[str]:
        return warm.run([*HANDBOOK, *words], cwd=project, env=env, timeout=60)

    def missing() -> list[str]:
        items = json.loads(handbook("contract", "--json").stdout)["items"]
        return [one["name"] for one in items if one["standing"] == "MISSING"]

    assert "issue" in missing()
    planned = handbook("log", "--run", "e", "--kind", "decision", "train on the small set first")
    assert planned.returncode == 0, planned.stderr
    issue = handbook("issue")
    assert issue.returncode == 0, issue.stderr
    assert "**not launched yet**" in issue.stdout
    config.write_text(f'{PLAN}{boxes}[contract]\nissue = "https://example.com/1"\n')
    assert "issue" not in missing()
    update = handbook("issue", "--run", "e")
    assert "decision: train on the small set first" in update.stdout
    refused = handbook("log", "--run", "f", "another")
    assert (refused.returncode, "no run 'f'; --run one of: " in refused.stderr) == (64, True)
    assert handbook("seal").returncode != 0, "what was never launched has no end"
    assert handbook("log", "verify").returncode == 0


def test_elsewhere_it_names_the_projects_that_it_knows(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "my project", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    quiet = "".join(f'[[patrol.rules]]\nname = "{rule.name}"\nenabled = false\n' for rule in BOX_FLAGS)
    (project / "onbox.toml").write_text(f'{PLAN}[boxes.here]\nbackend = "local"\nproject = "."\n{quiet}')
    box = Box(project, "e")
    assert box.onbox("chain").returncode == 0
    programs = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    env = {**box.env, "XDG_STATE_HOME": os.fspath(tmp_path / "state"), "PATH": programs}

    def resume(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", command], cwd=elsewhere, env=env, check=False, capture_output=True, text=True
        )

    assert "go to the directory of onbox.toml" in resume("handbook resume").stderr, "none is known yet"
    assert resume(f"cd '{project}' && handbook resume").returncode == 0
    told = resume("handbook resume")
    assert (told.returncode, "e done" in told.stdout) == (0, True), told.stderr
