"""A loss that is no number, that climbs, or that is another after a resume; values that are always zero. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.series.detectors.course import BASELINE, Detection, at_step, median, over, readings, usual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.series.detectors.course import Course, SeriesReading
    from onbox.series.point import Point

CALM = 3  # readings in a row at the trend end an episode
NOISE = 3.0  # standard deviations that single readings may lie apart, and medians of several
NOISE_OF_MANY = 2.0  # that ten readings in a row may lie apart by chance
BEGINNING = 2  # times the first step that was ever seen: looks see a beginning some steps apart
LEAST_PAIRS = 3  # steps that both attempts have shown
BEHIND = 10  # readings behind the last step of the attempt before
CONVERGED = 0.02  # of its largest: from there a loss may be shown as 0.000 soon
ZEROES = ("loss", "grad_norm", "metric")


def not_finite(course: Course, before: Detection | None) -> Detection | None:
    """The newest loss or grad norm is nan or infinite. Scaling the loss for half precision makes an infinite grad norm
    now and then: that counts when the reading before was no number either.
    """
    for name in ("loss", "grad_norm"):
        shown = [point for point in course.attempt if getattr(point, name) is not None]
        if not shown or not isinstance(getattr(shown[-1], name), str):
            continue
        value = str(getattr(shown[-1], name))
        if value != "nan" and name == "grad_norm" and not (len(shown) > 1 and isinstance(shown[-2].grad_norm, str)):
            continue
        if before is not None:
            return before
        last = next((f"; the last number was {getattr(one, name):.4g}{at_step(one)}" for one in reversed(shown)
                     if not isinstance(getattr(one, name), str)), "")  # fmt: skip
        return Detection(f"{name.replace('_', ' ')} is {value}{at_step(shown[-1])}{last}", shown[-1].at, shown[-1].step)
    return None


def risen(course: Course, before: Detection | None) -> Detection | None:
    """The last readings of the loss are all that much above the median of those before them."""
    limits, seen = course.limits, readings(_one_way(course.points), "loss")
    found = _above(seen, limits.loss_readings, 1 + limits.loss_percent / 100, before, NOISE_OF_MANY)
    if found is None or found is before:
        return found
    last, baseline = seen[-limits.loss_readings :], found.baseline or 0.0
    now = median(one.value for one in last)
    more = f", {100 * (now - baseline) / abs(baseline):.0f}% above its trend of {baseline:.4g}" if baseline else ""
    return found._replace(proof=f"loss {now:.4g}{more}, {over(len(last), last[0].at, last[-1].at)}{at_step(last[0])}")


def grad_norm_risen(course: Course, before: Detection | None) -> Detection | None:
    """The same of the norm of the gradient, by a factor."""
    limits, seen = course.limits, readings(course.attempt, "grad_norm")
    found = _above(seen, limits.grad_norm_readings, limits.grad_norm_factor, before, NOISE)
    if found is None or found is before:
        return found
    last, baseline = seen[-limits.grad_norm_readings :], found.baseline or 0.0
    now = median(one.value for one in last)
    times = f", {now / baseline:.0f} times its usual {baseline:.4g}" if baseline else ""
    return found._replace(
        proof=f"grad norm {now:.4g}{times}, {over(len(last), last[0].at, last[-1].at)}{at_step(last[0])}"
    )


def _above(
    seen: Sequence[SeriesReading], count: int, factor: float, before: Detection | None, noise: float
) -> Detection | None:
    """Whether the last `count` readings are all above `factor` times the usual, and above its noise."""
    if before is not None and before.baseline is not None:
        limit = before.baseline + (factor - 1) * abs(before.baseline)
        calm = seen[-CALM:]
        return None if len(calm) == CALM and all(one.value <= limit for one in calm) else before
    last, earlier = seen[-count:], seen[:-count][-BASELINE:]
    if len(earlier) < BASELINE:
        return None
    baseline, spread = usual([one.value for one in earlier])
    limit = baseline + max((factor - 1) * abs(baseline), noise * spread)
    if any(one.value <= limit for one in last):
        return None
    return Detection("", last[0].at, last[0].step, baseline)


def _one_way(points: Sequence[Point]) -> list[Point]:
    """Points without those whose steps a later attempt went through again."""
    kept: list[Point] = []
    limit: float | None = None  # the least step at which a later attempt began
    for point in reversed(points):
        if kept and point.attempt != kept[-1].attempt:
            first = next(
                (one.step for one in reversed(kept) if one.attempt == kept[-1].attempt and one.step is not None), None
            )
            limit = min((one for one in (first, limit) if one is not None), default=None)
        if limit is None or point.step is None or point.step < limit:
            kept.append(point)
    return kept[::-1]


def all_zero(course: Course, before: Detection | None) -> Detection | None:
    """A value was exactly 0 in all of its last readings. A loss that had come near to 0 before has converged."""
    for name in ZEROES:
        points = course.attempt
        if name == "metric":
            newest = next((point.metric_name for point in reversed(points) if point.metric is not None), None)
            points = [point for point in points if point.metric_name == newest]
        seen = readings(points, name)
        last = seen[-course.limits.zero_readings :]
        if len(last) < course.limits.zero_readings or any(one.value for one in last):
            continue
        earlier = [abs(one.value) for one in seen if one.value]
        if earlier and earlier[-1] < CONVERGED * max(earlier):
            continue
        if before is not None:
            return before
        called = (points[-1].metric_name or name) if name == "metric" else name.replace("_", " ")
        return Detection(f"{called} is exactly 0 {over(len(last), last[0].at, last[-1].at)}{at_step(last[0])}",
                     last[0].at, last[0].step)  # fmt: skip
    return None


def resume_mismatch(course: Course, before: Detection | None) -> Detection | None:
    """The loss of a resumed attempt is not that of the attempt before: at the same steps, or behind its last one."""
    if not course.resumed or _began_anew(course):
        return None
    return before or _while_catching_up(course) or _behind(course)


def _began_anew(course: Course) -> bool:
    """Whether it did not go on from a checkpoint, but from the beginning: then its losses may be others."""
    number = course.newest.attempt
    earlier = next((one.step for one in course.points if one.attempt < number and one.step is not None), None)
    own = next((one.step for one in course.attempt if one.step is not None), None)
    return earlier is not None and own is not None and own < BEGINNING * earlier


def _while_catching_up(course: Course) -> Detection | None:
    pairs, limit = course.pairs, course.limits.resume_loss_difference
    if len(pairs) < LEAST_PAIRS:
        return None
    apart = median(abs(pair.now - pair.before) for pair in pairs)
    if apart <= limit:
        return None
    worst = max(pairs, key=lambda pair: abs(pair.now - pair.before))
    proof = (
        f"resumed, and the loss of {len(pairs)} steps differs by {apart:.3g} from the attempt before (limit {limit:g});"
        f" at step {worst.step:.12g} it was {worst.before:.6g} and is {worst.now:.6g}"
    )
    return Detection(proof, course.newest.at, worst.step)


def _behind(course: Course) -> Detection | None:
    """Behind the last step of the attempt before: higher than its trend by more than its noise explains."""
    number = course.newest.attempt
    earlier = readings([point for point in course.points if point.attempt < number], "loss")
    if not earlier:
        return None
    end = max((one.step for one in earlier if one.step is not None), default=None)
    own = readings(course.attempt, "loss")
    if end is None or len(earlier) < BASELINE:
        return None
    behind = [one for one in own if one.step is not None and one.step > end][:BEHIND]
    if len(behind) < BEHIND:
        return None
    was, spread = usual([one.value for one in earlier[-BASELINE:]])
    now, spread_now = usual([one.value for one in behind])
    noise = NOISE * 1.2533 * (spread**2 / BASELINE + spread_now**2 / BEHIND) ** 0.5  # of two medians
    if now - was <= max(abs(was) * course.limits.resume_loss_percent / 100, noise):
        return None
    proof = (
        f"resumed, and behind step {end:.12g} the loss is {now:.4g} over {BEHIND} readings,"
        f" {100 * (now - was) / abs(was) if was else 0:.1f}% above the {was:.4g} of the attempt before"
    )
    return Detection(proof, behind[0].at, behind[0].step)
