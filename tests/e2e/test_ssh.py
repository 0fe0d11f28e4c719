"""A real sshd on loopback: the chain is started over SSH, the connection is cut, the chain completes."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.box import ONBOX, Box, wait_until

if TYPE_CHECKING:
    from tests.sshd import Sshd


def remote_line(box: Box, *words: str) -> str:
    name, _, value = box.tag.partition("=")
    env = ["env", f"{name}={value}", f"PYTHONPATH={box.env['PYTHONPATH']}"]
    return f"cd {shlex.quote(os.fspath(box.project))} && exec {shlex.join([*env, *ONBOX, *words])}"


STAGES = (
    "train=echo begins >>ran; until test -e go; do sleep 0.02; done; echo ends >>ran",
    "eval=echo eval >>ran",
)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_chain_survives_a_lost_connection(box: Box, sshd: Sshd, how: int) -> None:
    client = subprocess.Popen(
        sshd.command(remote_line(box, "chain", *STAGES)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    client.send_signal(how)
    client.wait()
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")
    assert box.ran == ["begins", "ends", "eval"]


def test_detached_over_ssh_lets_the_connection_end(box: Box, sshd: Sshd) -> None:
    """No descriptor of the connection is kept open by the run: the client returns while the stage goes on."""
    command = sshd.command(remote_line(box, "chain", "-d", "--launch-check", "0", *STAGES))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert box.status()["state"] == "running"
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")


def test_reconnecting_attaches_to_the_same_chain(box: Box, sshd: Sshd) -> None:
    first = subprocess.Popen(
        sshd.command(remote_line(box, "chain", *STAGES)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    wait_until(lambda: "begins" in box.ran, "the stage to begin")
    first.kill()
    first.wait()
    second = subprocess.Popen(
        sshd.command(remote_line(box, "chain", *STAGES)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    (box.project / "go").touch()
    assert second.wait(60) == 0
    assert box.ran == ["begins", "ends", "eval"]
