"""A run that has saved checkpoints a while ago, for tests of what may be done with them."""

from __future__ import annotations

import hashlib
import json
import os
import time
import zipfile
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.box import Box

CONFIG = """
[run]
name = "digits"
[stages.train]
cmd = "echo from=$ONBOX_CHECKPOINT; test -e go"
artifacts = [{ glob = "ckpt/step-*/metadata.json" }]
"""
AGE_SECONDS = 600.0


def save(folder: Path, **more: object) -> None:
    """A checkpoint as many a script writes it: weights, then metadata.json; some minutes old."""
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "w.npz", "w") as file:
        file.writestr("w.npy", b"x" * 1000)
    (folder / "metadata.json").write_text(json.dumps(more))
    make_old(folder)


def make_old(path: Path, seconds: float = AGE_SECONDS) -> None:
    """As if nobody had written to it for so long."""
    then = time.time() - seconds
    for one in (*path.rglob("*"), path):
        os.utime(one, (then, then), follow_symlinks=False)


def failed_run(box: Box, steps: Iterable[int], config: str = CONFIG) -> Box:
    """Its stage began two hours ago, saved these steps, and failed."""
    (box.project / "onbox.toml").write_text(config)
    assert box.onbox("chain").returncode == 1
    began = datetime.now(timezone.utc) - timedelta(hours=2)
    lines = [json.loads(line) for line in (box.state / "events.jsonl").read_text().splitlines()]
    for line in lines:
        line["at"] = began.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    (box.state / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for step in steps:
        save(box.project / f"ckpt/step-{step}", step=step)
    return box


def digest(folder: Path) -> str:
    """Over the names, contents and times of what lies in it."""
    seen = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        seen.update(os.fsencode(path.relative_to(folder)) + str(path.lstat().st_mtime_ns).encode())
        seen.update(path.read_bytes() if path.is_file() else b"")
    return seen.hexdigest()
