"""Whether a folder is finished, as its neighbours tell it."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from onbox.checkpoints.on_disk import look_at_checkpoints
from onbox.model.manifest import Artifact, Stage

if TYPE_CHECKING:
    from pathlib import Path

    from onbox.checkpoints.select import Choice

STAGE = Stage("train", "true", artifacts=(Artifact("ckpt/step-*", is_glob=True),))


def chosen(project: Path) -> tuple[int | None, list[int]]:
    """The step that is chosen, and those passed over."""
    choice: Choice = look_at_checkpoints(STAGE, str(project))
    return choice.chosen.step if choice.chosen else None, [one.step for one in choice.passed_over]


def zarr(folder: Path, chunks: int, chunk_bytes: int = 1000) -> None:
    """As zarr lays out an array without consolidated metadata: nothing is written last."""
    (folder / "w").mkdir(parents=True)
    (folder / ".zgroup").write_text("{}")
    (folder / "w/.zarray").write_text("{}")
    for number in range(chunks):
        (folder / f"w/{number}.0").write_bytes(b"x" * chunk_bytes)


def test_of_folders_that_tell_nothing_the_newest_that_was_followed_is_taken(tmp_path: Path) -> None:
    for step in (9, 10, 11):
        zarr(tmp_path / f"ckpt/step-{step}", 4)
    assert chosen(tmp_path) == (10, [11])


def test_one_with_fewer_files_or_bytes_than_a_later_one_is_not(tmp_path: Path) -> None:
    zarr(tmp_path / "ckpt/step-8", 4)
    zarr(tmp_path / "ckpt/step-9", 3)
    zarr(tmp_path / "ckpt/step-10", 4, 700)
    zarr(tmp_path / "ckpt/step-11", 4)
    assert chosen(tmp_path) == (8, [11, 10, 9])


def test_a_lone_one_that_tells_nothing_is_not_taken(tmp_path: Path) -> None:
    zarr(tmp_path / "ckpt/step-9", 4)
    assert chosen(tmp_path) == (None, [9])


def test_one_without_the_file_that_the_others_end_with_is_not_whole(tmp_path: Path) -> None:
    for step in (9, 10, 11):
        folder = tmp_path / f"ckpt/step-{step}"
        folder.mkdir(parents=True)
        with zipfile.ZipFile(folder / "w.npz", "w") as file:
            file.writestr("w.npy", b"x")
        if step < 11:
            (folder / "metadata.json").write_text("{}")
    assert chosen(tmp_path) == (10, [11])


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [
        ([700, 700, 700, 634], (3, [4])),
        ([700, 700, 701, 634], (4, [])),  # the size varies: nothing is known
        ([700, 634], (2, [])),
        ([700, 700, 700, 800], (4, [])),
    ],
)
def test_a_file_shorter_than_all_its_equal_siblings_was_cut_off(
    tmp_path: Path, sizes: list[int], wanted: tuple[int, list[int]]
) -> None:
    (tmp_path / "ckpt").mkdir()
    for step, size in enumerate(sizes, start=1):
        (tmp_path / f"ckpt/step-{step}.bin").write_bytes(b"x" * size)
    assert chosen(tmp_path) == wanted
