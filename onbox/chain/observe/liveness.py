"""Whether a stage still does anything: its log, its artifacts, its CPU time. For the stall rule."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.chain.artifacts.on_disk import list_files
from onbox.named_tuple import NamedTuple
from onbox.system.process import TICKS_PER_SECOND, find_tree, never

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onbox.model.manifest import Artifact
    from onbox.system.process import Identity

LOOK_SECONDS = 20.0  # for all that one artifact leads to: the heartbeat waits for it
BUSY_GPU_PERCENT = 5  # of an idle one the driver's own upkeep shows less
BUSY_CORES = 0.02  # a hung job's housekeeping threads use less, a working one (even data-bound) more


class Signs(NamedTuple):
    """Independent signs of life at one moment. cpu_seconds: of all processes of the stage that live now. gpu_is_busy:
    any GPU of the box is; False also where none was looked at.
    """

    log: tuple[int, int] | None
    artifacts: tuple[tuple[str, int, int], ...]
    cpu_seconds: float
    at_seconds: float
    gpu_is_busy: bool = False


def has_busy_gpu(sample: Mapping[str, Any] | None) -> bool:
    """Whether a GPU of the newest sample works. Whose work it is the driver does not tell in every container."""
    gpus = (sample or {}).get("gpus")
    percents = (
        [gpu.get("utilization_percent") for gpu in gpus if isinstance(gpu, dict)] if isinstance(gpus, list) else []
    )
    return any(isinstance(percent, int) and percent >= BUSY_GPU_PERCENT for percent in percents)


def read_signs(
    log: str,
    artifacts: tuple[Artifact, ...],
    folder: str,
    leader: Identity | None,
    assignment: bytes,
    now: float,
    urged: Callable[[], bool] = never,
) -> Signs:
    """Look at all signs. What cannot be looked at shows no life, and none is invented for it."""
    try:
        seen = os.stat(log)
        log_sign = (seen.st_size, seen.st_mtime_ns)
    except OSError:
        log_sign = None
    files = []
    for artifact in artifacts:
        try:
            found = list_files(artifact, folder, LOOK_SECONDS, urged)
            files += [(one.path, one.size_bytes, one.mtime_ns) for one in found]
        except OSError:
            continue
    ticks = sum(entry.cpu_ticks for entry in find_tree(leader, assignment))
    return Signs(log_sign, tuple(files), ticks / TICKS_PER_SECOND, now)


def is_active(earlier: Signs, later: Signs) -> bool:
    """Whether anything moved between two looks. CPU time that fell means that processes came and went: that is life."""
    if later.gpu_is_busy or earlier.log != later.log or earlier.artifacts != later.artifacts:
        return True
    spent, elapsed = later.cpu_seconds - earlier.cpu_seconds, later.at_seconds - earlier.at_seconds
    return spent < 0 or (elapsed > 0 and spent / elapsed >= BUSY_CORES)
