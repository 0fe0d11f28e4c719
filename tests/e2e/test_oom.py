"""Real OOM kills by a memory cgroup: decided from the counter of the stage's own group; a bare SIGKILL is none."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.box import Box, python

if TYPE_CHECKING:
    from collections.abc import Iterator

V1 = Path("/sys/fs/cgroup/memory")
pytestmark = pytest.mark.alone

LIMIT_BYTES = 64 << 20
HUNGRY = python("b = []\nwhile True: b.append(bytearray(1 << 20))")


def own_group() -> Path | None:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return V1 / path.lstrip("/")
    return None


@pytest.fixture
def limited() -> Iterator[Path]:
    """The tasks file of a fresh v1 group with a limit of 64 MiB."""
    parent = own_group()
    group = None if parent is None else parent / f"onbox-test-{uuid.uuid4().hex[:8]}"
    try:
        assert group is not None
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(LIMIT_BYTES))
    except (OSError, AssertionError):
        pytest.skip("needs root and a writable memory cgroup (v1)")
    yield group / "tasks"
    os.rmdir(group)


@pytest.mark.root
def test_an_oom_killed_stage_fails_as_host_oom(box: Box, limited: Path) -> None:
    result = box.onbox("chain", f"train=echo $$ >{limited}; {HUNGRY}", "eval=touch downstream")
    assert result.returncode == 1
    marker = box.marker("train_FAILED")
    assert (marker["exit_code"], marker["signal"], marker["failure_class"]) == (137, 9, "host_oom")
    assert marker["resources"]["oom_kills"] == 1
    assert "memory limit" in marker["remedy"] or "workers" in marker["remedy"]
    assert not (box.project / "downstream").exists()


@pytest.mark.root
def test_a_killed_worker_behind_exit_1_is_host_oom(box: Box, limited: Path) -> None:
    """As a DataLoader: the worker is killed, the parent raises and ends by itself."""
    (box.project / "train.sh").write_text(f"echo $$ >{limited}\n{HUNGRY} || exit 1\n")
    assert box.onbox("chain", "train=bash train.sh").returncode == 1
    marker = box.marker("train_FAILED")
    assert (marker["exit_code"], marker["failure_class"]) == (1, "host_oom")


@pytest.mark.root
def test_a_kill_of_an_earlier_stage_is_not_this_ones(box: Box, limited: Path) -> None:
    """The counter is the group's for ever: only what it grew by during the attempt counts."""
    box.onbox("chain", "--run", "first", f"train=echo $$ >{limited}; {HUNGRY}")
    assert box.onbox("chain", "--run", "second", f"train=echo $$ >{limited}; exit 1").returncode == 1
    box.run = "second"
    marker = box.marker("train_FAILED")
    assert (marker["failure_class"], marker["resources"]["oom_kills"]) == ("unknown", 0)


def test_a_bare_sigkill_is_not_called_oom(box: Box) -> None:
    assert box.onbox("chain", "train=kill -9 $$").returncode == 1
    marker = box.marker("train_FAILED")
    assert (marker["signal"], marker["failure_class"]) == (9, "unknown")
