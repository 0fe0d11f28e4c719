"""What the detectors find in a course, and what they leave alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from onbox.model.detect import DetectSettings
from onbox.series.detectors.course import Course, Detection, LossPair
from onbox.series.detectors.table import DETECTORS, look
from onbox.series.point import Point

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LIMITS = DetectSettings()


def course(*columns: Iterable[Any], names: Sequence[str], attempt: int = 1, first: int = 0) -> list[Point]:
    """Points 30 s and 10 steps apart, with a column of values for each name."""
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    places = range(first, first + len(rows))
    return [
        Point(30.0 * at, "train", attempt, step=10.0 * at, unit="step", **row)
        for at, row in zip(places, rows, strict=True)
    ]


def losses(values: Iterable[Any], **more: Any) -> list[Point]:
    return course(list(values), names=["loss"], **more)


def paces(values: Iterable[Any]) -> list[Point]:
    return course(list(values), names=["steps_per_second"])


def find(name: str, points: Sequence[Point], before: Detection | None = None, **more: Any) -> Detection | None:
    limits = more.pop("limits", LIMITS)
    return DETECTORS[name].find(Course(points, limits, **more), before)


def first_found(name: str, points: Sequence[Point], **more: Any) -> int | None:
    """The number of the point with which it is told."""
    return next((at for at in range(1, len(points) + 1) if find(name, points[:at], **more)), None)


# -- slow


def test_slow_is_below_the_own_median_for_several_readings() -> None:
    assert first_found("slow", paces([10.0] * 20 + [7.4] * 10)) == 25
    assert first_found("slow", paces([10.0] * 20 + [7.6] * 10)) is None
    assert first_found("slow", paces([10.0] * 20 + [7.9] * 10), limits=LIMITS._replace(slow_percent=20)) == 25


def test_one_reading_among_them_may_be_as_fast_as_ever() -> None:
    assert first_found("slow", paces([10.0] * 20 + [7.0, 7.0, 7.0, 7.6, 7.0, 7.0])) == 26
    assert first_found("slow", paces([10.0] * 20 + [7.0, 7.6, 7.6, 7.0, 7.0, 7.0, 7.6])) is None


def test_a_pause_is_not_slow() -> None:
    evaluation = [10.0] * 8 + [None] * 6 + [1.0]
    assert first_found("slow", paces(evaluation * 6)) is None


def test_slow_ends_when_it_is_as_fast_as_before_and_a_long_slow_course_is_never_the_usual() -> None:
    slow = paces([10.0] * 20 + [5.0] * 300)
    found = find("slow", slow[:25])
    assert found is not None
    assert "50% below its own median of 10" in found.proof
    assert "step 200" in found.proof
    assert find("slow", slow, found) is found
    assert find("slow", slow + paces([10.0, 10.0]), found) is found
    assert find("slow", slow + paces([10.0] * 3), found) is None


# -- loss


@pytest.mark.parametrize(("height", "count", "expected"), [(1.51, 10, 40), (1.51, 9, None), (1.49, 10, None)])
def test_a_loss_has_risen_when_it_is_half_as_much_again_for_ten_readings(
    height: float, count: int, expected: int | None
) -> None:
    assert first_found("loss-risen", losses([1.0] * 30 + [height] * count)) == expected


def test_a_loss_that_climbs_is_told_once_until_it_comes_back() -> None:
    points = losses([1.0] * 30 + [3.0] * 15 + [1.1] * 5)
    found = find("loss-risen", points[:40])
    assert found is not None
    assert "200% above its trend of 1, for 10 readings (4m30s) at step 300" in found.proof
    assert find("loss-risen", points[:45], found) is found
    assert find("loss-risen", points[:48], found) is None


def test_noise_warm_up_and_a_falling_rate_are_no_rise() -> None:
    noisy = [0.02 + 0.02 * math.sin(7.0 * at) ** 2 for at in range(200)]
    falling = [3.0 * math.exp(-at / 40) + 0.1 for at in range(100)]
    warm_up = [8.0, 9.0, 12.0, 15.0, *([14.0] * 10), *falling]
    for values in (noisy, falling, warm_up, [-value for value in falling]):
        assert first_found("loss-risen", losses(values)) is None


def test_a_resume_from_an_earlier_checkpoint_is_compared_with_what_lay_before_it() -> None:
    """The loss there was higher than at the end of the attempt before."""
    falling = [3.0 * math.exp(-at / 20) + 0.1 for at in range(100)]
    points = losses(falling) + losses(falling[30:], attempt=2, first=30)
    assert first_found("loss-risen", points, resumed=True) is None


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_loss_that_is_no_number_is_told_at_once(value: str) -> None:
    found = find("loss-not-finite", losses([1.0, 0.5, value]))
    assert found is not None
    assert f"loss is {value} at step 20; the last number was 0.5 at step 10" in found.proof
    assert find("loss-not-finite", losses([1.0, value, 0.5])) is None


def test_a_gradient_that_is_nan_is_told_at_once_and_an_infinite_one_the_second_time() -> None:
    def gradients(*values: Any) -> Detection | None:
        return find("loss-not-finite", course(values, names=["grad_norm"]))

    assert gradients(1.0, "nan") is not None
    assert gradients(1.0, "inf") is None, "scaling the loss for half precision makes one now and then"
    assert gradients(1.0, "inf", "inf") is not None


def test_gradients_explode_above_ten_times_their_usual_norm() -> None:
    wild = [1.0 + 0.5 * math.sin(at) for at in range(40)]
    assert first_found("grad-norm-risen", course([*wild, 20.0, 20.0, 20.0], names=["grad_norm"])) == 43
    assert first_found("grad-norm-risen", course([*wild, 20.0, 1.0, 20.0, 1.0], names=["grad_norm"])) is None


def test_a_value_that_is_always_zero() -> None:
    assert first_found("all-zero", losses([0.0] * 6)) == 5
    assert first_found("all-zero", losses([2.0, 1.5, *([0.0] * 5)])) == 7
    converged = [2.0, 0.5, 0.1, 0.01, 0.0004, 0.0001, *([0.0] * 20)]
    assert first_found("all-zero", losses(converged)) is None, "it was on its way to 0"
    accuracy = course([0.0] * 5, ["acc"] * 5, names=["metric", "metric_name"])
    found = find("all-zero", accuracy)
    assert found is not None
    assert "acc is exactly 0 for 5 readings" in found.proof


# -- resume


def resumed(pairs: Sequence[LossPair], values: Iterable[float] = ()) -> Detection | None:
    before = losses([0.5] * 40)
    after = losses([0.5, *values], attempt=2, first=30)
    return find("resume-mismatch", before + after, pairs=pairs, resumed=True)


def test_a_resume_that_catches_up_has_the_losses_of_the_attempt_before() -> None:
    def pairs(apart: float) -> list[LossPair]:
        return [LossPair(float(step), 0.5, 0.5 + apart) for step in (310, 320, 330)]

    assert resumed(pairs(0.0019)) is None
    found = resumed(pairs(0.0021))
    assert found is not None
    assert "the loss of 3 steps differs by 0.0021" in found.proof
    assert resumed(pairs(0.5)[:2]) is None, "two steps prove little"


def test_behind_the_last_step_of_the_attempt_before_the_loss_may_lie_a_percent_above_it() -> None:
    catching_up = [0.5] * 9
    assert resumed((), [*catching_up, *([0.504] * 10)]) is None
    assert resumed((), [*catching_up, *([0.51] * 9)]) is None
    found = resumed((), [*catching_up, *([0.51] * 10)])
    assert found is not None
    assert "behind step 390 the loss is 0.51 over 10 readings, 2.0% above the 0.5" in found.proof


def test_an_attempt_that_begins_anew_is_no_resume() -> None:
    before, after = losses([0.5] * 40, first=1), losses([2.0, 1.9], attempt=2, first=1)
    pairs = [LossPair(float(step), 0.5, 2.0) for step in (10, 20, 30)]
    assert find("resume-mismatch", before + after, pairs=pairs, resumed=True) is None


def test_without_a_resume_nothing_is_compared() -> None:
    pairs = [LossPair(float(step), 0.5, 0.9) for step in range(9)]
    assert find("resume-mismatch", losses([0.5] * 9), pairs=pairs) is None


# -- files


def saving(steps: Sequence[int | None]) -> list[Point]:
    """A complete checkpoint wherever a step stands; it stays the newest."""
    points, newest = [], None
    for at, step in enumerate(steps):
        newest = (step, 30.0 * at) if step is not None else newest
        points.append(
            Point(
                30.0 * at, "train", 1, step=10.0 * at, steps_per_second=1.0,
                checkpoint_step=newest[0] if newest else None, checkpoint_at=newest[1] if newest else None,
                checkpoints=1,
            )
        )  # fmt: skip
    return points


EVERY_TENTH = [at * 10 if at % 10 == 0 and at else None for at in range(41)]


def test_checkpoints_are_late_after_three_of_their_own_intervals() -> None:
    assert first_found("checkpoints-late", saving(EVERY_TENTH)) is None
    points = saving([*EVERY_TENTH, *([None] * 40)])
    assert first_found("checkpoints-late", points) == len(EVERY_TENTH) + 31
    found = find("checkpoints-late", points)
    assert found is not None
    assert "the newest complete one is of step 400, the run is at step 800" in found.proof


def test_a_long_pause_makes_no_checkpoint_late() -> None:
    points = saving(EVERY_TENTH)
    pause = [points[-1]._replace(at=points[-1].at + 30.0 * at, steps_per_second=None) for at in range(1, 99)]
    awake = pause[-1]._replace(at=pause[-1].at + 30.0, steps_per_second=0.01, step=410.0)
    assert first_found("checkpoints-late", [*points, *pause, awake]) is None


def test_too_few_checkpoints_are_told_where_a_depth_is_set_and_was_reached() -> None:
    def left(*counts: int) -> Detection | None:
        limits = LIMITS._replace(rollback_depth=3)
        return find("checkpoints-few", course(counts, names=["checkpoints"]), limits=limits)

    assert left(0, 1, 2) is None
    assert left(0, 3, 4, 3) is None
    found = left(0, 3, 4, 2)
    assert found is not None
    assert found.proof == "2 complete checkpoints left, where 3 are wanted for a rollback and 4 were there"
    assert find("checkpoints-few", course([5, 0], names=["checkpoints"])) is None, "no depth is set"


@pytest.mark.parametrize(
    ("log_bytes", "behind", "told"),
    [(8192, 601.0, True), (8192, 599.0, False), (8200, 9999.0, False), (0, 601.0, False), (0, 1801.0, True)],
)
def test_output_is_buffered_where_the_log_ends_with_a_full_buffer_and_artifacts_are_young(
    log_bytes: int, behind: float, *, told: bool
) -> None:
    point = Point(9000.0, "train", 1, log_at=5000.0, log_bytes=log_bytes, artifact_at=5000.0 + behind)
    assert (find("output-buffered", [point]) is not None) == told


# -- all


def test_an_episode_keeps_its_beginning_and_what_is_ignored_is_not_looked_for() -> None:
    points = losses([1.0, "nan", "nan", "nan"])
    first = look(Course(points[:2], LIMITS), {})
    later = look(Course(points, LIMITS), first)
    assert first.keys() == later.keys() == {"loss-not-finite"}
    assert later["loss-not-finite"].at == first["loss-not-finite"].at
    assert look(Course(points, LIMITS._replace(on_detect=(("loss-not-finite", "ignore"),))), {}) == {}


def test_points_without_anything_find_nothing() -> None:
    assert look(Course([Point(1.0, "train", 1)], LIMITS), {}) == {}
