"""The tracebacks that are open while a log is read, one for each writer. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.model.lines import message, names_level_small
from onbox.regex import lazy
from onbox.triage.reading.match import progress_of
from onbox.triage.reading.tracebacks import (
    CHAIN,
    HEADER,
    IGNORED,
    NOISE_LIMIT,
    OF_REQUEST,
    OPEN_LINES,
    STACK_DUMP,
    Trace,
    exception_of,
)

if TYPE_CHECKING:
    from onbox.logs.model.lines import LogMessage


PREVIOUS_LETTERS = 400
_INDENTS = " |\u2502>"
# What a program shows of another one, behind a gutter; so do groups of exceptions, below a headline or a rule.
_QUOTED = lazy(r"(?:\s{0,12}[|\u2502>] {0,4}|\s{4,20})Traceback")
_OF_A_GROUP = lazy(r"Exception Group|^[ |]{0,40}\+[-+]|direct cause|above exception")


# What a runner puts before each line of another program, which is no more than that: `Task run 'train-0' - `
_RELAYED = lazy(r"[^\s(\"][^(\"]{0,80}?(?:: | - | \| |\] )(?=Traceback \(most)")


class OpenTraces:
    """Takes lines; those of a traceback are no faults of their own."""

    def __init__(self) -> None:
        self.by_source: dict[str, Trace] = {}
        self.chained: set[str] = set()
        self.newest: dict[str, Trace] = {}  # of each writer, ended or not
        self.led_in: dict[str, str] = {}  # the line before the newest traceback of each writer, or before its chain

    def __bool__(self) -> bool:
        return bool(self.by_source)

    def clear(self) -> None:
        self.by_source.clear()
        self.chained.clear()
        self.newest.clear()
        self.led_in.clear()

    def take(self, number: int, said: LogMessage, previous: str, progress: int) -> bool:
        """Whether the line belongs to a traceback and says no more than that. previous: the line before. progress: how
        many lines of progress there were.
        """
        traces = self.by_source
        for source in [key for key, trace in traces.items() if number - trace.latest > OPEN_LINES]:
            del traces[source]
        if CHAIN.search(said.text):
            self.chained.add(said.source)
            return True
        if STACK_DUMP.search(said.text):
            traces[said.source] = Trace(number, caught=True, ignored=True, chained=False)
            return False
        if HEADER.search(said.text):
            self._open(number, said, previous)
            return "^C" not in said.text
        trace = traces.get(said.source)
        if trace is None:
            fresh = Trace(number, caught=False, ignored=False, chained=False)
            if 'File "' in said.text and fresh.take_frame(said.text, number):
                fresh.progress = progress
                traces[said.source] = fresh
                return True
            return False
        if trace.take_frame(said.text, number):
            trace.progress = progress
            return True
        if exception_of(said.text, in_trace=bool(trace.frames)):
            return False
        if said.text.startswith("  ") or not said.text.strip():
            trace.take_code(said.text)
            return True
        trace.noise += 1
        if trace.noise > NOISE_LIMIT:
            del traces[said.source]
        return False

    def aligned(self, said: LogMessage) -> LogMessage:
        """A line without the indentation of the traceback that it may belong to: many loggers indent all of it, and
        some runners name the program before each line.
        """
        trace = self.by_source.get(said.source)
        if trace is None or not trace.indent:
            return said
        return said._replace(text=said.text.removeprefix(trace.indent))

    def _open(self, number: int, said: LogMessage, previous: str) -> None:
        before = message(previous)
        told = before.level is not None and said.source == before.source and not names_level_small(previous)
        reports = before.level == "INFO" and progress_of(previous, before)  # what follows is not the logger's
        quoted = _QUOTED.match(said.text) and not _OF_A_GROUP.search(previous)
        caught = said.level is not None or (told and not reports) or bool(quoted or OF_REQUEST.search(previous))
        chained = said.source in self.chained
        self.chained.discard(said.source)
        ignored = bool(IGNORED.search(previous))
        root = self.newest.get(said.source) if chained else None
        caught = root.logged if root is not None else caught and not chained  # a logger writes all of a chain
        trace = Trace(number, caught=caught, ignored=ignored, chained=chained)
        trace.logged = root.logged if root is not None else said.level is not None
        trace.before = self.led_in.get(said.source, "") if chained else previous[:PREVIOUS_LETTERS]
        self.led_in[said.source] = trace.before
        trace.quoted = bool(quoted)
        trace.warned = told and before.level == "WARNING" and not chained
        trace.neighbour = told and not reports and said.level is None
        trace.cut = not said.text.lstrip(" |│+").startswith(("Traceback", "Stack"))
        trace.cause = root
        relayed = _RELAYED.match(said.text)
        trace.indent = relayed[0] if relayed else said.text[: len(said.text) - len(said.text.lstrip(_INDENTS))]
        self.by_source[said.source] = self.newest[said.source] = trace

    def source_of(self, said: LogMessage) -> str:
        """Whose traceback a line may end: its own writer's, or that of the only one if either has no name."""
        if said.source in self.by_source or len(self.by_source) != 1:
            return said.source
        (only,) = self.by_source
        return only if not only or not said.source else said.source

    def unfinished(self, lines: int) -> Trace | None:
        """One that the log, of so many lines, ends in, if only with its headline."""
        open_ones = (trace for trace in self.by_source.values() if not trace.ignored)
        return next((trace for trace in open_ones if trace.frames or trace.number == lines), None)
