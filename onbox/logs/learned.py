"""A table of weights that were learned from labelled logs, as `scripts/regression.py` writes it."""

from __future__ import annotations


def read_weights(path: str) -> dict[str, float]:
    """Each name with its weight in log-odds. A row of the file is a weight, and the names that have it."""
    found: dict[str, float] = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                weight, *names = line.rstrip("\n").split("\t")
                found.update(dict.fromkeys(names, float(weight)))
    return found
