"""Which file system will be full, as far as the page shows it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import observed
from onbox.named_tuple import NamedTuple
from patrol.decide.box_scene import share
from patrol.decide.trend import soon_full

if TYPE_CHECKING:
    from patrol.page.model import RunHistory

LIMIT_SECONDS = 30 * 86400.0
WINDOWS = 12.0  # of the time that was looked at, a disk is foretold


class DiskForecast(NamedTuple):
    """A file system that will be full: "bytes" or "inodes" of a mount, now so many percent used, in so many seconds."""

    mount: str
    what: str
    used_percent: float
    seconds: float


def forecast_of(run: RunHistory, cadence_seconds: float) -> DiskForecast | None:
    """The one that is full first, if it goes on as in the last ticks; None: none within a month, or it was not seen."""
    disks = observed(run.box.disks) if run.box is not None else None
    if not disks or run.box_before is None or run.seen_at is None or not run.seen_now:
        return None
    full = next(iter(soon_full(disks, run.box_before, run.seen_at, cadence_seconds)), None)
    if full is None or full.seconds > min(LIMIT_SECONDS, WINDOWS * full.seen_seconds):
        return None
    disk = next(one for one in disks if one.mount == full.mount)
    free, total = disk.bytes_free, disk.bytes_total
    if full.what == "inodes":
        free, total = observed(disk.inodes_free) or 0, observed(disk.inodes_total) or 0
    return DiskForecast(full.mount, full.what, 100.0 - (share(free, total) or 0.0), full.seconds)
