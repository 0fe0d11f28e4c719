"""Room that was taken before: what is written into it on a full disk, and whoever is killed while it writes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.system.files import StateNotWritten
from patrol.tell.spare import HALF_BYTES, Spare

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_written_last_is_read(tmp_path: Path) -> None:
    spare = Spare(os.fspath(tmp_path / "spare"))
    spare.reserve()
    assert spare.read() is None
    for text in (b"one", b"two, longer", b"3"):
        spare.write(text)
        spare.reserve()
        assert spare.read() == text
    assert (tmp_path / "spare").stat().st_size == 2 * HALF_BYTES, "no new room was needed"


def test_a_write_that_was_cut_off_leaves_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "spare"
    spare = Spare(os.fspath(path))
    spare.reserve()
    spare.write(b"one")
    whole = path.read_bytes()
    spare.write(b"two")
    after = path.read_bytes()
    changed = [at for at in range(len(whole)) if whole[at] != after[at]]
    for end in range(changed[0], changed[-1] + 1):
        path.write_bytes(after[:end] + whole[end:])
        assert spare.read() == b"one", end
    path.write_bytes(after)
    assert spare.read() == b"two"


@pytest.mark.parametrize("size", [HALF_BYTES, None])
def test_what_does_not_fit_or_has_no_room_is_said(tmp_path: Path, size: int | None) -> None:
    spare = Spare(os.fspath(tmp_path / "spare"))
    if size:
        spare.reserve()
    with pytest.raises(StateNotWritten):
        spare.write(b"x" * (size or 1))
