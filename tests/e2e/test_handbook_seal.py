"""A seal in a real repository: what it refuses, what it keeps, and the tag that it makes."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from tests import warm
from tests.box import Box
from tests.handbooked import HANDBOOK

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = (
    "for i in 1 2; do echo step $i/2 loss 0.$i; mkdir -p ckpt/step-$i; echo $i >ckpt/step-$i/w; done; "
    "echo {} >ckpt/step-1/metadata.json; until grep -q loss .onbox/digits/status.json; do sleep 0.1; done"
)
CONFIG = f"""
[run]
name = "digits"
sample_every = "1s"
[stages.train]
cmd = "{TRAIN}"
artifacts = [{{ glob = "ckpt/step-*/w", min_count = 2 }}]
[stages.eval]
cmd = "echo acc,0.91 >results.csv"
artifacts = ["results.csv"]
[gates]
checkpoints = {{ path = "ckpt", size = "1MB", keep = 3 }}
"""


def test_an_incomplete_final_checkpoint_is_refused_and_a_whole_run_is_sealed_with_all_its_facts(tmp_path: Path) -> None:
    project = tmp_path / "digits"
    project.mkdir()
    (project / "onbox.toml").write_text(CONFIG)
    (project / ".gitignore").write_text(".onbox\nckpt\nresults.csv\n")
    box = Box(project)
    who = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "ann", "GIT_AUTHOR_EMAIL": "ann@example.com"}
    who |= {"GIT_COMMITTER_NAME": "ann", "GIT_COMMITTER_EMAIL": "ann@example.com"}
    env = {**box.env, **who, "XDG_STATE_HOME": os.fspath(tmp_path / "state")}

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=project, env=env, check=True, capture_output=True, text=True).stdout

    def handbook(*words: str) -> subprocess.CompletedProcess[str]:
        return warm.run([*HANDBOOK, *words], cwd=project, env=env, timeout=60)

    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    commit = git("rev-parse", "HEAD")
    assert box.onbox("chain").returncode == 0

    refused = handbook("seal")
    assert refused.returncode == 1, refused.stderr
    assert "NOT SO       final checkpoint  step 2 is not whole: ckpt/step-2" in refused.stdout
    assert git("tag") == ""
    assert not (project / "logbook").exists()

    (project / "ckpt" / "step-2" / "metadata.json").write_text("{}")
    assert handbook("seal", "--check").returncode == 0
    sealed = handbook("seal")
    assert sealed.returncode == 0, sealed.stdout + sealed.stderr
    assert git("tag").split() == ["seal/digits"]
    assert git("rev-parse", "seal/digits^{commit}") == commit
    assert git("log", "-1", "--format=%s").strip() == "digits: start logbook"
    book = (project / "logbook" / "digits.md").read_text()
    before, _, seal = book.partition(" - seal: sealed\n")
    assert " - launch: " in before, "nobody built a page before"
    assert "final checkpoint step 2, ckpt/step-2: whole" in seal
    assert "~2/2 (100%) loss 0.2" in seal
    assert "\n    acc,0.91\n" in seal
    assert handbook("log", "verify").returncode == 0
