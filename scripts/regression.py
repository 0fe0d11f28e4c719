"""Logistic regression over named weights, by gradient steps of an own length for each (AdaGrad), and its table as a
file. The same rows give the same weights.
"""

from __future__ import annotations

import math
import os
import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RATE = 0.3


class Row(NamedTuple):
    """What a regression learns from: which weights count, by how much, and the label."""

    ids: list[int]
    values: list[float]
    label: bool


def descend(rows: Sequence[Row], decay: list[float], epochs: int) -> tuple[list[float], float]:
    """The weights, and the bias. decay: of each weight, by how much of itself it is drawn to 0 each time that it is
    met.
    """
    weights, squares = [0.0] * len(decay), [1e-3] * len(decay)
    bias, bias_square = 0.0, 1e-3
    shuffler = random.Random(0)
    rows = list(rows)
    for _ in range(epochs):
        shuffler.shuffle(rows)
        for ids, values, label in rows:
            odds = bias + sum([weights[at] * value for at, value in zip(ids, values, strict=True)])
            wrong = 1 / (1 + math.exp(-max(-30.0, min(30.0, odds)))) - label
            for at, value in zip(ids, values, strict=True):
                slope = wrong * value + decay[at] * weights[at]
                squares[at] += slope * slope
                weights[at] -= RATE * slope / math.sqrt(squares[at])
            bias_square += wrong * wrong
            bias -= RATE * wrong / math.sqrt(bias_square)
    return weights, bias


def write_table(path: str, table: Mapping[str, float], source: str) -> None:
    """The file, sorted, so that a change of it can be read. source: what it was learned from, and by what."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# Log-odds, learned from {source}\n")
        file.writelines(f"{weight:g}\t{name}\n" for name, weight in sorted(table.items()))
    print(f"{len(table)} rows, {os.path.getsize(path)} bytes")
