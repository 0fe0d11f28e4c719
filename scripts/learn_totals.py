"""Learn anew what speaks for a number of a log's head being the end of its counter (`onbox/logs/totals/weights.txt`).

    python scripts/learn_totals.py FOLDER... [--left-out FOLDER]

A FOLDER holds logs with `labels.jsonl`, as the bench of progress reads them. Learned is from each log whose counter is
read as its label says: the rules' own total is not looked at, so that what the head says is learned where a bar tells
the total, too. --left-out: a folder that nothing is learned from; how often the table is right there is printed.
Logistic regression (`scripts/regression.py`); the same folders give the same file.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from onbox.logs.judge.by_head import counted_in_rows, counted_of
from onbox.logs.judge.picking.grounds import Scene
from onbox.logs.judge.picking.pick import pick_of
from onbox.logs.progress import ProgressReader
from onbox.logs.totals.features import Counted, features_of
from onbox.logs.totals.head_numbers import HeadNumber, numbers_of_head
from onbox.logs.totals.likely import BIAS, WEIGHTS, can_be_end, clear_end, rank
from scripts.labelled import labels_in, read_log
from scripts.regression import Row, fit, write_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

STRENGTH = 4.0
EARLIER = 16  # times less was counted then
LEAST_LOGS = 2  # a name in one says nothing
LEAST_WEIGHT = 0.1  # those below it are left out


class Example(NamedTuple):
    """A log whose counter is known. most: its labelled end, None if its log gives none. also: others that may count
    as one.
    """

    name: str
    counted: Counted
    numbers: list[HeadNumber]
    most: int | None
    also: frozenset[int]


def main() -> None:
    """Read the folders, learn, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--left-out", action="append", default=[])
    asked = parser.parse_args()
    examples = [example for folder in asked.folders for example in read(folder)]
    table = learn(examples)
    write_table(WEIGHTS, table, f"the heads of {len(examples)} labelled logs by scripts/learn_totals.py")
    for folder in asked.left_out:
        report(folder, list(read(folder)), table)


def read(folder: str) -> Iterator[Example]:
    """The examples of a folder."""
    for label in labels_in(folder):
        counted, beginning = counted_in(read_log(folder, label["file"]))
        if counted is not None and counted.value in (label["current"], *label.get("accept", {}).get("current", ())):
            also = frozenset(one for one in label.get("accept", {}).get("exact_max", ()) if one is not None)
            yield Example(label["id"], counted, numbers_of_head(beginning), label["exact_max"], also)


def counted_in(log: bytes) -> tuple[Counted | None, bytes]:
    """What a log counts, and its first bytes; those of an earlier run tell nothing."""
    reader = ProgressReader()
    reader.feed(log)
    seen = reader.seen()
    if seen.track.started:
        return None, b""
    pick = pick_of(Scene(seen.track, seen.ending))
    if pick is not None:
        return counted_of(pick, seen.track, seen.ending), seen.beginning
    rising = seen.ending.rising or seen.ending.rising_alone
    return counted_in_rows(rising, seen.track) if rising else None, seen.beginning


def learn(examples: Sequence[Example]) -> dict[str, float]:
    """The weights of all names that say something, and the bias."""
    rows = [row for example in (*examples, *map(earlier, examples)) for row in rows_of(example)]
    logs = Counter(name for example in examples for name in {one for names, _ in rows_of(example) for one in names})
    known = sorted(name for name, count in logs.items() if count >= LEAST_LOGS)
    at = {name: index for index, name in enumerate(known)}
    numbered = [([at[name] for name in names if name in at], is_end) for names, is_end in rows]
    plain = [Row(ids, [1.0] * len(ids), is_end) for ids, is_end in numbered]
    weights, bias = fit(plain, len(known), strength=STRENGTH)
    table = {name: round(weight, 2) for name, weight in zip(known, weights, strict=True) if abs(weight) >= LEAST_WEIGHT}
    return {BIAS: round(bias, 2), **table}


def earlier(example: Example) -> Example:
    """The same log, as it was when the count had only begun: the head says the same."""
    counted = example.counted
    return example._replace(counted=counted._replace(value=max(1, counted.value // EARLIER), over=False))


def rows_of(example: Example) -> list[tuple[list[str], bool]]:
    """What holds for each number that could be the end, and whether it is."""
    return [
        (features_of(number, example.counted, example.numbers), number.value == example.most)
        for number in example.numbers
        if can_be_end(number, example.counted) and number.value not in example.also
    ]


def report(folder: str, examples: Sequence[Example], table: Mapping[str, float]) -> None:
    """How the table does alone on a set that it was not learned from."""
    told = [(one, clear_end(rank(one.numbers, one.counted, table))) for one in examples]
    found = [(one, most) for one, most in told if most is not None]
    right = sum(most == one.most or most in one.also for one, most in found)
    there = sum(any(number.value == one.most for number in one.numbers) for one in examples)
    print(f"{folder}: {len(examples)} logs, {there} ends in heads: {right} found, {len(found) - right} wrong")


if __name__ == "__main__":
    main()
