"""Fingerprints: what makes two commands the same command. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onbox.digest import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.model.manifest import Stage


def stage_fingerprint(stage: Stage) -> str:
    """16 hex digits over what the stage *does*: command, cwd and configured environment.

    Gates, artifacts and limits are left out: changing how a stage is judged does not make its work another work.
    """
    cmd = list(stage.cmd) if isinstance(stage.cmd, tuple) else stage.cmd
    return _digest(["stage", cmd, stage.cwd, sorted(stage.env)])


def chain_fingerprint(stages: Iterable[tuple[str, str]]) -> str:
    """16 hex digits over the ordered (name, stage fingerprint) pairs of a chain."""
    return _digest(["chain", [list(pair) for pair in stages]])


def _digest(value: object) -> str:
    return sha256_hex(json.dumps(value, separators=(",", ":")).encode("ascii"))[:16]
