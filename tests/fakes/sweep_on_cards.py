"""Run `onbox` on a box with made-up cards: only the reading of NVML is another; the rest is real.

usage: sweep_on_cards.py USED_MIB,USED_MIB,... ONBOX-ARGUMENTS...
"""

from __future__ import annotations

import sys

from onbox.cli.app import main
from onbox.collectors.gpu import watch as gpu_watch
from onbox.collectors.gpu.nvml import GpuCard, GpuReading
from onbox.contract.readings import Absent

NOT_TOLD = Absent("not supported here")


def card(number: int, used_mib: int) -> GpuCard:
    told = {"number": number, "memory_used_bytes": used_mib << 20, "processes": (), "mig": False}
    return GpuCard(**{**dict.fromkeys(GpuCard._fields, NOT_TOLD), **told})  # type: ignore[arg-type]


if __name__ == "__main__":
    reading = GpuReading("535", tuple(card(*pair) for pair in enumerate(map(int, sys.argv[1].split(",")))))
    gpu_watch.read_once = lambda *_: reading
    sys.exit(main(sys.argv[2:]))
