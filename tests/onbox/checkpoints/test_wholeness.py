"""Whether a checkpoint can be read to its end."""

from __future__ import annotations

import json
import os
import zipfile
from typing import TYPE_CHECKING

import pytest

from onbox.chain.artifacts.on_disk import find_files, look_at, picture
from onbox.checkpoints.on_disk import look_at_checkpoints
from onbox.checkpoints.survey import survey
from onbox.checkpoints.wholeness import examine
from onbox.model.manifest import Artifact, Stage

if TYPE_CHECKING:
    from pathlib import Path

CHECKPOINTS = Artifact("ckpt/checkpoint-*", is_glob=True)


def safetensors(path: Path, size: int = 400) -> None:
    head = json.dumps({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + b"\0" * size)


def torch_file(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", b"x" * 4000)


def hf(folder: Path) -> Path:
    """A checkpoint as transformers' Trainer leaves it."""
    folder.mkdir(parents=True)
    safetensors(folder / "model.safetensors")
    torch_file(folder / "optimizer.pt")
    (folder / "config.json").write_text("{}")
    (folder / "trainer_state.json").write_text(json.dumps({"global_step": int(folder.name.rpartition("-")[2])}))
    return folder


def cut(path: Path) -> None:
    text = path.read_bytes()
    path.write_bytes(text[: len(text) // 2])


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda at: None, "trainer_state.json is there, and its weights can be read to their end"),
        (lambda at: cut(at / "model.safetensors"), "model.safetensors: "),
        (lambda at: cut(at / "optimizer.pt"), "optimizer.pt: its end is missing"),
        (lambda at: (at / "model.safetensors").unlink(), "no weights (model*.safetensors"),
        (lambda at: (at / "trainer_state.json").unlink(), "no trainer_state.json in it"),
    ],
    ids=["whole", "weights cut", "optimizer cut", "no weights", "no state"],
)
def test_a_hugging_face_folder_is_judged_by_its_weights(tmp_path: Path, damage: object, says: str) -> None:
    folder = hf(tmp_path / "checkpoint-500")
    damage(folder)  # type: ignore[operator]
    whole, said = examine(str(folder))
    assert said.startswith(says)
    assert whole is said.startswith("trainer_state.json is there")


@pytest.mark.parametrize("start", [b"PK", b"PK\x00\x01", b"\x80\x04", b"\x1f\x8b"])
def test_raw_data_that_begins_like_an_archive_is_not_cut_off(tmp_path: Path, start: bytes) -> None:
    (tmp_path / "tokens.bin").write_bytes(start + bytes(5000))
    assert examine(str(tmp_path / "tokens.bin"))[0] is None


def test_an_index_must_have_all_its_shards(tmp_path: Path) -> None:
    folder = hf(tmp_path / "checkpoint-500")
    shards = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    safetensors(folder / shards["a"])
    assert examine(str(folder)) == (False, f"model.safetensors.index.json: it names {shards['b']}, which is not there")
    safetensors(folder / shards["b"])
    assert examine(str(folder))[0] is True


def test_a_zip_whose_middle_is_gone_is_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "epoch=3.ckpt"
    torch_file(path)
    assert examine(str(path))[0] is True
    text = path.read_bytes()
    path.write_bytes(text[:100] + text[-120:])
    assert examine(str(path)) == (False, "its zip directory does not fit its length")


def test_folders_of_other_frameworks_are_known(tmp_path: Path) -> None:
    for name, proof in (("step_7", "_CHECKPOINT_METADATA"), ("dcp-8", ".metadata"), ("step-9", "metadata.json")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data").write_text("x")
        assert examine(str(tmp_path / name))[0] is None
        (tmp_path / name / proof).write_text("{}")
        assert examine(str(tmp_path / name))[0] is True
    (tmp_path / "12").mkdir()
    (tmp_path / "12" / "data").write_text("x")
    assert examine(str(tmp_path / "12"), "orbax")[0] is False


def test_a_new_folder_is_an_artifact_with_the_size_of_its_files(tmp_path: Path) -> None:
    old = hf(tmp_path / "ckpt" / "checkpoint-1")
    before = picture((CHECKPOINTS,), str(tmp_path))
    new = hf(tmp_path / "ckpt" / "checkpoint-2")
    look = look_at(CHECKPOINTS, str(tmp_path), before)
    total = sum(path.stat().st_size for path in new.iterdir())
    assert [(one.path, one.size_bytes) for one in look.new] == [("ckpt/checkpoint-2", total)]
    assert [one.path for one in look.old] == ["ckpt/checkpoint-1"]
    (old / "trainer_state.json").write_text('{"global_step": 501}')
    assert len(look_at(CHECKPOINTS, str(tmp_path), before).new) == 2


def test_a_folder_and_what_lies_in_it_are_not_counted_twice(tmp_path: Path) -> None:
    hf(tmp_path / "ckpt" / "checkpoint-1")
    found = [one.path for one in find_files(Artifact("ckpt/**", is_glob=True), str(tmp_path))]
    assert len(found) == 4
    assert all(path.startswith("ckpt/checkpoint-1/") for path in found)


def test_a_whole_older_checkpoint_does_not_hide_a_cut_newest(tmp_path: Path) -> None:
    hf(tmp_path / "ckpt" / "checkpoint-900")
    cut(hf(tmp_path / "ckpt" / "checkpoint-1000") / "model.safetensors")
    look = look_at(CHECKPOINTS, str(tmp_path), {})
    assert ([one.path for one in look.new], [one.path for one in look.broken]) == (
        ["ckpt/checkpoint-900"],
        ["ckpt/checkpoint-1000"],
    )
    assert (look.newest_is_broken or "").startswith("ckpt/checkpoint-1000: model.safetensors")


@pytest.mark.parametrize(
    "pattern", ["ckpt/checkpoint-*", "ckpt/checkpoint-*/model.safetensors", "ckpt/checkpoint-*/*.json"]
)
def test_a_resume_finds_checkpoints_by_any_glob_into_them(tmp_path: Path, pattern: str) -> None:
    hf(tmp_path / "ckpt" / "checkpoint-900")
    cut(hf(tmp_path / "ckpt" / "checkpoint-1000") / "model.safetensors")
    stage = Stage("train", "true", artifacts=(Artifact(pattern, is_glob=True),))
    choice = look_at_checkpoints(stage, str(tmp_path))
    assert choice.chosen is not None
    assert (choice.chosen.path, choice.chosen.whole) == ("ckpt/checkpoint-900", True)
    assert [one.path for one in choice.passed_over] == ["ckpt/checkpoint-1000"]


def test_models_of_lightgbm_are_found_and_other_texts_are_not(tmp_path: Path) -> None:
    text = "tree\nversion=v4\nTree=0\n\nend of trees\n\nparameters:\nend of parameters\n\npandas_categorical:null\n"
    for name, content in (("model_10", text), ("model_20", text[:40]), ("scores_30", "auc 0.9\n")):
        (tmp_path / f"{name}.txt").write_text(content)
    stage = Stage("train", "true", artifacts=(Artifact("*.txt", is_glob=True),))
    choice = look_at_checkpoints(stage, str(tmp_path))
    assert choice.chosen is not None
    assert (choice.chosen.path, choice.chosen.whole) == ("model_10.txt", True)
    assert [(one.path, one.whole) for one in choice.passed_over] == [("model_20.txt", False)]


def test_a_model_of_lightgbm_is_listed_though_its_name_has_no_step(tmp_path: Path) -> None:
    (tmp_path / "model.txt").write_text("tree\nversion=v4\nTree=0\n\nend of trees\n\nparameters:\nend of parameters\n")
    (tmp_path / "final_scores.txt").write_text("auc 0.9\n")
    stage = Stage("train", "true", artifacts=(Artifact("model.txt"), Artifact("*.txt", is_glob=True)))
    found = survey(stage, str(tmp_path)).found
    assert [(os.path.basename(one.path), one.step, one.whole) for one in found] == [("model.txt", None, True)]


def test_weights_in_the_folder_of_a_number_are_no_step(tmp_path: Path) -> None:
    safetensors(tmp_path / "best.safetensors")
    stage = Stage("train", "true", artifacts=(Artifact("*.safetensors", is_glob=True),))
    assert look_at_checkpoints(stage, str(tmp_path)).chosen is None


def head(text: bytes) -> bytes:
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize(
    "text",
    [
        head(b'{"a": {"data_offsets": [0, "x"]}}'),
        head(b'{"a": {"data_offsets": [0, null]}}'),
        head(b'{"a": {"data_offsets": [0, [1]]}}'),
        head(b'{"a": {"data_offsets": [0, 1e999]}}'),
        head(b'{"a": {"data_offsets": [0, -5]}}'),
        head(b'{"a": {"data_offsets": [0, ' + b"9" * 4000 + b"]}}"),
        head(b"[" * 200_000),
        head(b'{"a":' * 200_000),
        b"\xff" * 16,
    ],
    ids=["word", "null", "list", "infinity", "negative", "huge", "deep list", "deep table", "longer than the file"],
)
def test_a_head_that_no_program_writes_is_damage_and_no_defect(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(text)
    assert examine(str(tmp_path / "model.safetensors")) == (False, "its head is damaged or cut off")


def test_a_head_that_would_fill_the_memory_is_not_read(tmp_path: Path) -> None:
    length = 17 << 20
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.write(length.to_bytes(8, "little"))
        file.truncate(8 + length)
    assert examine(str(tmp_path / "model.safetensors")) == (None, "its head is too long to be read")
