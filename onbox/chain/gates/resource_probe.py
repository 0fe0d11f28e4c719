"""How the gates and the one-shot commands look at the box: bounded in time, whatever a mount or a card does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.gates.start_gates import GateSight, bytes_present
from onbox.collectors.disk import read_disks
from onbox.collectors.gpu.nvml import visible
from onbox.collectors.gpu.watch import read_once
from onbox.collectors.groups import find_group
from onbox.collectors.memory import MemoryReading, read_memory
from onbox.collectors.mounts import locate, read_mounts
from onbox.collectors.remote_disk import look_once
from onbox.contract.readings import Absent, Unseen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.collectors.gpu.nvml import GpuCard, LostGpu
    from onbox.contract.readings import Maybe


def read_own_memory() -> MemoryReading:
    return read_memory(find_group("memory"))


def resolve(path: str) -> str:
    """Where a path leads to; one to a mount that may hang is left as it is: following it would touch that."""
    mounts = read_mounts()
    mount = None if isinstance(mounts, Absent | Unseen) else locate(path, mounts)
    return os.path.realpath(path) if mount is not None and mount.is_local else os.path.normpath(path)


def sight_of(environ: Mapping[str, str]) -> GateSight:
    """The real box. environ: of the stage: CUDA_VISIBLE_DEVICES says which GPUs are its own."""

    def gpus() -> Maybe[Sequence[GpuCard | LostGpu]]:
        reading = read_once()
        if isinstance(reading, Absent | Unseen):
            return reading
        return visible(reading.gpus, environ.get("CUDA_VISIBLE_DEVICES"))

    return GateSight(
        lambda paths: read_disks(paths, look_remote=look_once), read_own_memory, gpus, bytes_present, resolve
    )
