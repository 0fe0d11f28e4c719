"""The near end of a pull: a file is in its place only when it is whole, and nothing is written through a link."""

from __future__ import annotations

import hashlib
import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from onbox.system.files import StateNotWritten
from patrol.transfer.listing import File
from patrol.transfer.names import OWN_FOLDER
from patrol.transfer.staging import InUse, Staging, written_at

if TYPE_CHECKING:
    from pathlib import Path

STAMP = "2026-11-22 10:00:00.123456789 +0000"
WRITTEN_NS = 1_795_341_600_123_456_789


def file(local: str = "ckpt/a.pt", data: bytes = b"weights", stamp: str = STAMP) -> File:
    return File(0, local, local, len(data), stamp)


def bring(staging: Staging, one: File, data: bytes = b"weights") -> None:
    """All of its bytes, as a stream brings them."""
    fd = staging.open_partial(one, anew=True)
    os.write(fd, data)
    staging.finish(one, fd, hashlib.sha256(data).hexdigest())
    os.close(fd)


def test_a_file_is_in_its_place_when_it_is_placed_with_the_boxs_time(tmp_path: Path) -> None:
    with closing(Staging(str(tmp_path))) as staging:
        bring(staging, file())
        assert not (tmp_path / "ckpt").exists()
        staging.place(file())
        assert staging.has(file())
    assert (tmp_path / "ckpt/a.pt").read_bytes() == b"weights"
    assert os.stat(tmp_path / "ckpt/a.pt").st_mtime_ns == WRITTEN_NS


def test_the_next_try_knows_what_came_whole_and_what_began(tmp_path: Path) -> None:
    placed, staged, begun = file("placed"), file("staged"), file("begun")
    with closing(Staging(str(tmp_path))) as staging:
        bring(staging, placed)
        staging.place(placed)
        bring(staging, staged)
        fd = staging.open_partial(begun, anew=True)
        os.write(fd, b"wei")
        os.close(fd)
    with closing(Staging(str(tmp_path))) as staging:
        assert [staging.has(one) for one in (placed, staged, begun)] == [True, True, False]
        assert staging.partial_bytes(begun) == 3
        assert staging.partial_bytes(file("begun", stamp="another")) == 0, "of another state of the file"


@pytest.mark.parametrize("spoiled", ["other text!", "sevenby"])
def test_a_file_that_somebody_changed_here_comes_again(tmp_path: Path, spoiled: str) -> None:
    with closing(Staging(str(tmp_path))) as staging:
        bring(staging, file())
        staging.place(file())
        (tmp_path / "ckpt/a.pt").write_text(spoiled)
        assert not staging.has(file())


def test_a_file_system_that_keeps_whole_seconds_is_believed(tmp_path: Path) -> None:
    with closing(Staging(str(tmp_path))) as staging:
        bring(staging, file())
        staging.place(file())
        second = WRITTEN_NS // 10**9 * 10**9
        os.utime(tmp_path / "ckpt/a.pt", ns=(second, second))
        assert staging.has(file())


def test_what_changed_on_the_box_meanwhile_is_forgotten(tmp_path: Path) -> None:
    with closing(Staging(str(tmp_path))) as staging:
        bring(staging, file())
        staging.forget(file())
        assert (staging.has(file()), staging.partial_bytes(file())) == (False, 0)
    with closing(Staging(str(tmp_path))) as staging:
        assert not staging.has(file())


def test_a_journal_that_was_cut_off_costs_no_more_than_its_last_line(tmp_path: Path) -> None:
    with closing(Staging(str(tmp_path))) as staging:
        for name in ("first", "second"):
            bring(staging, file(name))
    journal = tmp_path / OWN_FOLDER / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-20])
    with closing(Staging(str(tmp_path))) as staging:
        assert [staging.has(file("first")), staging.has(file("second"))] == [True, False]
        bring(staging, file("third"))
        bring(staging, file("fourth"))
    with closing(Staging(str(tmp_path))) as staging:
        assert [staging.has(file(name)) for name in ("first", "third", "fourth")] == [True, True, True]


def test_two_transfers_never_write_to_one_folder(tmp_path: Path) -> None:
    with closing(Staging(str(tmp_path))):
        before = set(os.listdir("/proc/self/fd"))
        with pytest.raises(InUse):
            Staging(str(tmp_path))
        assert set(os.listdir("/proc/self/fd")) <= before
    Staging(str(tmp_path)).close()


# -- links


def test_nothing_is_written_through_a_link_that_stands_where_a_folder_should_be(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    (home / "ckpt").symlink_to(elsewhere)
    with closing(Staging(str(home))) as staging:
        bring(staging, file())
        with pytest.raises(OSError, match="where its folder should be"):
            staging.place(file())
    assert list(elsewhere.iterdir()) == []


def test_a_link_in_a_files_place_is_replaced_and_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    home = tmp_path / "home"
    home.mkdir()
    (home / "a.pt").symlink_to(precious)
    with closing(Staging(str(home))) as staging:
        bring(staging, file("a.pt"))
        staging.place(file("a.pt"))
    assert (precious.read_text(), (home / "a.pt").read_text()) == ("mine", "weights")


def test_a_link_is_renewed_and_never_takes_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with closing(Staging(str(tmp_path))) as staging:
        staging.place_link("best", "a.pt")
        staging.place_link("best", "b.pt")
        with pytest.raises(FileExistsError):
            staging.place_link("mine", "b.pt")
    assert os.readlink(tmp_path / "best") == "b.pt"


def test_what_another_program_wrote_counts_only_as_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with closing(Staging(str(tmp_path))) as staging:
        written = tmp_path / OWN_FOLDER / "by-rsync"
        written.write_bytes(b"short")
        with pytest.raises(OSError, match="not the file that was asked for"):
            staging.take(file(), str(written))
        written.write_bytes(b"weights")
        staging.take(file(), str(written))
        assert staging.whole["ckpt/a.pt"].sha256 == hashlib.sha256(b"weights").hexdigest()
        (tmp_path / OWN_FOLDER / "link").symlink_to("/etc/hostname")
        with pytest.raises(OSError, match="symbolic links"):
            staging.take(file(), str(tmp_path / OWN_FOLDER / "link"))


# -- the end


def test_a_manifest_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    with closing(Staging(str(tmp_path))) as staging:
        staging.write_beside("list", iter([b"one\n", b"two\n"]))
        (tmp_path / "folder").mkdir()
        with pytest.raises(StateNotWritten):
            staging.write_beside("folder", iter([b"x"]))
    assert (tmp_path / "list").read_bytes() == b"one\ntwo\n"


def test_after_all_came_no_beginning_of_a_file_is_left(tmp_path: Path) -> None:
    with closing(Staging(str(tmp_path))) as staging:
        os.close(staging.open_partial(file(stamp="an earlier state"), anew=True))
        staging.clean()
    assert sorted(os.listdir(tmp_path / OWN_FOLDER)) == ["journal.jsonl", "lock"]


@pytest.mark.parametrize(
    ("stamp", "found"),
    [
        (STAMP, WRITTEN_NS),
        ("2026-11-22 11:00:00.123456789 +0100", WRITTEN_NS),
        ("2026-11-22 10:00:00 +0000", WRITTEN_NS // 10**9 * 10**9),
        ("yesterday", None),
        ("2026-99-22 10:00:00 +0000", None),
        ("", None),
    ],
)
def test_the_times_that_stat_tells(stamp: str, found: int | None) -> None:
    assert written_at(stamp) == found
