"""How many there are to be, told at the beginning of a log in the word of what is counted. Pure.

A loop of one's own names what it goes through: `frames 96`, then `Frame 0071 rendered`; `sweep over 24 configurations`,
then `config #23`. What the words of a training tell (epochs, steps) is read with its lines, not here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.line.words import LONE_UNITS, LOOK_BACK, SELDOM_UNITS, UNITS
from onbox.logs.totals.head import headings
from onbox.regex import lazy

if TYPE_CHECKING:
    import re

FEWEST = 10
NOUN_LETTERS = 3  # a shorter word is told of too much
_LOOPS = LONE_UNITS | SELDOM_UNITS
_WORD = r"(?<![A-Za-z])([A-Za-z]{4,24})(?![A-Za-z])"
_NUMBER = r"(?<![\w.,/-])(\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(?![\w/%-]|[.,]\d)"
_ANY = lazy(_NUMBER)
_TABLE_HEAD = lazy(r"\s{0,8}([A-Za-z]{3,20})(?:\s{1,20}[A-Za-z_%][\w%./()-]{0,20}){2,12}\s*$")
# `5000 replica exchanges`, `20 macro-sweeps`
_SO_MANY = lazy(rf"{_NUMBER} (?:[A-Za-z]{{1,12}}-)?([A-Za-z-]{{2,24}})(?: ([A-Za-z]{{4,24}}))?(?![A-Za-z]|\.\w|=\d)")
_FROM_ONE = lazy(  # `frames 1..240`
    rf"{_WORD}[\"']?\s{{0,4}}[:=]?\s{{0,4}}[\[(]?0{{0,6}}1 ?(?:\.\.|-|\u2013|to|:) ?"
    r"(\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(?![\w/%-]|[.,]\d)"
)
_TIMES_OVER = lazy(r"(?i)(?<![\w.,/-])(\d{1,3})[- ]?(fold)(?![a-z])")  # `10-fold cross-validation`
_THINGS_ALONE = lazy(rf"\W{{0,8}}{_NUMBER} (?:[a-z]{{3,20}} )?[a-z]{{3,20}}s\W{{0,3}}$")
_SET_TO = lazy(rf"{_WORD}[\"']?\s{{0,20}}[:=]?\s{{0,20}}{_NUMBER}")
# `counting reads in a.bam ... 41,203,118`, `trajectories requested: 600`, `molecules to dock: 5000`
_COUNTED = lazy(
    rf"(?i)(?:(?<![a-z])(?:count(?:ing|ed)?|total|number of|found) {_WORD}.{{0,60}}?[\s.:=>]|{_WORD}"
    rf" (?:requested|planned|scheduled|to [a-z]{{2,12}}):? ){_NUMBER}(?=,|\s*$)"
)
# `Sampling 500 images`, and then `made 20 samples`: the verb tells what they will be called
_VERB = lazy(rf"(?:^|[:\]|] )\W{{0,4}}([A-Za-z]{{4,14}})ing {_NUMBER} (?:[a-z]{{3,12}} )?[A-Za-z]{{3,14}}s(?![a-z])")
_DONE_FOR = lazy(
    r"(?i)^\W*(?!load|read|us|train|sampl|start)[a-z]{3,14}ing (?:(?:[a-z-]{2,14} ){1,3}(?:for|over|across|of|from) )?"
    rf"{_NUMBER} (?:[a-z]{{3,14}} )?[a-z]{{3,16}}s(?![a-z])"
)
_TO_DO = lazy(rf"(?i)(?<![a-z])[a-z]{{3,20}}s to [a-z]{{2,12}}:? {_NUMBER}(?=,|\s*$)")
_ROWS_COUNTED = lazy(rf"(?i)\bcount\(\*\).{{0,200}}?(?:->|=>|=|:) ?{_NUMBER}\s*$")  # an answer of SQL
_DONE = lazy(r"(?:done|complete|completed|finished|processed|handled|merged|hashed|ok)")
_LIST = lazy(r"(?<![A-Za-z])([A-Za-z]{3,20})[\"']?\s?[:=]?\s?[\[(]([^\[\](){}]{1,200})[\])]")
_HOW_IT_IS_MADE = lazy(
    r"(?:byte|work|rank|gpu|thread|process|core|class|layer|cluster|topic|component|block|bin|channel|label|feature|step|sec)"
)
_SWEEPS = frozenset({"sweep", "grid", "runs"})
_IS_THE_WORK = lazy(r"(?i)^\W*(?:evaluating|testing|validating) (?:on )?(?=\d)")  # of a run that does nothing else
_EVALUATES = lazy(
    rf"(?i)^\W*(?:[a-z]{{3,14}}ing (?:on |over )?)?{_NUMBER} (?:test|eval|evaluation|val|validation)"
    r" ([a-z]{3,20}s)\W*$"
)
_NOT_OF_THE_RUN = lazy(
    r"(?i)(?<![a-z])(?:every|each|per|after|first|last|warm\w*|burn\w*|skip\w*|sav\w*|keep|log|eval\w*|(?<!ion )test"
    r"|valid\w*|patience|batch|min\w*|at least|top|bad|invalid|dropp\w*|in flight)(?![a-z])"
)


def announced(beginning: bytes, noun: str, least: int) -> int | None:
    """How many `noun`s the first lines tell of; None if they do not, or tell several numbers. least: as many were
    counted already.
    """
    noun = noun[:-1] if noun.endswith("s") else noun
    if not noun:
        return _alone(headings(beginning), least) or _of_first_column(beginning, least)
    if len(noun) < NOUN_LETTERS:
        return None
    lines = headings(beginning)
    told = _told_of(noun, [pair for line in lines for pair in _pairs(line)], least)
    told = told or _told_of(noun, [pair for line in lines for pair in _evaluated(line)], least)
    return next(iter(told)) if len(told) == 1 else None


def _told_of(noun: str, pairs: list[tuple[str, int]], least: int) -> set[int]:
    """The numbers that belong to the plural of a word."""
    of_anything = _DONE.fullmatch(noun)  # `completed=15` below `n_jobs=24`
    return {
        number
        for word, number in pairs
        if word[-1] == "s" and number >= max(2, least) and (of_anything or (word.startswith(noun) and word != noun))
    }


def _evaluated(line: str) -> list[tuple[str, int]]:
    """`Playing 50 evaluation games`, and nothing else in the line: what a run does that only evaluates."""
    found = _EVALUATES.match(line)
    return [(found[2].lower(), int(found[1].replace(",", "")))] if found else []


def announced_by_verb(beginning: bytes, stem: str, least: int) -> int | None:
    """As `announced`, where lines tell what was done to them: `Checking 418 links`, and then `60 checked`."""
    told = {
        int(found[2].replace(",", ""))
        for line in headings(beginning)
        for found in _VERB.finditer(line)
        if found[1].lower() == stem
    }
    most = told.pop() if len(told) == 1 else 0
    return most if most >= max(FEWEST, least) else None


def announced_by_any(beginning: bytes, least: int) -> int | None:
    """As `announced`, of what is counted without a name (`100000 done`): the only number of things that the first lines
    tell and that is large enough.
    """
    told = {
        number
        for line in headings(beginning)
        for word, number in _pairs(line)
        if word[-1] == "s" and number >= max(FEWEST, least) and not _HOW_IT_IS_MADE.match(word)
    }
    return told.pop() if len(told) == 1 else None


def announced_for(beginning: bytes, least: int) -> int | None:
    """As `announced`, of tasks that a pool counts, where one of the first lines says what they are done for: `scoring
    120 recordings`, `extracting features for 120 recordings`.
    """
    told = {int(found[1].replace(",", "")) for line in headings(beginning) for found in _DONE_FOR.finditer(line)}
    most = told.pop() if len(told) == 1 else 0
    return most if most >= max(FEWEST, least) else None


def announced_by_letter(beginning: bytes, letter: str, least: int) -> int | None:
    """As `announced`, where lines name the things by their first letter: `12 subjects`, and then `S01`."""
    told = {
        number
        for line in headings(beginning)
        for found in _SO_MANY.finditer(line)
        for word, number in _pairs(found[0])
        if word[0] == letter.lower() and word[-1] == "s" and number >= max(2, least) and not _HOW_IT_IS_MADE.match(word)
    }
    return told.pop() if len(told) == 1 else None


def announced_in_list(beginning: bytes, noun: str, least: int) -> int | None:
    """How many a list of them holds: `seeds=[1, 2, 3]`, `lr sweep [0.3, 0.1, 0.03]`."""
    told = {
        found[2].count(",") + 1
        for line in headings(beginning)
        for found in _LIST.finditer(line)
        if found[1].lower() in (noun, f"{noun}s") or (noun == "run" and found[1].lower() in _SWEEPS)
    }
    most = told.pop() if len(told) == 1 else 0
    return most if most >= max(2, least) else None


def _alone(headings: list[str], least: int) -> int | None:
    """The number of the only heading that is nothing but a number of things (`24 configurations`), else of the only
    ones that are named as those of a loop are: `cpu | steps 500`.
    """
    told = [int(found[1].replace(",", "")) for line in headings if (found := _THINGS_ALONE.match(line))]
    told = told or [
        number for line in headings for word, number in _pairs(line) if word[-1] == "s" and UNITS.get(word) in _LOOPS
    ]
    told = told or [int(found[1].replace(",", "")) for line in headings if (found := _TO_DO.search(line))]
    return told[0] if len(told) == 1 and told[0] >= max(2, least) else None


def _of_first_column(beginning: bytes, least: int) -> int | None:
    """As `announced`, of what a table's head calls its first column: `30000 proposals`, then `proposal  temp`."""
    names = [found[1].lower() for line in headings(beginning) if (found := _TABLE_HEAD.match(line))]
    return announced(beginning, names[0], least) if len(names) == 1 else None


