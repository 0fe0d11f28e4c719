"""Who else could have written a file: by owner and mode, and by what the mount tells of any file."""

from __future__ import annotations

import grp
import os
import pwd
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from onbox.system import ownership
from onbox.system.files import StateNotWritten
from onbox.system.ownership import Made, WhyNotOurs, is_ours, make_own_folder, others_can_write, why_not_ours

if TYPE_CHECKING:
    from pathlib import Path

ME = os.geteuid()
ANN, TEAM = 4001, 4100


def seen(mode: int, owner: int = ME, group: int = TEAM) -> os.stat_result:
    return os.stat_result((0o100000 | mode, 1, 1, 1, owner, group, 0, 0, 0, 0))


@pytest.fixture(autouse=True)
def accounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ann, whose own group is called ann; and a team with several members. Nobody else is known."""
    own, lab = SimpleNamespace(gr_name="ann", gr_mem=[]), SimpleNamespace(gr_name="lab", gr_mem=["ann", "bob"])
    groups = {ANN: own, TEAM: lab}
    users = {ANN: SimpleNamespace(pw_name="ann", pw_gid=ANN)}
    monkeypatch.setattr(grp, "getgrgid", groups.__getitem__)
    monkeypatch.setattr(pwd, "getpwuid", users.__getitem__)
    monkeypatch.setattr(os, "getgroups", lambda: [TEAM])


@pytest.mark.parametrize(
    ("mode", "owner", "group", "team", "writable"),
    [
        (0o600, ANN, TEAM, False, False),
        (0o644, ANN, TEAM, False, False),
        (0o664, ANN, ANN, False, False),  # a umask of 002 and a group of one's own
        (0o664, ANN, TEAM, False, True),
        (0o664, ANN, TEAM, True, False),  # a team's project
        (0o664, 77, 77, False, True),  # nobody knows who is in that group
        (0o666, ANN, ANN, True, True),
    ],
)
def test_who_can_write_is_told_by_the_mode(mode: int, owner: int, group: int, *, team: bool, writable: bool) -> None:
    assert others_can_write(seen(mode, owner, group), team=team) is writable


def test_a_group_with_another_member_is_not_private(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grp, "getgrgid", lambda _: SimpleNamespace(gr_name="ann", gr_mem=["bob"]))
    assert others_can_write(seen(0o664, ANN, ANN))


def test_ours_is_what_this_user_or_root_owns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: ANN)
    assert is_ours(seen(0o644, ANN))
    assert is_ours(seen(0o644, 0))
    assert not is_ours(seen(0o644, 4002))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert not is_ours(seen(0o644, ANN)), "root believes root alone"


def test_on_a_mount_without_modes_an_open_mode_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "onbox.toml"
    path.touch()
    path.chmod(0o777)
    why = why_not_ours(str(path))
    assert why == WhyNotOurs("can be written by other users (mode 0777)", by_mode=True)
    assert [one.name for one in tmp_path.iterdir()] == ["onbox.toml"], "what was tried there is removed"
    monkeypatch.setattr(ownership, "_made_now", lambda *_: Made(ME, 0o777))
    assert why_not_ours(str(path)) is None
    monkeypatch.setattr(ownership, "_made_now", lambda *_: Made(ANN, 0o600))
    assert why_not_ours(str(path)) == why


def test_on_a_mount_that_gives_files_to_one_user_the_owner_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: ANN)
    monkeypatch.setattr(ownership, "ROOT", -1)
    monkeypatch.setattr(ownership, "_made_now", lambda *_: Made(ANN, 0o600))
    assert why_not_ours(str(tmp_path)) == WhyNotOurs(f"belongs to user {ME}, and this is ann")
    monkeypatch.setattr(ownership, "_made_now", lambda *_: Made(ME, 0o600))
    assert why_not_ours(str(tmp_path)) is None


def test_a_folder_of_our_state_that_others_can_write_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    make_own_folder(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    with pytest.raises(StateNotWritten, match="it can be written by other users"):
        make_own_folder(str(folder))
