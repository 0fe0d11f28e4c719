"""Whether what stands around a complaint shows that its program, or the shell above it, went on. Pure.

Standard error comes at once, and standard output into a file may wait until the end: so what stands below a traceback
may have been printed before it. It came after it where the program shows above as well what it prints below, where a
runtime that lets nothing wait prints on, or where the last line tells what came out. What was proven to be the end of
its program asks for more than what the program wrote itself. What a shell shows is read in `shell.py`.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.logs.model.tables import ends_in_table
from onbox.logs.outcome import Outcome
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.classes import OF_SPACE
from onbox.triage.epilogue import tells_step_failed
from onbox.triage.last_words import FATAL_LEVELS
from onbox.triage.reading import signs
from onbox.triage.reading.match import BAD_LEVELS, NEARLY_ASKED
from onbox.triage.reading.outcome import outcome_of
from onbox.triage.reading.record import PROVEN, WEAK
from onbox.triage.reading.success import counts_bad, counts_failed
from onbox.triage.rules.rows import ASKED, DIVERGED, SUMMARY
from onbox.triage.weighing.outputs import (
    complains,
    is_bar,
    is_farewell,
    is_figure,
    is_result,
    printed,
    same_form,
    tells_of_program,
    told_of,
)
from onbox.triage.words import SMALL_TOOL, TINY_TOOL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onbox.triage.reading.record import Fault, SeenLine
    from onbox.triage.weighing.scene import Scene

# Rows of what a tool says, though they explain as little as a death.
_SMALL_COMPLAINTS = ("error-line", "fatal-level", "exit-127")
TESTS_FAILED = "tests-failed"  # whose report is written in any case
_OF_RESOURCES = (*OF_SPACE, "host_oom", "gpu_hardware")
# (what a runtime prints of an exception that the program has in hand, what only the end of a program shows)
_RUNTIMES: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = (
    (
        "JVM",
        lazy(r"^\s+at [\w.$<>/]{1,200}\([\w$]{1,80}\.(?:java|kt|scala)(?::\d{1,6})?\)"),
        lazy(r"^Exception in thread "),
    ),
    ("Node", lazy(r"^\s+at .{1,300}:\d{1,7}:\d{1,5}\)?$"), lazy(r"^Node\.js v\d|^\s+\^+$|^Uncaught ")),
    ("Rust", lazy(r"^note: run with `RUST_BACKTRACE|^stack backtrace:"), lazy(r"(?!)")),
)
_R_ERROR = lazy(r"^Error (?:in .{1,300}\)|in \w[\w.:]{0,60}) : ?|^Error in .{1,300}\) :$|^Error : ")
_R_ENDED = lazy(r"^Execution halted|^Calls: ")
_ANSWERED = lazy(r"\"(?:GET|POST|PUT|HEAD|PATCH|DELETE) \S{1,300} HTTP/[\d.]{1,3}\"[ -]{1,3}2\d\d\b")
_SERVES = lazy(
    r"\b(?:running|listening|serving) (?:on|at) (?:https?://|\S{1,80}:\d{2,5}\b|port \d)|\bstartup complete\b"
    r"|\bready to (?:accept|serve|handle)\b",
    re.IGNORECASE,
)
_MAY_FAIL = lazy(r"\|\| ?(?:true|:|exit 0|echo\b.*)\s*$")
# What a loop takes one after the other. No steps: other ranks show one more of them.
_PIECES = (
    "shard part chunk fold trial sample batch file clip image img picture page block tile segment split record row "
    "item doc document example prompt question query case test seed run config candidate model layer stage phase "
    "round cycle cell experiment exp job patient subject video track utterance frame episode game scene object user "
    "group cluster topic molecule structure sequence seq contig chr bucket partition window slice plate well scan "
    "series year month day week session archive dataset task section url link request message entry point "
    "realization replicate"
)
_PIECE = lazy(
    rf"(?<![\w./-])({_PIECES.replace(' ', '|')})[ #:=_-]{{0,2}}(\d{{1,6}})\b(?!\.\d)",
    re.IGNORECASE,
)
_WARNED = ("WARNING", *BAD_LEVELS)
_TELLS_TIME = lazy(r"(?i)\W{0,4}(?:total |wall ?|run ?)?(?:elapsed|time|duration)\b")
_TIMES_IT = lazy(r"Time: \d[\d.,]{0,20} ms\b")  # of psql, behind each statement, whatever came of it
_DID_MORE = 2  # lines
_SERIES = 2  # lines of one form
_STOPS = lazy(r"(?i)\b(?:stopping|aborting|giving up|quitting|bailing out)\b(?! (?:early|criteri\w+))")
_LOGGED_MORE = 5  # lines
_NO_LETTERS = lazy(r"^\W{1,8}")
# What a line is about, as the words it begins with.
_ABOUT = lazy(r"\W{0,8}([\w./+#-]{2,60}(?: [\w./+#-]{1,30}){0,2}?) ?(?::|->|=>|\u2192| - )\s")
_COUNT = lazy(r"(\D{0,60}[A-Za-z]\D{0,60}?)(?<![\d.,:-])(\d{1,9})(?![\d.,]\d)")  # some words, and a number
_COUNTED_ABOVE, _COUNTED_BELOW = 2, 3  # lines
_TALLY_LINES = 3  # from the end
_GAPS = 3  # between lines of one kind
_SERIES_LINES = 20  # above and below, in which the same is looked for
_NEAR_LINES = 12  # from a headline to its stack


class Around(NamedTuple):
    """What the program printed above and below a complaint."""

    above: list[SeenLine]
    below: list[SeenLine]


def went_on(fault: Fault, scene: Scene) -> bool:
    """Whether a program's complaint was not its end, by what it printed around it."""
    if scene.dead or not is_complaint(fault) or fault.source or sums_up_failed_tests(fault):
        return False
    if _is_out_of_sight(fault, scene):
        return fault.trace is None and bool(SMALL_TOOL.match(fault.text))  # the script has told much since
    if any(shows(fault, scene) for shows in (_logs_on, took_the_next, _serves_on, _r_goes_on)):
        return True
    around = _around(fault, scene)
    if not around.below or all(is_farewell(line.text) for line in around.below):
        return False
    if fault.trace is None and (_is_allowed(fault, scene) or _is_of_small_tool(fault, around)):
        return True
    return (
        _prints_on(fault, around, scene) or _is_between(around, fault, scene) or _brought_a_result(fault, around, scene)
    )


