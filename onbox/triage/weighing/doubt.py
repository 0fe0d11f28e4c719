"""What of a log speaks against an exit code of 0. Pure.

Such a code is strong: only what a program, a shell or a logger says as its own trouble counts beside it, and no row of
data. A word of success is weak then: a script that goes on after a death says "finished" all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.logs.outcome import Outcome
from onbox.regex import lazy
from onbox.triage.harmless import is_harmless
from onbox.triage.meaning import without_none
from onbox.triage.reading import going_on
from onbox.triage.reading.match import BAD_LEVELS
from onbox.triage.reading.outcome import outcome_of
from onbox.triage.reading.record import PROVEN, WEAK
from onbox.triage.rules.rows import BUG, DIVERGED
from onbox.triage.weighing.outputs import names_result
from onbox.triage.words import TINY_TOOL, TROUBLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.triage.reading.record import Fault, Record, SeenLine
    from onbox.triage.weighing.decide import Decision

# A name and its count, columns, a few words around a number: what a program counted, and not what befell it.
_ROW_OF_DATA = lazy(
    r"\W{0,4}[\w ./-]{1,60}\s{2,40}\d[\d.,]{0,12}\s{0,8}$|.{0,200}[|│].{1,200}[|│]|[^|:]{1,80}\|[^|:]{0,80}$"
    r"|[^|]{1,80}\|\d{1,12}$"
    r"|\s{0,8}\d{1,9}\s{1,20}(?:[\w-]{1,24}\s{0,8}){1,4}$|[\w.-]{1,24},\d{1,9}$"
    r"|(?=.{0,60}\s\d{1,9}(?:\s|$))[\w.-]{1,24}(?:\s{1,8}[\w.-]{1,24}){1,3}\s{0,4}$"
    r"|.{0,80}\b\d{1,9} (?:killed|errors? (?:corrected|fixed))\b"
)
_OF_A_TABLE = lazy(r"\s{0,8}[|│].{1,200}[|│]\s{0,8}$")
_VAGUE = ("error-line", "launcher", "exception")  # rows of which any line may hold the word
_OF_A_SHELL = lazy(r"\S{1,80}: line \d{1,7}: \s{0,8}\d{1,9} \S")
_NO_COMMAND = lazy(
    r"\S{1,80}: (?:line )?\d{1,7}: (?:\S{1,200}: (?:command )?not found|\.{0,2}/\S{1,200}: No such file or directory)$"
)
_OF_A_TOOL = lazy(r"[\w./-]{2,60}: \S")
COMPLAINS_WITHIN = 4  # last lines
# What machines and people write of a failure without the words that are common for it: `"status": "FAILED"`.
_TELLS_OF_LOSS = lazy(
    r"(?i)\b(?:status|state|result|outcome)\W{1,4}(?:failed|failure|error)\b|\b(?:success|ok|passed)\W{1,4}false\b"
    r"|\bexit\W{1,4}[1-9]\d{0,2}\W*$|\babnormal(?:ly)?\b|\bnever (?:answered|came|finished|arrived)\b|\bnothing more\b"
    r"|\b(?:did|does|could|was|were|is|are) not (?:finish|made|possible|complete)|\bnot (?:possible|going on|made)\b"
    r"|\bblocked\W*$|: [a-z ]{1,30} KO\b"
    r"|\b(?P<some>\d{1,6}) (?:of|/) (?!(?P=some)\b)\d{1,6} \w{1,20} (?:failed|copied|survived|done|written|uploaded)\b"
    r"|(?:失败|失敗)(?!.{0,8}0)|\binterromp|\béchou|\bfehlgeschlagen\W*$|\bfalló\b"
)
_FINE = lazy(r"(?i)\((?:fine|ok|ignored|harmless|as (?:wanted|expected|intended)|optional)\)\s{0,4}$")


def doubt_of(record: Record, decision: Decision) -> Fault | None:
    """The fault that speaks against the exit code; None if nothing does. decision: by the log alone."""
    cause = decision.cause
    if cause is not None:
        return cause if _is_trouble(cause) else None
    told = record.last_line is not None and names_result(record.last_line.text)
    return next((one for one in reversed(decision.attempt.faults) if _ended_unseen(one, decision, told=told)), None)


def complaint_at_end(tail: Sequence[SeenLine]) -> SeenLine | None:
    """The newest of the last lines that speaks of a trouble, and does not say that it does not matter; None if none
    does. It is less than a fault: the exit code stays, and is not sure.
    """
    for line in reversed(tail[-COMPLAINS_WITHIN:]):
        if going_on.is_set_aside(line.text) or going_on.MEANT.search(line.text):
            continue
        told, said = without_none(line.text), message(line.text).text
        if _TELLS_OF_LOSS.search(told) or (TROUBLE.search(told) and not is_harmless(said, line.text)):
            return line
    return None


def _is_trouble(fault: Fault) -> bool:
    if TINY_TOOL.match(fault.text) or _FINE.search(fault.text) or _OF_A_TABLE.match(fault.text):
        return False
    if fault.trace is not None or fault.row.explains == DIVERGED or message(fault.text).level in BAD_LEVELS:
        return True
    told = outcome_of(fault.text)
    if fault.row.id in _VAGUE and told is Outcome.MADE:
        return False
    return told is Outcome.LOST or not _ROW_OF_DATA.match(fault.text)


def _ended_unseen(fault: Fault, decision: Decision, *, told: bool) -> bool:
    """Whether a program died by a fault, and no work was told since, whatever was said then. told: the last line names
    a result.
    """
    if fault.handled or fault.severity == WEAK or decision.attempt.signs_after(fault):
        return False
    frames = fault.trace.frames if fault.trace is not None and fault.severity == PROVEN else []
    of_a_command = bool(frames) and frames[0].file == "<string>"  # of `python -c`
    if of_a_command or _NO_COMMAND.match(fault.text):
        return True
    if told or TINY_TOOL.match(fault.text) or _FINE.search(fault.text):
        return False
    of_a_tool = fault.trace is None and fault.row.explains > BUG and _OF_A_TOOL.match(fault.text)
    return fault.ended_program or bool(of_a_tool) or _OF_A_SHELL.match(fault.text) is not None
