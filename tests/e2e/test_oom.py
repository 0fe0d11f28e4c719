"""A real OOM kill by a memory cgroup: the stage never gets DONE, the runner outside the group lives on."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.box import Box, python

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.root
V1 = Path("/sys/fs/cgroup/memory")
LIMIT_BYTES = 64 << 20


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


def test_an_oom_killed_stage_fails_with_its_signal(box: Box, limited: Path) -> None:
    hungry = python("b = []\nwhile True: b.append(bytearray(1 << 20))")
    result = box.onbox("chain", f"train=echo $$ >{limited}; {hungry}", "eval=touch downstream")
    assert result.returncode == 1
    marker = box.marker("train_FAILED")
    assert (marker["exit_code"], marker["signal"]) == (137, 9)
    assert not (box.project / "downstream").exists()
