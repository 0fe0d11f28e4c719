"""A real sshd on loopback: the chain is started over SSH, the connection is cut, the chain completes."""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import signal
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.box import ONBOX, Box, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


class Sshd:
    """An sshd of our own, on a free port of the loopback interface, with its own keys."""

    def __init__(self, folder: Path) -> None:
        assert SSHD is not None
        self.folder = folder
        for name in ("host_key", "user_key"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.fspath(folder / name)]
            subprocess.run(command, check=True)
        shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
        self.port = _free_port()
        config = folder / "sshd_config"
        config.write_text(
            f"ListenAddress 127.0.0.1:{self.port}\nHostKey {folder}/host_key\nPidFile {folder}/pid\n"
            f"AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
        )
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        self.log = (folder / "sshd.log").open("wb")
        self.process = subprocess.Popen(
            [SSHD, "-D", "-e", "-f", os.fspath(config)], stdin=subprocess.DEVNULL, stderr=self.log
        )
        wait_until(self._answers, "sshd to answer")

    def _answers(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def command(self, remote: str) -> list[str]:
        options = [
            *("-F", "none", "-p", str(self.port), "-i", os.fspath(self.folder / "user_key")),
            *("-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=yes"),
            *("-o", f"UserKnownHostsFile={self.folder}/known_hosts"),
        ]
        key = (self.folder / "host_key.pub").read_text().split()
        (self.folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {key[0]} {key[1]}\n")
        return ["ssh", *options, f"{getpass.getuser()}@127.0.0.1", remote]

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.log.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    if SSHD is None or shutil.which("ssh-keygen") is None:
        pytest.skip("needs openssh-server and openssh-client")
    folder = tmp_path / "ssh"
    folder.mkdir(mode=0o700)
    server = Sshd(folder)
    yield server
    server.close()


def remote_line(box: Box, *words: str) -> str:
    name, _, value = box.tag.partition("=")
    env = ["env", f"{name}={value}", f"PYTHONPATH={box.env['PYTHONPATH']}"]
    return f"cd {shlex.quote(os.fspath(box.project))} && exec {shlex.join([*env, *ONBOX, *words])}"


STAGES = (
    "train=echo begins >>ran; until test -e go; do sleep 0.02; done; echo ends >>ran",
    "eval=echo eval >>ran",
)


def ran(box: Box) -> list[str]:
    path = box.project / "ran"
    return path.read_text().split() if path.exists() else []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_chain_survives_a_lost_connection(box: Box, sshd: Sshd, how: int) -> None:
    client = subprocess.Popen(
        sshd.command(remote_line(box, "chain", *STAGES)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    wait_until(lambda: "begins" in ran(box), "the stage to begin")
    client.send_signal(how)
    client.wait()
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    assert ran(box) == ["begins", "ends", "eval"]


def test_detached_over_ssh_lets_the_connection_end(box: Box, sshd: Sshd) -> None:
    """No descriptor of the connection is kept open by the run: the client returns while the stage goes on."""
    command = sshd.command(remote_line(box, "chain", "-d", "--launch-check", "0", *STAGES))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    assert box.status()["state"] == "running"
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")


def test_reconnecting_attaches_to_the_same_chain(box: Box, sshd: Sshd) -> None:
    first = subprocess.Popen(
        sshd.command(remote_line(box, "chain", *STAGES)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    wait_until(lambda: "begins" in ran(box), "the stage to begin")
    first.kill()
    first.wait()
    second = subprocess.Popen(
        sshd.command(remote_line(box, "chain", *STAGES)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    (box.project / "go").touch()
    assert second.wait(30) == 0
    assert ran(box) == ["begins", "ends", "eval"]
