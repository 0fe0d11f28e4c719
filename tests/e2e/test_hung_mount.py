"""A mount that never answers costs its own reading only: no command and no runner hangs on it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.box import wait_until
from tests.hung_mount import hung_mount

if TYPE_CHECKING:
    from pathlib import Path

    from tests.box import Box

pytestmark = pytest.mark.root


def test_a_hung_mount_stops_neither_chain_nor_commands(box: Box, tmp_path: Path) -> None:
    with hung_mount(tmp_path / "sick") as sick:
        (box.project / "onbox.toml").write_text(
            f"[run]\nsample_every = '200ms'\n[stages.a]\ncmd = 'until test -e go; do sleep 0.05; done'\n"
            f"env = {{ TMPDIR = '{sick}' }}\n"
        )
        box.env["TMPDIR"] = str(sick)
        chain = box.start("chain")
        samples = box.state / "samples.jsonl"
        wait_until(lambda: samples.exists() and samples.read_bytes().count(b"\n") >= 3, "three samples")
        stats = box.onbox("stats", timeout=60)
        said = " ".join(stats.stdout.split())
        assert f"{sick} (fuse.hung) could not look: the file system of {sick} has not answered" in said
        data = json.loads(box.onbox("check", "--json", timeout=60).stdout)
        (disk,) = [one for one in data["results"] if one["check"] == f"disk {sick}"]
        assert (disk["verdict"], disk["looked"]) == ("WARN", False)
        (box.project / "go").touch()
        assert chain.wait(60) == 0
    assert "DONE" in box.onbox("status").stdout


def test_a_trackers_directory_on_a_hung_mount_is_not_looked_at(box: Box, tmp_path: Path) -> None:
    with hung_mount(tmp_path / "sick") as sick:
        (box.project / "onbox.toml").write_text(
            f"[run]\nsample_every = '200ms'\n[stages.a]\ncmd = 'until test -e go; do sleep 0.05; done'\n"
            f"env = {{ WANDB_DIR = '{sick}' }}\n"
        )
        chain = box.start("chain")
        samples = box.state / "samples.jsonl"
        wait_until(lambda: samples.exists() and samples.read_bytes().count(b"\n") >= 3, "three samples")
        (box.project / "go").touch()
        assert chain.wait(60) == 0


def test_a_gate_on_a_hung_mount_refuses_and_says_so(box: Box, tmp_path: Path) -> None:
    with hung_mount(tmp_path / "sick") as sick:
        (box.project / "onbox.toml").write_text(
            f"[gates]\ncheckpoints = {{ path = '{sick}', size = '1kB', keep = 1 }}\n[stages.a]\ncmd = 'touch started'\n"
        )
        assert box.onbox("chain", timeout=60).returncode == 3
        assert "has not answered" in box.marker("CHAIN_FAILED")["findings"][0]["seen"]
        assert not (box.project / "started").exists()
