"""Which class of fault the words of a log speak of, where no rule is sure of it.

A rule that knows a message knows its class better than any words do. But much of what ends a run is worded in a way of
its own: then a rule tells only that something failed, or guesses by a few words. How strongly each word speaks for each
class was learned from labelled logs (`class_weights.txt`, written by `scripts/learn_wording.py`); the rule's own class
is given a lead, by how sure such a rule is.
"""

from __future__ import annotations

import math
import os
from functools import cache
from typing import TYPE_CHECKING

from onbox.regex import lazy
from onbox.triage.classes import READS_BADLY
from onbox.triage.parting import takes_leave
from onbox.triage.wording.lettered import BIAS, LetteredTable
from onbox.triage.wording.second_reading import forms_in
from onbox.triage.wording.sentence import UNKNOWN, classes_of, leaning_of
from onbox.triage.wording.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onbox.triage.reading.record import SeenLine

CLASS_WEIGHTS = os.path.join(os.path.dirname(__file__), "class_weights.txt")
LEAST_FORMS = 6  # lines that differ in more than digits
SENTENCE = 1.5  # how far the one sentence counts beside the words of all
_OF_A_SOURCE = lazy(r"\s{0,12}(?:\d{1,6}\s{1,4})?\|")  # a compiler shows the line that it cannot read
NEAR = 6  # lines from the end
PLAINLY = 1.0  # log-odds for a failure
TOLD, APART = 2.0, 0.9  # log-odds by which a class is likelier than that the sentence tells of none, than any other
PRIOR = 0.5  # how far the class that is met most often counts, where the sentence alone is read
LEAD_OF_A_GUESS, LEAD, LEAD_OF_A_VAGUE_RULE = 3.0, 6.0, 1.0  # log-odds
# Rules that say only that something failed.
VAGUE = frozenset({"error-line", "said-error", "launcher", "exception", "fatal-level", "says-it-failed", "aborted"})
SAY_LITTLE = VAGUE - {"exception", "aborted"} | {READS_BADLY}  # whose line is all that is known of it
HANGS = "hang_stall"  # what is over does not hang
GUESSES = "says-"  # what begins the names of rules that are read from a sentence


def class_by_words(tail: Sequence[SeenLine], told: SeenLine | None, *, known: str, rule: str, confidence: str) -> str:
    """The class that the words of a log's last lines speak for, and those of one sentence, or the rule's own.

    told: the sentence, as `line_that_tells` finds it. known, rule, confidence: of the answer so far.
    """
    few = forms_in(tail) < LEAST_FORMS
    if confidence == "high" or (few and told is None):
        return known
    table = weights()
    odds = {name: PRIOR * one for name, one in table[BIAS].items()} if few else odds_of(plain(words_of(tail)), table)
    if told is not None:
        said = classes_of(told.text)
        odds = {name: one + SENTENCE * said.get(name, 0.0) for name, one in odds.items() if name != HANGS}
    if known in odds:
        odds[known] += _lead_of(rule, confidence)
    return max(sorted(odds), key=odds.__getitem__)


def line_that_tells(tail: Sequence[SeenLine], at: SeenLine | None, *, rule: str, confidence: str) -> SeenLine | None:
    """The line that tells of which class a failure is, where the rule knows little of it: the one that proves it, or
    else, of the last ones, the one that speaks most of a failure. None where none tells.

    at: the line that proves the answer so far.
    """
    if not (rule in SAY_LITTLE or (rule.startswith(GUESSES) and confidence == "low")):
        return None
    if at is not None and _tells(at.text):
        return at
    near = [line for line in tail[-NEAR:] if not (takes_leave(line.text) or _OF_A_SOURCE.match(line.text))]
    near = [line for line in near if leaning_of(line.text) > PLAINLY and _tells(line.text)]
    return max(near, key=lambda line: leaning_of(line.text), default=None)


def _tells(text: str) -> bool:
    """Whether a sentence speaks of one class rather than of none, or of another."""
    said = classes_of(text)
    second, first = sorted(said.values())[-2:]
    return first >= said[UNKNOWN] + TOLD and first >= second + APART


def _lead_of(rule: str, confidence: str) -> float:
    if rule in VAGUE:
        return LEAD_OF_A_VAGUE_RULE
    return LEAD_OF_A_GUESS if rule.startswith(GUESSES) or confidence == "low" else LEAD


def plain(words: Iterable[str]) -> frozenset[str]:
    """The words wherever they stand."""
    return frozenset(word.partition(":")[2] for word in words if not word.startswith("behind:"))


def odds_of(words: Iterable[str], table: LetteredTable) -> dict[str, float]:
    """How strongly words speak for each class, in log-odds."""
    known = [word for word in words if word in table]
    return table.odds_of(known, math.sqrt(max(1, len(known))))


@cache
def weights() -> LetteredTable:
    """Each word with its weight for each class that it speaks for or against."""
    return LetteredTable(CLASS_WEIGHTS)
