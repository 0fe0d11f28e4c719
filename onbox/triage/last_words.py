"""What the last lines of a log say where no rule knows them: that the program stops itself, and why. Pure.

A live log ends with progress or with a remark; one of a program that has died ends with its complaint. So the last
lines count for more than the same words in the middle, but only if they name a trouble (see `meaning.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.logs.outcome import Outcome
from onbox.regex import lazy
from onbox.triage.ends_badly import ends_badly
from onbox.triage.harmless import is_harmless
from onbox.triage.meaning import CLEAR, ENOUGH, ROWS, SURE, is_slip, meaning_of, row_of, without_none
from onbox.triage.reading import going_on, signs
from onbox.triage.reading.match import (
    BAD_LEVELS,
    BY_ID,
    LISTED_WARNING,
    QUIET_LEVELS,
    REMARK_LEVELS,
    WARNED_IN_R,
    WARNING_IN_R,
    progress_of,
)
from onbox.triage.reading.outcome import outcome_of
from onbox.triage.reading.record import LOGGED, WEAK, Fault
from onbox.triage.reading.success import is_test_report
from onbox.triage.rules.demands import MEANT_IN_LINE, refuses
from onbox.triage.rules.files import class_of_file
from onbox.triage.told_code import row_of_code, was_sent
from onbox.triage.words import STOPS, TROUBLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.logs.model.lines import LogMessage
    from onbox.triage.reading.record import LogAttempt, SeenLine
    from onbox.triage.rules.rows import RuleRow

LOOKED_AT = 5  # last lines
FATAL_LEVELS = ("FATAL", "CRITICAL")
MESSAGE_LINES = 3  # that a message may go on for
FAR_BEHIND = 12  # lines
INFORMED = 3  # lines in which a logger tells what the program does next
# What a program calls an error in other languages than English; before a number it is a measure.
ERROR_WORDS = (
    "fehler|abbruch|erreur|errore|erro|fout|hata|błąd|fel|chyba|virhe|feil|hiba|eroare"
    "|ошибка|помилка|lỗi|خطأ|エラー|오류|错误|錯誤"
)
_SAYS_ERROR = lazy(
    r"^E: \S|^(?:\S{1,40} ){0,2}(?:error|fatal)\b\s?[:(]|\(code \d{1,3}\)"
    rf"|^(?:{ERROR_WORDS})\s?[:\uff1a](?! ?[\d.,]{{1,20}}\s?%?$)"
    r"|^(?:\S{1,40} ){0,6}error\W{1,3}(?!0\b)\d{0,4}\W{0,3}$|^.{0,60}\((?:abort|error|fatal)\) ?:"
    r"|\berrors? occurred\b|\b(?:completed|finished|done|ended) with [1-9]\d{0,8} (?:errors?|failures?)\b"
    r"|^(?!use of uninitialized).* at \S{1,200} line \d{1,9}(?:, <\S{0,20}> (?:line|chunk) \d{1,12})?\.$",  # of Perl
    re.IGNORECASE,
)
ITS_OWN_ERROR = lazy(
    rf"^(?:(?:error|fatal)\b ?:|(?:{ERROR_WORDS})\s?[:\uff1a]) ?(?![\d.,]{{1,20}}(?:e[-+]?\d{{1,3}})?\s?%?$)\S",
    re.IGNORECASE,
)  # without a logger's time or name
# `tool: what went wrong`, as Unix tools complain, and `stage failed: why`.
_OF_A_TOOL = lazy(
    r"^(?!(?:finished|done|completed?|summary|results?|total)\b)"
    r"(?=(?:/|\./)?[\w.+/-]{1,120}(?::\d{1,9}){0,2}: |.{0,60}\bfail(?:ed|ure): \S)(?=.*\b"
    r"(?:cannot|can't|could not|unable"
    r"|fail(?:ed|ure|s)|premature|invalid|unknown|unterminated|unmatched|unexpected|missing|not found"
    r"|denied|refused|no such|bad"
    r"|illegal|unsupported|unrecogni[sz]ed|too (?:many|long|large|few|small)|exceed\w{0,3}|duplicate|mismatch\w{0,2}"
    r"|undefined|undeclared|expected|corrupt\w{0,3}|truncated|not (?:an?|valid|allowed|supported|enough)|out of"
    r"|singular|infeasible|syntax error|broken pipe|timer expired|no child processes|owner died|is a directory"
    r"|(?:file|already) exists|not empty|unavailable|is down|refused|timed out|unauthorized|rejected|busy)\b)",
    re.IGNORECASE,
)
_NOTHING_IS_THERE = lazy(
    r"(?i)(?:[^,;:]{1,80}, nothing (?:was |has been )?"
    r"(?:installed|written|saved|published|uploaded|deployed|sent)\W{0,3}$)"
    r"|\W{0,4}(?:[\w.-]{1,40}: )?(?:no|nothing)(?: \w{3,20}){0,2} (?:(?:was|were|has been|have been|could be) )?"
    r"(?:written|saved|produced|published|exported|uploaded|kept|stored|created)\W{0,3}$"
)
_OF_ANY_TOOL = lazy(r"[\w.-]{1,60}(?:\[\d{1,9}\])?: ")
# What a program trips over when it takes itself down.
_AT_ITS_END = lazy(r"NoneType|__del__|\b(?:clos|clean|shut|tear|exit|unload|releas|disconnect)\w*", re.IGNORECASE)
_CLAUSES = lazy(r"[,;] ")
_QUOTED_WORD = lazy(r"(?<!\w)(['\"`])[\w-]{1,30}\1")  # a name of something
_WARNINGS = lazy(r"(?:^|: )warning messages?:\s{0,4}$|^\W{0,4}warnings?\W{0,4}$", re.IGNORECASE)
_INCOMPLETE = lazy(
    r"\b(\d{1,12}) of (\d{1,12})\b.{0,60}\b[1-9]\d{0,11} (?:\w{1,20} )?"
    r"(?:lost|missing|not (?:stored|written|copied|read|saved|uploaded))\b",
    re.IGNORECASE,
)
_OWN_NAME = lazy(
    r"^((?:[a-z_]\w{0,40}\.){0,6}(?:[A-Z][a-z]{1,30}){2,6}): (\S.*)$"
)  # an exception of the program's own, without "Error"
SAYS_IT_FAILED = BY_ID["launcher"]._replace(id="says-it-failed")
_FAILS = lazy(r"\bfail(?:ed|ure)\W{0,3}$", re.IGNORECASE)
_SKIPPED_STEP = lazy(r"(?i)\bskip(?:ped)?\W{0,3}$")
_FAILED_STEP = lazy(r"(?i)\b(?:fail(?:ed)?|ko)\W{0,3}$")
_CODES = ("bare-terminated", "terminated", "exit-137")  # rows that know what an exit code means
CHECK_LINES = 12
# What Python says of a slip, as a line of its own: a program that prints the exception it has caught, and leaves.
_PRINTED = lazy(
    r"'[\w.]{1,80}' object (?:has no attribute|is not|does not) .{1,80}|name '\w{1,60}' is not defined"
    r"|(?:list|string|tuple|pop) .{0,24}index out of range|.{0,60}object is not (?:callable|iterable|subscriptable)"
    r"|(?:[\w.]{1,80}\(\) )(?:missing \d{1,2} required|got an unexpected keyword|takes \d{1,2}) .{1,120}"
    r"|unsupported operand type\(s\) for .{1,80}|can only concatenate .{1,60}|(?:float )?division by zero"
    r"|(?:too many|not enough) values to unpack.{0,40}|cannot access local variable .{1,80}"
    r"|local variable '\w{1,60}' referenced before assignment"
)


def are_checks(tail: tuple[SeenLine, ...]) -> bool:
    """Whether there are lines of a configure script, which tries what is there."""
    return any(signs.CONFIGURE_CHECK.search(line.text) for line in tail)


def are_no_words(attempt: LogAttempt, tail: tuple[SeenLine, ...]) -> bool:
    """Whether the log ends in what says nothing of its own end: a check of a configure script, which is meant to find
    out, a traceback that was set aside, or tests that all passed.
    """
    if attempt.success is not None and is_test_report(message(attempt.success.text).text):
        return True
    if are_checks(tail[-CHECK_LINES:]):
        return True
    set_aside = {fault.number for fault in attempt.faults if fault.trace is not None and fault.severity == WEAK}
    return any(line.number in set_aside for line in tail[-LOOKED_AT:])


def last_words(attempt: LogAttempt, tail: tuple[SeenLine, ...]) -> Fault | None:
    """The complaint that the log ends with; None if it ends otherwise."""
    began = attempt.started.number if attempt.started else 0
    tail = without_warnings(line for line in tail if line.number > began)
    if tail and ends_badly(tail[-1].text):
        known = next((one for one in attempt.faults if one.number == tail[-1].number and one.row.id in _CODES), None)
        return known or fault_of(_named_in(tail[-1].text) or SAYS_IT_FAILED, tail[-1], attempt)
    failed = failed_step(tail)
    if failed is not None:
        return fault_of(SAYS_IT_FAILED, failed, attempt)
    if attempt.success is not None:
        return _ended_by_somebody(attempt, tail) or _failed_after_all(attempt, tail) or _left_nothing(attempt, tail)
    vague: Fault | None = None
    stops, previous = False, ""
    complains = any(_complains(message(line.text), line.text) for line in tail[-LOOKED_AT:])
    for line in reversed(tail[-LOOKED_AT:]):
        said = message(line.text)
        form = "".join(filter(str.isalpha, said.text))
        if form == previous and any(map(str.isdigit, said.text)):
            break  # the same again with other numbers: a loop
        previous = form
        if _INCOMPLETE.search(said.text):  # it says that it has finished, and has not
            return fault_of(ROWS["data_error"], line, attempt)
        if said.level not in BAD_LEVELS and progress_of(line.text, said) and not _tells_of_loss(line, tail, attempt):
            break
        stops = stops or bool(STOPS.search(said.text))
        if said.level not in BAD_LEVELS and _PRINTED.fullmatch(said.text.strip()):
            return fault_of(BY_ID["defect"], line, attempt)
        row = _row_of(said, line.text, stops=stops, sure=complains, is_last=line is tail[-1])
        if row is not None:
            return fault_of(row, line, attempt)
        vague = vague or _vague(said, line, tail, attempt)
    return vague


def failed_step(tail: tuple[SeenLine, ...]) -> SeenLine | None:
    """`step 3: train [FAIL]`, where all that follows is that the later steps were skipped."""
    left = len(tail)
    while left and _SKIPPED_STEP.search(tail[left - 1].text):
        left -= 1
    above = tail[left - 1] if 0 < left < len(tail) else None
    return above if above is not None and _FAILED_STEP.search(above.text) else None


def _named_in(text: str) -> RuleRow | None:
    """The kind of trouble that a last line names beyond doubt; None if it names none."""
    found = meaning_of(message(text).text)
    return row_of(found) if found is not None and found.score >= CLEAR and not found.rivals else None


def _ended_by_somebody(attempt: LogAttempt, tail: tuple[SeenLine, ...]) -> Fault | None:
    """Beside a word of success: that a person or the machine's owner stopped the program before its end."""
    if attempt.reached_end:
        return None
    for line in tail[-LOOKED_AT:]:
        said = message(line.text)
        found = meaning_of(said.text) if STOPS.search(said.text) else None
        if found is not None and found.failure_class in ("user_interrupt", "preempted") and not found.rivals:
            return fault_of(ROWS[found.failure_class], line, attempt)
    return None


