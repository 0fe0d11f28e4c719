"""The exit code that a line tells in words, in whatever language: `exited with 137`, `code de sortie : 143`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.epilogue import tells_step_failed
from onbox.triage.reading.match import BY_ID

if TYPE_CHECKING:
    from onbox.triage.reading.record import SeenLine
    from onbox.triage.rules.rows import RuleRow

SHOWN_WITHIN = 5  # lines
_CODE = lazy(
    r"(?:code de (?:sortie|retour)|código de sal[ií]da|codice di uscita|exit-code|rückgabewert|код (?:выхода|завершения"
    r"|возврата)|退出码|退出代码|終了コード|종료 코드)\s?[:=]?\s?(?=(\d{1,3})\W{0,3}$)"
    r"|(?<![\w-])(?:exit(?:ed|ing)?(?:[ _]?code)?|leav(?:e|es|ing)|left(?! (?:out|over|behind))|end(?:ed|ing|s)?"
    r"|return(?:ed|ing|s)?|quit"
    r"|died)\b"
    r"(?! (?:well|good|normally|cleanly|ok\b|at |after |in (?:attempt|try|run|round)\b)).{0,20}?"
    r"(?<![\d:.,-])(-?\d{1,3})\W{0,3}$",
    re.IGNORECASE,
)
_SENT = lazy(r"\+{1,3} (?:sudo )?p?kill\b")
HIGHEST_CODE = 255
SIGNALLED = 128  # what a shell adds to the number of the signal
_OF_CODE = {
    124: "time-limit",
    130: "interrupted",
    134: "aborted",
    137: "exit-137",
    139: "crash-signal",
    143: "terminated",
}


def was_sent(line: SeenLine, tail: tuple[SeenLine, ...]) -> bool:
    """Whether the shell shows right above that the script itself ended what the line tells the code of."""
    return any(0 < line.number - other.number <= SHOWN_WITHIN and _SENT.match(other.text) for other in tail)


def tells_code(text: str) -> bool:
    """Whether a line ends with an exit code, 0 or another one."""
    return _CODE.search(text) is not None or tells_step_failed(message(text).text)


def row_of_code(text: str) -> RuleRow | None:
    """What the exit code at the end of a line means; None if there is none, or it is 0."""
    found = _CODE.search(text)
    code = int(found[1] or found[2]) if found else 0
    code = SIGNALLED - code if code < 0 else code
    return BY_ID[_OF_CODE.get(code, "launcher")] if 0 < code <= HIGHEST_CODE else None
