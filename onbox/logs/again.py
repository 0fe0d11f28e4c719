"""Where, in one file, a program was started once more: its first lines come again, perhaps after a pause (cron). Small,
and JSON-able at any point.
"""

from __future__ import annotations

import re
from binascii import crc32
from typing import TYPE_CHECKING, Any

from onbox.logs.line.remarks import turn_of
from onbox.logs.model.lines import is_date, message, stamp_seconds
from onbox.logs.model.segments import HEAD_LETTERS, HEAD_LINES, RULES, THING_NUMBERED, is_banner, is_pause
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping

STAMP_WITHIN = 80  # letters of a line
_OF_A_DISPLAY = lazy(r"(?i)\W{0,8}(?:(?:current|trial) )?(?:status|progress)\W{0,8}$")  # `== Status ==`
_OF_EACH_MODEL = lazy(r"Ultralytics \S{0,12}\d{1,3}\.\d{1,3}\.")  # which is told above the last validation as well
_OF_SEVERAL = lazy(r"\d\s?(?:/|of)\s?\d")  # `=== run 2/5 ===` is the count of one program


def form(text: str) -> int:
    """A checksum of a line's letters."""
    return crc32(re.sub(r"[^A-Za-z]+", " ", text).encode())


def has_letters(text: str | bytes) -> bool:
    """Whether a line could be known again."""
    return sum(map(str.isalpha, text if isinstance(text, str) else text.decode("latin-1"))) >= HEAD_LETTERS


class Again:
    """forms: of the first lines, up to the first counter. seen: number of the last line that was like the first one.
    apart: it came after a pause, or after an end. stamp: the newest time stamp. paused: number of the last line that
    was written long after the one before. headed: number of the last line that is a headline over a run.
    """

    def __init__(self) -> None:
        self.forms: list[int] = []
        self.seen = 0
        self.apart = False
        self.stamp: float | None = None
        self.paused = 0
        self.headed = 0

    def take_state(self, state: Mapping[str, Any]) -> None:
        for name in vars(self).keys() & state.keys():
            setattr(self, name, state[name])
        self.forms = list(self.forms)  # which goes on apart

    def learn(self, text: str) -> None:
        """One of the first lines, before anything is counted. `config #0: lr=0.1` heads the first of several things,
        and the next one is no new run; neither is a display that comes again and again.
        """
        if not self.forms and _OF_A_DISPLAY.match(text):
            self.forms = [0] * HEAD_LINES  # none to be known again
        thing = THING_NUMBERED.match(text)
        if (thing is not None and int(thing[1]) == 0) or _OF_EACH_MODEL.match(text):
            return
        if len(self.forms) < HEAD_LINES and has_letters(text) and not is_date(text):
            self.forms.append(form(text))

    def take(self, text: str, line: int) -> None:
        """Note what a line tells of the time, and of a new run."""
        if text[:1] in RULES and is_banner(text) and not _OF_SEVERAL.search(text):
            self.headed = line
        stamp = stamp_seconds(text[:STAMP_WITHIN])
        if is_pause(self.stamp, stamp):
            self.paused = line
            if is_date(text):
                self.seen, self.apart = line, True
        self.stamp = stamp or self.stamp

    def knows(self, text: str) -> bool:
        """Whether a line is like one of the first ones: no other is worth asking `is_started` about."""
        return bool(self.forms) and form(text) in self.forms

    def is_started(self, text: str, line: int, *, over: bool, complete: bool, counting: bool) -> bool:
        """Whether such a line tells by itself that the program runs again. over: it has ended, and no counter went on
        since. complete: a counter stands at its end. The first two lines, one behind the other, tell it alone; the
        first one only if it was over or complete, and after a pause or a headline.
        """
        thing = THING_NUMBERED.match(text)
        if thing is not None and int(thing[1]) > 1:
            return False
        told = form(text)
        if counting and told == self.forms[0] not in self.forms[1:2]:
            apart = 0 < max(self.paused, self.headed) >= line - HEAD_LINES
            self.seen, self.apart = line, apart or over
            return apart and (over or complete)
        if self.seen and self.seen == line - 1 and self.forms[1:2] == [told]:
            return True
        return over

    def is_behind(self, started: int, last: int, line: int) -> bool:
        """Whether the first line stood here once more since the run had started, and since the last counter was seen,
        but perhaps among the run's settings.
        """
        return self.seen > max(started, min(last, line - HEAD_LINES))


def banner(text: str) -> str | None:
    """`started` for a banner behind a logger's prefix: `2026-01-02 03:04:05 | INFO | === launch, host gpu-03 ===`, or
    `... INFO: Starting training`.
    """
    if not ("tart" in text or "===" in text or "***" in text or "---" in text):
        return None
    said = message(text).text
    return "started" if said != text and turn_of(said) == "started" else None