def _left_nothing(attempt: LogAttempt, tail: tuple[SeenLine, ...]) -> Fault | None:
    """The last line of all, where it says behind a word of success that nothing is there: `No solution written.`, or
    that the program stops without it.
    """
    said = message(tail[-1].text) if tail else None
    if said is None or said.level is not None:
        return None
    stops = STOPS.search(said.text) and outcome_of(tail[-1].text) is Outcome.LOST and not attempt.reached_end
    if not stops and not _NOTHING_IS_THERE.match(said.text):
        return None
    return None if is_harmless(said.text, tail[-1].text) else fault_of(BY_ID["error-line"], tail[-1], attempt)


def _failed_after_all(attempt: LogAttempt, tail: tuple[SeenLine, ...]) -> Fault | None:
    """The last line of all, where a logger's error there names a defect, or stands far behind the word of success: that
    was of a part only.
    """
    assert attempt.success is not None
    last = next((line for line in reversed(tail) if message(line.text).text.strip()), None)
    said = message(last.text) if last is not None else None
    if last is None or said is None or said.level not in BAD_LEVELS or attempt.reached_end:
        return None
    if is_harmless(said.text, last.text) or _AT_ITS_END.search(said.text):
        return None
    since = [message(line.text) for line in tail if line.number > attempt.success.number]
    if is_slip(said.text) and sum(one.level == "INFO" for one in since) >= INFORMED:
        return fault_of(BY_ID["defect"], last, attempt)
    if len(since) < FAR_BEHIND:
        return None
    found = meaning_of(said.text, enough=ENOUGH)
    return fault_of(row_of(found) if found else BY_ID["error-line"], last, attempt)


