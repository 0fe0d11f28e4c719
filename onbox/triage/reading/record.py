"""What was found in a log: faults in their order, and how far the run went on between them. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onbox.logs.model.life import Steps
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.epilogue import is_of_who_started

if TYPE_CHECKING:
    from onbox.triage.reading.tracebacks import Trace
    from onbox.triage.rules.rows import RuleRow

# How sure it is that a line tells of a fault that mattered to the run.
WEAK = 1  # a warning, a remark, a text that speaks of a fault
LOGGED = 2  # an error somebody wrote down, or a bare line of a tool
PROVEN = 3  # the end of an uncaught traceback, or a line that a scheduler, a kernel or a shell writes about a death

CONTAINER_ENDED = lazy(r"([a-z][\w.-]{0,60}-\d{1,4}) exited with code [1-9]\d{0,2}$")  # docker compose
TAIL = 80  # last lines that are kept
INFORMED = 3  # lines in which a logger of a new run tells what it does: it has come beyond its first lines
OF_A_PART = 3  # times that the same success is told
SUCCESS_LETTERS = 40
RIGHT_BEHIND = 4  # lines: nearer than that


class Fault(NamedTuple):
    """A line that a rule matched.

    severity: one of the three above. progress_before: how many lines of progress the attempt had shown until then.
    trace: the traceback that the line ends, None if it ends none. handled: the same or the next line says that the
    program went on. source: what names its writer, "" if nothing does.
    ended: the exception that the traceback ended with, where this line is another one that explains it.
    informed_before: how many lines of loggers had told what the program does until then.
    """

    row: RuleRow
    number: int
    text: str
    severity: int
    progress_before: int
    trace: Trace | None = None
    handled: bool = False
    source: str = ""
    ended: str = ""
    informed_before: int = 0

    @property
    def ended_writer(self) -> str:
        """Who has surely ended, as a line's source names him: a container of which docker compose tells a code, or who
        refused his command line; "" if it says that of none.
        """
        if self.row.id == "usage":
            return self.source
        found = CONTAINER_ENDED.match(self.text) if self.row.id == "launcher" else None
        return f"{found[1]} | " if found else ""

    @property
    def ended_program(self) -> bool:
        """Whether it is an exception that nobody caught."""
        trace = self.trace
        return trace is not None and trace.ends_program and not trace.caught and self.severity >= PROVEN


class SeenLine(NamedTuple):
    """A line worth remembering."""

    number: int
    text: str


class LogAttempt:
    """One attempt of the run within a log; a restart begins a new one.

    explicit: a header or a supervisor announced it. after_pause: it began long after the one before. as_before: it
    said what the file's first lines say. progress: how many lines of progress it showed. lost: where a training loss
    ceased to be a number and has not been one since, None if it is one; lost_lines: for how many lines. informed: how
    many lines of loggers told what it does. overflows: the loss scales after its overflows. steps: its newest lines of
    progress. early: its first ones, as (ordinal, number, line). saved: the last word of a save that worked. no_inodes:
    a table that shows none left. report_ends: the number of the line below which the output stands that a batch system
    reports on above, 0 if it does not. tpu: it said what only a host with TPUs says. open_trace: a traceback that the
    log ends in.
    """

    def __init__(self, started: SeenLine | None, *, explicit: bool) -> None:
        self.started = started
        self.explicit = explicit
        self.after_pause = False
        self.as_before = False
        self.faults: list[Fault] = []
        self.progress = 0
        self.last_progress: SeenLine | None = None
        self.success: SeenLine | None = None
        self.progress_at_success = 0
        self.said_success: Counter[str] = Counter()  # how often, by the words
        self.lines = 0
        self.lost: SeenLine | None = None
        self.lost_lines = 0
        self.overflows: list[float] = []
        self.overflow_line: SeenLine | None = None
        self.no_inodes: SeenLine | None = None
        self.tpu = False
        self.open_trace: Trace | None = None
        self.steps = Steps()
        self.informed = 0
        self.report_ends = 0
        self.early: list[tuple[int, int, bytes]] = []
        self.saved: SeenLine | None = None

    @property
    def reached_end(self) -> bool:
        """Whether its counter stands at the maximum that it shows."""
        return self.steps.at_end

    def say_success(self, line: SeenLine, said: str) -> None:
        """Take a word of success. One that comes again and again is of a part: each fold, each cell. What a program
        says itself goes before what who started it says right behind that.
        """
        words = "".join(filter(str.isalpha, said))[:SUCCESS_LETTERS]
        beside = self.success is not None and line.number - self.success.number == 1  # one of the rows of one summary
        self.said_success[words] += not beside
        if self.said_success[words] >= OF_A_PART:
            self.success = None
            return
        behind = line.number - self.success.number if self.success is not None else RIGHT_BEHIND
        if behind < RIGHT_BEHIND and is_of_who_started(line.text):
            return
        self.success, self.progress_at_success = line, self.progress

    def signs_after(self, fault: Fault) -> int:
        """How many life signs came after a fault."""
        if self.progress <= fault.progress_before:
            return 0
        if fault.ended_writer:  # whatever the others do
            return self.steps.signs_of(fault.ended_writer, fault.progress_before)
        return self.steps.signs_after(fault.progress_before, fault.source, uncaught=fault.severity == PROVEN)

    @property
    def has_own_fate(self) -> bool:
        """Whether it got far enough to be judged by itself, without the attempt before it."""
        own_fault = any(
            fault.severity > WEAK and fault.row.explains >= 30 and not fault.handled for fault in self.faults
        )
        return bool(self.progress or self.success or own_fault or self.after_pause) or (
            self.explicit and (self.lines >= 2 or self.as_before) and (not self.faults or self.informed >= INFORMED)
        )


class Record(NamedTuple):
    """A whole log. attempts: the last two, oldest first. last_line: its last line with anything in it, None if there is
    none. lines: how many it has. user_hits: the last match of each of the user's own rows, (index, line).
    seconds_per_line: between two lines of progress, None if nothing tells. tail: its last lines with anything in them.
    """

    attempts: tuple[LogAttempt, ...]
    last_line: SeenLine | None
    lines: int
    user_hits: tuple[tuple[int, SeenLine], ...]
    seconds_per_line: float | None = None
    tail: tuple[SeenLine, ...] = ()
