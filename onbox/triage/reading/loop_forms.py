"""Which forms of a log's lines are those of a loop: said again and again with a number that rises. Pure."""

from __future__ import annotations

from onbox.logs.model.counts import rises
from onbox.logs.model.lines import message, readable
from onbox.regex import lazy
from onbox.triage.reading.match import BAD_LEVELS, match_row
from onbox.triage.words import TROUBLE

LOOP_LINES = 4  # alike, before they are a loop
FORMS_KEPT = 20000
_A_MEASURE = lazy(r"\d\.\d")
# `passed 5  runtime errors 3  killed=1`: how many there are of each, in every line.
_COLUMN = lazy(r"\b[A-Za-z_]{2,24}(?: ?[=:] ?| )-?\d[\d.,]{0,16}(?=[\s,;|)]|$)")
_COLUMNS = 3


class LoopForms:
    """Takes lines that are known as nothing else. close: of a line that holds a word of some rule's: it is a loop's
    only if it shows a measure and tells of no trouble (`episode 3 return 0.5 terminated=True`).
    """

    def __init__(self) -> None:
        self._seen: dict[bool, dict[bytes, list[bytes]]] = {False: {}, True: {}}

    def clear(self) -> None:
        for forms in self._seen.values():
            forms.clear()

    def times(self, form: bytes) -> int:
        """How often a form was seen, up to `LOOP_LINES`."""
        return max(len(forms.get(form, ())) for forms in self._seen.values())

    def take(self, form: bytes, line: bytes, *, close: bool) -> bool:
        """Whether this line makes its form that of a loop."""
        forms = self._seen[close]
        before = forms.get(form)
        if before is None:
            if len(forms) < FORMS_KEPT:
                forms[form] = [line]
            return False
        if len(before) >= LOOP_LINES:
            return False
        before.append(line)
        if len(before) < LOOP_LINES or not rises([readable(one) for one in before]):
            return False
        return not (close and _is_trouble(readable(line)))


def _is_trouble(text: str) -> bool:
    said = message(text)
    rest, columns = _COLUMN.subn(" ", said.text)
    if columns >= _COLUMNS and said.level not in (*BAD_LEVELS, "WARNING"):
        return match_row(rest, rest) is not None or TROUBLE.search(rest) is not None
    if not _A_MEASURE.search(said.text) or said.level in (*BAD_LEVELS, "WARNING"):
        return True  # it may be one of a list of troubles
    return match_row(said.text, text) is not None or TROUBLE.search(said.text) is not None