def without_warnings(tail: Iterable[SeenLine]) -> tuple[SeenLine, ...]:
    """Without the lines that stand below a headline of warnings."""
    kept: list[SeenLine] = []
    above, below_headline = "", False
    for line in tail:
        below_headline = bool(_WARNINGS.search(above)) or (below_headline and _goes_on(line.text))
        if not below_headline:
            kept.append(line)
        above = line.text
    return tuple(kept)


def _goes_on(text: str) -> bool:
    """Whether a line may stand in a list of warnings: R tells the call, and below it the warning."""
    return text[:2] == "  " or any(one.match(text) for one in (WARNING_IN_R, WARNED_IN_R, LISTED_WARNING))


def _is_new_trouble(line: SeenLine, tail: tuple[SeenLine, ...]) -> bool:
    """Whether a line names a trouble in words that the log has not used before."""
    form = "".join(filter(str.isalpha, line.text))
    clauses = (
        clause
        for clause in _CLAUSES.split(_QUOTED_WORD.sub("", without_none(line.text)))
        if not clause.strip()[:1].isdigit()
    )  # `, 2 left out by error`
    return any(map(TROUBLE.search, clauses)) and all(
        form != "".join(filter(str.isalpha, other.text)) for other in tail if other is not line
    )


def _vague(said: LogMessage, line: SeenLine, tail: tuple[SeenLine, ...], attempt: LogAttempt) -> Fault | None:
    """A line that tells of a trouble, and not of which kind. The very last one may do so in any words."""
    is_last, harmless = line is tail[-1], is_harmless(said.text, line.text)
    own = is_last and said.level is None and not harmless
    if own and _OWN_NAME.match(said.text):
        return fault_of(BY_ID["exception"], line, attempt)
    if own and _NOTHING_IS_THERE.match(said.text):
        return fault_of(BY_ID["error-line"], line, attempt)
    if attempt.reached_end:
        its_own = ITS_OWN_ERROR.match(said.text) or (own and not _OF_ANY_TOOL.match(said.text))
        lost = its_own and outcome_of(line.text) is Outcome.LOST
        gate = (lost or (is_last and said.level in BAD_LEVELS)) and not harmless and not _AT_ITS_END.search(said.text)
        return fault_of(BY_ID["error-line"], line, attempt) if gate else None
    if own and refuses(said.text):
        return fault_of(MEANT_IN_LINE, line, attempt)
    if own and (_OF_A_TOOL.match(said.text) or _is_new_trouble(line, tail)):
        of_file = class_of_file(said.text)
        return fault_of(ROWS[of_file] if of_file else BY_ID["error-line"], line, attempt)
    if (
        said.level not in ("INFO", "DEBUG")
        and not going_on.MEANT.search(said.text)
        and (row := row_of_code(line.text))
        and not was_sent(line, tail)
    ):
        return fault_of(row, line, attempt)
    if harmless or not (_complains(said, line.text) or (is_last and _ends_in_loss(said, line.text))):
        return None
    return fault_of(BY_ID["error-line"], line, attempt)


