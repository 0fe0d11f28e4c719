"""One pass over a log: lines to faults. Pure; memory does not grow with the log.

Logs repeat themselves, so each line is first taken without its digits: what is known of that form decides whether it is
worth a closer look. A flood of one form is looked at closely for its first lines, then now and then, and at its last.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

from onbox.logs.model.carriers import Carried
from onbox.logs.model.lines import Block, LogMessage, blocks, hosted, is_date, message, pieces, readable, stamp_seconds
from onbox.logs.model.segments import A_DATE, HEAD_LINES, Beginning, begins_run, is_banner, is_explicit, is_pause
from onbox.logs.outcome import Outcome
from onbox.regex import lazy
from onbox.triage.epilogue import tells_step_failed
from onbox.triage.parting import tidies_up
from onbox.triage.reading import signs
from onbox.triage.reading.faults import Faults, late_fault, mark_handled, tells_a_way_on
from onbox.triage.reading.loop_forms import LoopForms
from onbox.triage.reading.match import BAD_LEVELS, BY_ID, PYTHON_WARNING, WORK_LEVELS, holds_a_word, progress_of
from onbox.triage.reading.mounts import MountTables
from onbox.triage.reading.outcome import outcome_of
from onbox.triage.reading.record import TAIL, LogAttempt, Record, SeenLine
from onbox.triage.reading.success import NOTHING_DONE, TESTS_OK, is_success, is_test_case
from onbox.triage.rules.rows import compiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onbox.logs.model.lines import Gap
    from onbox.triage.rules.rows import UserRow

# What is known of a form: look closely, it is progress, its loss is a number, or none, it sums up the run, a logger
# says what the program does now, it is a date and nothing else, it names who says what stands below.
CLOSE, PROGRESS, LOSS, LOST, SUMS_UP, INFORMS, DATE, SPEAKS = 1, 2, 4, 8, 16, 32, 64, 128
FORMS_KEPT = 20000
MANY_FORMS = 1000  # from so many on, addresses and hashes are taken out of a form too
CLOSE_LOOKS = 64  # of one form, before only each 64th is looked at, and later each 4096th
FLOOD = 2000  # close looks in one attempt, before only each 64th line and the last ones are looked at
FLOOD_OF_STEPS = 400  # the same for lines of progress
LOOP_FORM = 2  # lines of one form: what comes so often is no beginning
SUMMARIES = ("runtime", "finished", "completed", "best ", "final ")  # words of a line that sums up the run
EARLY = 300  # first lines of progress that are kept beside the newest
SPOKEN_LINES = 8  # of one who speaks in a model's samples; so long may his words be
HEAD = 200  # lines in which a run's beginning is learned
USER_LINE_LIMIT = 1000
_TESTS_FAILED = BY_ID["tests-failed"]
_DELETED = bytes(range(48, 58)) + bytes(range(128, 256))
_SECONDS_PER_STEP = lazy(r"(\d{1,9}(?:\.\d{1,9})?)s/it")
_HEADLINE = b"Traceback (most recent call last)"
_NO_HEAD = lazy(r"Filesystem |(?:\w{1,40}\.){0,4}[A-Z]\w{1,40}(?:Error|Exception)\b")
_HASHES = lazy(rb"\b(?:0x)?(?=[a-f-]{0,40}\d)[0-9a-f-]{4,200}\b")


class Scanner:
    """Takes blocks of lines; `record()` says what was in them."""

    def __init__(self, user_rows: Sequence[UserRow] = ()) -> None:
        self.attempt = LogAttempt(None, explicit=False)
        self.before: LogAttempt | None = None
        self.known: dict[bytes, int] = {}
        self.loops = LoopForms()
        self.looks: dict[bytes, int] = {}
        self.close_looks = 0
        self.recent: deque[tuple[int, bytes, int]] = deque(maxlen=500)
        self.skipped: dict[bytes, tuple[int, bytes, int]] = {}
        self.faults = Faults()
        self.previous = b""
        self.previous_progress = b""
        self.first_progress = b""
        self.first_count = 1
        self.last_progress: tuple[int, bytes] | None = None
        self.last: tuple[int, bytes] | None = None
        self.tail: deque[tuple[int, bytes]] = deque(maxlen=TAIL)
        self.lines = 0
        self.next_line = 1
        self.carried = Carried(processes=True)
        self.raw = Block(1, [])  # the lines that are taken in now, as they came
        self.stamped = (b"", b"")  # as they came: the first and the last line of progress
        self.date = b""  # the newest line that is a date and nothing else
        self.paused_at = 0  # the number of the last such line that was written long after the one before
        self.mounts = MountTables()
        self.anything_protocol = False  # a test suite's, in which what begins with # is a remark
        self.beginning = Beginning()
        self.deadly = False  # this attempt has shown a death: whatever looks like a beginning is one
        self.watched_until = HEAD  # the number of the line up to which a run's beginning is looked for
        self.spoken_until = 0  # the number of the line up to which somebody's words are shown
        self.user_patterns = [(index, re.compile(row.regex)) for index, row in enumerate(user_rows)]
        self.user_hits: dict[int, SeenLine] = {}

    def feed(self, first: int, lines: list[bytes]) -> None:
        """Take whole lines, of which the first has the number `first`."""
        if first > self.next_line:
            self._leap()
        self.next_line = first + len(lines)
        self.raw = Block(first, lines)
        numbered = pieces(first, self.carried.of_first(lines))
        if not numbered:
            return
        forms = b"\n".join([line for _, line in numbered]).translate(None, _DELETED).split(b"\n")
        known = self.known
        for (number, line), form in zip(numbered, forms, strict=True):
            look = known.get(form)
            if look is None:
                look = self._learn(form, line)
            if number <= self.watched_until or self.deadly:
                self._look_for_beginning(number, line, form, look)
            if look & PROGRESS and line != self.previous_progress:
                self._note_progress(number, line, look)
            elif not look & ~(INFORMS | CLOSE) and self.loops.take(form, line, close=look & CLOSE > 0):
                known[form] = known.get(form, 0) | PROGRESS
            self.attempt.informed += look & INFORMS > 0
            if look & (LOST | DATE | SPEAKS):
                self._note_else(number, line, look)
            if look & CLOSE or self.faults.is_open:
                self._look_closely(number, line, form, look)
            if line:
                self.previous = line
        if self.user_patterns:
            self._ask_user(numbered)
        self.lines = numbered[-1][0]
        self._note_end(numbered)

    def _note_progress(self, number: int, line: bytes, look: int) -> None:
        attempt = self.attempt
        attempt.progress += 1
        attempt.steps.add((attempt.progress, number, line))
        if attempt.progress <= EARLY:
            attempt.early.append((attempt.progress, number, line))
        raw = self._raw(number)
        if attempt.progress == 1 or not self.first_progress:
            self.first_progress, self.first_count = line, attempt.progress
            self.stamped = (raw, raw)
        self.stamped = (self.stamped[0], raw)
        self.previous_progress = line
        self.last_progress = (number, line)
        if look & LOSS and attempt.lost is not None and not look & (SUMS_UP | LOST):
            self._take_loss_back(line)

    def _look_for_beginning(self, number: int, line: bytes, form: bytes, look: int) -> None:
        """The run's first lines are learned; after a death, they or a counter that begins again tell of a new run."""
        beginning, is_step = self.beginning, bool(look & PROGRESS)
        form = A_DATE if look & DATE else form
        if self.deadly:
            paused = not is_step and form in beginning.head and self._paused(number)
            back = (
                beginning.begins_again(readable(line), readable(self.previous_progress))
                if is_step
                else (paused or self.loops.times(form) < LOOP_FORM) and beginning.comes_again(form, readable(line))
            )
            if back:
                as_before = len(beginning.again) > 1
                self._begin(SeenLine(number, readable(line)), explicit=True)
                self.attempt.after_pause, self.attempt.as_before = paused, as_before
        elif self.attempt.explicit and form in beginning.head:
            self.attempt.as_before = True
        elif number > HEAD:
            return
        elif is_step:
            beginning.take_counts(readable(line))
        elif not (self.attempt.progress or self.attempt.faults or self.faults.traces or b"raceback" in form):
            text = readable(line)
            if message(text).level not in BAD_LEVELS and not _NO_HEAD.match(text):
                beginning.take_head(form, text)

    def _note_else(self, number: int, line: bytes, look: int) -> None:
        if look & SPEAKS:
            self.spoken_until = number + SPOKEN_LINES
        else:
            (self._note_loss if look & LOST else self._note_date)(number, line)

    def _note_date(self, number: int, line: bytes) -> None:
        if is_pause(stamp_seconds(readable(self.date)), stamp_seconds(readable(line))):
            self.paused_at = number
        self.date = line

    def _paused(self, number: int) -> bool:
        """Whether a line was written long after the last one of progress, or right below a date long after another."""
        return 0 < self.paused_at >= number - HEAD_LINES or is_pause(
            stamp_seconds(readable(self.stamped[1])), stamp_seconds(readable(self._raw(number)))
        )

    def _raw(self, number: int) -> bytes:
        """A line that is taken in now, as it came."""
        return self.raw.lines[number - self.raw.first]

    def _begin(self, at: SeenLine, *, explicit: bool) -> None:
        """A new attempt."""
        old = self.attempt
        old.lines = at.number - (old.started.number if old.started else 0)
        if old.has_own_fate or self.before is None:
            self.before = old
        self.attempt = LogAttempt(at, explicit=explicit)
        self.deadly = False
        self.watched_until = max(HEAD, at.number + HEAD_LINES)
        self.previous_progress = b""
        self.beginning.again.clear()
        self.looks.clear()
        self.loops.clear()
        self.close_looks = 0

    def _leap(self) -> None:
        """Lines were left out: what comes next goes on with nothing of what was before."""
        self.previous, self.first_progress = b"", b""
        self.faults.leap()

    def _note_end(self, numbered: list[tuple[int, bytes]]) -> None:
        """The last line that says something; a rule or a frame stands in for it only where there is no other."""
        self.tail.extend([item for item in numbered[-4 * TAIL :] if item[1].strip()])
        for number, line in reversed(numbered):
            if any(map(str.isalnum, readable(line))):
                self.last = (number, line)
                return
        if self.last is None and numbered:
            self.last = next(((number, line) for number, line in reversed(numbered) if line.strip()), None)

    def _ask_user(self, numbered: list[tuple[int, bytes]]) -> None:
        for number, line in numbered:
            text = readable(line)[:USER_LINE_LIMIT]
            for index, pattern in self.user_patterns:
                if pattern.search(text):
                    self.user_hits[index] = SeenLine(number, text)

    def _learn(self, form: bytes, line: bytes) -> int:
        if len(self.known) > MANY_FORMS:
            form = _HASHES.sub(b"", line).translate(None, _DELETED)
            if form in self.known:
                return self.known[form]
        text = readable(line)
        lower = text.lower()
        said = message(text)
        look = CLOSE if holds_a_word(lower) or TESTS_OK.match(said.text) else 0
        if is_date(text):
            look |= DATE
        elif signs.SPEAKER.fullmatch(text):
            look |= SPEAKS
        if (said.level in WORK_LEVELS or signs.shows_life(text)) and not (
            signs.FAREWELL.search(said.text) or signs.WAITS.search(said.text)
        ):
            look |= INFORMS
        if progress_of(text, said) and not _is_no_step(said.text):
            look |= PROGRESS
            if signs.finite_loss(text):
                look |= LOSS
            if any(word in lower for word in SUMMARIES):
                look |= SUMS_UP
        maybe_lost = ("nan" in lower or "inf" in lower) and (signs.lost_loss(text) or signs.LOST_GRADIENT.search(text))
        if maybe_lost or ("scale" in lower and signs.OVERFLOW.search(text)):
            look |= LOST
        if len(self.known) >= FORMS_KEPT:
            self.known.clear()
        self.known[form] = look
        return look

    def _look_closely(self, number: int, line: bytes, form: bytes, look: int) -> None:
        if look & CLOSE and not self.faults.traces:
            if len(self.looks) > MANY_FORMS:
                form = _HASHES.sub(b"", line).translate(None, _DELETED)
            count = self.looks[form] = self.looks.get(form, 0) + 1
            step = CLOSE_LOOKS if count < CLOSE_LOOKS**2 else CLOSE_LOOKS**2
            if count > CLOSE_LOOKS and count % step and _HEADLINE not in line:  # without it, its last line stands alone
                self.skipped[form] = (number, line, self.attempt.progress)
                return
            self.close_looks += 1
            most = FLOOD_OF_STEPS if look & PROGRESS else FLOOD
            if self.close_looks > most and self.close_looks % CLOSE_LOOKS:
                self.recent.append((number, line, self.attempt.progress))
                return
            if len(self.looks) > FORMS_KEPT:
                self.looks.clear()
                self.skipped.clear()
        text = readable(line)
        if not text.strip():
            self.spoken_until = 0
            return
        said = self.faults.traces.aligned(hosted(text, readable(self.previous[:200])))
        self.faults.follow_up(self.attempt, number, text, said)
        if said.text[:1] != "{" and self._take_trace_line(number, said, look):  # JSON: a traceback is in one field
            return
        if said.text.lstrip().startswith("warnings.warn("):  # the code of the warning that was shown right before
            shows = self.attempt.faults and not PYTHON_WARNING.search(readable(self.previous))
            if shows and self.attempt.faults[-1].trace is not None:  # a traceback, as its words
                mark_handled(self.attempt, number, text)
            return
        if self._note_signs(number, text, said) or self._is_of_a_test(said.text):
            return
        previous, is_progress = readable(self.previous), bool(look & PROGRESS)
        spoken = number <= self.spoken_until
        if self.faults.note(self.attempt, number, text, said, previous, is_progress=is_progress, spoken=spoken):
            self.deadly = True

    def _take_trace_line(self, number: int, said: LogMessage, look: int) -> bool:
        if not self.faults.traces.take(number, said, readable(self.previous), self.attempt.progress):
            return False
        bar, _, is_header = said.text.partition("Traceback (most recent")
        if bar and is_header and self.previous_progress:
            self.previous_progress = bar.encode()  # it is drawn once more behind the traceback
        if look & PROGRESS and self.last_progress is not None and self.last_progress[0] == number:
            self._take_progress_back()  # source code that would print progress is none
        return True

    def _take_progress_back(self) -> None:
        attempt = self.attempt
        attempt.progress -= 1
        for steps in (attempt.steps.kept, attempt.early):
            if steps and steps[-1][0] > attempt.progress:
                steps.pop()
        kept = attempt.steps.kept
        self.last_progress = (kept[-1][1], kept[-1][2]) if kept else None

    # -- what is no fault

    def _note_signs(self, number: int, text: str, said: LogMessage) -> bool:
        """Whether the line is a banner of a new attempt: what it tells of deaths is of the one before."""
        attempt = self.attempt
        if begins_run(said.text):
            self._begin(SeenLine(number, text), explicit=is_explicit(said.text))
            return is_banner(said.text)
        attempt.no_inodes = self.mounts.take(number, text, said.text) or attempt.no_inodes
        if not attempt.tpu and signs.TPU_HOST.search(text) and not signs.NO_TPU.search(text):
            attempt.tpu = True
        if signs.REPORT_ENDS.match(text):
            attempt.report_ends = number
        if (
            signs.SAVED.search(said.text)
            and said.level not in BAD_LEVELS
            and not signs.FAILED.search(said.text)
            and outcome_of(text) is not Outcome.LOST
        ):
            attempt.saved = SeenLine(number, text)
        if said.level not in (*BAD_LEVELS, "DEBUG") and is_success(said.text):
            attempt.say_success(SeenLine(number, text), said.text)
        elif attempt.success is not None and compiled(_TESTS_FAILED.pattern).search(said.text):
            attempt.success = None  # it was of a part of the tests
        return False

    def _is_of_a_test(self, text: str) -> bool:
        """Whether a line is about one case of a test suite, or a remark between those of the Test Anything Protocol."""
        if text[:1] == "#":
            return self.anything_protocol and not compiled(_TESTS_FAILED.pattern).search(text)
        is_case = is_test_case(text)
        self.anything_protocol = self.anything_protocol or (is_case and text[:3] in ("ok ", "not"))
        return is_case

    def _take_loss_back(self, line: bytes) -> None:
        """The loss is a number again, unless it is none at all after a lost gradient."""
        attempt = self.attempt
        assert attempt.lost is not None
        if signs.LOST_GRADIENT.search(attempt.lost.text) and signs.ZERO_LOSS.search(readable(line)):
            return
        attempt.lost, attempt.lost_lines = None, 0

    def _note_loss(self, number: int, line: bytes) -> None:
        attempt = self.attempt
        text = readable(line)
        if is_test_case(text):  # `test_parse[loss=nan] PASSED`
            return
        # `with NLL inf` is what a search begins with
        told = any(map(str.isdigit, text)) or any(sign in text for sign in ":=|") or signs.nan_loss(text)
        if told and signs.lost_loss(text) and not signs.says_handled(text):
            if attempt.lost is None or (not signs.nan_loss(attempt.lost.text) and signs.nan_loss(text)):
                attempt.lost = SeenLine(number, text)  # an infinite loss may come back, one that is no number will not
            attempt.lost_lines += 1
        scale = signs.OVERFLOW.search(text)
        if scale and _number(scale[1]) is not None:
            attempt.overflows.append(float(scale[1].rstrip(".")))
            del attempt.overflows[:-50]
            attempt.overflow_line = SeenLine(number, text)

    # -- the end

    def record(self) -> Record:
        """What the lines held."""
        late = sorted(self.skipped.values())
        for number, line, progress in sorted([*late[-500:], *self.recent]):
            self._look_back(number, line, progress)
        attempt = self.attempt
        attempt.lines = self.lines - (attempt.started.number if attempt.started else 0)
        if self.last_progress is not None and attempt.progress:
            attempt.last_progress = SeenLine(self.last_progress[0], readable(self.last_progress[1]))
        attempt.open_trace = self.faults.traces.unfinished(self.lines)
        self._look_for_ways_on()
        attempts = tuple(item for item in (self.before, attempt) if item is not None)
        last = SeenLine(self.last[0], readable(self.last[1])) if self.last else None
        told = [item for item in self.tail if not (self.anything_protocol and item[1][:1] == b"#")]
        tail = _without_counted([SeenLine(number, readable(line)) for number, line in told])
        return Record(attempts, last, self.lines, tuple(sorted(self.user_hits.items())), self._pace(), tail)

    def _look_for_ways_on(self) -> None:
        """Among the last lines, those that no word of trouble is in may tell that the program went on."""
        since = self.attempt.faults[0].number if self.attempt.faults else self.lines
        for number, line in self.tail:
            if number > since and not self.known.get(line.translate(None, _DELETED), CLOSE) & CLOSE:
                text = readable(line)
                if tells_a_way_on(text):
                    mark_handled(self.attempt, number, text)

    def _pace(self) -> float | None:
        """Seconds between two lines of progress, by their time stamps or by what a bar says; None if nothing tells."""
        lines = self.attempt.progress - self.first_count
        if self.last_progress is None or lines < 1:
            return None
        last = readable(self.last_progress[1])
        bar = _SECONDS_PER_STEP.search(last)
        if bar:
            return float(bar[1])
        began, ended = (stamp_seconds(readable(line)) for line in self.stamped)
        return (ended - began) / lines if began is not None and ended is not None else None

    def _look_back(self, number: int, line: bytes, progress: int) -> None:
        """The last line of a flood, looked at after all: it is put where it belongs."""
        is_progress = bool(self.known.get(line.translate(None, _DELETED), 0) & PROGRESS)
        fault = late_fault(number, readable(line), progress, is_progress=is_progress)
        if fault is not None:
            self.attempt.faults = sorted([*self.attempt.faults, fault], key=lambda item: item.number)


def _is_no_step(said: str) -> bool:
    """Whether what looks like progress tells of none: a step that failed, a cleanup, `0 steps done`."""
    return tells_step_failed(said) or tidies_up(said) or NOTHING_DONE.match(said) is not None


def _without_counted(tail: list[SeenLine]) -> tuple[SeenLine, ...]:
    """Without what a report counts, or quotes, and its headings."""
    kept: list[SeenLine] = []
    below = False  # the line below is counted
    before = ["", *(line.text for line in tail)][: len(tail)]
    for line, previous in zip(reversed(tail), reversed(before), strict=True):
        counted = signs.is_count(line.text, previous)
        if not counted and not (below and line.text.endswith(":")):
            kept.append(line)
        below = counted
    return tuple(reversed(kept))


def _number(text: str) -> float | None:
    try:
        return float(text.rstrip("."))
    except ValueError:
        return None


def scan(chunks: Iterable[bytes | Gap], user_rows: Sequence[UserRow] = ()) -> Record:
    """Everything a verdict needs to know of a log, from its bytes in blocks of any size."""
    scanner = Scanner(user_rows)
    for block in blocks(chunks):
        scanner.feed(block.first, block.lines)
    return scanner.record()
