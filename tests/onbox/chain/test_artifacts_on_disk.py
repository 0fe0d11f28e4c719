"""Which files an attempt has written, told without comparing any clock."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.chain.artifacts import on_disk as artifacts
from onbox.chain.artifacts.on_disk import (
    PICTURE_LIMIT,
    ArtifactLook,
    StopAsked,
    find_files,
    list_files,
    look_at,
    picture,
)
from onbox.model.manifest import Artifact
from onbox.system.process import never
from tests.box import wait_until

if TYPE_CHECKING:
    from pathlib import Path

BEST = Artifact("best.npz")
ALL = Artifact("*.npz", is_glob=True)


def names(look: ArtifactLook) -> tuple[list[str], list[str], list[str]]:
    """(new, old, small) of a look that worked."""
    assert look.problem is None
    new, old, small = ([found.path for found in part] for part in (look.new, look.old, look.small))
    return new, old, small


def age(path: Path, seconds: int = 1_000_000_000) -> None:
    os.utime(path, ns=(seconds * 10**9, seconds * 10**9))


def test_a_file_that_was_not_there_before_is_new(tmp_path: Path) -> None:
    before = picture((BEST,), str(tmp_path))
    (tmp_path / "best.npz").write_bytes(b"w")
    assert before == {}
    assert names(look_at(BEST, str(tmp_path), before)) == (["best.npz"], [], [])


def test_an_old_file_is_old_under_each_of_its_names(tmp_path: Path) -> None:
    artifact = Artifact("*.npz", is_glob=True)
    (tmp_path / "epoch_1.npz").write_text("old")
    (tmp_path / "epoch_2.npz").write_text("older")
    (tmp_path / "best.npz").symlink_to("epoch_1.npz")
    before = picture((artifact,), str(tmp_path))
    (tmp_path / "best.npz").unlink()
    assert look_at(artifact, str(tmp_path), before).new == ()
    (tmp_path / "best.npz").symlink_to("epoch_2.npz")
    assert look_at(artifact, str(tmp_path), before).new == ()


def test_an_untouched_file_is_old(tmp_path: Path) -> None:
    (tmp_path / "best.npz").write_bytes(b"w")
    before = picture((BEST,), str(tmp_path))
    assert names(look_at(BEST, str(tmp_path), before)) == ([], ["best.npz"], [])


def test_a_new_file_below_the_wanted_size_is_small(tmp_path: Path) -> None:
    (tmp_path / "best.npz").write_bytes(b"12345")
    assert names(look_at(BEST._replace(min_bytes=6), str(tmp_path), {})) == ([], [], ["best.npz"])
    assert names(look_at(BEST._replace(min_bytes=5), str(tmp_path), {})) == (["best.npz"], [], [])


@pytest.mark.parametrize(("min_bytes", "kind"), [(1, 2), (0, 0)])
def test_an_empty_file_counts_only_where_allowed(tmp_path: Path, min_bytes: int, kind: int) -> None:
    (tmp_path / "best.npz").touch()
    assert names(look_at(BEST._replace(min_bytes=min_bytes), str(tmp_path), {}))[kind] == ["best.npz"]


def test_a_file_rewritten_in_place_is_new(tmp_path: Path) -> None:
    path = tmp_path / "best.npz"
    path.write_bytes(b"w")
    age(path)
    before = picture((BEST,), str(tmp_path))
    path.write_bytes(b"v")
    assert names(look_at(BEST, str(tmp_path), before)) == (["best.npz"], [], [])


def test_a_file_with_a_time_set_into_the_past_is_new(tmp_path: Path) -> None:
    path = tmp_path / "best.npz"
    path.write_bytes(b"w")
    before = picture((BEST,), str(tmp_path))
    age(path)
    assert names(look_at(BEST, str(tmp_path), before)) == (["best.npz"], [], [])


def test_a_file_replaced_with_the_same_time_and_size_is_new(tmp_path: Path) -> None:
    path, beside = tmp_path / "best.npz", tmp_path / "beside"
    path.write_bytes(b"w")
    beside.write_bytes(b"v")
    age(path)
    age(beside)
    before = picture((BEST,), str(tmp_path))
    beside.rename(path)
    assert names(look_at(BEST, str(tmp_path), before)) == (["best.npz"], [], [])


@pytest.mark.parametrize(
    "name", ["two words.npz", "line\nbreak.npz", "-rf.npz", "größe-模型.npz", "'\"$(x)`.npz", "a,b.npz"]
)
def test_hostile_names_are_names(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"w")
    for artifact in (Artifact(name), ALL):
        assert ([name], [], []) == names(look_at(artifact, str(tmp_path), {}))
        before = picture((artifact,), str(tmp_path))
        assert ([], [name], []) == names(look_at(artifact, str(tmp_path), before))


def test_a_literal_path_with_wildcards_is_literal(tmp_path: Path) -> None:
    (tmp_path / "epoch_1.npz").write_bytes(b"w")
    assert names(look_at(Artifact("epoch_[0-9].npz"), str(tmp_path), {})) == ([], [], [])


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "best.npz").mkdir()
    assert names(look_at(BEST, str(tmp_path), {})) == ([], [], ["best.npz"])


def test_a_glob_reaches_into_folders(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x.npz").write_bytes(b"w")
    assert names(look_at(Artifact("**/*.npz", is_glob=True), str(tmp_path), {})) == (["a/b/x.npz"], [], [])


@pytest.mark.parametrize("artifact", [BEST, ALL, Artifact("deep/best.npz"), Artifact("/nowhere/at/all")])
def test_a_missing_folder_holds_nothing(tmp_path: Path, artifact: Artifact) -> None:
    folder = str(tmp_path / "gone")
    assert picture((artifact,), folder) == {}
    assert names(look_at(artifact, folder, {})) == ([], [], [])


def test_a_file_where_a_folder_should_be_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "ckpt").write_bytes(b"w")
    assert names(look_at(Artifact("ckpt/best.npz"), str(tmp_path), {})) == ([], [], [])


def test_a_dangling_link_is_absent_and_a_link_is_its_file(tmp_path: Path) -> None:
    (tmp_path / "best.npz").symlink_to("epoch_3")
    assert list(find_files(BEST, str(tmp_path))) == []
    (tmp_path / "epoch_3").write_bytes(b"123")
    assert [found.size_bytes for found in find_files(BEST, str(tmp_path))] == [3]


def test_what_cannot_be_looked_at_says_why(tmp_path: Path) -> None:
    (tmp_path / "best.npz").symlink_to("best.npz")
    look = look_at(BEST, str(tmp_path), {})
    assert (look.new, look.old, look.small) == ((), (), ())
    assert f"{tmp_path}/best.npz: Too many levels of symbolic links" == look.problem


def test_beyond_the_limit_only_the_newest_change_is_kept(tmp_path: Path) -> None:
    for number in range(PICTURE_LIMIT + 20):
        (tmp_path / f"{number:04}.npz").write_bytes(b"w")
    before = picture((ALL,), str(tmp_path))
    assert len(before) == PICTURE_LIMIT + 1
    assert (
        names(look_at(ALL, str(tmp_path), before))[0],
        len(look_at(ALL, str(tmp_path), before).old),
    ) == ([], PICTURE_LIMIT + 20)

    last, added = tmp_path / f"{PICTURE_LIMIT + 19:04}.npz", tmp_path / "added.npz"

    def both_are_new() -> bool:
        last.write_bytes(b"vv")  # again until the file system's clock has ticked
        added.write_bytes(b"w")
        return names(look_at(ALL, str(tmp_path), before))[0] == [last.name, added.name]

    wait_until(both_are_new, "files changed after the picture to be new")


def test_only_regular_files_are_artifacts(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "best.npz")
    assert names(look_at(BEST._replace(min_bytes=0), str(tmp_path), {})) == ([], [], [])


# A walk may be ended between the opening of a folder and the `with` that closes it; then Python itself closes it.
cut_off = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def make_maze(folder: Path) -> Artifact:
    """A pattern that leads through 3 ** 40 folders."""
    maze = folder / "maze"
    maze.mkdir()
    for name in "abc":
        (maze / name).symlink_to(".")
    return Artifact("maze/**/never.bin", is_glob=True)


@cut_off
def test_a_walk_without_an_end_could_not_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = make_maze(tmp_path)
    with pytest.raises(OSError, match="took longer"):
        list_files(endless, str(tmp_path), seconds=0.2)
    monkeypatch.setattr(list_files, "__defaults__", (0.2, never))
    why = "the walk through its files took longer than 0.2 s"
    assert look_at(endless, str(tmp_path), {}).problem == f"{endless.pattern}: {why}"


@cut_off
def test_a_walk_hears_that_somebody_asks_to_stop(tmp_path: Path) -> None:
    endless = make_maze(tmp_path)
    with pytest.raises(StopAsked):
        look_at(endless, str(tmp_path), {}, urged=lambda: True)
    with pytest.raises(StopAsked):
        picture((endless,), str(tmp_path), urged=lambda: True)


def test_a_pattern_that_matches_too_much_could_not_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}.npz").touch()
    monkeypatch.setattr(artifacts, "MATCHES_LIMIT", 4)
    assert look_at(ALL, str(tmp_path), {}).problem == "*.npz: more than 4 files and folders match"
    monkeypatch.setattr(artifacts, "MATCHES_LIMIT", 5)
    assert look_at(ALL, str(tmp_path), {}).problem is None
