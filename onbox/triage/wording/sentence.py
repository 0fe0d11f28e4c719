"""What one line says of its run, by its words alone and wherever it stands. Pure.

The other tables of this room know the ends of logs, most of them of programs that many use. How people put it in
scripts of their own (`the volume takes nothing more from us, I stop at shard 12`) was learned from single sentences:
how strongly each word, and pair of words, speaks for a failure and for each class. A word that none of the sentences
holds has the weight of words of like meaning, by the vectors of a sentence encoder. `scripts/learn_sentences.py` writes
the table (`sentence_weights.txt`).
"""

from __future__ import annotations

import math
import os
from functools import cache, lru_cache
from itertools import pairwise

from onbox.triage.wording.lettered import LetteredTable
from onbox.triage.wording.words import plain_words

SENTENCES = os.path.join(os.path.dirname(__file__), "sentence_weights.txt")
UNKNOWN = "unknown"  # the class of a sentence that tells that a run failed, and not why
ILL = "=ill"  # the name for which a word speaks that tells of a failure, of whatever class


def leaning_of(text: str) -> float:
    """How strongly the words of a line speak for a failure, in log-odds."""
    return _odds_of(text)[ILL]


def classes_of(text: str) -> dict[str, float]:
    """How strongly the words of a line of a failure speak for each class and for `UNKNOWN`, in log-odds."""
    return {name: odds for name, odds in _odds_of(text).items() if name != ILL}


def grams_of(words: list[str]) -> list[str]:
    """The words of a line, and its pairs of words, each once."""
    return list(dict.fromkeys([*words, *(f"{a} {b}" for a, b in pairwise(words))]))


@lru_cache(32)  # the last lines are asked for again, for the run's fate and for its class
def _odds_of(text: str) -> dict[str, float]:
    words = plain_words(text)
    return _table().odds_of(grams_of(words), math.sqrt(max(1, len(set(words)))))


@cache
def _table() -> LetteredTable:
    return LetteredTable(SENTENCES)