def _ends_in_loss(said: LogMessage, text: str) -> bool:
    """Whether the last line says, in whatever words, that the work will not be there."""
    return bool(ITS_OWN_ERROR.match(text)) or (said.level not in QUIET_LEVELS and outcome_of(text) is Outcome.LOST)


def _tells_of_loss(line: SeenLine, tail: tuple[SeenLine, ...], attempt: LogAttempt) -> bool:
    """Whether what looks like progress names a trouble, or is a last word: `14 pages rendered, 0 written`."""
    if attempt.steps.is_habit(line.text):
        return False
    return _is_clear(message(line.text).text) or (line is tail[-1] and outcome_of(line.text) is Outcome.LOST)


def _is_clear(text: str) -> bool:
    found = meaning_of(text)
    return found is not None and found.score >= CLEAR


def _row_of(said: LogMessage, text: str, *, stops: bool, sure: bool, is_last: bool) -> RuleRow | None:
    if is_harmless(said.text, text):
        return None
    if said.level in QUIET_LEVELS and not STOPS.search(said.text):
        return None
    own = _OWN_NAME.match(said.text)
    ends = is_last and _FAILS.search(said.text)
    enough = ENOUGH if stops or ends or _SAYS_ERROR.search(said.text) else SURE
    found = meaning_of(own[2], own[1]) if own else meaning_of(said.text, enough=enough)
    if found is None:
        return None
    if not (
        stops
        or ends
        or own
        or said.level in BAD_LEVELS
        or (said.level is None and found.score >= (SURE if sure else CLEAR))
    ):
        return None
    return row_of(found)


def _complains(said: LogMessage, text: str) -> bool:
    """Whether a line says only that there was an error."""
    if said.level in REMARK_LEVELS:
        return False
    if said.level in FATAL_LEVELS:
        return not is_harmless(said.text, text)
    return bool(_SAYS_ERROR.search(said.text)) and not is_harmless(said.text, text)


def fault_of(row: RuleRow, line: SeenLine, attempt: LogAttempt) -> Fault:
    """A line that complains, as a fault of some row."""
    return Fault(row, line.number, line.text, LOGGED, attempt.progress)
