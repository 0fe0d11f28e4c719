"""The picture of `onbox stats`: trends, rates, words. What was not seen is never shown as a number."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.commands.show.stats_prometheus import render_metrics
from onbox.commands.show.stats_text import load_text, render_picture
from onbox.commands.stats import Picture, StatsSubject, find_rates, find_trends
from onbox.contract.readings import Absent, Unseen
from onbox.system.clock import utc_text
from tests.onbox.preflight.facts import CPU, DISK, MEMORY, ROOM, SNAPSHOT


def sample(minute: float, **numbers: Any) -> dict[str, Any]:
    return {"at": utc_text(1_800_000_000 + 60 * minute), **numbers}


def picture(**changes: Any) -> Picture:
    return Picture(StatsSubject(), SNAPSHOT._replace(**changes), Absent("no NVIDIA device"), {}, {}, None)


def line(name: str, shown: Picture) -> str:
    unfolded = render_picture(shown).replace("\n" + " " * 11, " ")
    return next(row for row in unfolded.splitlines() if row.strip().startswith(name))


def test_inodes_that_run_out_are_told_with_the_time_left() -> None:
    samples = [sample(m, disks={"/data": [10**12, 10**12, 60_000 - 1000 * m, 10**6]}) for m in range(31)]
    trend = find_trends(samples)["/data"]
    assert trend["bytes_full_in_seconds"] is None
    assert trend["inodes_full_in_seconds"] == pytest.approx(1800, rel=0.01)
    shown = picture()._replace(trends={"/data": trend})
    assert "inodes full in 30m" in line("disk", shown)


def test_it_fits_a_terminal_of_80_columns() -> None:
    why = Unseen("a reason that is as long as reasons are where a kernel has no such file for this container at all")
    rows = render_picture(picture(memory=why, pids=why)).splitlines()
    assert max(map(len, rows)) <= 80
    assert "could not look: a reason" in line("memory", picture(memory=why))


def test_a_disk_without_inodes_has_no_trend_of_them() -> None:
    samples = [sample(m, disks={"/data": [10**9 - m, 10**12, None, None]}) for m in range(5)]
    assert find_trends(samples)["/data"]["inodes_full_in_seconds"] is None


def test_rates_need_two_moments_and_no_restart() -> None:
    before, now = sample(0, cpu_seconds_total=10.0), sample(1, cpu_seconds_total=130.0)
    assert find_rates(before, now) == {"cores_used": 2.0}
    assert find_rates(now, before) == {}
    assert find_rates(before, sample(1, cpu_seconds_total=1.0)) == {}


def test_memory_is_shown_against_its_limit() -> None:
    assert line("memory", picture()).startswith("  memory   1.0 GB working set of 8.0 GB (12%)")


def test_no_limit_and_an_unreadable_one_differ() -> None:
    none = picture(memory=MEMORY._replace(limit_bytes=Absent("no limit visible from a up to b")))
    unread = picture(memory=MEMORY._replace(limit_bytes=Unseen("memory.max: Permission denied")))
    assert "no limit visible" in line("memory", none)
    assert "memory.max: Permission denied" in line("memory", unread)
    assert "could not look: gone" in line("memory", picture(memory=Unseen("gone")))


def test_inodes_that_are_not_counted_are_not_zero() -> None:
    room = ROOM._replace(inodes_free=Absent("not counted"), inodes_total=Absent("not counted"))
    assert "inodes not counted here" in line("disk", picture(disks=(DISK._replace(room=room),)))


@pytest.mark.parametrize(
    ("expected", "load", "own"),
    [
        ("load 490 on 64 cores: mostly neighbours, not you (3.9 cores are yours)", 490.0, 3.9),
        ("load 490 on 64 cores", 490.0, None),
        ("load 490 on 64 cores", 490.0, 400.0),
        ("load 12 on 64 cores", 12.0, 1.0),
    ],
)
def test_a_neighbours_load_is_called_so(expected: str, load: float, own: float | None) -> None:
    assert load_text(CPU._replace(host_load=(load, load, load), host_cores=64), own) == expected


def test_metrics_leave_out_what_was_not_seen() -> None:
    data = {"run": 'odd "name"\\', "memory": {"limit_bytes": {"absent": "max"}, "current_bytes": 5}}
    assert render_metrics(data) == (
        "# HELP onbox_memory_current_bytes Memory with page cache.\n# TYPE onbox_memory_current_bytes gauge\n"
        'onbox_memory_current_bytes{run="odd \\"name\\"\\\\"} 5\n'
    )
