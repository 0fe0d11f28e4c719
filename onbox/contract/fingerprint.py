"""Fingerprints: what makes two commands the same command. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

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
    import hashlib  # noqa: PLC0415 - loads OpenSSL (2 MiB), and the runner reads the result from run.json

    return hashlib.sha256(json.dumps(value, separators=(",", ":")).encode("ascii")).hexdigest()[:16]
