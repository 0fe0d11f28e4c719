"""Whether a stage still does anything."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.chain.observe.liveness import BUSY_CORES, Signs, is_active, read_signs
from onbox.model.manifest import Artifact

if TYPE_CHECKING:
    from pathlib import Path

QUIET = Signs((10, 1), (("best.npz", 5, 1),), 100.0, 1000.0)
LATER = QUIET._replace(at_seconds=1030.0)


@pytest.mark.parametrize(
    ("active", "earlier", "later"),
    [
        (False, QUIET, LATER),
        (False, QUIET, QUIET),
        (False, QUIET._replace(log=None), LATER._replace(log=None)),
        (True, QUIET, LATER._replace(log=(11, 2))),
        (True, QUIET, LATER._replace(log=(10, 2))),
        (True, QUIET, LATER._replace(log=(0, 1))),
        (True, QUIET._replace(log=None), LATER),
        (True, QUIET, LATER._replace(artifacts=(("best.npz", 5, 2),))),
        (True, QUIET, LATER._replace(artifacts=(("best.npz", 6, 1),))),
        (True, QUIET, LATER._replace(artifacts=(*QUIET.artifacts, ("last.npz", 1, 1)))),
        (True, QUIET, LATER._replace(artifacts=())),
        (True, QUIET, LATER._replace(cpu_seconds=100.0 + 30 * BUSY_CORES * 1.01)),
        (False, QUIET, LATER._replace(cpu_seconds=100.0 + 30 * BUSY_CORES * 0.99)),
        (True, QUIET, LATER._replace(cpu_seconds=130.0)),
        (True, QUIET, LATER._replace(cpu_seconds=99.0)),
        (False, QUIET, QUIET._replace(cpu_seconds=101.0)),
    ],
)
def test_any_sign_that_moved_is_life(*, active: bool, earlier: Signs, later: Signs) -> None:
    assert active is is_active(earlier, later)


def test_signs_are_read_from_log_and_artifacts(tmp_path: Path) -> None:
    log, best = tmp_path / "log", tmp_path / "best.npz"
    log.write_bytes(b"epoch 1\n")
    best.write_bytes(b"w")
    for path in (log, best):
        os.utime(path, ns=(7, 7))
    assignment = f"ONBOX_TEST={tmp_path}".encode()
    signs = read_signs(str(log), (Artifact("best.npz"),), str(tmp_path), None, assignment, 12.0)
    assert Signs((8, 7), (("best.npz", 1, 7),), 0.0, 12.0) == signs


def test_what_cannot_be_looked_at_shows_no_life(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assignment = f"ONBOX_TEST={tmp_path}".encode()
    artifacts = (Artifact("loop"), Artifact("gone"))
    signs = read_signs(str(tmp_path / "gone"), artifacts, str(tmp_path), None, assignment, 12.0)
    assert Signs(None, (), 0.0, 12.0) == signs
