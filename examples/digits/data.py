"""The digits data set that lies inside scikit-learn, split once and for all into train, validation and test."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits

FOLDER = Path(__file__).resolve().parent


class Split(NamedTuple):
    """Images as rows of 64 numbers between 0 and 1; labels 0-9. The test part is for `eval.py` only."""

    train_x: Any
    train_y: Any
    val_x: Any
    val_y: Any
    test_x: Any
    test_y: Any


def load_split() -> Split:
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    train, val, test = np.split(order, [int(0.6 * len(order)), int(0.8 * len(order))])
    images = images / 16.0
    return Split(images[train], labels[train], images[val], labels[val], images[test], labels[test])
