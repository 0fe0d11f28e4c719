"""How many there are to be of what a counter counts: as it tells itself, or as the log has told elsewhere. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.picking.grounds import MOVES
from onbox.logs.line.words import STEP_UNITS

if TYPE_CHECKING:
    from onbox.logs.counter import Counter
    from onbox.logs.track import Track

LONG = 1000  # steps of a run that looks at itself seldom
A_LITTLE = 50  # times in its end: the last look that came behind it
AGAIN = 5  # times that the epochs began: they are those of one of many runs
WHOLE_STEPS = STEP_UNITS - {"batch", "timestep"}  # one may be told as another: `iter 300`, `max_steps: 1000`
ROUNDS = ("iter", "round")  # of boosting: `n_estimators=700`, and `[iter 25]`
RAISED_MAX = 4  # times that a run may state a larger maximum


def maximum_of(track: Track, counter: Counter) -> int | None:
    """Of the counter itself, else one that the log told elsewhere for what it counts."""
    if counter.stretched > counter.advances or (counter.maximum is None and _begins_always(counter)):
        return None  # `3/100`, `3/200`
    if counter.maximum is not None:
        return counter.maximum
    if counter.rule == "solver-time" and not float(counter.current).is_integer():
        return None  # `Time = 0.07`, and `Number of steps = 758`
    units = sorted(WHOLE_STEPS) if counter.unit in WHOLE_STEPS else [counter.unit]
    units = [*units, *ROUNDS] if counter.unit in ROUNDS else units
    units = [*units, "episode"] if counter.unit == "epoch" else units  # `Ep 10`
    units = [*units, "fit"] if counter.unit == "task" else units  # of scikit-learn, which joblib calls tasks
    units = [*units, "timestep"] if counter.unit == "step" else units
    units = [*units, "step"] if counter.unit == "timestep" and not _knows_another_end(track) else units
    others = [other for other in track.counters.values() if other.kind != "setting" or other.advances]
    taken = {other.unit for other in others if other.unit != counter.unit}
    for unit in (counter.unit, *(other for other in units if other not in taken)):
        most = track.maxima.get(unit)
        reached = most is not None and (
            most >= counter.current or (unit == counter.unit and _is_just_past(counter, most))
        )
        if reached and track.raised.get(unit, 0) < RAISED_MAX:
            return most
        once = _named_once(track, counter) if unit == counter.unit else None
        if once is not None:
            return once
    return None


def _is_just_past(counter: Counter, most: int) -> bool:
    """Whether the last look at it came a little behind its end: `Step: 40800` below `max_steps: 40000`."""
    over = counter.current - most
    return counter.advances >= MOVES and most >= LONG and counter.minimum < most and over * A_LITTLE <= most


def _begins_always(counter: Counter) -> bool:
    """`8 iterations` of each solve, and `Total iterations: 930` at the end: that is not the end of any of them."""
    return counter.resets >= AGAIN and 2 * counter.resets > counter.advances and counter.unit != "epoch"


def _knows_another_end(track: Track) -> bool:
    """Whether one of the counters has a maximum of its own: `num_env_steps` is not of the timesteps then."""
    return any(
        counter.maximum is not None or counter.unit in track.maxima or counter.key.startswith("global ")
        for counter in track.counters.values()
    )


def _named_once(track: Track, counter: Counter) -> int | None:
    """`=> num_updates=976` in the first lines or on each line, and the updates, one by one."""
    for other in track.counters.values():
        once = other.unit == counter.unit and other.first < counter.first
        once = once and (
            other.seen == 1 or other.minimum == other.current == counter.current
        )  # `reached num_updates=640`
        beside = other.unit == counter.unit and not other.advances and other.seen == counter.seen  # on each line
        if (
            (once or beside)
            and other.key.startswith("global ")
            and counter.advances >= MOVES
            and (other.current > counter.current or (once and other.current == counter.current))
        ):
            return int(other.current)
    return None
