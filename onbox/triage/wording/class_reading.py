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

from onbox.triage.wording.second_reading import forms_in
from onbox.triage.wording.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onbox.triage.reading.record import SeenLine

CLASS_WEIGHTS = os.path.join(os.path.dirname(__file__), "class_weights.txt")
LEAST_FORMS = 6  # lines that differ in more than digits
BIAS = "=bias"  # the row that is no word
LETTERS = "=letters"  # the row that says which letter stands for which class
LEAD_OF_A_GUESS, LEAD, LEAD_OF_A_VAGUE_RULE = 3.0, 6.0, 1.0  # log-odds
# Rules that say only that something failed.
VAGUE = frozenset({"error-line", "said-error", "launcher", "exception", "fatal-level", "says-it-failed", "aborted"})
GUESSES = "says-"  # what begins the names of rules that are read from a sentence


def class_by_words(tail: Sequence[SeenLine], *, known: str, rule: str, confidence: str) -> str:
    """The class that the words of a log's last lines speak for, or the rule's own.

    known, rule, confidence: of the answer so far.
    """
    if confidence == "high" or forms_in(tail) < LEAST_FORMS:
        return known
    odds = odds_of(plain(words_of(tail)), weights())
    if known in odds:
        odds[known] += _lead_of(rule, confidence)
    return max(sorted(odds), key=odds.__getitem__)


def _lead_of(rule: str, confidence: str) -> float:
    if rule in VAGUE:
        return LEAD_OF_A_VAGUE_RULE
    return LEAD_OF_A_GUESS if rule.startswith(GUESSES) or confidence == "low" else LEAD


def plain(words: Iterable[str]) -> frozenset[str]:
    """The words wherever they stand."""
    return frozenset(word.partition(":")[2] for word in words if not word.startswith("behind:"))


def odds_of(words: Iterable[str], table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """How strongly words speak for each class, in log-odds."""
    known = [table[word] for word in words if word in table]
    odds = dict(table[BIAS])
    root = math.sqrt(max(1, len(known)))
    for row in known:
        for name, weight in row.items():
            odds[name] += weight / root
    return odds


@cache
def weights() -> dict[str, dict[str, float]]:
    """Each word with its weight for each class that it speaks for or against."""
    with open(CLASS_WEIGHTS, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    told = {row[0]: row[1:] for row in rows}
    names = {pair[0]: pair[1:] for pair in told.pop(LETTERS)}
    return {word: {names[pair[0]]: float(pair[1:]) for pair in pairs} for word, pairs in told.items()}
