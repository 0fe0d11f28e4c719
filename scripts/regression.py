"""Logistic regression over named weights (scikit-learn), and its table as a file: the same rows give the same file."""

from __future__ import annotations

import os
import string
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from onbox.triage.wording.lettered import BIAS, LETTERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STEPS, EXACT = 100, 1e-6
NAMES_IN_ROW = 10


class Row(NamedTuple):
    """What a regression learns from: which weights count, by how much, and the label."""

    ids: list[int]
    values: list[float]
    label: bool


def fit(
    rows: Sequence[Row], count: int, *, strength: float, smoothing: float | None = None
) -> tuple[list[float], float]:
    """The weights, and the bias. count: of weights. strength: how far the rows count against weights that are to be
    small. smoothing: each value counts by how much more often it was met beside one label than beside the other
    (naive Bayes; Wang and Manning, "Baselines and Bigrams", 2012), with so many rows of either label that nobody saw;
    None: as it is.
    """
    labels = np.array([row.label for row in rows])
    begins = np.cumsum([0, *(len(row.ids) for row in rows)])
    ids = np.array([at for row in rows for at in row.ids], dtype=np.int32)
    values = np.array([value for row in rows for value in row.values])
    met = csr_matrix((values, ids, begins), shape=(len(rows), count))
    scale = np.ones(count) if smoothing is None else _log_ratios(met, labels, smoothing)
    found = LogisticRegression(C=strength, max_iter=STEPS, tol=EXACT).fit(met.multiply(scale).tocsr(), labels)
    return (found.coef_[0] * scale).tolist(), float(found.intercept_[0])


def _log_ratios(met: csr_matrix, labels: np.ndarray, smoothing: float) -> np.ndarray:
    """For each weight, the logarithm of its share among all that was met with the label, to that without it."""
    seen = met.astype(bool)
    beside = [np.asarray(seen[labels == one].sum(axis=0)).ravel() + smoothing for one in (True, False)]
    with_it, without = (counts / counts.sum() for counts in beside)
    return np.asarray(np.log(with_it / without))


def write_table(path: str, table: Mapping[str, float], source: str) -> None:
    """The file: in each row a weight, and names that have it. source: what it was learned from, and by what."""
    named: dict[float, list[str]] = {}
    for name, weight in sorted(table.items()):
        named.setdefault(weight, []).append(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# Log-odds, learned from {source}\n")
        for weight, names in sorted(named.items()):
            for at in range(0, len(names), NAMES_IN_ROW):
                file.write("\t".join([f"{weight:g}", *names[at : at + NAMES_IN_ROW]]) + "\n")
    print(f"{len(table)} rows, {os.path.getsize(path)} bytes")


def write_lettered(path: str, table: Mapping[str, Mapping[str, float]], source: str) -> None:
    """The file that `onbox.triage.wording.lettered` reads, sorted; with the row of the biases, which has all names."""
    letters = dict(zip(sorted(table[BIAS]), string.ascii_letters, strict=False))
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# Log-odds, learned from {source}\n")
        file.write("\t".join([LETTERS, *(f"{letter}{name}" for name, letter in letters.items())]) + "\n")
        for word, row in sorted(table.items()):
            file.write("\t".join([word, *(f"{letters[name]}{one:g}" for name, one in sorted(row.items()))]) + "\n")
    print(f"{len(table)} words, {os.path.getsize(path)} bytes")
