"""Master connections that are kept, wedged or dead, and many boxes on one sshd, some of them sick."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from onbox.system.process import process_table
from patrol.ssh.client import SshTarget
from patrol.ssh.control_sockets import control_path
from patrol.ssh.run_parallel import Limits, find_gates, visit_all
from tests.box import BOUND_SECONDS, wait_until
from tests.sshd import (
    Hole,
    Link,
    Sshd,
    local_clients,
    need_sshd,
    put,
    reason_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    need_sshd()
    server = Sshd(tmp_path_factory.mktemp("sshd"))
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _leaves_nothing_behind() -> Iterator[None]:
    """No client, proxy command or shell of a question lives on after it. (Masters are a case of their own.)"""
    yield
    wait_until(lambda: not local_clients(), "no client to be left")


# -- masters


@pytest.fixture
def over_master(sshd: Sshd, tmp_path: Path) -> Iterator[SshTarget]:
    target = sshd.target()
    path = control_path("gpu1", "gpu1", target.ssh_command, "/tmp" if len(str(tmp_path)) > 60 else str(tmp_path))
    assert path is not None
    yield target._replace(control_path=path)
    for pid in master_pids(path):
        os.kill(pid, signal.SIGKILL)


def master_pids(path: str) -> list[int]:
    found = []
    for entry in process_table():
        try:
            with open(f"/proc/{entry.identity.pid}/cmdline", "rb") as file:
                text = file.read()
        except OSError:
            continue
        if text.startswith(b"ssh: ") and path.encode() in text:
            found.append(entry.identity.pid)
    return found


def begun_master(target: SshTarget) -> int:
    """Look through a master; its pid. A look that had to wait for one too long went round it, and the next has one."""
    assert target.control_path is not None
    path = target.control_path
    wait_until(lambda: reason_of(put(target, deadline_seconds=60)) == "answered" and master_pids(path), "a master")
    [pid] = master_pids(path)
    return pid


def test_master_is_kept_and_used(sshd: Sshd, over_master: SshTarget) -> None:
    before = sshd.logins()
    for _ in range(3):
        assert reason_of(put(over_master, deadline_seconds=60)) == "answered"
    assert sshd.logins() - before == 1


def test_master_that_is_stopped(sshd: Sshd, over_master: SshTarget) -> None:
    os.kill(begun_master(over_master), signal.SIGSTOP)
    assert reason_of(put(over_master, deadline_seconds=12)) == "answered"
    assert over_master.control_path is not None
    assert not os.path.exists(over_master.control_path)
    assert reason_of(put(over_master, deadline_seconds=60)) == "answered"


def test_master_whose_link_is_frozen(sshd: Sshd, over_master: SshTarget) -> None:
    with closing(Link(sshd.port)) as link:
        target = sshd.target(port=link.port)._replace(control_path=over_master.control_path)
        assert reason_of(put(target, deadline_seconds=60)) == "answered"
        link.frozen.set()
        found = put(sshd.target()._replace(control_path=over_master.control_path), deadline_seconds=12)
        assert reason_of(found) == "answered"


def test_master_that_was_killed(over_master: SshTarget) -> None:
    os.kill(begun_master(over_master), signal.SIGKILL)
    assert reason_of(put(over_master, deadline_seconds=60)) == "answered"


def test_a_users_own_master_that_hangs_is_gone_round(sshd: Sshd, over_master: SshTarget) -> None:
    own, pid = over_master.control_path, begun_master(over_master)
    target = sshd.target(extra=f"ControlPath {own}\nControlMaster auto")
    before = sshd.logins()
    assert reason_of(put(target, deadline_seconds=60)) == "answered"
    assert sshd.logins() == before
    os.kill(pid, signal.SIGSTOP)
    assert reason_of(put(target, deadline_seconds=12)) == "answered"
    assert own is not None
    assert os.path.exists(own)


# -- many boxes


def test_default_max_startups_drops_nobody(sshd: Sshd) -> None:
    """30 boxes are one host and port; sshd drops logins at random where more than ten are in flight."""
    words = sshd.ssh()
    targets = [SshTarget(f"gpu{at}", f"gpu{at}", words) for at in range(30)]
    limits = Limits(at_once=30, per_gate=6, deadline_seconds=40.0)
    gates = find_gates(targets, limits)
    assert set(gates.values()) == {f"127.0.0.1:{sshd.port}"}
    visits = list(visit_all(targets, lambda target: put(target, deadline_seconds=40), limits, gates=gates))
    assert [reason_of(visit.result) for visit in visits if visit.result is not None] == ["answered"] * 30
    assert "MaxStartups" not in sshd.log


def test_sick_boxes_delay_no_other(sshd: Sshd) -> None:
    """All places are taken by boxes that hang, each in its own way; the healthy ones answer long before these end."""
    with (
        closing(Link(None, "silent")) as silent,
        closing(Hole()) as hole,
        closing(Link(sshd.port, "freeze", pieces=4)) as half,
    ):
        sick = {"silent": silent.port, "hole": hole.port, "half": half.port, "silent2": silent.port}
        words = sshd.ssh(sick)
        targets = [SshTarget(name, name, words) for name in (*sick, *(f"gpu{at}" for at in range(12)))]
        limits = Limits(at_once=4, per_gate=6, deadline_seconds=12.0)
        order = [
            (visit.item.box, reason_of(visit.result) if visit.result else "none", visit.seconds)
            for visit in visit_all(targets, lambda target: put(target, deadline_seconds=12.0), limits)
        ]
    assert [reason for _, reason, _ in order[:12]] == ["answered"] * 12
    found = {name: reason for name, reason, _ in order[12:]}
    assert found == {"silent": "banner", "silent2": "banner", "hole": "timeout", "half": "late_login"}


def test_a_configuration_that_hangs_is_not_waited_for(sshd: Sshd) -> None:
    words = sshd.ssh(extra='Match host gpu0 exec "sleep 200"\n', name="ssh_config.hang")
    targets = [SshTarget(f"gpu{at}", f"gpu{at}", words) for at in range(3)]
    began = time.monotonic()
    gates = find_gates(targets, Limits(at_once=16, per_gate=1))
    assert time.monotonic() - began < BOUND_SECONDS
    assert gates[targets[0]] == "gpu0"
    assert gates[targets[1]] == f"127.0.0.1:{sshd.port}"
