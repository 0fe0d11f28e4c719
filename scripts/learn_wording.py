"""Learn anew how strongly the words at the end of a log speak for a failure (`onbox/triage/wording/weights.txt`), and
of which class (`class_weights.txt` beside it).

    python scripts/learn_wording.py FOLDER... [--left-out FOLDER]

A FOLDER holds logs with `labels.jsonl` (as the benches of triage and of progress read them), or is
`tests/cases/triage`; a file `*.jsonl` of `{"text": ..., "label": "well" | "ill"}`, or with a "class" and a "state"
instead of the label, holds ends of logs. Beside the labels, `answers.jsonl` may hold what the rules said when they saw
the logs for the first time (`{"id", "class", "confidence", "rule"}`): from these it is learned how far an answer is to
be trusted. --left-out: a folder that nothing is learned from; how many of its answers are right is printed, by the
first of the tables. Logistic regression (`scripts/regression.py`); the
same folders give the same file. Takes some minutes, most of them to read the logs.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections import Counter
from typing import NamedTuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from onbox.triage.reading.record import WEAK, SeenLine
from onbox.triage.reading.scan import scan
from onbox.triage.weighing.decide import decide, judged_tail
from onbox.triage.wording import class_reading
from onbox.triage.wording.second_reading import BIAS, WEIGHTS, WORDS, contradicts, forms_in, grounds, leaning
from onbox.triage.wording.words import words_of
from scripts.labelled import HEALTHY, STALLED, cases_in, holds_cases, json_lines, labels_in, read_log
from scripts.regression import Row, fit, write_lettered, write_table

STRENGTH, SMOOTHING = 128.0, 0.3
TRUST_STRENGTH = 1.0
FOLDS = 4
LEAST_TRUST = 0.1
LEAST_LOGS = 3  # a word in fewer says nothing
CLASS_STRENGTH = 20.0
LEAST_CLASS_WEIGHT, LEAST_IN_ROW = 2.5, 1.5  # a word speaks clearly for some class; and so much is written of it
LEAST_WEIGHT = 0.7  # the words below it are left out: the table is a third as long, and reads as well


class Example(NamedTuple):
    """A labelled log. answer: the grounds of the rules' first answer, and whether it was a failure; None: not kept.
    failure_class: "" where it is not known.
    """

    words: frozenset[str]
    ill: bool
    answer: tuple[tuple[str, ...], bool] | None = None
    failure_class: str = ""


def main() -> None:
    """Read the folders, learn, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--left-out", action="append", default=[])
    asked = parser.parse_args()
    sets = [read(folder) for folder in asked.folders]
    everything = [example for one in sets for example in one]
    if not any(example.answer for example in everything):
        parser.error("no folder holds an answers.jsonl: from these it is learned how far an answer is to be trusted")
    words, bias = learn_words(everything)
    table = {**learn_trust(sets), **words}
    table[BIAS] = round(table[BIAS] + table[WORDS] * bias, 2)
    write_table(WEIGHTS, table, f"the ends of {len(everything)} labelled logs by scripts/learn_wording.py")
    write_lettered(
        class_reading.CLASS_WEIGHTS, learn_classes(everything), "the ends of labelled logs by scripts/learn_wording.py"
    )
    for folder in asked.left_out:
        report(folder, table)


def read(path: str) -> list[Example]:
    """The examples of a folder or a file."""
    if path.endswith(".jsonl"):
        return [read_end(end) for end in json_lines(path) if end.get("label") in ("well", "ill") or has_class(end)]
    if holds_cases(path):
        return read_cases(path)
    labels = labels_in(path)
    if labels and "class" not in labels[0]:
        return read_unharmed(path, [label["file"] for label in labels])
    answers = {one["id"]: one for one in json_lines(os.path.join(path, "answers.jsonl"))}
    found = []
    for label in (one for one in labels if one["state"] != STALLED):
        said = answers.get(label["id"])
        tail, is_ill = tail_of(read_log(path, label["file"])), label["class"] != HEALTHY
        told = answered(said, tail) if said else None
        found.append(Example(words_of(tail), is_ill, told, label["class"] if is_ill else ""))
    return found


def answered(said: dict[str, str], tail: tuple[SeenLine, ...]) -> tuple[tuple[str, ...], bool]:
    """The grounds of an answer of the rules, and whether it was a failure."""
    ill = said["class"] != HEALTHY
    return grounds(ill=ill, confidence=said["confidence"], rule=said["rule"], forms=forms_in(tail)), ill


def has_class(end: dict[str, str]) -> bool:
    """Whether its class is told, and its words are worth to learn."""
    return "class" in end and end["state"] != STALLED


def read_end(end: dict[str, str]) -> Example:
    """A line of a file of ends."""
    found = end.get("class", "")
    ill = found != HEALTHY if found else end["label"] == "ill"
    return Example(words_in(end["text"].encode()), ill, None, found if ill else "")


