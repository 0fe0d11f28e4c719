"""A stack of whatever language: a headline, and below it frames. Pure.

Python's own tracebacks are read elsewhere; here only the shape of the others is known, so that a program that died in a
language of which no rule knows the words is not called alive, and its stack is shown beside the fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.harmless import is_harmless
from onbox.triage.meaning import ROWS, meaning_of
from onbox.triage.reading.match import BAD_LEVELS, BY_ID, match_row
from onbox.triage.reading.record import LOGGED, Fault
from onbox.triage.reading.signs import is_of_another
from onbox.triage.reading.tracebacks import HEADER
from onbox.triage.rules.rows import DEATH
from onbox.triage.short_stack import SHOWN_LINES, SHOWN_WIDTH, shortened

if TYPE_CHECKING:
    from onbox.triage.reading.record import LogAttempt, SeenLine
    from onbox.triage.rules.rows import RuleRow

BEHIND = 4  # lines that may stand behind the last frame
FRAME = lazy(
    r"^\s+at \S+|^\s+from \S{1,200}:\d+:in |^stack traceback:|^\s+\[C\]: in "
    r"|^\s+(?:\S{1,200}|\(command line\)):\d+: in (?:main chunk|function|method|upvalue|local|field)"
    r"|^\s+while (?:executing|compiling)|^\s+invoked from within|^\s+\((?:file|procedure) \""
    r"|^Raised (?:at|by) |^Called from |^CallStack \(from|^\s+\(\w[\w ]{0,40}[\d.]{1,12}\) \S{1,200}:\d+:"
    r"|^Stacktrace:|^Stack trace:|^Backtrace\b|^goroutine \d+ \[|^#\d{1,4} {1,8}\S|^error: called from"
    r"|^\s+\S{1,200}\.exs?:\d+:|^\s+@\s+0x[0-9a-f]{4,20} "
)
# What else belongs to a stack that is shown, and is no sign of one by itself.
_BESIDE = lazy(
    r"^Caused by: |^\s+\.\.\. \d{1,4} more|^\s+\S{1,200}\.(?:go|s):\d+|^stack backtrace:|^\s+\d{1,4}: \S|^Calls: "
    r"|^note: (?:run with|[Ss]ome details)|^\s+thrown in \S|^\s+what\(\): |^\s+@ \S|^\s+\[\d{1,4}\] \S"
    r"|^created by "
)
THROWN = lazy(r"\s{0,8}what\(\):\s+\S")  # of C++: the message of the exception that nobody caught
_OF_JULIA = lazy(r"\s+\[\d{1,4}\] \S|\s+@ |\s+\.\.\.|in expression starting at |caused by: |Stacktrace:$")
_MARK = lazy(r"^\s*\^+\s*$")  # under a line of code
_HEADLINE = lazy(r"\bpanicked at |^terminate called |^panic: |^Exception in thread |^PHP Fatal |^Error in .{0,200}: ?$")
_OF_A_LIBRARY = lazy(
    r"\bat (?:java|javax|jdk|sun|scala|kotlin)[./]|node:|node_modules|/rustc/|\b(?:std|core|alloc)::|/gems/|/vendor/"
    r"|/usr/|/pkg/mod/|\[C\]|\bat (?:System|Microsoft)\.|@ (?:Base|Core)\b|rust_begin_unwind|^\s+\.\.\. "
)
_PLACE = lazy(r"[:(]\d{1,7}\b|line \d")
_WITHIN = 2  # lines between two frames of one stack: a function's name, a line of code
_NEAR = 4  # lines between a fault and its frames


def stack_around(number: int, tail: tuple[SeenLine, ...]) -> tuple[str, ...]:
    """The stack in which a line of the log stands, or that begins right below it, as a person reads it: bounded, with
    the first frame of the user's own code. () if there is none.
    """
    at = next((index for index, line in enumerate(tail) if line.number == number), None)
    if at is None:
        return ()
    near = [stack for stack in _stacks(tail) if stack[0] - _NEAR <= at <= stack[1] + _NEAR]
    if not near:
        return ()
    first, last = min(near, key=lambda stack: max(stack[0] - at, at - stack[1], 0))
    begin = min(at, first if _HEADLINE.search(tail[first].text) else max(0, first - 1))
    if at - begin >= SHOWN_LINES // 2 and at <= last:
        begin = at  # the last of a chain of exceptions
    lines = [line.text[:SHOWN_WIDTH] for line in tail[begin : max(at, last) + 1]]
    if any(map(HEADER.search, lines)):
        return ()  # Python's, of which another room tells
    own = [index for index, line in enumerate(lines) if _is_frame(line) and _is_own(line)]
    return shortened(lines, SHOWN_LINES, own[0] if own else None)


def _stacks(tail: tuple[SeenLine, ...]) -> list[tuple[int, int]]:
    """Index of the first and the last line of each stack."""
    found: list[tuple[int, int]] = []
    for at, line in enumerate(tail):
        if not (_is_frame(line.text) or _HEADLINE.search(line.text) or _MARK.match(line.text)):
            continue
        if found and at - found[-1][1] <= _WITHIN + 1:
            found[-1] = (found[-1][0], at)
        else:
            found.append((at, at))
    return [(first, last) for first, last in found if any(_is_frame(line.text) for line in tail[first : last + 1])]


def _is_own(frame: str) -> bool:
    """Whether a frame tells a place, which is in no library that is known."""
    return _PLACE.search(frame) is not None and not _OF_A_LIBRARY.search(frame)


def _is_frame(line: str) -> bool:
    return bool(FRAME.search(line) or _BESIDE.search(line))


def last_stack(attempt: LogAttempt, tail: tuple[SeenLine, ...]) -> Fault | None:
    """The headline of the stack at the log's end; None if it does not end with one."""
    if attempt.success is not None:
        return None
    life = max((mark.number for mark in (attempt.started, attempt.last_progress) if mark), default=0)
    lines = [line for line in tail if line.number > life]
    frames = [at for at, line in enumerate(lines) if FRAME.search(line.text)]
    if not frames or len(lines) - frames[-1] - 1 > BEHIND:
        return None
    first = frames[-1]
    while first - 1 in frames:
        first -= 1
    above = [line for line in reversed(lines[:first]) if len(line.text.split()) > 1]
    if not above:
        return None
    head = above[0]
    if len(above) > 1 and message(head.text).level is None and is_shown_by(above[1].text):
        return None
    said = message(head.text)
    if said.level not in (None, *BAD_LEVELS) or is_harmless(said.text, head.text, loud=True):
        return None
    return Fault(_row_of(said.text, head.text), *head, LOGGED, attempt.progress)


def ends_in_stack_of(number: int, tail: tuple[SeenLine, ...]) -> bool:
    """Whether Julia's frames stand right below a line, and nothing but them up to the end: nobody has caught it."""
    below = [line.text for line in tail if line.number > number]
    return bool(below) and below[0] == "Stacktrace:" and all(_OF_JULIA.match(text) for text in below[1:])


def is_shown_by(above: str) -> bool:
    """Whether the line above a headline is a logger's warning, or tells of one request to a server."""
    return message(above).level == "WARNING" or is_of_another(above)


def _row_of(said: str, text: str) -> RuleRow:
    row = match_row(said.strip(), text)
    if row is not None and row.explains > DEATH and row.id != "error-line":
        return row
    found = meaning_of(said)
    return ROWS[found.failure_class] if found is not None and not found.rivals else BY_ID["exception"]
