"""Waiting while the network itself is at fault: in a network of its own (a namespace) packets are really dropped.

Nothing is closed and nobody is told: as a firewall that has forgotten a connection, or a pulled cable, leaves it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.box import wait_until
from tests.sentinels.waiter import Waiters, land
from tests.sshd import Sshd, need_sshd

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.root, pytest.mark.long]
TABLE = "inet faults"


class Network:
    """A network of its own, with loopback alone. words: run a command in it."""

    def __init__(self) -> None:
        self.holder = subprocess.Popen(["unshare", "-n", "sleep", "600"])
        self.words = ("nsenter", "-t", str(self.holder.pid), "-n")
        here = os.readlink("/proc/self/ns/net")
        wait_until(lambda: os.readlink(f"/proc/{self.holder.pid}/ns/net") != here, "the namespace")
        self.run("ip", "link", "set", "lo", "up")

    def run(self, *words: str) -> None:
        subprocess.run([*self.words, *words], check=True, capture_output=True)

    def drop(self, port: int, *, percent: int = 100) -> None:
        """Drop so many of the packets to and from a port, without a word to anybody."""
        chance = "" if percent == 100 else f"numgen random mod 100 < {percent}"
        self.run(
            "nft",
            f"add table {TABLE}; add chain {TABLE} packets {{ type filter hook input priority 0; }};"
            f" add rule {TABLE} packets tcp dport {port} {chance} drop;"
            f" add rule {TABLE} packets tcp sport {port} {chance} drop",
        )

    def mend(self) -> None:
        self.run("nft", f"delete table {TABLE}")

    def close(self) -> None:
        self.holder.kill()
        self.holder.wait()


@pytest.fixture
def network() -> Iterator[Network]:
    if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs root and network namespaces")
    if not all(map(shutil.which, ("nft", "ip", "nsenter"))):
        pytest.skip("needs nft, ip and nsenter")
    made = Network()
    try:
        made.drop(1, percent=50)
        made.mend()
    except subprocess.CalledProcessError as error:
        made.close()
        pytest.skip(f"nft cannot drop packets here: {error.stderr.decode().splitlines()[:1]}")
    yield made
    made.close()


@pytest.fixture
def sshd(network: Network, tmp_path: Path) -> Iterator[Sshd]:
    need_sshd()
    made = Sshd(tmp_path / "ssh", inside=network.words)
    yield made
    made.close()


@pytest.fixture
def engine() -> str:
    """Which program looks on the box."""
    return "python"


@pytest.fixture
def waiters(engine: str, tmp_path: Path, network: Network, sshd: Sshd) -> Iterator[Waiters]:
    made = Waiters(tmp_path, (*network.words, *sshd.ssh()), engine=engine)
    yield made
    made.close()


def armed(waiters: Waiters, sshd: Sshd, marker: Path, limit: str) -> subprocess.Popen[str]:
    waiter = waiters.start("wait", f"gpu1:{marker}", "--json", "--timeout", limit)
    wait_until(lambda: any(not one.name.startswith("sshd") for one in sshd.sessions()), "the program on the box")
    waiters.wait_for_look()
    return waiter


def test_what_lands_behind_a_cut_link_is_seen_soon_after_it_is_back(
    network: Network, sshd: Sshd, waiters: Waiters, tmp_path: Path
) -> None:
    waiter = armed(waiters, sshd, tmp_path / "DONE", "90s")
    network.drop(sshd.port)
    land(tmp_path / "DONE")
    time.sleep(14.0)  # the silence is noticed, and new logins hang
    assert waiter.poll() is None, "nothing is concluded from a link"
    network.mend()
    end = waiters.end(waiter)
    assert end["outcome"] == "landed"
    assert end["boxes"][0]["drops"] >= 1
    wait_until(lambda: not sshd.sessions(), "nothing to be left on the box")


@pytest.mark.parametrize("engine", ["python", "sh"])
def test_a_cut_that_stays_ends_at_the_limit_and_leaves_nothing(
    network: Network, sshd: Sshd, waiters: Waiters, tmp_path: Path
) -> None:
    waiter = armed(waiters, sshd, tmp_path / "DONE", "14s")
    network.drop(sshd.port)
    end = waiters.end(waiter)
    assert (end["outcome"], waiter.returncode) == ("unreachable", 69)
    programs = [one for one in sshd.sessions() if not one.name.startswith("sshd")]
    wait_until(
        lambda: not [one for one in sshd.sessions() if not one.name.startswith("sshd")],
        f"the programs on the box to end by themselves, behind the cut: {programs}",
    )


def test_a_link_that_loses_every_fifth_packet_is_waited_through(
    network: Network, sshd: Sshd, waiters: Waiters, tmp_path: Path
) -> None:
    network.drop(sshd.port, percent=20)
    waiter = waiters.start("wait", f"gpu1:{tmp_path / 'DONE'}", "--json", "--timeout", "120s")
    time.sleep(6.0)
    land(tmp_path / "DONE")
    assert waiters.end(waiter, timeout=130)["outcome"] == "landed"
