"""A line of a chart holds what was seen, and breaks where nothing was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onbox.contract.readings import Absent
from onbox.series.point import Point as SeriesPoint
from patrol.memory.rows import LastWord, TickPoint
from patrol.page.axis import ROWS_LIMIT, holes_in, thinned
from patrol.page.cards import cards_of
from patrol.page.charts import data_of, numbers_of
from patrol.page.files import CHECKPOINTS, still_there, written_by
from patrol.page.model import RunHistory
from patrol.page.rates import rates_of
from patrol.page.sparkline import sparkline
from tests.patrol.makers import HEALTHY_PROGRESS, NOW, TICK, box, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patrol.page.model import Told
    from patrol.snapshot import RunLook

WORD = LastWord("gpu1", "digits", NOW, "", "{}")


def told(
    values: Sequence[float | None], *, loss: Sequence[float | None] = (), missing: Sequence[int] = ()
) -> list[Told]:
    """One point a tick, the last one now."""
    losses = [*loss, *([None] * len(values))]
    rows = [
        (int(NOW - (len(values) - 1 - n) * TICK), "healthy", 0, TickPoint(value, losses[n]))
        for n, value in enumerate(values)
    ]
    return [row for n, row in enumerate(rows) if n not in missing]


def history(points: list[Told], look: RunLook | None = None) -> RunHistory:
    look = look or run()
    return RunHistory(WORD, None, look, box(runs=(look,)), NOW, True, tuple(points))


def test_a_counter_that_begins_anew_has_no_rate_there() -> None:
    steps = [0.0, 1800.0, 0.0, 900.0, None, 3600.0]
    assert rates_of([(int(n * TICK), step) for n, step in enumerate(steps)]) == [None, 1.0, None, 0.5, None, None]
    assert rates_of([]) == []


def test_looks_that_come_faster_than_the_counter_moves_make_no_zigzag() -> None:
    often = [(60 * n, float(600 * (n // 5))) for n in range(20)]
    assert set(rates_of(often)[5:]) == {2.0}
    stuck = [*often, *((60 * n, 1800.0) for n in range(20, 40))]
    assert rates_of(stuck)[-1] == 0.0, "until it stands for much longer than usual"


def test_a_time_in_which_nothing_was_seen_is_a_hole() -> None:
    points = told([float(n) for n in range(20)], missing=range(8, 14))
    numbers = numbers_of(history(points), NOW, TICK)
    assert numbers.holes == [(points[7][0], points[8][0])]
    late = numbers_of(history(points), NOW + 10 * TICK, TICK)
    assert len(late.holes) == 1, "of a run of which nothing is said any more nothing is missing"


def test_thinned_points_are_no_hole() -> None:
    """Of the older half of a series every other point is dropped, again and again."""
    old = [int(NOW) - 900_000 + 4_000 * n for n in range(100)]
    new = [int(NOW) - 400_000 + 300 * n for n in range(100)]
    assert holes_in(old + new, 300.0, None) == [(old[-1], new[0])]
    assert holes_in(new, 300.0, new[-1] + 1000) == [(new[-1], new[-1] + 1000)]
    assert holes_in([], 300.0, None) == []


def test_where_it_will_end_is_drawn_from_where_it_is() -> None:
    chart = numbers_of(history(told([4000.0, 4300.0, 4600.0])), NOW, TICK).charts["progress"]
    assert chart.limit == (5155.0, "5155")
    assert chart.lines[0].ahead == [(NOW, 4600.0), (NOW + 4320, 5155.0)]
    unseen = history(told([4000.0, 4300.0, 4600.0]))._replace(seen_now=False)
    assert not numbers_of(unseen, NOW, TICK).charts["progress"].lines[0].ahead


def test_what_is_far_ahead_is_drawn_for_as_long_as_it_was_seen() -> None:
    look = run(progress=HEALTHY_PROGRESS._replace(eta_seconds=100 * TICK))
    numbers = numbers_of(history(told([4000.0, 4300.0, 4600.0]), look), NOW, TICK)
    (begin, value), (end, goal) = data_of(numbers)["charts"]["progress"]["lines"][0]["ahead"]
    assert (begin, value, end) == (NOW, 4600, NOW + 2 * TICK)
    assert goal == 4611.1, "two ticks of a hundred"


def test_the_unit_of_the_rate_suits_the_rate() -> None:
    slow = numbers_of(history(told([0.0, 3.0, 6.0])), NOW, TICK).charts["throughput"]
    assert (slow.unit, slow.lines[0].values) == ("steps/h", [None, 6.0, 6.0])
    fast = numbers_of(history(told([0.0, 3600.0, 7200.0])), NOW, TICK).charts["throughput"]
    assert fast.unit == "steps/s"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_a_gap_and_still_json(value: float) -> None:
    numbers = numbers_of(history(told([1.0, 2.0, 3.0], loss=[0.5, value, 0.4])), NOW, TICK)
    data = json.loads(json.dumps(data_of(numbers), allow_nan=False))
    assert data["charts"]["loss"]["lines"][0]["y"] == [0.5, None, 0.4]
    assert data["charts"]["loss"]["log"] is True


def test_no_numbers_are_no_chart() -> None:
    assert numbers_of(history(told([None, None])), NOW, TICK).charts == {}
    assert numbers_of(history([]), NOW, TICK).charts == {}
    assert numbers_of(history(told([1.0])), NOW, TICK).charts == {}


def test_many_points_are_thinned_and_what_sticks_out_stays() -> None:
    losses: list[float | None] = [1.0] * 20_000
    losses[12_345] = 99.0
    kept = thinned(range(20_000), losses, ROWS_LIMIT)
    assert len(kept) <= ROWS_LIMIT + 1
    assert 12_345 in kept
    assert kept[-1] == 19_999
    assert thinned(range(20_000), [None] * 20_000, ROWS_LIMIT)[:2] == [0, 40]


def test_a_sparkline_shows_the_numbers_that_are_known() -> None:
    assert sparkline([1.0, None, float("nan")]) is None
    found = sparkline([4.0, None, 3.0, 2.0])
    assert found is not None
    assert found.path.count("L") == 2
    assert found.path.startswith("M2 2")
    assert found.end == (94.0, 22.0)
    flat = sparkline([1.0, 1.0])
    assert flat is not None


def test_the_runs_own_series_is_drawn_where_there_is_one() -> None:
    """Of the disk the ticks tell."""
    own = tuple(
        SeriesPoint(
            NOW - 3600 + 30 * n,
            "train",
            1,
            step=float(10 * n),
            loss=None if n % 2 else 1.0 / (n + 1),
            steps_per_second=0.3,
            grad_norm="nan" if n == 5 else 0.7,
            memory_bytes=10**9,
        )
        for n in range(120)
    )
    points = [(at, rule, severity, point._replace(disk_percent=5)) for at, rule, severity, point in told([1.0, 2.0])]
    data = data_of(numbers_of(history(points)._replace(series=own), NOW, TICK))
    assert {key: chart["table"] for key, chart in data["charts"].items()} == {
        "progress": "series",
        "loss": "series",
        "throughput": "series",
        "memory": "series",
        "disk": "ticks",
        "grad_norm": "series",
    }
    assert data["charts"]["throughput"]["unit"] == "steps/min"
    assert data["charts"]["memory"]["unit"] == "GB"
    assert data["charts"]["loss"]["lines"][0]["y"][:3] == [1, None, 0.33333]
    assert data["charts"]["grad_norm"]["lines"][0]["y"][5] is None
    json.dumps(data, allow_nan=False)


def test_a_unit_that_is_told_as_more_than_one_gets_no_second_s() -> None:
    look = run(progress=HEALTHY_PROGRESS._replace(unit="cells"))
    charts = numbers_of(history(told([0.0, 3.0, 6.0]), look), NOW, TICK).charts
    assert (charts["progress"].unit, charts["throughput"].unit) == ("cells", "cells/h")


def test_the_head_of_a_chart_says_what_its_line_ends_with() -> None:
    series = tuple(
        SeriesPoint(NOW - 60 + at, "train", 1, step=at * 1163.0, steps_per_second=1163.0) for at in range(0, 60, 20)
    )
    seen = history(told([1.0, 2.0]), run(steps_per_second=822.0))._replace(series=series)
    cards = {card.key: card for card in cards_of(seen, numbers_of(seen, NOW, TICK).charts, TICK)}
    assert cards["throughput"].latest.text == "1163 steps/s"
    assert "822 steps per second" in cards["throughput"].note


def test_of_a_run_that_is_done_the_progress_is_where_its_series_ends() -> None:
    series = (SeriesPoint(NOW - 60, "train", 1, step=13_600.0),)
    seen = history(told([None]), run(progress=Absent("no progress shown")))._replace(series=series)
    (progress, *_) = cards_of(seen, numbers_of(seen, NOW, TICK).charts, TICK)
    assert (progress.latest.kind, progress.latest.text) == ("seen", "13600")


def test_it_is_said_how_many_checkpoints_are_left() -> None:
    series = tuple(
        SeriesPoint(NOW - 60, "train", 1, checkpoint_step=step, checkpoint_at=NOW - 60 + step, checkpoints=3)
        for step in range(12)
    )
    seen = history(told([1.0]))._replace(series=series)
    assert "3 checkpoints on the disk" in still_there(seen)
    assert len(written_by(seen)) == CHECKPOINTS
