"""What a sentence behind a loop tells: a figure, or that it stopped where the counter stands. Pure.

`frozen, final tour length 7.0021`, `kept 3 of 12 features`, `no weak learner better than chance, stop at t=38`:
everybody words that in a way of their own. What tells it from a remark on the way is that nothing like it stood there
before, and that it has none of the words of a loop, or of what begins now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.ending.closing_line import form, is_bad, is_grave, is_result, makes, said
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

SENTENCES = 3  # lines at most
LONG_LOOP = 5  # lines that count, until a sentence behind them stands out
WORDS = 12  # of a sentence that tells a figure
_A_WORD = lazy(r"[^\W\d_]{2,}")
_NO_SENTENCE = lazy(
    r"://|^\W*(?:at|File|from|in) |[{}\\]|\b\w{1,40}\.(?:py|java|rb|c|cc|cpp|go|rs|js|ts):\d|^\W*\w{1,60}:$|^#\d"
)
_BEGINS = (
    "now|next|then|again|will|still|also|skip\\w*|retr(?:y|ies|ied)|wait\\w*|sle(?:ep|pt)\\w*|reduc\\w*|increas\\w*"
    "|decreas\\w*|resum\\w*|switch\\w*|grow\\w*|grew|enter\\w*|add(?:ed|s)?|reset\\w*|drop\\w*|mov\\w*|chang\\w*|us(?:es|ed)"
    "|rebuil\\w*|resiz\\w*|restart\\w*|split\\w*|rotat\\w*|flush\\w*|swapp\\w*|warn\\w*|note|gc|[a-z]{2,14}ing"
)
_OF_A_LOOP = (
    "stage|phase|part|pass|level|round|cycle|fold|trial|chain|seed|run|worker|rank|node|thread|process|client|request"
    "|queue|attempt|memory|mem|gpu|cpu|disk|cache|temperature|temp|rate|lr|patience|val\\w*|eval\\w*|epochs?|steps?|iter\\w*"
    "|checkpoint\\w*|ckpt|snapshot|batch\\w*|restart\\w*|start\\w*|load\\w*|init\\w*|so far|current\\w*|new|pid|port"
    "|warn\\w*|slow\\w*|elapsed|eta|left|remaining|pending|interrupt\\w*|signal|abort\\w*|kill\\w*|cancel\\w*|errors?|fail\\w*|lost|nan"
    "|inf|compil\\w*|captur\\w*|warm\\w*|prepar\\w*|connect\\w*|register\\w*|join\\w*|kernels?|crash\\w*|died|dead"
)
_GOES_ON = lazy(
    rf"(?i)^\W*(?:\[[^\[\]]{{1,40}}\] ?)?(?:{_BEGINS})\b|(?<![a-z])(?:{_OF_A_LOOP})(?![a-z])|[:\u2026]\s*$|\.\.\.\s*$"
)
# Indented below the line of its piece, a bar that was cut, what a logger warns of.
_OF_A_PIECE = lazy(r"^\s|[\u2500-\u259f]{2}|%\||\b(?:WARN(?:ING)?|DEBUG)\b")
_OVER = (
    "(?:stop(?:s|ped|ping)?|done|end(?:s|ed|ing)?|finish(?:ed|ing)?|terminat\\w+|halt(?:ed)?|quit\\w*|complete[d]?"
    "|converged|stable|settled)"
)
_WHOLE = r"(?:[a-z]{1,14}[ =#]{0,2})?(?P<%s>\d{1,12})(?![\w/%%]|[.,]\d)"
_AT = lazy(
    rf"(?i)\b{_OVER},? (?:at|after|in|on|with) {_WHOLE % 'behind'}(?: (?!m?s\b|sec|min|hour)[a-z]{{3,14}})?"
    r"(?:\W*$|\s?[(;,] ?(?!will|then|next|now|resum|restart).{1,120}$)"
    rf"|\b(?:at|after|in) {_WHOLE % 'before'}(?: [a-z]{{3,14}})?[,;:.]? (?:so )?{_OVER}\W*$"
)
_FOR_ANOTHER_REASON = lazy(
    r"(?i)\b(?:sig[a-z]{3,5}\d?|signals?|user|ctrl|disk|space|memory|time[ -]?limit|wall[ -]?time|time[ -]?out"
    r"|preempt\w*|inf|diverg\w*|lost|dead|unreachable|eval\w*|valid\w*|checkpoint\w*|sav\w+|warm\w*)\b"
    r"|(?<![a-z])nans?(?![a-z])"
)


def tells_a_figure(text: str) -> bool:
    """Whether a sentence tells some figure, in none of the words that a loop has on its way: `hits 412 (45.8%)`."""
    if _NO_SENTENCE.search(text) or _GOES_ON.search(text):
        return False
    return 0 < len(_A_WORD.findall(text)) <= WORDS and any(map(str.isdigit, text))


def ends_in_sentence(lines: Sequence[str], counted: int) -> bool:
    """Whether a few lines stand behind those that count, none like them before, and the last tells a figure, a result,
    or that something was made.
    """
    at = max(counted, _unlike_all_before(lines))
    after = lines[at:]
    if counted < LONG_LOOP or not 0 < len(after) <= SENTENCES:
        return False
    known = {form(line) for line in lines[:at]}
    if any(form(line) in known or _is_on_the_way(line) for line in after):
        return False
    return tells_a_figure(said(after[-1])) or is_result(after[-1]) or makes(after[-1])


def _unlike_all_before(lines: Sequence[str]) -> int:
    """How many lines there are up to the last one of a form that came before: not all lines of a loop count."""
    forms = [form(line) for line in lines]
    return next((at for at in range(len(lines), 0, -1) if forms[at - 1] in forms[: at - 1]), 0)


def _is_on_the_way(line: str) -> bool:
    if is_bad(line) or is_grave(line) or _OF_A_PIECE.search(line):
        return True
    return _GOES_ON.search(said(line)) is not None


def stops_at(lines: Sequence[str], current: float) -> bool:
    """Whether the last line says that it stops, or is done, where the counter stands, as no line before it did."""
    found = _AT.search(said(lines[-1])) if lines else None
    if found is None or current != float(found["before"] or found["behind"]):
        return False
    last = lines[-1]
    if "epoch" in said(last)[: found.start()].lower():
        return False  # `epoch done at 500`
    if form(last) in {form(line) for line in lines[:-1]}:
        return False
    return not (is_bad(last) or is_grave(last) or _FOR_ANOTHER_REASON.search(last))
