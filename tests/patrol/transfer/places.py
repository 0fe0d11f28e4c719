"""A finished run on a box, and what must be here once it is home."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tests.sshd import Link

if TYPE_CHECKING:
    from pathlib import Path

    from tests.box import Box
    from tests.patrolled import Patrolled

NAMES = ("two words.txt", "-dash", "line\nbreak", "ünïcödé", "quote's\"$(x)", "deep/er/file", " lead", "back\\slash")


def finish(box: Box, *artifacts: str) -> None:
    """A run whose stage is done with what lies there: it only touches it."""
    listed = json.dumps(list(artifacts))
    touch = "find . -path ./.onbox -prune -o -type f ! -name onbox.toml -exec touch {} +"
    (box.project / "onbox.toml").write_text(f"[stages.train]\ncmd = '{touch}'\nartifacts = {listed}\n")
    done = box.onbox("chain")
    assert done.returncode == 0, done.stdout + done.stderr


def manifest(folder: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Its head, and its entries by path."""
    head, *entries = map(json.loads, (folder / "onbox-manifest.jsonl").read_text().splitlines())
    return head, {entry["path"]: entry for entry in entries}


def check(place: Patrolled, folder: Path, project: Path, names: list[str]) -> None:
    """What the manifest says, what lies here and what lies on the box are the same."""
    _, entries = manifest(folder)
    assert set(names) <= set(entries)
    for path, entry in entries.items():
        data = (folder / path).read_bytes()
        assert (entry["bytes"], entry["sha256"]) == (len(data), hashlib.sha256(data).hexdigest()), path
        assert data == (project / path).read_bytes(), path


class Cutter(Link):
    """A link that ends each connection after so many bytes from the box, or to it; None: it lets all through."""

    def __init__(self, to: int, *, upwards: bool = False) -> None:
        self.after_bytes: int | None = None
        self.upwards = upwards
        super().__init__(to)

    def _forward(self, source: Any, sink: Any, pieces: int | None) -> None:
        from_box = source.getpeername()[1] == self.to
        left = self.after_bytes if from_box != self.upwards else None
        with suppress(OSError):
            while data := source.recv(65536 if left is None else max(1, min(left, 65536))):
                sink.sendall(data)
                if left is not None:
                    left -= len(data)
                    if left <= 0:
                        break
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(2)
            each.close()


def through(place: Patrolled, link: Link, alias: str = "gpu1") -> None:
    """From now on the box is reached over this link."""
    place.env["ONBOX_SSH_COMMAND"] = " ".join(place.sshd.ssh({alias: link.port}, name="ssh_config.cut"))


def tree(folder: Path, count: int, size: int) -> list[str]:
    """Files of random bytes; their paths below the project."""
    (folder / "ckpt").mkdir(exist_ok=True)
    names = [f"ckpt/part_{number}.bin" for number in range(count)]
    for name in names:
        (folder / name).write_bytes(os.urandom(size))
    return names