def numbers_of(beginning: bytes) -> frozenset[int]:
    """The whole numbers that the first lines tell, from which a loop of any length begins."""
    told = (int(found[1].replace(",", "")) for line in headings(beginning) for found in _ANY.finditer(line))
    return frozenset(number for number in told if number >= FEWEST)


def _pairs(line: str) -> list[tuple[str, int]]:
    """The numbers of a line and the words that they belong to, in small letters."""
    found = [(one, word, one[1]) for one in _SO_MANY.finditer(line) for word in (one[2], one[3]) if word]
    found += [(one, one[1], one[2]) for one in _SET_TO.finditer(line)]
    found += [(one, f"{one[2]}s", one[1]) for one in _TIMES_OVER.finditer(line)]
    found += [(one, one[1], one[2]) for one in _FROM_ONE.finditer(line)]
    found += [(one, one[1] or one[2], one[3]) for one in _COUNTED.finditer(line)]
    found += [(one, one[1] + ending, one[2]) for one in _VERB.finditer(line) for ending in ("s", "es")]
    found += [(one, "rows", one[1]) for one in _ROWS_COUNTED.finditer(line)]
    return [
        (word.lower(), int(number.replace(",", "")))
        for one, word, number in found
        if not _is_of_a_part(line, one, word)
    ]


def _is_of_a_part(line: str, found: re.Match[str], word: str) -> bool:
    """Whether its clause says that the number is of something else; the word of what is counted may be any."""
    clause = max(line.rfind(sign, 0, found.start()) for sign in ",;|(")
    start = max(0, clause + 1, found.start() - LOOK_BACK)
    said = _IS_THE_WORK.sub("", line[start : found.end()])
    return _NOT_OF_THE_RUN.search(said.replace(word, "", 1)) is not None
