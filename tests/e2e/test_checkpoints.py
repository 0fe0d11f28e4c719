"""`onbox checkpoints`: what a run has saved, whole or why not, why it is kept; and what a resumed stage is given."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from tests.saved import CONFIG

if TYPE_CHECKING:
    from pathlib import Path

    from tests.box import Box


def save(folder: Path, **more: object) -> None:
    """A checkpoint as many a script writes it: weights, then metadata.json."""
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "w.npz", "w") as file:
        file.writestr("w.npy", b"x" * 1000)
    (folder / "metadata.json").write_text(json.dumps(more))


@pytest.fixture
def saved(box: Box) -> Box:
    """A run whose stage failed after it had saved steps 8 to 11, of which the last is not whole."""
    (box.project / "onbox.toml").write_text(CONFIG)
    assert box.onbox("chain").returncode == 1
    for step in (8, 9, 10):
        save(box.project / f"ckpt/step-{step}", step=step)
    (box.project / "ckpt/step-11").mkdir()
    return box


def listed(box: Box, *words: str) -> dict[str, Any]:
    done = box.onbox("checkpoints", "--json", *words)
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def test_each_has_its_step_its_state_and_why_it_is_kept(saved: Box) -> None:
    (saved.project / "ckpt/best").symlink_to("step-8")
    found = {one["step"]: one for one in listed(saved, "--keep", "2")["checkpoints"]}
    assert list(found) == [11, 10, 9, 8]
    assert (found[11]["whole"], found[11]["kept"]) == (False, ["newer"])
    assert [found[step]["kept"] for step in (10, 9, 8)] == [["latest"], ["latest"], ["best", "linked"]]
    assert (found[10]["whole"], found[10]["files"], found[10]["attempt"]) == (True, 2, 1)
    assert found[10]["bytes"] > 1000


def test_the_list_fits_a_terminal_and_names_what_is_missing(saved: Box) -> None:
    text = saved.onbox("checkpoints").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "INCOMPLETE: it is empty" in text
    assert "* " + " " * 7 + "10" in text


def test_a_resumed_stage_is_given_the_newest_whole_one(saved: Box) -> None:
    path = str(saved.project / "ckpt/step-10")
    assert path == saved.onbox("checkpoints", "--select").stdout.strip()
    saved.onbox("resume")
    assert (saved.state / "logs/train.1.log").read_text() == "from=\n"
    assert (saved.state / "logs/train.2.log").read_text() == f"from={path}\n"
    data = listed(saved)
    assert [one["recovery_source"] for one in data["stages"]] == [path]
    assert "recovery_source" in next(one for one in data["checkpoints"] if one["step"] == 10)["kept"]


SAVES = """
[stages.train]
cmd = "echo resume=$ONBOX_RESUME from=$ONBOX_CHECKPOINT; mkdir -p ckpt/%s; echo '{}' >ckpt/%s/metadata.json; %s"
artifacts = [{ glob = "ckpt/step-*" }]
"""


def trained(box: Box, step: str, then: str, *words: str) -> str:
    """The log of an attempt whose command saves that step, and ends so; what the launch said comes before it."""
    (box.project / "onbox.toml").write_text(SAVES % (step, step, then))
    said = box.onbox("chain", *words).stdout
    return said + (box.state / "logs/train.log").read_text()


def test_after_a_redo_no_checkpoint_from_before_it_is_given(box: Box) -> None:
    trained(box, "step-90", "true")
    assert "resume=0 from=\n" in trained(box, "half", "exit 1", "--redo", "train")
    assert "resume=1 from=\n" in trained(box, "half", "exit 2")
    assert "resume=1 from=\n" in trained(box, "step-5", "exit 2")
    assert f"resume=1 from={box.project}/ckpt/step-5\n" in trained(box, "step-5", "exit 2")
    assert "written before the stage was begun anew" in box.onbox("resume", "--dry-run").stdout


def test_who_goes_on_from_another_commands_checkpoint_is_told_so(box: Box) -> None:
    path = f"{box.project}/ckpt/step-90"
    trained(box, "step-90", "exit 1")
    changed = trained(box, "half", "exit 1")
    assert f"from {path}, written before this command's first attempt\n" in changed
    assert f"from={path}\n" in changed
    trained(box, "step-95", "exit 1")
    own = trained(box, "step-95", "exit 1")
    assert f"from {box.project}/ckpt/step-95\n" in own


def test_where_none_is_whole_nothing_is_selected(box: Box) -> None:
    (box.project / "onbox.toml").write_text(CONFIG)
    assert box.onbox("chain").returncode == 1
    assert box.onbox("checkpoints", "--select").returncode == 3
    (box.project / "ckpt/step-11").mkdir(parents=True)
    refused = box.onbox("checkpoints", "--select")
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "none is whole (step-11: it is empty)" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert box.onbox("resume").returncode == 3


def test_a_lineage_rejected_since_the_launch_is_not_given(saved: Box) -> None:
    with open(saved.project / "onbox.toml", "a", encoding="utf-8") as file:
        file.write('[contract]\nrejected = ["step-10"]\ninitialize_from = "ckpt/step-8"\n')
    saved.onbox("resume", "--any-checkpoint")
    assert "from=" + str(saved.project / "ckpt/step-9") in (saved.state / "logs/train.2.log").read_text()
    assert "launch_source" in next(one for one in listed(saved)["checkpoints"] if one["step"] == 8)["kept"]


def test_of_a_run_that_is_done_no_resume_is_promised(saved: Box) -> None:
    assert "a resume continues from step 10: ONBOX_CHECKPOINT" in saved.onbox("checkpoints").stdout
    (saved.project / "go").touch()
    done = saved.onbox("chain")
    assert done.returncode == 0, done.stdout
    told = " ".join(saved.onbox("checkpoints").stdout.split())
    assert "the newest whole one, step 10; the run is done: nothing is left to resume" in told
    assert "goes on from" not in told


def test_a_glob_without_a_wildcard_is_a_plain_artifact(box: Box) -> None:
    made = "printf tokens > tokens.bin; for n in 40 60; do printf raw > shard_$n.bin; done"
    artifacts = '[{ glob = "tokens.bin", min_bytes = 6 }, { glob = "shard_*.bin" }]'
    config = f'[run]\nname = "tok"\n[stages.data]\ncmd = "{made}"\nartifacts = {artifacts}\n'
    (box.project / "onbox.toml").write_text(config)
    assert box.onbox("chain").returncode == 0
    shown = box.onbox("checkpoints")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert [line.count("whole: cannot be told") for line in shown.stdout.splitlines() if "shard_" in line] == [1, 1]
    assert "the newest one, step 60 (whole: cannot be told)" in " ".join(shown.stdout.split())
    selected = box.onbox("checkpoints", "--select")
    assert (selected.returncode, selected.stdout.strip()) == (0, str(box.project / "shard_60.bin")), selected.stderr
    looked = box.onbox("prune", "--dry-run")
    assert (looked.returncode, looked.stderr) == (0, "")
