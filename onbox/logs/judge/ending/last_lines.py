"""A log's last lines: what they count, and where in them that ends. Pure."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import groupby, pairwise

from onbox.logs.judge.ending.at_limit import Limit, reached
from onbox.logs.judge.ending.closing_line import closes, form, said
from onbox.logs.judge.ending.early_stop import says_all_there_was
from onbox.logs.judge.ending.passes import ends_pass
from onbox.logs.judge.told.announced import numbers_of
from onbox.logs.judge.told.rounded import exact_of
from onbox.logs.judge.unnamed.columns import Whole, whole
from onbox.logs.judge.unnamed.falling import falling
from onbox.logs.judge.unnamed.fits import fits_ended
from onbox.logs.judge.unnamed.led import led
from onbox.logs.judge.unnamed.rising import OF_A_MODULE, Rising, rising, risings
from onbox.logs.judge.unnamed.ticking import ticking
from onbox.logs.judge.unnamed.under_head import lists_results, without_frames
from onbox.logs.judge.unnamed.until import until
from onbox.logs.line.read import read_line
from onbox.logs.model.lines import readable
from onbox.logs.totals.head import headings
from onbox.regex import lazy

TAIL_BYTES = 8192
HEADED = 3  # lines of a log may stand above its rows, and one may look like a counter
LOOPED = 5  # times that a form of line came: it is the loop's
LOOP_LINES = 12  # of such forms, until one of another form behind them tells of their end
LINES_AFTER = 30  # of what is still said behind the word of an end
SHORT = 3  # a stride, of which one less tells little
STEPS = 3  # of a counter, until their size is known
COMPLETE = 100  # percent
WORDED = frozenset({"bare", "moving", "train"})  # kinds of what words may tell in passing
REACHED = "moving at "  # key of what was reached: `finished after 500 steps`
_SHARE = lazy(r"[#=>.█-]{3,200}[\])|]\s{1,4}(\d{1,3}(?:\.\d{1,4})?) ?%")
_BREAKS = lazy(rb"[\r\n]+")
# Behind `real`, which tells it all; and what make says of where it was.
_ASIDES = lazy(r"(?:user|sys)\s+\d+m[\d.]+s$|g?make(?:\[\d{1,4}\])?: (?:Leav|Enter)ing directory ")
_FRACTION = lazy(r"(?<![\w.,/:-])(\d{1,12})/(\d{1,12})(?![\w./%-])")
_REPORT = lazy(r"\bprecision\s+recall\b")
OF_THE_BEST = lazy(r"(?i)^\W*(?:(?:done|finished|completed?)[.!:;,] {1,2})?(?:the )?(?:best|final|overall)\b")


class LastLines:
    """A log's last lines. tail: its last bytes, `TAIL_BYTES` of them if there are so many."""

    def __init__(self, tail: bytes) -> None:
        self.tail = tail

    @cached_property
    def _lines(self) -> list[str]:
        parts = _BREAKS.split(self.tail)[len(self.tail) >= TAIL_BYTES :]  # the first one may be cut
        lines = [readable(part[:500]).rstrip() for part in parts]
        return [line for line in lines if line.strip() and not _ASIDES.match(line)]

    @cached_property
    def rising(self) -> Rising | None:
        """As `rising`, of these lines; None where they are those of a report on classes, or of a table of results."""
        if any(map(_REPORT.search, self._lines)) or lists_results(self._lines):
            return None
        return rising(without_frames(self._lines))

    @property
    def rising_alone(self) -> Rising | None:
        """As `rising`, with nothing measured beside it: a count if the log's head tells how many of such there are."""
        return rising(without_frames(self._lines), alone=True)

    @property
    def risings(self) -> list[Rising]:
        """As `risings`, with nothing measured beside them."""
        return list(risings(self._lines, alone=True))

    @cached_property
    def whole(self) -> Whole | None:
        """As `whole`, of these lines."""
        return whole(self._lines)

    def whole_of(self, beginning: bytes) -> Whole | None:
        """As `whole`, where only the log's first lines tell how much there is."""
        known = numbers_of(beginning)
        of_share = whole(self._lines, known) if known else None
        if of_share is not None and of_share.most in known and of_share.lines >= self._counted:
            return of_share
        return until(self._lines, headings(beginning)) if beginning else None

    def led_of(self, beginning: bytes) -> Whole | None:
        """As `led`, of these lines and the log's first ones."""
        return led(self._lines, beginning)

    def falling_of(self, beginning: bytes) -> Whole | None:
        """As `falling`, of these lines and the log's first ones."""
        return falling(self._lines, beginning) if beginning else None

    def fits_ended(self, most: int | None) -> int | None:
        """As `fits_ended`, where these are all of the log's lines."""
        return fits_ended(self._lines, most) if len(self.tail) < TAIL_BYTES else None

    def exact_of(self, beginning: bytes) -> int | None:
        """As `exact_of`, of the last line and the numbers of the log's first ones."""
        return exact_of(self._lines[-1], numbers_of(beginning)) if self._lines and beginning else None

    @property
    def limit_reached(self) -> Limit | None:
        """As `reached`, of these lines."""
        return reached(self._lines[-LINES_AFTER:])

    @property
    def ticking(self) -> float | None:
        """As `ticking`, of these lines."""
        return ticking(self._lines)

    def ends_pass(self, key: str) -> bool:
        """As `ends_pass`, of these lines."""
        return ends_pass(self._lines, self._counted, key)

    @cached_property
    def _counted(self) -> int:
        """How many lines there are up to the last one that shows a counter."""
        lines = self._lines
        times = Counter(self._forms)
        at = next((at for at in range(len(lines), 0, -1) if _counts(lines[at - 1], times[self._forms[at - 1]])), 0)
        rows = self.whole.lines if self.whole else self.rising.lines if self.rising else 0
        return rows if at <= HEADED and 0 < rows == self._looped else at or rows  # a head may name what is counted

    @cached_property
    def _forms(self) -> list[str]:
        return [form(line) for line in self._lines]

    @cached_property
    def _looped(self) -> int:
        """How many lines there are up to the last one of a form that came again and again; 0 where none did."""
        times = Counter(self._forms)
        at = [at for at, one in enumerate(self._forms, 1) if times[one] >= LOOPED]
        return at[-1] if len(at) >= LOOP_LINES else 0

    @property
    def is_looping(self) -> bool:
        """Whether lines of one form, and with numbers, come again and again."""
        lines = [
            (one, line) for one, line in zip(self._forms, self._lines, strict=True) if not OF_A_MODULE.search(line)
        ]
        rows = [one for one, line in lines if any(map(str.isdigit, line))]
        return any(times >= LOOP_LINES for times in Counter(rows).values())

    @property
    def has_more_inside(self) -> bool:
        """Whether the last line that shows a counter shows another one below its end: `seed 14 (4/4)  t=250/2000`."""
        line = self._lines[self._counted - 1] if self._counted else ""
        return any(int(found[1]) < int(found[2]) for found in _FRACTION.finditer(line))

    @property
    def shows_share(self) -> bool:
        """Whether the last line shows a percentage below 100 right behind a drawn bar."""
        found = _SHARE.search(self._lines[-1]) if self._lines else None
        return found is not None and float(found[1]) < COMPLETE

    @property
    def lines_behind(self) -> int:
        """How many lines stand behind the last one that shows any counter."""
        return len(self._lines) - self._counted

    def stride(self, key: str) -> float:
        """How far the counter `key` went the last time that it did; 0 if that cannot be told."""
        shown = [value for value, _ in groupby(self._shown(key))]
        return shown[-1] - shown[-2] if len(shown) > 1 else 0

    def ends_off_grid(self, key: str) -> bool:
        """Whether the counter `key` went on by the same each time, and then by less: `20`, `25`, `30`, `34`."""
        steps = [after - before for before, after in pairwise(self._shown(key))]
        return len(steps) >= STEPS and len(set(steps[:-1])) == 1 and 0 < steps[-1] < steps[0]

    def ends_before_the_next(self, key: str) -> bool:
        """Whether the counter `key` went on by the same each time, and then stood one before where it would be next."""
        shown = [value for value, _ in groupby(self._shown(key))]
        return self.ends_off_grid(key) and shown[-1] + 1 - shown[-2] == shown[1] - shown[0] > SHORT

    def tries_sizes(self, key: str) -> bool:
        """Whether the counter `key` at least doubled each time, and not evenly: `batch=1`, `batch=8`, `batch=32` are
        sizes, each of which was tried.
        """
        shown = [value for value, _ in groupby(self._shown(key))]
        steps = {after - before for before, after in pairwise(shown)}
        return len(shown) >= STEPS and len(steps) > 1 and all(2 * one <= other for one, other in pairwise(shown))

    def _shown(self, key: str) -> list[float]:
        """Where the counter `key` stood in the last lines that show it."""
        lines = self._lines[max(0, self._counted - LINES_AFTER) : self._counted]
        return [sight.current for line in lines for sight in read_line(line).sights if sight.key == key]


def _counts(line: str, times: int) -> bool:
    """Whether a line shows a counter, and not of which step the best result was, nor what was done in all. times: that
    such a line came.
    """
    sights = read_line(line).sights
    told_once = times == 1 and (
        all(sight.kind == "done" for sight in sights)
        or (all(sight.kind == "bare" or sight.key.startswith(REACHED) for sight in sights) and closes(line))
        or (all(sight.kind in WORDED for sight in sights) and says_all_there_was(line))
    )
    return bool(sights) and not told_once and not OF_THE_BEST.search(said(line))
