"""No pattern that is shipped takes longer than in proportion to the length of its text, whatever stands there.

Texts are made for each pattern out of its own parts. The bounds lie far from both sides: a linear pattern grows by 2
where its text doubles, a quadratic one by 4; what takes less than the floor is not judged.
"""

from __future__ import annotations

import re

import pytest

from tests import pumping
from tests.pumping import LENGTH, Pumped, Shipped, grown, pumped, shipped, unknown

GROWTH_LIMIT = 3.0
FLOOR_SECONDS = LENGTH * 0.25e-6
LIMIT_SECONDS = LENGTH * 20e-6  # on a quiet machine the slowest one takes half of it
TRIES = 5
FAR, FAR_LIMIT = 4, 8.0  # over so many lengths a linear pattern grows by 4, a quadratic one by 16


def slow(one: Shipped) -> Pumped | None:
    """The text that takes the pattern too long; measured again and again before that is believed."""
    worst = pumped(one)
    for tries in range(3, 3 * TRIES, 3):
        if worst is None or worst.seconds < FLOOR_SECONDS:
            return None
        if worst.growth < GROWTH_LIMIT and worst.seconds < LIMIT_SECONDS:
            return None
        if worst.seconds > 10 * LIMIT_SECONDS:
            return worst
        worst = grown(one.asker(), (worst.lead, worst.unit, worst.stop), tries)
    if worst is None or worst.seconds >= LIMIT_SECONDS:
        return worst
    # On a machine whose speed changes all the time, the two ways to grow lie too near each other over one doubling.
    far = grown(one.asker(), (worst.lead, worst.unit, worst.stop), length=FAR * LENGTH, shorter=FAR)
    return worst if far.growth >= FAR_LIMIT else None


@pytest.mark.long
def test_every_pattern_takes_linear_time() -> None:
    found = [(one.place, worst.lead, worst.unit, one.pattern) for one in shipped() if (worst := slow(one))]
    assert not found


def test_the_patterns_are_found() -> None:
    """Those of the tables, of the modules and of calls; a table that is not seen would escape."""
    places = {one.place.replace(":", ".").rsplit(".", 1)[0] for one in shipped()}
    assert {"onbox.redact", "onbox.logs.links", "patrol.ssh.client_errors"} <= places
    patterns = {one.pattern for one in shipped()}
    from onbox.logs.line.shapes import SHAPES
    from onbox.redact import ROWS as FORMS
    from onbox.triage.rules.table import ROWS

    assert patterns >= {row.pattern for row in ROWS} | {row.pattern for row in FORMS}
    assert patterns >= {shape.pattern.pattern for shape in SHAPES}


def test_no_pattern_hides_in_a_call() -> None:
    """What a running function hands to `re` is the user's own, has a time limit, or is a row's that is found above."""
    users = {"onbox.config.values", "onbox.logs.progress", "onbox.logs.tail", "onbox.triage.reading.scan"}
    users |= {
        "patrol.probe.watched",
        "sentinels.box.lookout_items",
        "sentinels.targets",
        "onbox.sweep.runner.cell_metrics",
    }
    of_rows = {"onbox.redact", "onbox.regex", "onbox.triage.rules.rows"}
    plain = {
        "onbox.logs.line.tables",
        "onbox.preflight.engine_iris",
        "sentinels.judge.engine_state",
    }  # one word or two
    assert unknown() <= users | of_rows | plain


@pytest.mark.parametrize(
    "pattern",
    [
        r"loss\s*[:=]?\s*\d",
        r"(?m)^(\s*password\s+)\S+(?=\s*$)",
        r"(?:(?:train|recon\w{0,12})[_ ]?)*loss",
    ],
)
def test_a_slow_pattern_is_found(pattern: str) -> None:
    """On a busy machine its text may be passed over once."""
    one = Shipped("", pattern, re.IGNORECASE, anchored=False)
    assert any(slow(one) for _ in range(TRIES))


def test_a_row_of_a_new_table_is_tried() -> None:
    from onbox.redact import SecretForm

    new = {"a": (SecretForm(("x",), r"x+y"),)}
    assert (r"x+y", re.IGNORECASE) in list(pumping._patterns_in(new, set()))
