"""A second reading of a log, by its words alone: whether they bear out what the rules found.

Rules know what a failure is; they do not know every way to say that one does not matter, or that all is lost. What
people write at the end of a run was learned from labelled logs instead: `weights.txt` holds how strongly each word and
pair of words speaks for a failure (above 0) or against one, and how far an answer of the rules is to be trusted, by its
confidence and by the rule that gave it. `scripts/learn_wording.py` writes the file. Only where words and trust together
speak clearly against the answer is it overruled, and where the end of the process is known, nobody asks. What the last
sentences say (`sentence.py`) counts beside it, the more the fewer lines there are.
"""

from __future__ import annotations

import math
import os
from functools import cache
from typing import TYPE_CHECKING

from onbox.logs.learned import read_weights
from onbox.logs.model.lines import message
from onbox.triage.harmless import is_harmless
from onbox.triage.parting import without_partings
from onbox.triage.reading.match import BAD_LEVELS, QUIET_LEVELS
from onbox.triage.stacks import FRAME
from onbox.triage.wording.sentence import leaning_of
from onbox.triage.wording.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onbox.triage.reading.record import SeenLine

LEAST_FORMS = 4  # lines that differ in more than digits: of fewer, each word would count for too much
LAST = 12  # lines
_NO_DIGITS = str.maketrans("", "", "0123456789")
# Log-odds: less of it overrules nothing. Where the rules blame a run, the words are more often right than where they
# blame one.
CLEAR = {True: 0.0, False: 0.5}
SURE = 1.0  # log-odds: with less of it for a failure, no rule is sure of one
PLAIN, SENTENCE_WORDS = 2.0, 4  # log-odds for a failure, and words, of a sentence that needs nothing beside it
# Rows of the table that are no words.
BIAS, WORDS, ANSWER, RULE, LENGTH = "=bias", "=words", "=answer:", "=rule:", "=length:"
FEW, MANY = 8, 20  # forms of lines
LAST_TWO = (1.0, 0.5)  # how far the last sentence counts, and the one above it
# What these add to the odds beside a failure (True) or a good answer: log-odds, and how far their own odds count, by
# how long the log is. Fitted to logs that the sentences were not learned from.
ADDED = {True: 0.5, False: 0.25}
COUNTED = {
    True: {"few": 0.25, "some": 0.2, "many": 0.0},
    False: {"fewest": 0.55, "few": 0.5, "some": 0.4, "many": 0.3},
}
WEIGHTS = os.path.join(os.path.dirname(__file__), "weights.txt")


def is_overruled(tail: Sequence[SeenLine], *, ill: bool, confidence: str, rule: str) -> bool:
    """Whether the wording of a log's last lines speaks clearly against an answer of the rules.

    ill: the answer is a failure. confidence, rule: as in its verdict.
    """
    odds = _odds_in(tail, ill=ill, confidence=confidence, rule=rule)
    return odds is not None and _speaks_against(odds, ill=ill)


def is_borne_out(tail: Sequence[SeenLine], *, confidence: str, rule: str) -> bool:
    """Whether the wording of a log's last lines speaks clearly enough for a failure that a rule is sure of."""
    odds = _odds_in(tail, ill=True, confidence=confidence, rule=rule)
    return odds is None or odds >= SURE


def _odds_in(tail: Sequence[SeenLine], *, ill: bool, confidence: str, rule: str) -> float | None:
    """Log-odds that the run of a log's last lines has failed, beside an answer; None where they are too few to tell."""
    forms = forms_in(tail)
    if forms < LEAST_FORMS and (ill or not tail or not _ends_in_new_complaint(tail)):
        return None
    by_words = _odds(words_of(tail), grounds(ill=ill, confidence=confidence, rule=rule, forms=forms), weights())
    if ill and confidence == "high":
        return by_words  # the last sentences may be those of others
    return by_words + by_sentences(tail, forms, ill=ill)


def _ends_in_new_complaint(tail: Sequence[SeenLine]) -> bool:
    """Whether the last line is a whole sentence that speaks of a failure, and none that the log has shown before."""
    *before, last = (form_of(line.text).strip() for line in tail)
    is_new_sentence = " " in last and not last.endswith(":") and last not in before
    return is_new_sentence and leaning_of(tail[-1].text) > 0


def ends_in_plain_complaint(tail: Sequence[SeenLine]) -> bool:
    """Whether the last line is a new sentence that speaks so plainly of a failure that no rule knows better."""
    if not tail or len(tail[-1].text.split()) < SENTENCE_WORDS:
        return False
    text = tail[-1].text
    said = message(text)
    if said.level in QUIET_LEVELS or (said.level not in BAD_LEVELS and is_harmless(said.text, text, loud=True)):
        return False
    return leaning_of(text) >= PLAIN and _ends_in_new_complaint(tail)


def by_sentences(tail: Sequence[SeenLine], forms: int, *, ill: bool) -> float:
    """What the last two sentences add to the odds beside an answer: the more, the fewer lines there are beside them."""
    told = [line.text for line in without_partings(tuple(line for line in tail if line.text.strip()))[-2:]]
    odds = sum(leaning_of(text) * share for text, share in zip(reversed(told), LAST_TWO, strict=False))
    return ADDED[ill] + COUNTED[ill][length_of(forms)] * odds


def forms_in(tail: Sequence[SeenLine]) -> int:
    """How many lines differ in more than digits."""
    return len({form_of(line.text) for line in tail})


def form_of(text: str) -> str:
    """A line without its digits."""
    return text.translate(_NO_DIGITS)


def contradicts(words: Iterable[str], rows: Iterable[str], table: Mapping[str, float], *, ill: bool) -> bool:
    """Whether words speak clearly against an answer. rows: the grounds of it. ill: it is a failure."""
    return _speaks_against(_odds(words, rows, table), ill=ill)


def _speaks_against(odds: float, *, ill: bool) -> bool:
    return odds < -CLEAR[ill] if ill else odds > CLEAR[ill]


def _odds(words: Iterable[str], rows: Iterable[str], table: Mapping[str, float]) -> float:
    """Log-odds that a run has failed."""
    return table[BIAS] + table[WORDS] * leaning(words, table) + sum(table.get(name, 0.0) for name in rows)


def grounds(*, ill: bool, confidence: str, rule: str, forms: int) -> tuple[str, ...]:
    """The rows that say how far an answer is to be trusted. forms: of the lines that it was read from."""
    said = "ill" if ill else "well"
    length = length_of(max(forms, LEAST_FORMS))  # of fewer lines nothing was learned
    return f"{ANSWER}{said} {confidence}", f"{RULE}{rule}", f"{LENGTH}{said} {length}"


def length_of(forms: int) -> str:
    """How long a log is, by how many of its lines differ."""
    return "fewest" if forms < LEAST_FORMS else "few" if forms < FEW else "some" if forms < MANY else "many"


def leaning(words: Iterable[str], table: Mapping[str, float]) -> float:
    """How strongly words speak for a failure. As long logs have more of them, their sum counts by its root's length."""
    known = [table[word] for word in words if word in table]
    return sum(known) / math.sqrt(max(1, len(known)))


def most_telling(tail: Sequence[SeenLine]) -> list[SeenLine]:
    """The last lines, those first whose own words speak most for a failure."""
    table = weights()
    told = [line for line in tail[-LAST:] if not FRAME.search(line.text)] or tail[-LAST:]
    return sorted(told, key=lambda line: -leaning(words_of([line]), table))


@cache
def weights() -> dict[str, float]:
    """Each word with its weight in log-odds, and the rows that are no words."""
    return read_weights(WEIGHTS)
