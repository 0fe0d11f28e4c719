"""Waiting over a real sshd: every trouble between here and the box, and what the wait says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.box import wait_until
from tests.sentinels.waiter import Waiters, land
from tests.sshd import Sshd, need_sshd

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    need_sshd()
    server = Sshd(tmp_path / "ssh")
    yield server
    server.close()


@pytest.fixture
def waiters(tmp_path: Path, sshd: Sshd) -> Iterator[Waiters]:
    made = Waiters(tmp_path, sshd.ssh())
    yield made
    made.close()


def looks_from_the_box(sshd: Sshd) -> bool:
    return bool(sshd.logins())


@pytest.mark.parametrize("engine", ["python", "sh"])
def test_a_marker_on_a_box_lands(sshd: Sshd, waiters: Waiters, tmp_path: Path, engine: str) -> None:
    waiters.env["SENTINEL_ENGINE"] = engine
    waiter = waiters.start("wait", f"gpu1:{tmp_path}/DONE", "--json", "--timeout", "20s")
    wait_until(sshd.logins, "a login")
    land(tmp_path / "DONE")
    end = waiters.end(waiter)
    assert (end["outcome"], end["boxes"][0]["connections"]) == ("landed", 1)
    wait_until(lambda: not sshd.sessions(), "nothing to be left on the box", 3.0)
