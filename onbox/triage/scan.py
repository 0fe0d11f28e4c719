"""One pass over a log: lines to faults. Pure; memory does not grow with the log.

Logs repeat themselves, so each line is first taken without its digits: what is known of that form decides whether the line is worth a
closer look. A flood of one form is looked at closely for its first lines, then now and then, and at its last one.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

from onbox.triage import signs
from onbox.triage.record import LOGGED, PROVEN, WEAK, Attempt, Fault, Record, Seen
from onbox.triage.rows import ASKED, BUG, CAUSE, DEATH, VAGUE, Row, UserRow, compiled
from onbox.triage.rules import ROWS
from onbox.triage.text import Message, blocks, message, parts, readable, stamp_seconds
from onbox.triage.tracebacks import (
    CHAIN,
    CONFIG_READ,
    CHECKPOINT_READ,
    DATA_READ,
    HEADER,
    IGNORED,
    NOISE_LIMIT,
    OPEN_LINES,
    Trace,
    exception_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CLOSE, PROGRESS, LOSS, LOST = 1, 2, 4, 8
FORMS_KEPT = 20000
MANY_FORMS = 1000  # from so many on, addresses and hashes are taken out of a form too
CLOSE_LOOKS = 64  # of one form, before only each 64th is looked at
FLOOD = 2000  # close looks in one attempt, before only each 64th line and the last ones are looked at
FAULTS_KEPT = 400
_DELETED = bytes(range(48, 58)) + bytes(range(128, 256))
_BY_ID = {row.id: row for row in ROWS}
_BAD_LEVELS = ("ERROR", "CRITICAL", "FATAL", "SEVERE")
_SHARED_MEMORY = re.compile(r"SemLock|shared_memory|_new_shared|multiprocessing/synchronize|/dev/shm|shm_open|torch/multiprocessing")
_SECONDS_PER_STEP = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s/it")
_HASHES = re.compile(rb"\b(?:0x)?(?=[a-f-]*\d)[0-9a-f-]{4,}\b")
_DIGIT = re.compile(r"\d")
_SPOKEN_OF = ("exception", "fatal-level", "launcher", "crash-signal", "aborted")  # words that lines of progress have too
_NEEDS: tuple[tuple[Row, tuple[str, ...]], ...] = tuple((row, tuple(row.need.split("|"))) for row in ROWS)
_SIGN_WORDS = """
traceback|file "|run #|try #|launch |run |.py:|resum|restart|restor|attempt|relaunch|log of|continu|handling of|above exception|ifree|iuse|%  /|% /|done|complete|finish|succe
|reached|train_runtime|kept|best|export ok|overflow|loss scale|retry|skip|fall|recover|ignor|replaced|reconnect|proceed|will be
""".replace("\n", "")
_ALL_WORDS = {word for _, needs in _NEEDS for word in needs} | set(_SIGN_WORDS.split("|"))
_WORDS = tuple(sorted(word for word in _ALL_WORDS if not any(other in word for other in _ALL_WORDS if other != word)))


def _holds_a_word(lower: str) -> bool:
    for word in _WORDS:  # noqa: SIM110 - four times as fast as any() with a generator, and asked for each new form
        if word in lower:
            return True
    return False


class Scanner:
    """Takes blocks of lines; `record()` says what was in them."""

    def __init__(self, user_rows: Sequence[UserRow] = ()) -> None:
        self.attempt = Attempt(None, explicit=False)
        self.before: Attempt | None = None
        self.known: dict[bytes, int] = {}
        self.looks: dict[bytes, int] = {}
        self.close_looks = 0
        self.recent: deque[tuple[int, bytes, int]] = deque(maxlen=500)
        self.skipped: dict[bytes, tuple[int, bytes, int]] = {}
        self.traces: dict[str, Trace] = {}
        self.chained: set[str] = set()
        self.previous = b""
        self.previous_progress = b""
        self.first_progress = b""
        self.last_progress: tuple[int, bytes] | None = None
        self.last: tuple[int, bytes] | None = None
        self.lines = 0
        self.inode_header = 0
        self.user_patterns = [(index, re.compile(row.regex)) for index, row in enumerate(user_rows)]
        self.user_hits: dict[int, Seen] = {}

    def feed(self, first: int, lines: list[bytes]) -> None:
        """Take whole lines, of which the first has the number `first`."""
        joined = b"\n".join(lines)
        if b"\r" in joined:
            numbered = [(first + at, part) for at, line in enumerate(lines) for part in parts(line)]
        else:
            numbered = list(enumerate(lines, start=first))
        if not numbered:
            return
        forms = b"\n".join([line for _, line in numbered]).translate(None, _DELETED).split(b"\n")
        known, attempt = self.known, self.attempt
        for (number, line), form in zip(numbered, forms, strict=True):
            look = known.get(form)
            if look is None:
                look = self._learn(form, line)
            if look & PROGRESS and line != self.previous_progress:
                attempt = self.attempt
                attempt.progress += 1
                if attempt.progress == 1:
                    self.first_progress = line
                self.previous_progress = line
                self.last_progress = (number, line)
                if look & LOSS and attempt.lost is not None:
                    attempt.lost, attempt.lost_lines = None, 0
            if look & LOST:
                self._note_loss(number, line)
            if look & CLOSE or self.traces:
                self._look_closely(number, line, form, look)
            if line:
                self.previous = line
        if self.user_patterns:
            self._ask_user(numbered)
        self.lines = numbered[-1][0]
        self._note_end(numbered)

    def _note_end(self, numbered: list[tuple[int, bytes]]) -> None:
        for number, line in reversed(numbered):
            if line.strip():
                self.last = (number, line)
                return

    def _ask_user(self, numbered: list[tuple[int, bytes]]) -> None:
        for number, line in numbered:
            text = readable(line)[:1000]
            for index, pattern in self.user_patterns:
                if pattern.search(text):
                    self.user_hits[index] = Seen(number, text)

    def _learn(self, form: bytes, line: bytes) -> int:
        if len(self.known) > MANY_FORMS:
            form = _HASHES.sub(b"", line).translate(None, _DELETED)
            if form in self.known:
                return self.known[form]
        text = readable(line)
        lower = text.lower()
        look = CLOSE if _holds_a_word(lower) else 0
        said = message(text)
        if _DIGIT.search(text) and said.level not in _BAD_LEVELS and signs.is_progress(said.text) and not exception_of(said.text, in_trace=False):
            look |= PROGRESS
            if signs.finite_loss(text):
                look |= LOSS
        if ("nan" in lower or "inf" in lower) and signs.lost_loss(text) or "scale" in lower and signs.OVERFLOW.search(text):
            look |= LOST
        if len(self.known) >= FORMS_KEPT:
            self.known.clear()
        self.known[form] = look
        return look

    def _look_closely(self, number: int, line: bytes, form: bytes, look: int) -> None:
        if look & CLOSE and not self.traces:
            if len(self.looks) > MANY_FORMS:
                form = _HASHES.sub(b"", line).translate(None, _DELETED)
            count = self.looks[form] = self.looks.get(form, 0) + 1
            if count > CLOSE_LOOKS and count % CLOSE_LOOKS:
                self.skipped[form] = (number, line, self.attempt.progress)
                return
            self.close_looks += 1
            if self.close_looks > FLOOD and self.close_looks % CLOSE_LOOKS:
                self.recent.append((number, line, self.attempt.progress))
                return
            if len(self.looks) > FORMS_KEPT:
                self.looks.clear()
                self.skipped.clear()
        text = readable(line)
        if not text.strip():
            return
        said = message(text)
        if self._take_trace_line(number, said, line):
            return
        self._note_signs(number, text, said)
        self._note_fault(number, text, said, look)

    # -- tracebacks

    def _take_trace_line(self, number: int, said: Message, line: bytes) -> bool:
        for source in [key for key, trace in self.traces.items() if number - trace.latest > OPEN_LINES]:
            del self.traces[source]
        if CHAIN.search(said.text):
            self.chained.add(said.source)
            return True
        if HEADER.search(said.text):
            before = message(readable(self.previous))
            caught = said.level is not None or (before.level in ("ERROR", "WARNING", "CRITICAL", "FATAL", "INFO") and said.source == before.source)
            chained = said.source in self.chained
            self.chained.discard(said.source)
            ignored = bool(IGNORED.search(readable(self.previous)))
            self.traces[said.source] = Trace(number, caught=caught and not chained, ignored=ignored, chained=chained)
            return True
        trace = self.traces.get(said.source)
        if trace is None:
            fresh = Trace(number, caught=False, ignored=False, chained=False)
            if 'File "' in said.text and fresh.take_frame(said.text, number):
                self.traces[said.source] = fresh
                return True
            return False
        if trace.take_frame(said.text, number):
            return True
        if exception_of(said.text, in_trace=bool(trace.frames)):
            return False
        if said.text.startswith("  ") or not said.text.strip():
            trace.take_code(said.text)
            return True
        trace.noise += 1
        if trace.noise > NOISE_LIMIT:
            del self.traces[said.source]
        return False

    # -- what is no fault

    def _note_signs(self, number: int, text: str, said: Message) -> None:
        attempt = self.attempt
        if signs.is_restart(said.text):
            attempt.lines = number - (attempt.started.number if attempt.started else 0)
            if attempt.has_own_fate or self.before is None:
                self.before = attempt
            self.attempt = Attempt(Seen(number, text), explicit=bool(signs.EXPLICIT_RESTART.search(said.text)))
            self.looks.clear()
            self.close_looks = 0
            return
        if signs.INODE_HEADER.search(text):
            self.inode_header = number
        if signs.NO_INODES.search(text) and (number - self.inode_header <= 8 or "inode" in text.lower()):
            attempt.no_inodes = Seen(number, text)
        if said.level not in ("ERROR", "CRITICAL", "FATAL") and signs.is_success(said.text):
            attempt.success = Seen(number, text)
            attempt.progress_at_success = attempt.progress

    def _note_loss(self, number: int, line: bytes) -> None:
        attempt = self.attempt
        text = readable(line)
        if signs.lost_loss(text) and not signs.HANDLED.search(text):
            attempt.lost = attempt.lost or Seen(number, text)
            attempt.lost_lines += 1
        scale = signs.OVERFLOW.search(text)
        if scale and _number(scale[1]) is not None:
            attempt.overflows.append(float(scale[1].rstrip(".")))
            del attempt.overflows[:-50]
            attempt.overflow_line = Seen(number, text)

    # -- faults

    def _note_fault(self, number: int, text: str, said: Message, look: int) -> None:
        source = self._source_of_trace(said)
        trace = self.traces.get(source)
        named = exception_of(said.text, in_trace=trace is not None and bool(trace.frames))
        if trace is not None and named:
            del self.traces[source]
        handled = signs.is_handled(text) and not named
        if handled and self._mark_handled(number):
            return
        row = match_row(said.text.strip(), text, sure=named is not None or said.level in _BAD_LEVELS) or (_BY_ID["exception"] if named and (trace or "." in named[0]) else None)
        if row is None:
            return
        row = _in_context(row, named, trace)
        if look & PROGRESS and row.id in _SPOKEN_OF and not named:
            return
        fault = Fault(row, number, text, _severity(row, said, text, named, trace), self.attempt.progress, trace if named else None, handled)
        self._keep(fault)

    def _source_of_trace(self, said: Message) -> str:
        """Whose traceback a line may end: its own writer's, or that of the only one if either has no name."""
        if said.source in self.traces or len(self.traces) != 1:
            return said.source
        (only,) = self.traces
        return only if not only or not said.source else said.source

    def _mark_handled(self, number: int) -> bool:
        """A line that says it goes on may speak of the fault right before it."""
        faults = self.attempt.faults
        if faults and number - faults[-1].number <= 3 and not faults[-1].row.fatal and faults[-1].trace is None:
            faults[-1] = faults[-1]._replace(handled=True)
        elif faults and number - faults[-1].number <= 3 and faults[-1].trace is not None:
            faults[-1] = faults[-1]._replace(handled=True)
        return False

    def _keep(self, fault: Fault) -> None:
        faults = self.attempt.faults
        faults.append(fault)
        if len(faults) <= FAULTS_KEPT:
            return
        counts: dict[str, int] = {}
        kept = []
        for item in faults:  # the first ones of each rule since the last progress, and the latest of all
            counts[item.row.id] = counts.get(item.row.id, 0) + 1
            if counts[item.row.id] <= 8 or item.progress_before >= self.attempt.progress - 3:
                kept.append(item)
        self.attempt.faults = kept[: FAULTS_KEPT // 2] + kept[FAULTS_KEPT // 2 :][-FAULTS_KEPT // 4 :]

    # -- the end

    def record(self) -> Record:
        """What the lines held."""
        late = sorted(self.skipped.values())
        for number, line, progress in sorted([*late[-500:], *self.recent]):
            self._look_back(number, line, progress)
        attempt = self.attempt
        attempt.lines = self.lines - (attempt.started.number if attempt.started else 0)
        if self.last_progress is not None:
            attempt.last_progress = Seen(self.last_progress[0], readable(self.last_progress[1]))
        attempt.open_trace = next((trace for trace in self.traces.values() if trace.frames and not trace.ignored), None)
        attempts = tuple(item for item in (self.before, attempt) if item is not None)
        last = Seen(self.last[0], readable(self.last[1])) if self.last else None
        return Record(attempts, last, self.lines, tuple(sorted(self.user_hits.items())), self._pace())

    def _pace(self) -> float | None:
        """Seconds between two lines of progress, by their time stamps or by what a bar says; None if nothing tells."""
        if self.last_progress is None or self.attempt.progress < 2:
            return None
        last = readable(self.last_progress[1])
        bar = _SECONDS_PER_STEP.search(last)
        if bar:
            return float(bar[1])
        began, ended = stamp_seconds(readable(self.first_progress)), stamp_seconds(last)
        return (ended - began) / (self.attempt.progress - 1) if began is not None and ended is not None else None

    def _look_back(self, number: int, line: bytes, progress: int) -> None:
        """The last line of a flood, looked at after all: it is put where it belongs."""
        text = readable(line)
        said = message(text)
        row = match_row(said.text.strip(), text)
        if row is None or signs.is_handled(text):
            return
        if self.known.get(line.translate(None, _DELETED), 0) & PROGRESS and row.id in _SPOKEN_OF:
            return
        named = exception_of(said.text, in_trace=False)
        fault = Fault(row, number, text, _severity(row, said, text, named, None), progress)
        self.attempt.faults = sorted([*self.attempt.faults, fault], key=lambda item: item.number)


def match_row(said: str, text: str, *, sure: bool = False) -> Row | None:
    """The first row that matches a line, without or with its prefixes. sure: it is a line about a fault, so each row is asked."""
    lower = text.lower()
    found = _first_match(said, text, [row for row, needs in _NEEDS if any(need in lower for need in needs)])
    if sure and (found is None or found.id in ("exception", "launcher")):
        return _first_match(said, text, ROWS)
    return found


def _first_match(said: str, text: str, rows: Iterable[Row]) -> Row | None:
    for row in rows:
        pattern = compiled(row.pattern)
        if pattern.search(said) or (row.fatal and said != text and pattern.search(text)):
            return row
    return None


def _severity(row: Row, said: Message, text: str, named: tuple[str, str] | None, trace: Trace | None) -> int:
    if trace is not None and (trace.ignored or (named and trace.ignored)):
        return WEAK
    if ASKED - 5 <= row.explains <= ASKED + 5 and not named:
        return WEAK if signs.is_handled(text) or _is_quoted(row, text) else LOGGED
    if named and trace is not None:
        return LOGGED if trace.caught else PROVEN
    if said.level in ("INFO", "DEBUG", "NOTICE") and not row.fatal:
        return WEAK
    if named:
        return LOGGED if said.level else PROVEN
    if signs.is_handled(text):
        return WEAK
    if row.fatal and not _is_quoted(row, text):
        return PROVEN
    if said.level in ("ERROR", "CRITICAL", "FATAL"):
        return LOGGED
    if trace is not None and trace.frames and row.explains >= BUG:
        return PROVEN
    if said.level == "WARNING" or _is_quoted(row, text):
        return WEAK
    return LOGGED if row.explains >= DEATH or row.explains <= 10 else WEAK


def _is_quoted(row: Row, text: str) -> bool:
    """Whether the words stand in a text that is shown rather than told: inside quotation marks, or far into prose."""
    found = compiled(row.pattern).search(text)
    if not found:
        return False
    before = text[: found.start()]
    return before.count('"') % 2 == 1 and not before.lstrip().startswith("{")


def _in_context(row: Row, named: tuple[str, str] | None, trace: Trace | None) -> Row:
    """The same exception means another thing while a checkpoint or a sample is being read."""
    if trace is None or named is None:
        return row
    if row.id in ("record-damaged", "no-such-file", "exception") and trace.mentions(CONFIG_READ, last=2):
        return _BY_ID["settings-library"]
    if row.id == "no-space" and trace.mentions(_SHARED_MEMORY):
        return _BY_ID["shm-no-space"]
    short = named[0].rsplit(".", 1)[-1]
    reading = short in ("EOFError", "BadZipFile", "UnicodeDecodeError", "error", "OSError", "JSONDecodeError", "RuntimeError", "ValueError", "UnpicklingError", "ReadError", "HeaderError", "Exception", "zlib.error", "struct.error")
    vague = row.explains <= VAGUE or row.id in ("archive-damaged", "record-damaged", "checkpoint-damaged")
    if reading and vague and row.id != "exception":
        if trace.mentions(CHECKPOINT_READ, last=5) and not trace.mentions(DATA_READ, last=3):
            return _BY_ID["checkpoint-damaged"]
    if short in ("EOFError", "error") and row.explains <= VAGUE:
        if trace.mentions(CHECKPOINT_READ) or trace.mentions(re.compile(r"pickle\.load\(")):
            return _BY_ID["checkpoint-damaged"]
        return _BY_ID["record-damaged"]
    if short == "FileNotFoundError" and trace.mentions(re.compile(r"__getitem__|_utils/fetch|collate")):
        return _BY_ID["record-damaged"]
    return row


def _number(text: str) -> float | None:
    try:
        return float(text.rstrip("."))
    except ValueError:
        return None


def scan(chunks: Iterable[bytes], user_rows: Sequence[UserRow] = ()) -> Record:
    """Everything a verdict needs to know of a log, from its bytes in blocks of any size."""
    scanner = Scanner(user_rows)
    for block in blocks(chunks):
        scanner.feed(block.first, block.lines)
    return scanner.record()


__all__ = ["CAUSE", "Scanner", "scan"]
