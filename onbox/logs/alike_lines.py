"""Which of many lines are read that differ in their digits only, and follow one another.

The first ones, the last, every eighth (later every 64th), and those where a counter falls back: how far a number is,
and how it goes on, is known from these.
"""

from __future__ import annotations

from binascii import crc32
from typing import TYPE_CHECKING, Any

from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping

ALIKE_FIRST = 4  # of so many, each is read: how often a number went on tells what it is
ALIKE_STEP = 8
HABITS_MAX = 16
FALLS_SELDOM = 4  # a number that falls in more than every fourth line is no counter
_DIGITS = b"0123456789"
_INTEGER = lazy(rb"\d+")

Placed = tuple[bytes, int]  # a line, and its place


class AlikeLines:
    """What is known of the form of the newest line. Lines go in by `take`, in their order."""

    def __init__(self) -> None:
        self._form = 0  # checksum of the last line, without its digits
        self._alike = 0  # how many lines before that one had the same
        self._numbers: list[bytes] = []  # of the last line
        self._falls: list[int] = []  # how often each of them fell among the alike lines
        self._of_form = 0  # how many lines of that form there were so far, in all its runs
        self._habits: dict[int, tuple[int, list[int]]] = {}  # form -> the two above, where another form came between
        self._skipped = b""  # the alike line before, if it was not read yet: it is, before a line of another form
        self._skipped_place = 0

    def state(self) -> dict[str, Any]:
        """JSON-able: `take_state` goes on from it."""
        return {
            "form": self._form,
            "alike": self._alike,
            "numbers": [number.decode() for number in self._numbers],
            "falls": list(self._falls),
            "of_form": self._of_form,
            "habits": [[form, count, list(falls)] for form, (count, falls) in self._habits.items()],
            "skipped": self._skipped.decode("latin-1"),
            "skipped_place": self._skipped_place,
        }

    def take_state(self, state: Mapping[str, Any]) -> None:
        self._form, self._alike = state["form"], state["alike"]
        self._numbers = [number.encode() for number in state["numbers"]]
        self._falls = list(state["falls"])
        self._of_form = state.get("of_form", state["alike"])
        self._habits = {form: (count, list(falls)) for form, count, falls in state.get("habits", [])}
        self._skipped = state["skipped"].encode("latin-1")
        self._skipped_place = state["skipped_place"]

    def take(self, line: bytes, place: int) -> list[Placed]:
        """Take in one line. Which are to be read now, in their order: none while it goes on as those before it did."""
        form = line.translate(None, _DIGITS)
        mark = crc32(form)
        if mark != self._form:
            before = self.left()
            self.begin_form(mark, line)
            return [*before, (line, place)]
        self._alike += 1
        self._of_form += 1
        fallen = self._has_fallen(line)
        before = self.left() if fallen else []
        step = ALIKE_STEP if self._of_form < ALIKE_STEP**2 else ALIKE_STEP**2
        if not fallen and self._alike % step and self._of_form > ALIKE_FIRST:
            self._skipped, self._skipped_place = line, place
            return []
        self._skipped = b""
        return [*before, (line, place)]

    def left(self) -> list[Placed]:
        """The last of the alike lines, if it was not read yet: it is, before anything else is."""
        line, self._skipped = self._skipped, b""
        return [(line, self._skipped_place)] if line else []

    @property
    def has_left(self) -> bool:
        return bool(self._skipped)

    def begin_form(self, mark: int, line: bytes) -> None:
        """Another form begins. What is known of its numbers from its earlier runs still holds."""
        self._habits.pop(self._form, None)
        if len(self._habits) >= HABITS_MAX:
            del self._habits[next(iter(self._habits))]
        self._habits[self._form] = (self._of_form, self._falls)
        self._form, self._alike, self._skipped = mark, 0, b""
        self._numbers = _INTEGER.findall(line)
        self._of_form, falls = self._habits.get(mark, (0, []))
        self._falls = falls if len(falls) == len(self._numbers) else [0] * len(self._numbers)

    def _has_fallen(self, line: bytes) -> bool:
        """Whether a number that otherwise rises from line to line fell: a counter may have begun anew."""
        numbers, before, falls = _INTEGER.findall(line), self._numbers, self._falls
        self._numbers = numbers
        if len(numbers) != len(falls) or len(numbers) != len(before):  # `.5` after `0.5`
            self._falls = [0] * len(numbers)
            return True
        if numbers == before:
            return False
        fallen = False
        for at, (now, then) in enumerate(zip(numbers, before, strict=True)):
            if now != then and (len(now) < len(then) or (len(now) == len(then) and now < then)):
                falls[at] += 1
                fallen = fallen or FALLS_SELDOM * falls[at] <= self._of_form + FALLS_SELDOM
        return fallen
