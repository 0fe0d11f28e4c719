"""When a disk is foretold as full on the page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from patrol.page.forecast import forecast_of
from tests.patrol.makers import NOW, TICK, box, box_before, disk, shrinking

if TYPE_CHECKING:
    from patrol.page.forecast import DiskForecast


def foretold(*earlier: Any) -> DiskForecast | None:
    seen = box(disks=(disk()._replace(inodes_free=5_000_000),))
    before = box_before(disks=(*earlier, *shrinking("/", 1e6, 5_000_000, every=140.0)))
    run = SimpleNamespace(box=seen, box_before=before, seen_at=NOW, seen_now=True)
    return forecast_of(cast("Any", run), TICK)


def test_what_was_seen_before_a_pause_of_days_makes_no_forecast_longer() -> None:
    assert foretold() is None, "14 minutes do not foretell 5 hours"
    assert foretold((NOW - 3 * 86400, "/", 10**11, 9_000_000)) is None
