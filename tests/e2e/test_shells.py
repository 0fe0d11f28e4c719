"""The keeper under other shells than this machine's: bash as sh (Red Hat, Arch) and busybox (Alpine)."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.box import ONBOX

if TYPE_CHECKING:
    from tests.box import Box

pytestmark = pytest.mark.root


@pytest.fixture(params=["dash", "bash", "busybox"])
def as_sh(request: pytest.FixtureRequest) -> list[str]:
    """Words in front of a command that make /bin/sh another shell, in a mount namespace of its own."""
    shell = shutil.which(request.param)
    if shell is None:
        pytest.skip(f"{request.param} is not installed")
    script = 'mount --bind "$0" "$(readlink -f /bin/sh)" && exec "$@"'
    words = ["unshare", "-m", "bash", "-c", script, shell]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs root and mount namespaces")
    return words


def test_the_keeper_works_under(as_sh: list[str], box: Box) -> None:
    stages = ["a=echo 'two words' >out; exit 0", "b=exit 9"]
    done = box.run_program([*as_sh, *ONBOX, "chain", *stages])
    assert done.returncode == 1, done.stderr
    assert (box.markers, box.marker("b_FAILED")["exit_code"]) == (["CHAIN_FAILED", "a_DONE", "b_FAILED"], 9)


def test_the_keeper_continues_the_chain_under(as_sh: list[str], box: Box) -> None:
    stages = ["train=until test -e go; do sleep 0.02; done", "eval=true"]
    box.run_program([*as_sh, *ONBOX, "chain", "-d", "--launch-check", "0", *stages])
    box.kill_runner()
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_DONE")


def test_stop_ends_a_stage_under(as_sh: list[str], box: Box) -> None:
    box.run_program([*as_sh, *ONBOX, "chain", "-d", "--launch-check", "0", "train=sleep 300"])
    assert box.onbox("stop").returncode == 0
    assert box.events("attempt_ended")[0]["exit_code"] == 143
    assert box.processes() == []
    assert os.path.exists(box.state / "events.jsonl")
