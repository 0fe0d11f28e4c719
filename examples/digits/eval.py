"""Evaluate the best checkpoint on the test part and write results.csv, in one step."""

from __future__ import annotations

import csv

import numpy as np
from data import FOLDER, load_split
from model import Network, accuracy


def main() -> None:
    data, net = load_split(), Network(seed=0)
    with np.load(FOLDER / "ckpt" / "best.npz") as file:
        net.load({key: file[key] for key in file.files})
        epoch, val_acc = int(file["epoch"]), float(file["val_acc"])
    predicted = net.predict(data.test_x)
    rows = [("checkpoint_epoch", epoch), ("val_accuracy", round(val_acc, 4))]
    rows += [("test_accuracy", round(accuracy(predicted, data.test_y), 4)), ("test_images", len(predicted))]
    for digit in range(10):
        of_digit = data.test_y == digit
        rows.append((f"test_accuracy_{digit}", round(accuracy(predicted[of_digit], digit), 4)))
    beside = FOLDER / "results.csv.tmp"
    with beside.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("metric", "value"), *rows])
    beside.replace(FOLDER / "results.csv")
    print(f"test accuracy {rows[2][1]} on {len(predicted)} images (checkpoint of epoch {epoch})")


if __name__ == "__main__":
    main()