def sums_up_failed_tests(fault: Fault) -> bool:
    """`3 tests, 2 passed, 1 failed`, `# fail 1`, `Fail:  1`: where their report is, comes behind."""
    said = message(fault.text).text
    if fault.row.id == TESTS_FAILED:
        return said[:1].isdigit() or said[:1] in ("#", "\u2139") or said.startswith("Fail:")
    return fault.row.id == "other-languages" and counts_bad(said) > 0


def is_complaint(fault: Fault) -> bool:
    """Whether it is what a program says, rather than the death of a process or of its data."""
    if fault.trace is not None and (fault.trace.quoted or fault.trace.is_of_generated):
        return True
    if (fault.row.explains == DIVERGED and fault.trace is None) or fault.row.failure_class in _OF_RESOURCES:
        return False
    if fault.row.failure_class == "preempted" and fault.severity == PROVEN:
        return False
    if abs(fault.row.explains - ASKED) <= NEARLY_ASKED:
        return False
    return fault.row.explains > ASKED or fault.trace is not None or fault.row.id in _SMALL_COMPLAINTS


def _is_out_of_sight(fault: Fault, scene: Scene) -> bool:
    """Whether it stands before the last lines that were kept."""
    return not scene.record.tail or fault.number < scene.record.tail[0].number


def first_line(fault: Fault) -> int:
    """Where its traceback begins, or the first one of its chain."""
    trace = fault.trace
    while trace is not None and trace.cause is not None:
        trace = trace.cause
    return trace.number if trace is not None else fault.number


