"""Whether a display in another form is one that is known: `34/39 files checked 97% done`, then `39/39 ... 100% done`.
Pure.

The percentage is that of the bytes, and agrees with the count at the end only: then the line is read as another shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.logs.counter import Counter
    from onbox.logs.line.sights import CounterSight


def as_known(sight: CounterSight, counters: Iterable[Counter], form: int) -> CounterSight:
    """The sight under the name of the counter that a line of the same form has shown, up to the same end. form: of its
    line.
    """
    if sight.rule != "fraction-percent" or sight.maximum is None:
        return sight
    alike = [
        one
        for one in counters
        if one.rule == "fraction-unit"
        and one.form == form
        and one.maximum == sight.maximum
        and one.advances
        and one.current <= sight.current
    ]
    return sight._replace(key=alike[0].key, unit=alike[0].unit) if len(alike) == 1 else sight