def read_unharmed(path: str, names: list[str]) -> list[Example]:
    """Logs of loops, of which nobody said how they went: those in which no line tells of a fault are well."""
    found = []
    for name in names:
        record = scan([read_log(path, name)])
        attempt = decide(record, dead=False, well=False, exited_zero=False).attempt
        if all(fault.severity == WEAK for fault in attempt.faults):
            found.append(Example(words_of(judged_tail(record)), ill=False))
    return found


def read_cases(path: str) -> list[Example]:
    """Those of the tests."""
    told = [(name, classes) for name, classes, state in cases_in(path) if state != STALLED]
    return [Example(words_in(read_log(path, name)), HEALTHY not in classes) for name, classes in told]


def words_in(log: bytes) -> frozenset[str]:
    """The words of the attempt that triage judges."""
    return words_of(tail_of(log))


def tail_of(log: bytes) -> tuple[SeenLine, ...]:
    """The last lines of the attempt that triage judges."""
    return judged_tail(scan([log]))


def learn_words(examples: list[Example]) -> tuple[dict[str, float], float]:
    """The weights of the words that speak clearly, and the bias beside them."""
    logs = Counter(word for example in examples for word in example.words)
    known = sorted(word for word, count in logs.items() if count >= LEAST_LOGS)
    at = {word: index for index, word in enumerate(known)}
    rows = [([at[word] for word in one.words if word in at], one.ill) for one in examples]
    scaled = [Row(row, [1 / math.sqrt(max(1, len(row)))] * len(row), ill) for row, ill in rows]
    weights, bias = fit(scaled, len(known), strength=STRENGTH, smoothing=SMOOTHING)
    return {known[at]: round(one, 1) for at, one in enumerate(weights) if abs(one) >= LEAST_WEIGHT}, bias


def learn_trust(sets: list[list[Example]]) -> dict[str, float]:
    """How far words and the grounds of an answer count beside each other. Each part of the sets is read with words that
    were learned from the others.
    """
    told: list[tuple[dict[str, float], bool]] = []
    for part in range(FOLDS):
        words, bias = learn_words([one for at, one_set in enumerate(sets) if at % FOLDS != part for one in one_set])
        for one in (one for one_set in sets[part::FOLDS] for one in one_set if one.answer):
            assert one.answer is not None
            told.append(({WORDS: leaning(one.words, words) + bias, **dict.fromkeys(one.answer[0], 1.0)}, one.ill))
    seen = Counter(name for row, _ in told for name in row)
    names = sorted(seen)
    rows = [Row([names.index(name) for name in row], list(row.values()), ill) for row, ill in told]
    weights, bias = fit(rows, len(names), strength=TRUST_STRENGTH)
    found = {name: round(one, 2) for name, one in zip(names, weights, strict=True)}
    return {BIAS: bias, **{name: one for name, one in found.items() if abs(one) >= LEAST_TRUST}}


def learn_classes(examples: list[Example]) -> dict[str, dict[str, float]]:
    """For each word that speaks clearly for or against a class, by how much: one regression for each class against all
    others, first over all words, then over those that spoke clearly.
    """
    told = [(class_reading.plain(one.words), one.failure_class) for one in examples if one.failure_class]
    logs = Counter(word for words, _ in told for word in words)
    known = {word for word, count in logs.items() if count >= LEAST_LOGS}
    table = learn_each_class(told, known)
    clear = {word for word, row in table.items() if max(map(abs, row.values())) >= LEAST_CLASS_WEIGHT}
    table = learn_each_class(told, clear - {BIAS})
    return {
        word: {name: one for name, one in row.items() if abs(one) >= LEAST_IN_ROW or word == BIAS}
        for word, row in table.items()
    }


def learn_each_class(told: list[tuple[frozenset[str], str]], known: set[str]) -> dict[str, dict[str, float]]:
    """The weights of all known words for all classes, with the row of the biases."""
    names = sorted(known)
    at = {word: index for index, word in enumerate(names)}
    rows = [[at[word] for word in sorted(words) if word in at] for words, _ in told]
    table: dict[str, dict[str, float]] = {word: {} for word in (BIAS, *names)}
    for one in sorted({name for _, name in told}):
        scaled = [
            Row(row, [1 / math.sqrt(max(1, len(row)))] * len(row), name == one)
            for row, (_, name) in zip(rows, told, strict=True)
        ]
        weights, bias = fit(scaled, len(names), strength=CLASS_STRENGTH, smoothing=SMOOTHING)
        table[BIAS][one] = round(bias, 2)
        for word, weight in zip(names, weights, strict=True):
            table[word][one] = round(weight, 1)
    return table


def report(folder: str, table: dict[str, float]) -> None:
    """How the table does on a set that it was not learned from."""
    held = [one for one in read(folder) if one.answer]
    before = after = alone = 0
    for one in held:
        assert one.answer is not None
        rows, ill = one.answer
        overruled = contradicts(one.words, rows, table, ill=ill)
        before, after = before + (ill == one.ill), after + ((ill != overruled) == one.ill)
        alone += (leaning(one.words, table) > 0) == one.ill
    print(f"{folder}: {len(held)} logs, rules right {before}, with the second reading {after}, words alone {alone}")


if __name__ == "__main__":
    main()
