"""What a program printed itself, apart from loggers, stacks and complaints: it tells whether the program came further.
Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from onbox.logs.model.life import SHOWS_BAR
from onbox.logs.model.lines import message
from onbox.logs.model.writers import NOBODY, writer_of
from onbox.regex import lazy
from onbox.triage.epilogue import HOUSEWORK, is_of_who_started
from onbox.triage.reading import signs
from onbox.triage.reading.match import TRACKER
from onbox.triage.reading.tracebacks import CHAIN, HEADER
from onbox.triage.stacks import FRAME
from onbox.triage.words import LOUD, TROUBLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.triage.reading.record import Fault, Record, SeenLine

# What belongs to a stack beside its frames: code, notes, and what warnings of Python's look like.
_OF_A_STACK = lazy(
    r"^\s|^\+{1,3} \S|^note: (?:run with|Some details)|^stack backtrace:|^Node\.js v\d|^Caused by: |^Calls: "
    r"|\.py:\d{1,7}: \w{0,60}Warning: "
)
# What a shell or a scheduler tells before a program begins.
_HEADER = lazy(
    r"^[+$#] |^[=*#-]{3,}|\b(?:job|node|host(?:name)?|date|user|module|conda|venv|slurm\w*|directory|pwd)\b"
    r"|^\W{0,4}(?:start|launch|runn|submitt|execut|begin)\w*\b|\d\d:\d\d:\d\d",
    re.IGNORECASE,
)
_ENDING = lazy(
    r"\b(?:exit\w*|quit\w*|bye|giv\w+ up|gave up|abort\w*|terminat\w*|shut\w* down|stopp\w+|clean\w* up|killed"
    r"|(?:job|script|run) (?:end\w*|finished))\b",
    re.IGNORECASE,
)
# What it is about to do, where its loop stands, or what the reader is to do.
_AT_WORK = lazy(
    r"\b(?:use|try|please|see|check|set|consider|hint|must|should)\b|^\W{0,4}\w+ing\b|\.\.\.\W{0,2}$|\u2026\W{0,2}$"
    r"|\b(?:step|epoch|iter\w*|batch|fold|round|trial|part|chunk|tile|sweep|cycle|task|shard|file|page|stage|block)"
    r"[\s:=#\[(]{1,4}\d",
    re.IGNORECASE,
)
_FILE = r"[\w./+-]{0,200}\w\.[A-Za-z][A-Za-z0-9]{1,8}\b"
_NAMES_A_FILE = lazy(rf"(?<![\w./+-]){_FILE}")
_OF_A_LISTING = lazy(r"total \d{1,12}$")  # of `ls -l`
_FIGURE_OR_FILE = lazy(rf"\d|(?<![\w./+-]){_FILE}")
_SUMS_UP = lazy(
    r"^\W{0,4}(?:\w{1,20}\W{1,3}){0,2}?(?:mean|average|avg|total|sum|median|overall|best|final|result|summary"
    r"|score)s?\b"
    rf".{{0,120}}\d|^\W{{0,4}}(?:\w{{1,20}} )?(?:report|output|results?|table|plot)s?\W{{1,4}}(?:in |at |to )?{_FILE}",
    re.IGNORECASE,
)
_BAD_CODE = lazy(r"(?i)\b(?:rc|exit ?code|exit ?status)\s?[=:]\s?-?[1-9]\d{0,2}\b|\breturned [1-9]\d{0,2}\W{0,3}$")
_OF_THE_BEST = lazy(r"^\W{0,4}(?:best|final|overall|winner)\b(?!.{0,40}\bso far\b).{0,80}\d", re.IGNORECASE)
# A name and its figure, and no more.
_FIGURE = lazy(
    r"^\W{0,4}[A-Za-z][\w ./()-]{0,40}?[:=\s]\s{0,8}[-+]?\d[\d.,e+-]{0,20}"
    r"(?: (?:\+-|\+/-|\u00b1) [\d.]{1,20})?(?: ?\w{1,8}| ?%)?\W{0,2}$"
)
_WORDS = lazy(r"\S+")
_DIGITS = lazy(r"\d+")
_BAR = lazy(SHOWS_BAR)
_MARK = lazy(r"^([^\w\s]{2,6}|\[[^\]\w]?\d{1,4}/\d{1,4}\])\s?\w")
_SPACES = lazy(r"\S(?:\S| (?! ))*")
_NAMES_RESULT = lazy(r"\d|\w\.[A-Za-z][A-Za-z0-9]{1,8}\b|\b(?i:ok|success\w*|passed)\b")
_SPEAKS = lazy(
    r"^[\w./-]{1,60}: |\b[\w-]{1,60}\.(?:sh|py|pl|rb|js|sbatch|slurm|pbs) (?=done|end|finish|complete)"
)  # `run.sh: done`
_TIME = lazy(r"\d\d:\d\d:\d\d")
_SPEAKER = lazy(r"\[[a-z][a-z_.-]{2,20}\](?= )")
_ECHO = lazy(r"\+{1,4} echo ")
FORM_LETTERS = 4
LEAST_LETTERS = 2
ALIKE_WORDS = 3
COLUMNS = 2
KEPT_LINES = 256
FORMER_LINES = 40


def printed(lines: Iterable[SeenLine]) -> list[SeenLine]:
    """The lines that neither a logger nor a stack shows, and that complain of nothing."""
    found: list[SeenLine] = []
    in_trace = False
    for line in lines:
        if HEADER.search(line.text):
            in_trace = True
        elif in_trace:
            in_trace = line.text[:1] in ("", " ", "|")  # the exception's own line is the last
        elif _is_plain(line.text):
            found.append(line)
    return found


def told_of(lines: Iterable[SeenLine]) -> list[SeenLine]:
    """The lines that complain of nothing, whoever shows them, without stacks and farewells."""
    plain = (line for line in lines if not _is_of_a_stack(line.text) and not complains(line.text))
    return [line for line in plain if not is_farewell(line.text)]


@lru_cache(KEPT_LINES)
def _is_plain(text: str) -> bool:
    said = message(text)
    if sum(map(str.isalnum, said.text)) < LEAST_LETTERS:
        return False
    return not (said.level is not None or said.source or _is_of_a_stack(text) or complains(text))


def _is_of_a_stack(text: str) -> bool:
    return bool(HEADER.search(text) or CHAIN.search(text) or FRAME.search(text) or _OF_A_STACK.search(text))


def complains(text: str) -> bool:
    """Whether a line speaks of a trouble."""
    words = (LOUD, TROUBLE, signs.STOPPED, _BAD_CODE)
    return bool(TRACKER.match(text) or any(word.search(text) for word in words))


def tells_of_program(text: str) -> bool:
    """Whether it is the program's line rather than one that a shell or a scheduler shows before it begins."""
    return not _HEADER.search(text)