def _around(fault: Fault, scene: Scene) -> Around:
    tail, first = [line for line in scene.record.tail if not line.text.startswith("+ ")], first_line(fault)
    above = printed(line for line in tail if line.number < first)
    below = (line for line in tail if line.number > fault.number and not _TIMES_IT.match(line.text))
    return Around(above, printed(below))


def is_tallied(fault: Fault, scene: Scene) -> bool:
    """Whether one of the last lines counts just what has failed, beside what went well."""
    if scene.dead:
        return False
    told = [one for one in scene.attempt.faults if one.severity > WEAK]
    passed_on = [one.trace.cause for one in told if one.trace is not None and one.trace.cause is not None]
    told = [one for one in told if one.trace is None or one.trace not in passed_on]
    return any(
        line.number > fault.number
        and _counts_all(message(line.text).text, [one for one in told if one.number < line.number])
        for line in scene.record.tail[-_TALLY_LINES:]
    )


def _counts_all(text: str, told: list[Fault]) -> bool:
    causes = [one for one in told if one.row.explains > SUMMARY]
    failed = counts_failed(text)
    return failed > 0 and failed == len(causes or told)


def _is_allowed(fault: Fault, scene: Scene) -> bool:
    """Whether the command that complains was shown right before, with what is to be done where it fails."""
    above = next((line.text for line in reversed(scene.record.tail) if line.number < fault.number), "")
    return bool(_MAY_FAIL.search(above))


def _is_of_small_tool(fault: Fault, around: Around) -> bool:
    """Whether a small tool of a script complains, and the script did more."""
    if TINY_TOOL.match(fault.text):
        return True
    return bool(SMALL_TOOL.match(fault.text) and around.above and len(around.below) >= _DID_MORE)


def _logs_on(fault: Fault, scene: Scene) -> bool:
    """Whether the logger whose error stands right above a traceback tells of more work below: nothing of it waits in a
    buffer, and an interpreter that ends logs no work.
    """
    if fault.trace is None or not fault.trace.neighbour or message(fault.trace.before).level not in BAD_LEVELS:
        return False
    told = [(line, message(line.text)) for line in scene.record.tail]
    since = [(line, said) for line, said in told if line.number > fault.number and said.level == "INFO"]
    since = [(line, said) for line, said in since if not signs.FAREWELL.search(said.text)]
    if len(since) >= _LOGGED_MORE:
        return True
    before = [line.text for line, said in told if line.number < first_line(fault) and said.level == "INFO"]
    return sum(any(same_form(line.text, text) for text in before) for line, _ in since) >= _DID_MORE


def took_the_next(fault: Fault, scene: Scene, *, until: int | None = None) -> bool:
    """Whether a later line tells of a piece of the same kind with a higher number: a loop came to it, and no buffer
    holds what had not been begun. until: of the lines before that one.
    """
    first = first_line(fault)
    told = [line.text for line in scene.record.tail if line.number in (first - 1, fault.number)]
    failed = [(hit[1].lower(), int(hit[2])) for text in told for hit in _PIECE.finditer(text)]
    if not failed:
        return False
    later = [line for line in scene.record.tail if fault.number < line.number < (until or scene.end + 1)]
    later = later if fault.trace is not None and fault.trace.quoted else told_of(later)
    came = [(hit[1].lower(), int(hit[2])) for line in later for hit in _PIECE.finditer(line.text)]
    return any(word == kind and number > failed_at for word, failed_at in failed for kind, number in came)


