"""What the rules of a box and of its link are asked about: a look, and what is remembered. Pure."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from onbox.contract.readings import observed
from onbox.named_tuple import NamedTuple
from patrol.cost import Cost, cost_of
from patrol.decide.remote_command import Way
from patrol.decide.thresholds import DEFAULTS, Thresholds
from patrol.decide.trend import soon_full

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onbox.contract.readings import Maybe
    from patrol.decide.trend import Full
    from patrol.memory.history import Before, BoxBefore
    from patrol.snapshot import BoxLook, DiskLook, KernelFault


NO_WAY = Way("", "")


class BoxScene:
    """A look at a box, and its memory."""

    def __init__(
        self,
        box: BoxLook,
        box_before: BoxBefore,
        now: float,
        limits: Thresholds = DEFAULTS,
        way: Way = NO_WAY,
    ) -> None:
        self.box, self.box_before, self.now, self.limits, self.way = box, box_before, now, limits, way

    @cached_property
    def cost(self) -> Cost | None:
        """None: no price is known."""
        return cost_of(self.box, self.now)

    @cached_property
    def boot_id(self) -> str | None:
        identity = observed(self.box.identity)
        return observed(identity.boot_id) if identity else None

    @cached_property
    def rebooted(self) -> bool:
        """The box has another boot id than at the last look."""
        return None not in (self.boot_id, self.box_before.boot_id) and self.boot_id != self.box_before.boot_id

    @cached_property
    def skew_seconds(self) -> float:
        """The box's clock less ours; 0 where that is less than the look can tell."""
        identity = observed(self.box.identity)
        skew = finite(identity.clock_skew_seconds) if identity else 0.0
        return skew if identity is not None and abs(skew) > identity.clock_error_seconds else 0.0

    @cached_property
    def memory_percent(self) -> float | None:
        """Held of the group's limit; None: no limit, or not seen."""
        memory = observed(self.box.memory)
        return share(observed(memory.held_bytes), observed(memory.limit_bytes)) if memory else None

    @cached_property
    def host_memory_percent(self) -> float | None:
        memory = observed(self.box.memory)
        free = share(observed(memory.host_available_bytes), observed(memory.host_total_bytes)) if memory else None
        return None if free is None else 100.0 - free

    @cached_property
    def oom_kills(self) -> int | None:
        """The kernel's own count for the group; None: it has none, or it was not seen."""
        memory = observed(self.box.memory)
        return observed(memory.oom_kills_total) if memory else None

    @cached_property
    def new_oom_kills(self) -> int:
        """Kills since the last look; 0 at the first one, after a reboot, and in a new group (the count shrank)."""
        total = self.oom_kills
        if total is None or self.box_before.oom_kills is None or self.rebooted:
            return 0
        return max(0, total - self.box_before.oom_kills)

    @cached_property
    def disks(self) -> tuple[DiskLook, ...]:
        return observed(self.box.disks) or ()

    @cached_property
    def fullest(self) -> tuple[DiskLook, float] | None:
        """The file system with the largest share of bytes in use."""
        return _fullest(self.disks, lambda disk: share(disk.bytes_free, disk.bytes_total))

    @cached_property
    def fullest_inodes(self) -> tuple[DiskLook, float] | None:
        return _fullest(self.disks, lambda disk: share(observed(disk.inodes_free), observed(disk.inodes_total)))

    @cached_property
    def soon_full(self) -> tuple[Full, ...]:
        """The file systems that will be full by their trend, the first one first."""
        return soon_full(self.disks, self.box_before, self.now, self.limits.cadence_seconds)

    @cached_property
    def full_at_once(self) -> Full | None:
        """The first one for which somebody is to be woken; None: none in sight, or not looked at for long enough."""
        limit = self.limits.full_soon_seconds
        return next((full for full in self.soon_full if full.seconds <= limit and full.is_borne), None)

    @cached_property
    def gpu_percent(self) -> int | None:
        """Of the busiest GPU; None: none, or not seen."""
        return gpu_percent(self.box)

    @cached_property
    def new_faults(self) -> tuple[KernelFault, ...]:
        """Lines of the kernel since the last look; at a first look or after a reboot, of the last two cadences."""
        identity = observed(self.box.identity)
        uptime = observed(identity.uptime_seconds) if identity else None
        since = self.box_before.kernel_seconds
        if since is None or self.rebooted:
            since = None if uptime is None else uptime - self.limits.cadences_count * self.limits.cadence_seconds
        times = [(fault, observed(fault.uptime_seconds)) for fault in observed(self.box.kernel_faults) or ()]
        return tuple(fault for fault, at in times if at is not None and since is not None and at > since)

    @property
    def first_look(self) -> bool:
        """Nothing is known of an earlier look at the kernel's log."""
        return self.box_before.kernel_seconds is None

    @cached_property
    def silent_seconds(self) -> float:
        """For how long the patrol itself had not looked before this tick; 0 at its first."""
        last = self.box_before.last_tick_at
        return 0.0 if last is None else max(0.0, self.now - last)


class LinkScene(NamedTuple):
    """A run (or, with run "", a box) of which nothing could be seen at this tick. pids: what lives of a run whose
    directory is gone.
    """

    box: str
    run: str
    reason: str
    detail: str
    before: Before
    box_before: BoxBefore
    now: float
    limits: Thresholds = DEFAULTS
    way: Way = NO_WAY
    pids: tuple[int, ...] = ()

    @property
    def failures(self) -> int:
        """How often in a row the box was not reached, this time included."""
        return self.box_before.failures + 1


def share(part: float | None, whole: float | None) -> float | None:
    """In percent; None where either is not known, or there is no whole."""
    if part is None or not whole or whole < 0 or not (math.isfinite(part) and math.isfinite(whole)):
        return None
    return 100.0 * part / whole


def gpu_percent(box: BoxLook) -> int | None:
    """Utilisation of the busiest GPU; None: none, or not seen."""
    seen = [observed(gpu.utilization_percent) for gpu in observed(box.gpus) or ()]
    return max((percent for percent in seen if percent is not None), default=None)


def seen(reading: Maybe[object]) -> bool:
    return observed(reading) is not None


def _fullest(
    disks: Sequence[DiskLook], free_percent: Callable[[DiskLook], float | None]
) -> tuple[DiskLook, float] | None:
    found = [(disk, 100.0 - free) for disk in disks if (free := free_percent(disk)) is not None]
    return max(found, key=lambda one: one[1], default=None)


def finite(number: float) -> float:
    return number if math.isfinite(number) else 0.0
