"""What a GPU reading means before a long run: is this card sound? Pure, but for the look at the kernel's log.

Sources: NVML API reference; NVIDIA "Xid Errors" (GPU deployment docs); Documentation/ABI/testing/dev-kmsg.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from onbox.collectors.gpu.nvml import THROTTLE_REASONS, GpuCard, LostGpu
from onbox.contract.readings import Unseen, observed
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.contract.readings import Maybe

DRIVER_OWN_BYTES = 1 << 30  # what the driver itself may hold on a big card with nobody on it
HOT_MARGIN_CELSIUS = 5
SLOW_CLOCK_SHARE = 0.6
BUSY_PERCENT = 50
KMSG_LIMIT_BYTES = 1 << 22


class Concern(NamedTuple):
    """grave: a run on this card would fail or be wrong. what: with the numbers; remedy: what to do."""

    grave: bool
    what: str
    remedy: str


class Xid(NamedTuple):
    """One report of the driver in the kernel's log. device: its PCI address."""

    number: int
    device: str
    text: str


class XidMeaning(NamedTuple):
    """fault: whose it is: "card", "link" or "program"."""

    meaning: str
    fault: str
    remedy: str


_OPEN = "give this user access to its device file, or leave it out with CUDA_VISIBLE_DEVICES"
_REPLACE = "exclude the card or the node, and report it"
_RESET = "the card needs a reset by the owner of the machine; then resume"
XIDS: dict[int, XidMeaning] = {
    13: XidMeaning("graphics engine exception", "program", "usually an out-of-bounds access in a kernel"),
    31: XidMeaning("memory page fault", "program", "usually an illegal address in a kernel"),
    43: XidMeaning("the program's channel was stopped", "program", "a consequence of its own fault"),
    45: XidMeaning("preemptive cleanup", "program", "a consequence: look for the Xid before it"),
    48: XidMeaning("double-bit ECC error", "card", _RESET),
    63: XidMeaning("a row or page is to be remapped", "card", _RESET),
    64: XidMeaning("remapping failed", "card", _REPLACE),
    74: XidMeaning("NVLink error", "link", _REPLACE),
    79: XidMeaning("the card has fallen off the bus", "card", _REPLACE),
    92: XidMeaning("many corrected ECC errors", "card", _REPLACE),
    94: XidMeaning("contained memory error", "card", "the program that hit it has failed; " + _RESET),
    95: XidMeaning("uncontained memory error", "card", _RESET),
    119: XidMeaning("the card's own processor (GSP) does not answer", "card", _RESET),
    120: XidMeaning("the card's own processor (GSP) failed", "card", _RESET),
}


def judge_gpu(gpu: GpuCard | LostGpu) -> Iterator[Concern]:
    """Everything that speaks against a card. Fields that are absent or unseen say nothing."""
    if isinstance(gpu, LostGpu):
        yield Concern(True, gpu.why, _OPEN if gpu.closed else _REPLACE)
        return
    yield from _judge_memory_errors(gpu)
    yield from _judge_clocks(gpu)
    yield from _judge_tenants(gpu)


def _judge_memory_errors(gpu: GpuCard) -> Iterator[Concern]:
    errors = observed(gpu.ecc_uncorrected_total)
    if errors:
        yield Concern(True, f"{errors} uncorrected ECC errors since the driver was loaded", _RESET)
    if observed(gpu.rows_failed):
        yield Concern(True, "a memory row could not be remapped", _REPLACE)
    elif observed(gpu.rows_pending):
        yield Concern(False, "memory rows wait to be remapped", _RESET)


def _judge_clocks(gpu: GpuCard) -> Iterator[Concern]:
    reasons = set(observed(gpu.throttle_reasons) or ())
    for _, name, weight in THROTTLE_REASONS:
        if name in reasons and weight != "normal":
            remedy = "power or cooling of the machine: report it" if weight == "alarm" else "cooling: expect less speed"
            yield Concern(weight == "alarm", f"it slows itself down: {name}", remedy)
    hot, limit = observed(gpu.temperature_celsius), observed(gpu.slowdown_celsius)
    if hot is not None and limit is not None and hot >= limit - HOT_MARGIN_CELSIUS:
        yield Concern(False, f"{hot} °C; it slows down at {limit} °C", "cooling: expect less speed")
    clock, top, busy = observed(gpu.sm_clock_mhz), observed(gpu.max_sm_clock_mhz), observed(gpu.utilization_percent)
    if clock is not None and top and busy is not None and busy >= BUSY_PERCENT and clock < SLOW_CLOCK_SHARE * top:
        yield Concern(
            False, f"{clock} of {top} MHz while {busy}% busy", "clocks are capped: ask the owner of the machine"
        )


def _judge_tenants(gpu: GpuCard) -> Iterator[Concern]:
    """Memory in use although nothing of ours has started."""
    used, hidden = observed(gpu.memory_used_bytes), observed(gpu.unaccounted_bytes)
    processes = observed(gpu.processes)
    if hidden is not None and hidden > DRIVER_OWN_BYTES:
        seen = f"{hidden >> 20} MiB are held by no process that can be seen here"
        yield Concern(
            False, seen, "another container, the host, or a dead process holds it: ask before you reset the card"
        )
    elif processes and used is not None and used > DRIVER_OWN_BYTES:
        pids = ", ".join(str(process.pid) for process in processes)
        yield Concern(
            False, f"{used >> 20} MiB in use by {pids} (the host's pids)", "wait for them, or choose another card"
        )


def parse_xids(text: str) -> list[Xid]:
    """`NVRM: Xid (PCI:0000:3b:00): 79, pid=…, GPU has fallen off the bus.` of a kernel log, in its order."""
    found = re.findall(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]{1,24})\)?[^:\n]{0,40}: (\d{1,9}),? ?(.*)", text)
    return [Xid(int(number), device, rest.strip()[:200]) for device, number, rest in found]


def read_xids(root: str = "/") -> Maybe[list[Xid]]:
    """The Xids of this boot. Reading the kernel's log needs rights: without them nothing is known."""
    path = os.path.join(root, "dev/kmsg")
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Unseen("the kernel's log is not shown here (no /dev/kmsg)")
    except OSError as error:
        return Unseen(f"the kernel's log: {error.strerror}")
    try:
        return parse_xids(_drain(fd))
    except OSError as error:
        return Unseen(f"the kernel's log: {error.strerror}")
    finally:
        os.close(fd)


def _drain(fd: int) -> str:
    """One record per read, until none is left (EAGAIN). EPIPE: records were overwritten meanwhile; the rest follows."""
    parts: list[bytes] = []
    size = 0
    while size < KMSG_LIMIT_BYTES:
        try:
            part = os.read(fd, 1 << 16)
        except BlockingIOError:
            break
        except BrokenPipeError:
            continue
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts).decode("utf-8", "replace")
