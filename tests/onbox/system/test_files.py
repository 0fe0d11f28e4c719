"""Files that are whole or not there, and the journal."""

from __future__ import annotations

import errno
import os
import resource
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from onbox.chain.observe.sample_file import SampleFile
from onbox.system.files import (
    StateNotWritten,
    link_newest,
    look_for_shortage,
    make_folders,
    read_file,
    read_tail,
    remove_file,
    replace_file,
)
from onbox.system.journal import Journal, read_lines
from onbox.system.lock import try_lock
from onbox.system.process import Files, start_detached
from patrol.memory.rows import MemoryTrouble
from patrol.memory.store import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextmanager
def files_end_at(limit_bytes: int) -> Iterator[None]:
    """No file may grow beyond `limit_bytes` (the kernel answers EFBIG, or takes only a part)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_replaced_and_private(tmp_path: Path, *, durable: bool) -> None:
    path = tmp_path / "status.json"
    for data in (b"one", b"", b"x" * 3_000_000):
        replace_file(str(path), data, durable=durable)
        assert data == path.read_bytes()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [path] == list(tmp_path.iterdir())


def test_a_reader_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    replace_file(str(path), b"old")
    with path.open("rb") as file:
        replace_file(str(path), b"new")
        assert file.read() == b"old"


def test_the_old_file_stays_when_the_new_one_fails(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    replace_file(str(path), b"old")
    with files_end_at(10), pytest.raises(StateNotWritten) as caught:
        replace_file(str(path), b"x" * 1000)
    assert (str(path), None) == (caught.value.path, caught.value.shortage)
    assert f"cannot write {path}: File too large" == str(caught.value)
    assert path.read_bytes() == b"old"
    assert [path] == list(tmp_path.iterdir())


def test_what_cannot_be_renamed_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    (path / "full").mkdir(parents=True)
    with pytest.raises(StateNotWritten, match=r"run\.json: Is a directory"):
        replace_file(str(path), b"new")
    assert [path] == list(tmp_path.iterdir())


def test_a_missing_folder_names_the_path(tmp_path: Path) -> None:
    path = f"{tmp_path}/gone/run.json"
    with pytest.raises(StateNotWritten, match="No such file") as caught:
        replace_file(path, b"new")
    assert path == caught.value.path


def test_a_roomy_or_unseen_disk_has_no_shortage(tmp_path: Path) -> None:
    assert look_for_shortage(f"{tmp_path}/gone/run.json") == (None, "")


@pytest.mark.parametrize(
    ("expected", "content", "limit"),
    [
        (b"", b"", 10),
        (b"abc", b"abc", 10),
        (b"abc", b"abc", 3),
        (b"bc", b"abc", 2),
        (b"", b"abc", 0),
        (b"end", b"x" * 3_000_000 + b"end", 3),
    ],
)
def test_the_tail_of_a_file_is_read(tmp_path: Path, expected: bytes, content: bytes, limit: int) -> None:
    (tmp_path / "log").write_bytes(content)
    assert expected == read_tail(str(tmp_path / "log"), limit)


@pytest.mark.parametrize(
    ("expected", "limit"), [(b"", 0), (b"abc", 3), (b"abcdef", 6), (b"abcdef", 7), (b"abcdef", 1 << 26)]
)
def test_the_beginning_of_a_file_is_read(tmp_path: Path, expected: bytes, limit: int) -> None:
    (tmp_path / "log").write_bytes(b"abcdef")
    assert expected == read_file(str(tmp_path / "log"), limit)


def test_a_missing_file_is_none(tmp_path: Path) -> None:
    path = str(tmp_path / "gone")
    assert (read_file(path), read_tail(path, 5), remove_file(path)) == (None, None, False)


def test_what_cannot_be_read_raises(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_file(str(tmp_path))


def test_a_file_is_removed_once(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    assert (remove_file(str(tmp_path / "log")), remove_file(str(tmp_path / "log"))) == (True, False)
    with pytest.raises(StateNotWritten, match=str(tmp_path)):
        remove_file(str(tmp_path))


def test_folders_are_made_private_with_those_above(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c"
    make_folders(str(path), str(tmp_path / "d"))
    make_folders(str(path))
    assert [stat.S_IMODE(made.stat().st_mode) for made in (path, *path.parents[:2], tmp_path / "d")] == [0o700] * 4


def test_a_folder_that_exists_is_left_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_folders(str(tmp_path))
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


@pytest.mark.parametrize("below", ["", "/deeper"])
def test_a_file_in_a_folders_place_names_the_path(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StateNotWritten, match=r"/file: Not a directory$"):
        make_folders(f"{tmp_path}/file{below}")


def test_a_link_points_to_the_newest(tmp_path: Path) -> None:
    link = tmp_path / "train.log"
    for name in ("train.1.log", "train.2.log"):
        link_newest(name, str(link))
        assert name == os.readlink(link)
    assert [link] == list(tmp_path.iterdir())


# -- the journal


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        (b"", b""),
        (b"a\n", b"a\n"),
        (b"a\nb\n", b"a\nb\n"),
        (b"a\n", b"a\nb"),
        (b"", b"a"),
        (b"", b"x" * 200_000),
        (b"a\n", b"a\n" + b"x" * 200_000),
        (b"a\n", b"a\n" + b"x" * 65535),
        (b"a\n", b"a\n" + b"x" * 65536),
        (b"a\n" + b"y" * 65536 + b"\n", b"a\n" + b"y" * 65536 + b"\n" + b"x" * 65536),
    ],
)
def test_a_torn_end_is_cut_and_appending_goes_on(tmp_path: Path, kept: bytes, found: bytes) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(found)
    journal = Journal(str(path))
    assert kept == path.read_bytes()
    journal.append(b"new\n")
    journal.append(b"two\nthree\n", sync=False)
    journal.sync()
    journal.close()
    assert kept + b"new\ntwo\nthree\n" == path.read_bytes()


def test_a_new_journal_is_private(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    Journal(str(path)).close()
    assert (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) == (0o600, b"")


def test_a_failed_append_leaves_nothing_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    journal = Journal(str(path))
    journal.append(b"one\n")
    with files_end_at(10), pytest.raises(StateNotWritten, match=r"events\.jsonl: File too large"):
        journal.append(b"x" * 100 + b"\n")
    assert path.read_bytes() == b"one\n"
    journal.append(b"two\n")
    journal.close()
    assert path.read_bytes() == b"one\ntwo\n"


def test_a_journal_that_cannot_be_opened_names_its_path(tmp_path: Path) -> None:
    with pytest.raises(StateNotWritten, match=r"gone/events\.jsonl: No such file"):
        Journal(f"{tmp_path}/gone/events.jsonl")


def test_lines_are_read_with_their_ends(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    assert list(read_lines(str(path))) == []
    path.write_bytes(b"a\n\nb\r\nc")
    assert list(read_lines(str(path))) == [b"a\n", b"\n", b"b\r\n", b"c"]


# -- links that somebody planted


def test_a_link_under_any_name_that_could_be_foreseen_is_not_written_through(tmp_path: Path) -> None:
    """As in a project that a team can write: `HANDBOOK.md.tmp<pid>` for every pid of the near future."""
    mine = tmp_path / "mine"
    mine.write_bytes(b"mine")
    page, link = tmp_path / "HANDBOOK.md", tmp_path / "newest"
    link.symlink_to("old")
    for path in (page, link):
        for name in (f"{path}.tmp{os.getpid()}", f"{path}.tmp", f"{path}.new"):
            os.symlink(mine, name)
    replace_file(str(page), b"page")
    link_newest("new", str(link))
    assert mine.read_bytes() == b"mine"
    assert not page.is_symlink()
    assert page.read_bytes() == b"page"
    assert os.readlink(link) == "new"


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "status.json").symlink_to("mine")
    replace_file(str(tmp_path / "status.json"), b"{}")
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert not (tmp_path / "status.json").is_symlink()


def test_a_file_for_others_to_read_has_its_mode_from_the_start(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        replace_file(str(tmp_path / "page"), b"x", mode=0o644)
    finally:
        os.umask(before)
    assert (tmp_path / "page").stat().st_mode & 0o777 == 0o644


def _lock(path: str) -> None:
    try_lock(path)


def _sample(path: str) -> None:
    samples = SampleFile(path)
    samples.append({"at": "2026-01-01T00:00:00Z"})
    if samples.missed:
        raise StateNotWritten(path, OSError(errno.ELOOP, ""))


def _log_of_a_child(path: str) -> None:
    pid = start_detached(["/bin/sh", "-c", "echo child"], {}, Files(output=path))
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        raise StateNotWritten(path, OSError(errno.ELOOP, ""))


def _memory(path: str) -> None:
    Memory(path).acts(1, "resume")


@pytest.mark.parametrize("write", [_lock, Journal, _sample, _log_of_a_child, _memory])
def test_what_is_opened_to_be_written_follows_no_link(tmp_path: Path, write: Callable[[str], object]) -> None:
    mine, path = tmp_path / "mine", tmp_path / "planted"
    mine.write_bytes(b"mine, without a line end")
    path.symlink_to(mine)
    with pytest.raises((StateNotWritten, MemoryTrouble, OSError)):
        write(str(path))
    assert mine.read_bytes() == b"mine, without a line end"
