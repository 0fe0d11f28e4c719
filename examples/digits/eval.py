"""Evaluate the best checkpoint on the test part and write results.csv, in one step."""

from __future__ import annotations

import csv
import os
import sys
from typing import Any

import numpy as np
from data import FOLDER, Split, load_split
from model import Network, accuracy

Rows = list[tuple[str, Any]]


def measure(net: Network, data: Split) -> Rows:
    """Accuracy on the test part, over all images and for each digit."""
    predicted = net.predict(data.test_x)
    rows: Rows = [("test_accuracy", round(accuracy(predicted, data.test_y), 4)), ("test_images", len(predicted))]
    for digit in range(10):
        of_digit = data.test_y == digit
        rows.append((f"test_accuracy_{digit}", round(accuracy(predicted[of_digit], digit), 4)))
    return rows


def write_results(rows: Rows) -> None:
    beside = FOLDER / "results.csv.tmp"
    with beside.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("metric", "value"), *rows])
        out.flush()
        os.fsync(out.fileno())
    beside.replace(FOLDER / "results.csv")


def main() -> int:
    net, checkpoint = Network(seed=0), FOLDER / "ckpt" / "best.npz"
    if not checkpoint.exists():
        print(f"{checkpoint} is missing: run train.py first", file=sys.stderr)
        return 1
    with np.load(checkpoint) as file:
        net.load({key: file[key] for key in file.files})
        epoch, val_acc = int(file["epoch"]), float(file["val_acc"])
    measured = measure(net, load_split())
    write_results([("checkpoint_epoch", epoch), ("val_accuracy", round(val_acc, 4)), *measured])
    print(f"test accuracy {measured[0][1]} on {measured[1][1]} images (checkpoint of epoch {epoch})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
