"""The GPUs: whether they answer, whether they are sound, whether somebody else is on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.collectors.gpu.health import XIDS, judge_gpu
from onbox.collectors.gpu.nvml import GpuCard, visible
from onbox.contract.readings import Absent, Unseen, observed
from onbox.model.units import counted, format_size
from onbox.preflight.project import DEVICES
from onbox.preflight.report import CheckResult, failed, passed, unseen, warned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.collectors.gpu.nvml import LostGpu
    from onbox.preflight.report import CheckFacts


def check_gpus(facts: CheckFacts) -> Iterator[CheckResult]:
    """Every card that CUDA would show. Cards that are hidden from the run are not judged."""
    if isinstance(facts.gpus, Absent):
        yield passed("gpu", f"none: {facts.gpus.why}")
    elif isinstance(facts.gpus, Unseen):
        yield unseen("gpu", facts.gpus.why, "fix that before a run that needs a GPU")
    else:
        shown = visible(facts.gpus.gpus, facts.environ.get(DEVICES))
        if not shown:
            seen = f"{DEVICES}={facts.environ.get(DEVICES)!r} hides all {len(facts.gpus.gpus)} cards"
            yield warned("gpu", seen, f"unset {DEVICES}, or give numbers below {len(facts.gpus.gpus)}")
        for gpu in shown:
            yield from _judge(gpu)


def _judge(gpu: GpuCard | LostGpu) -> Iterator[CheckResult]:
    name = f"gpu {gpu.number}"
    concerns = list(judge_gpu(gpu))
    for concern in concerns:
        yield (failed if concern.grave else warned)(name, concern.what, concern.remedy)
    if not concerns and isinstance(gpu, GpuCard):
        used, total = observed(gpu.memory_used_bytes), observed(gpu.memory_total_bytes)
        memory = f", {format_size(used)} of {format_size(total)} in use" if used is not None and total else ""
        yield passed(name, f"{observed(gpu.name) or 'a card'}{memory}")


def check_xids(facts: CheckFacts) -> Iterator[CheckResult]:
    """What the driver reported of its cards since the boot."""
    if isinstance(facts.gpus, Absent):
        return
    if isinstance(facts.xids, Absent | Unseen):
        yield unseen(
            "xid", facts.xids.why, "ask the owner of the machine for `dmesg | grep Xid` if a card behaves oddly"
        )
        return
    told = 0
    for number in dict.fromkeys(xid.number for xid in facts.xids):
        meaning = XIDS.get(number)
        if meaning is None or meaning.fault == "program":
            continue
        told += 1
        count = sum(1 for xid in facts.xids if xid.number == number)
        yield warned(
            "xid", f"Xid {number} ({meaning.meaning}), {counted(count, 'time')} since the boot", meaning.remedy
        )
    if not told:
        yield passed("xid", "no report of a sick card in the kernel's log")
