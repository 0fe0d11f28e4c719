"""A table that says of each word for what it speaks and how strongly: a word in a line, and behind it each name, as a
letter, with its weight in log-odds. A row is read when its word is met: most of them never are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LETTERS = "=letters"  # the row that says which letter stands for which name
BIAS = "=bias"  # the row that is no word


class LetteredTable:
    """The rows of a file, by their words. names: all that a word may speak for."""

    def __init__(self, path: str) -> None:
        with open(path, encoding="utf-8") as file:
            told = (line.partition("\t") for line in file.read().split("\n") if line and line[:1] != "#")
        self._rows = {word: pairs for word, _, pairs in told}
        self.names = {pair[0]: pair[1:] for pair in self._rows.pop(LETTERS).split("\t")}

    def __contains__(self, word: str) -> bool:
        return word in self._rows

    def __getitem__(self, word: str) -> dict[str, float]:
        """How strongly a word speaks for each name that it says something of."""
        return {self.names[pair[0]]: float(pair[1:]) for pair in self._rows[word].split("\t") if pair}

    def odds_of(self, words: Iterable[str], root: float) -> dict[str, float]:
        """How strongly words speak for each name, in log-odds; those that the table does not hold say nothing.

        root: by which their sum is divided, as longer texts have more of them.
        """
        odds = dict(self[BIAS])
        for row in (self[word] for word in words if word in self):
            for name, weight in row.items():
                odds[name] += weight / root
        return odds