def is_of_another(text: str, source: str) -> bool:
    """Whether another container or process wrote a line than the one that `source` names; False where one has no
    name.
    """
    told, of = writer_of(message(text).source), writer_of(source)
    return NOBODY not in (told, of) and told != of


def is_of_new_speaker(line: SeenLine, fault: Fault, record: Record) -> bool:
    """Whether a line names its writer, and none of those near above a fault was his: `[entrypoint] training finished`
    below what a program prints without a name.
    """
    speaker = _SPEAKER.match(line.text)
    if speaker is None:
        return False
    above = [one.text for one in record.tail if 0 <= fault.number - one.number < FORMER_LINES]
    return not any(text.startswith(speaker[0]) for text in above)


def is_echoed(line: SeenLine, record: Record) -> bool:
    """Whether a shell that shows its commands was told to say a line."""
    above = next((one.text for one in reversed(record.tail) if one.number < line.number), "")
    return _ECHO.match(above) is not None and above.rstrip("'").endswith(line.text.strip())


def is_bar(text: str) -> bool:
    """Whether a line is a bar, which is drawn once more when its program leaves."""
    return bool(_BAR.search(text))


def is_farewell(text: str) -> bool:
    """Whether it only says that the program leaves."""
    return bool(_ENDING.search(text))


def is_result(text: str, *, sure: bool) -> bool:
    """Whether a line tells what came out, as the last one of a program does. sure: only what sums up or was saved; else
    any line that holds a figure or a file, and neither begins a work nor counts a loop.
    """
    if _OF_A_LISTING.match(text) or HOUSEWORK.match(message(text).text) or is_of_who_started(text):
        return False
    of_the_best = _OF_THE_BEST.match(text)  # `best: trial 7 with val_loss 0.18` counts no loop
    if (_AT_WORK.search(text) and not of_the_best) or is_farewell(text) or signs.FAILED.search(text):
        return False
    if signs.SAVED.search(text) and _FIGURE_OR_FILE.search(text):
        return not signs.MIDWAY.search(text)
    return bool((_SUMS_UP if sure else _FIGURE_OR_FILE).search(text))


def names_result(text: str) -> bool:
    """Whether a line names what came of the work: by a number, a file or its success, and not who started it."""
    said = message(text).text
    if HOUSEWORK.match(said) or _TIME.search(said) or is_of_who_started(text) or TRACKER.match(text):
        return False
    return _NAMES_RESULT.search(_SPEAKS.sub("", said)) is not None


def names_a_file(text: str) -> bool:
    return bool(_NAMES_A_FILE.search(text))


def is_figure(text: str) -> bool:
    """Whether a line gives a figure a name, and says no more."""
    if _AT_WORK.search(text) or _OF_A_LISTING.match(text) or is_of_who_started(text):
        return False
    return bool(_FIGURE.match(text))


def same_form(one: str, other: str) -> bool:
    """Whether two lines are of one series: the same words with other numbers or names, the same mark before them, or
    the same columns.
    """
    letters = ["".join(filter(str.isalpha, text)) for text in (one, other)]
    if letters[0] == letters[1] and len(letters[0]) >= FORM_LETTERS:
        return True
    marks = [_MARK.match(text) for text in (one, other)]
    if marks[0] and marks[1] and _DIGITS.sub("", marks[0][1]) == _DIGITS.sub("", marks[1][1]):
        return True
    return _share_words(one, other) or _share_columns(one, other)


def _share_words(one: str, other: str) -> bool:
    words = [[_DIGITS.sub("0", word) for word in _WORDS.findall(text)] for text in (one, other)]
    if len(words[0]) != len(words[1]) or len(words[0]) < ALIKE_WORDS:
        return False
    if words[0][0] != words[1][0] and (_AT_WORK.search(one) or _AT_WORK.search(other)):
        return False
    alike = [word for word, same in zip(*words, strict=True) if word == same and any(map(str.isalpha, word))]
    counts = any(map(str.isdigit, one)) and 2 * len(alike) >= len(words[0]) - 1
    return bool(alike) and (counts or len(alike) == len(words[0]) - 1)


def _share_columns(one: str, other: str) -> bool:
    """Whether both are rows of one table: the columns end at the same places."""
    ends = [[hit.end() for hit in _SPACES.finditer(text)][1:] for text in (one, other)]
    return len(ends[0]) >= COLUMNS - 1 and ends[0] == ends[1] and any(map(str.isdigit, one.rsplit(maxsplit=1)[-1]))