def is_next_of_its_kind(fault: Fault, scene: Scene) -> bool:
    """Whether the program shows what became of one piece just as it did before, and then had taken the next one: a
    search that shows which of its candidates failed, and why.
    """
    if scene.dead or fault.trace is None or not (fault.trace.is_shown or fault.trace.caught):
        return False
    led_in = _PIECE.search(fault.trace.before)
    if led_in is None:
        return False
    alike = (one for one in scene.attempt.faults if one.number < fault.number and one.trace is not None)
    before = ((one, _PIECE.search(one.trace.before)) for one in alike if one.trace is not None)
    return any(
        piece is not None
        and piece[1].lower() == led_in[1].lower()
        and int(piece[2]) < int(led_in[2])
        and took_the_next(one, scene, until=first_line(fault) - 1)
        for one, piece in before
    )


def names_piece(text: str) -> bool:
    """Whether a line tells of one of the things that a loop takes one after the other: `trial 9: FAILED rc=1`."""
    return _PIECE.search(text) is not None


def counts_on(fault: Fault, scene: Scene) -> bool:
    """Whether the program's own lines, whatever they are about, count on below a fault from where they stood above it.

    Not below a traceback: there a buffer may give out what had been counted before.
    """
    if not _is_of_the_program(fault, scene):
        return False
    tail = scene.record.tail
    stood = _counted(printed(line for line in tail if fault.number - _SERIES_LINES <= line.number < fault.number))
    came = _counted(printed(line for line in tail if line.number > fault.number))
    return any(
        len(counts) >= _COUNTED_ABOVE
        and sum(number > max(counts) for number in came.get(form, ())) >= _COUNTED_BELOW
        and counts == sorted(set(counts))
        for form, counts in stood.items()
    )


def counts_between(numbers: Sequence[int], scene: Scene) -> bool:
    """Whether lines of one form, told between each two of the lines with these numbers, count on from gap to gap."""
    tail = scene.record.tail
    shown = [number for number in numbers if tail and number >= tail[0].number]
    gaps = [_counted(line for line in tail if one < line.number < next_) for one, next_ in pairwise(shown)]
    if len(gaps) < _GAPS:
        return False
    steady = set(gaps[0]).intersection(*gaps[1:])
    return any(all(max(one[form]) < min(next_[form]) for one, next_ in pairwise(gaps)) for form in steady)


def _is_of_the_program(fault: Fault, scene: Scene) -> bool:
    """Whether it is one line of the program's own, which is not known to be dead: no traceback, no figure that is lost,
    and nothing that one of several writers tells.
    """
    return not (scene.dead or fault.trace is not None or fault.source or fault.row.explains == DIVERGED)


def _counted(lines: Iterable[SeenLine]) -> dict[str, list[int]]:
    """The first number of each line, by the words before it."""
    found: dict[str, list[int]] = {}
    for line in lines:
        hit = _COUNT.match(message(line.text).text)
        if hit:
            found.setdefault(hit[1].strip(), []).append(int(hit[2]))
    return found


def same_is_fine_later(fault: Fault, scene: Scene) -> bool:
    """Whether a later line that complains of nothing begins with what a complaint of one line was about. If it is the
    last line of all, it has to say that the work is there.
    """
    if not _is_of_the_program(fault, scene) or fault.row.failure_class == "user_interrupt":
        return False
    about = _ABOUT.match(message(fault.text).text)
    if about is None or not any(map(str.isalpha, about[1])) or tells_step_failed(message(fault.text).text):
        return False
    below = [line for line in scene.record.tail if line.number > fault.number and _is_about(line.text, about[1])]
    plain = [line for line in below if not complains(line.text) and outcome_of(line.text) is not Outcome.LOST]
    return any(line.number < scene.end or outcome_of(line.text) is Outcome.MADE for line in plain)


def _is_about(text: str, subject: str) -> bool:
    """Whether a line begins with just this subject: `job 1` is not `job 12` nor `job 1.5`."""
    said = _NO_LETTERS.sub("", message(text).text, count=1)
    behind = said.removeprefix(subject)
    return behind != said and not (behind[:1].isalnum() or behind[:1] in ("_", "."))


def _serves_on(fault: Fault, scene: Scene) -> bool:
    """Whether a server answers a later request, or is ready for the first one."""
    return any(serves(line.text) for line in scene.record.tail if line.number > fault.number)


