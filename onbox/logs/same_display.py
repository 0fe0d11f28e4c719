"""Whether a display in another form is one that is known: `34/39 files checked 97% done`, then `39/39 ... 100% done`.
Pure.

The percentage is that of the bytes, and agrees with the count at the end only: then the line is read as another shape.
And where each piece has a name, that name is no word of the display.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.logs.counter import Counter
    from onbox.logs.line.sights import CounterSight


def as_known(sight: CounterSight, counters: Iterable[Counter], form: int) -> CounterSight:
    """The sight under the name of the counter that a line of the same form has shown, up to the same end; or of the one
    before it, where the words name each piece: `dumping users (3/14)`, `dumping orders (4/14)`. form: of its line.
    """
    if sight.maximum is None:
        return sight
    if sight.rule == "moving":
        alike = _piece_before(sight, counters)
    elif sight.rule == "fraction-percent":
        alike = [one for one in counters if _is_same_form(one, sight, form)]
    else:
        return sight
    return sight._replace(key=alike[0].key, unit=alike[0].unit) if len(alike) == 1 else sight


def _is_same_form(one: Counter, sight: CounterSight, form: int) -> bool:
    told = one.rule == "fraction-unit" and one.form == form and one.maximum == sight.maximum
    return told and one.advances > 0 and one.current <= sight.current


def _piece_before(sight: CounterSight, counters: Iterable[Counter]) -> list[Counter]:
    """The newest counter to the same end, if it stands at the piece before: in a table of results it seldom does."""
    told = (sight.rule, sight.kind, sight.maximum)
    same = [one for one in counters if (one.rule, one.kind, one.maximum) == told]
    newest = max(same, key=lambda one: one.last, default=None)
    if newest is None or newest.resets or newest.current + 1 != sight.current:
        return []
    return [] if _last_word(newest.key) == _last_word(sight.key) else [newest]  # another thing is done to the same


def _last_word(key: str) -> str:
    return key.rpartition("/")[0].rpartition(" ")[2]
