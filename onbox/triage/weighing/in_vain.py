"""Whether the end of a log says that nothing came of all the work, whatever was written and said then. Pure.

A loop may come to its end with each of its pieces lost, and the program takes leave as ever. What it says of the whole
then decides: that nothing was scored, that all samples were skipped, that what was made is not good enough to be used.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.logs.outcome import Outcome
from onbox.regex import lazy
from onbox.triage.reading.match import BY_ID
from onbox.triage.reading.outcome import outcome_of
from onbox.triage.reading.record import LOGGED, Fault
from onbox.triage.reading.success import counts_bad_only
from onbox.triage.reasons import told_in

if TYPE_CHECKING:
    from onbox.triage.reading.record import LogAttempt, Record, SeenLine

_TOLD_IN_LAST = 6  # lines
_PIECES = (
    r"(?:trials|runs|jobs|tasks|models|seeds|folds|requests|prompts|replicas|samples|examples|questions|images|files|records"
    r"|pairs|sequences|tokens|entries|points|answers|responses|lines|rows|parts|tiles|volumes|objects|vectors|embeddings|predictions"
    r"|documents|videos|clips|items|episodes|batches|shards|sequences|chunks|pages|urls|configs|candidates|workers|databases|e?mails|messages|completions)"
)
_LOST = r"(?:failed|skipped|dropped|rejected|errored|discarded|lost|unusable|unreadable|invalid|empty)"
# None of the pieces of a work brought anything. That none passed, is a result.
_NOTHING_CAME = lazy(
    r"(?i)(?:^|[,;:(|]\s?|\. )0 (?:(?:of|out of|/) ?\d{1,9} )?(?:\w{1,20} )?(?:with (?:a|any) \w+|judged|answered"
    r"|scored|succeeded|successful|completed|evaluated|finished|trained"
    r"|converted|rendered|exported|transcribed|embedded"
    r"|translated|delivered)\b"
    rf"|\bover 0 (?!h|min|sec|days?\b)\w{{3,}}|\ball \d{{1,9}} {_PIECES} (?:have |were )?(?:been )?{_LOST}\b"
    r"|\bno (?:trials?|runs?|models?|jobs?|seeds?) (?:(?:is|are|was|were|has|have) )?(?:been )?"
    r"(?:completed|finished|succeeded)\b"
    rf"|(?<![\w./,])(?P<whole>\d{{1,9}}) ?(?:of|/|out of) ?(?P=whole) {_PIECES} (?:have |were )?(?:been )?"
    rf"(?:{_LOST}|(?:could |can)not be \w{{4,}})\b"
    rf"|(?:^|[,;:(]\s?)0 {_PIECES} (?:were |was )?(?:written|embedded|saved|produced|indexed|exported)\b"
    r"(?!.{0,60}\b(?:unchanged|cached|already|up[- ]to[- ]date|skipp\w+)\b)"
    rf"|^\W*(?:\w+: )?(?:done|finished|complete[d]?)\W{{1,3}}0 {_PIECES}\b"
    r"|\b(?!skipp|fail|reject|dropp|miss|error|corrupt|lost|retri)[a-z]{3,12}(?:ed|t) 0 (?:of|out of|/) ?[1-9]\d{0,8}\b"
    r"|\(0 (?:results?|scores?|samples?)\)"
    rf"|(?:^\W*|: )(?:evaluated|scored|graded|judged|transcribed|rendered|embedded|trained (?:on )?) 0 {_PIECES}\b"
)
# What was made is not to be used, or was not even kept.
_NOT_TO_BE_USED = lazy(
    r"(?i)\b(?:rejected|blocked|refused|held back|stopped|failed) (?:by|at) (?:the )?(?:[\w-]{3,20} ){0,2}gate\b"
    r"|\bgate\b(?: \w+)?\W{1,3}(?:not passed|failed|rejected|blocked|fail\b)"
    r"|\bbest (?:model|checkpoint|weights)\W{1,3}none\W*$"
    r"|\bno (?:model|checkpoint|weights) (?:will be|was|were|has been|have been|could be) "
    r"(?:kept|saved|written|exported)\W*$"
    r"|\bstopp(?:ing|ed)\b.{0,40}\bwithout (?:any |a )?(?:sav\w+|results?)\b"
)


def nothing_came(tail: tuple[SeenLine, ...]) -> bool:
    """Whether the last lines say that none of the pieces of the work brought anything."""
    return _line_of_it(tail) is not None


def _line_of_it(tail: tuple[SeenLine, ...]) -> SeenLine | None:
    said = ((line, message(line.text).text) for line in tail[-_TOLD_IN_LAST:])
    return next((line for line, text in said if _NOTHING_CAME.search(text) or counts_bad_only(text)), None)


def told_in_vain(record: Record, attempt: LogAttempt) -> Fault | None:
    """The fault that stands for all the lost pieces, or for a result that is of no use; None where no line tells that.

    record: without what takes leave at its end.
    """
    line = _line_of_it(record.tail)
    pieces = Counter(fault.row.id for fault in attempt.faults)
    if line is not None and pieces:
        most = pieces.most_common(1)[0][0]
        newest = next(fault for fault in reversed(attempt.faults) if fault.row.id == most)
        return newest._replace(severity=LOGGED, handled=False)
    line = line or _not_to_be_used(record)
    if line is None:
        return None
    return told_in([line], attempt) or Fault(BY_ID["error-line"], line.number, line.text, LOGGED, attempt.progress)


def _not_to_be_used(record: Record) -> SeenLine | None:
    for line in reversed(record.tail[-_TOLD_IN_LAST:]):
        if _NOT_TO_BE_USED.search(message(line.text).text):
            return line
        if outcome_of(line.text) is Outcome.MADE:
            return None
    return None