def serves(text: str) -> bool:
    """Whether a server answers a request well, or is ready for the first one."""
    return _ANSWERED.search(text) is not None or _SERVES.search(text) is not None


def _r_goes_on(fault: Fault, scene: Scene) -> bool:
    """Whether R shows an error and more below it, but not that it ends, as after an error that nobody caught."""
    if fault.trace is not None or not _R_ERROR.match(fault.text):
        return False
    below = [line for line in scene.record.tail if line.number > fault.number]
    return bool(told_of(below)) and not any(_R_ENDED.match(line.text) for line in below)


def _prints_on(fault: Fault, around: Around, scene: Scene) -> bool:
    """Whether a runtime whose output never waits shows its exception as the program does that has caught it."""
    if fault.trace is not None:
        return False
    lines = [line for line in scene.record.tail if abs(line.number - fault.number) <= _NEAR_LINES]
    for _, frame, end in _RUNTIMES:
        shown = [line.number for line in scene.record.tail if line.number > fault.number and frame.search(line.text)]
        if shown and shown[0] - fault.number <= _NEAR_LINES and not any(end.search(line.text) for line in lines):
            return around.below[-1].number > shown[-1]
    return False


def _ends_uncaught(fault: Fault) -> bool:
    """Whether it is an exception that ended its program, as far as its traceback tells."""
    return fault.trace is not None and fault.trace.ends_program and not fault.trace.caught


def _is_told_with(line: SeenLine, fault: Fault, scene: Scene) -> bool:
    """Whether a line stands below an earlier complaint of the same words: it is more of what that one says."""
    return any(
        0 < line.number - one.number <= _NEAR_LINES and same_form(one.text, fault.text) for one in scene.record.tail
    )


def _is_between(around: Around, fault: Fault, scene: Scene) -> bool:
    """Whether the program shows below what it showed above: it lets nothing wait, so it printed that later."""
    if fault.trace is not None and fault.trace.cut:
        return False  # a full buffer had been written out before
    above, below = around.above[-_SERIES_LINES:], around.below[:_SERIES_LINES]
    if fault.trace is None and any(_STOPS.search(line.text) for line in below):
        return False  # what else of it comes was on its way
    if any(same_form(line.text, fault.text) for line in scene.record.tail if line.number < fault.number):
        above = [line for line in above if not _is_told_with(line, fault, scene)]
    if _ends_uncaught(fault):  # the script around it tells of its beginning and its end, too, but not right above
        nearest = above[-1:]
        series = [one for one in above if sum(same_form(one.text, other.text) for other in above) >= _SERIES]
        above = [*series, *nearest]
        below = [line for line in below if not is_bar(line.text)]
    return any(same_form(one.text, other.text) for one in above for other in below)


def _brought_a_result(fault: Fault, around: Around, scene: Scene) -> bool:
    """Whether the last line of all is a result, that no buffer has held back."""
    last, trace = around.below[-1], fault.trace
    if scene.record.last_line is None or last.number != scene.record.last_line.number:
        return False
    if counts_bad(message(last.text).text):
        return False
    if message(fault.text).level in FATAL_LEVELS and _TELLS_TIME.match(message(last.text).text):
        return False
    if trace is None and ends_in_table([line.text for line in scene.record.tail if line.number > fault.number]):
        return True
    waited = (trace is not None and trace.cut) or not any(tells_of_program(line.text) for line in around.above)
    if waited and trace is not None and trace.ends_program and message(trace.before).level not in _WARNED:
        return False
    if trace is not None and trace.is_shown and not waited:
        return True  # the program showed it, and tells more
    if is_result(last.text, sure=True) or len(around.below) < _DID_MORE:
        return is_result(last.text, sure=True)
    if _ends_uncaught(fault):
        return False  # the script around it names figures and files, too
    if trace is None or waited:
        return (not waited or (trace is not None and trace.is_shown)) and is_figure(last.text)
    return is_result(last.text, sure=False)
