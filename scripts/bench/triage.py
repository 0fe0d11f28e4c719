"""Score the triage on a labelled directory of logs, and time it.

    python scripts/bench/triage.py CORPUS_DIR [--list-wrong] [--no-speed]

CORPUS_DIR holds the logs and labels.jsonl. A case's file name holds the answer, so the classifier is given bytes only.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import time
from collections import Counter
from typing import Any, NamedTuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

HEALTHY = "success_healthy"
STALLED_AGE_SECONDS = 6 * 3600.0
FRESH_AGE_SECONDS = 30.0
SPEED_BYTES = 64 << 20
BLOCK_BYTES = 1 << 20
NAIVE = re.compile(rb"error|exception|traceback|killed", re.IGNORECASE)


class Scored(NamedTuple):
    """A case: its label and what was answered."""

    label: dict[str, Any]
    failure_class: str
    terminal: bool
    line: str
    confidence: str
    rule: str
    naive: bool
    seconds: float
    size_bytes: int

    @property
    def class_right(self) -> bool:
        return self.failure_class in (self.label["class"], *self.label["secondary"])

    @property
    def terminal_right(self) -> bool:
        return self.terminal is bool(self.label["terminal"])

    @property
    def line_right(self) -> bool:
        wanted, got = self.label["cause_line"].strip(), self.line.strip()
        return bool(wanted and got) and (wanted in got or got in wanted or wanted[:200] == got[:200])


def score(folder: str) -> list[Scored]:
    scored = []
    with open(os.path.join(folder, "labels.jsonl"), encoding="utf-8") as file:
        labels = [json.loads(line) for line in file if line.strip()]
    for label in labels:
        with open(os.path.join(folder, label["file"]), "rb") as file:
            data = file.read()
        age = STALLED_AGE_SECONDS if label["state"] == "stalled" else FRESH_AGE_SECONDS
        began = time.perf_counter()
        verdict = classify(data, Evidence(log_age_seconds=age))
        took = time.perf_counter() - began
        scored.append(
            Scored(
                label,
                verdict.failure_class,
                verdict.terminal,
                verdict.line or "",
                verdict.confidence,
                verdict.rule,
                bool(NAIVE.search(data)),
                took,
                len(data),
            )
        )
    return scored


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {100 * part / whole:.1f} %" if whole else "none"


def print_totals(scored: list[Scored]) -> None:
    healthy = [case for case in scored if case.label["class"] == HEALTHY]
    sick = [case for case in scored if case.label["class"] != HEALTHY]
    false_alarms = sum(case.failure_class != HEALTHY for case in healthy)
    size = sum(case.size_bytes for case in scored)
    print(f"cases                     {len(scored)}")
    print(f"class right               {share(sum(case.class_right for case in scored), len(scored))}")
    print(f"terminal right            {share(sum(case.terminal_right for case in scored), len(scored))}")
    print(f"false alarms on healthy   {share(false_alarms, len(healthy))}")
    print(f"missed (called healthy)   {share(sum(case.failure_class == HEALTHY for case in sick), len(sick))}")
    sure = [case for case in scored if case.confidence == "high"]
    print(f"said high, and wrong      {share(sum(not case.class_right for case in sure), len(sure))}")
    print(f"proving line right        {share(sum(case.line_right for case in scored), len(scored))}")
    print(f"time                      {1e6 * sum(case.seconds for case in scored) / (size / 1024):.1f} us per KiB")
    naive_right = sum(case.naive != (case.label["class"] == HEALTHY) for case in scored)
    naive_false = sum(case.naive for case in healthy)
    print(
        f"naive grep: sick or not   {share(naive_right, len(scored))}, false alarms {share(naive_false, len(healthy))}"
    )


def print_classes(scored: list[Scored]) -> None:
    asked = Counter(case.label["class"] for case in scored)
    answered = Counter(case.label["class"] if case.class_right else case.failure_class for case in scored)
    right = Counter(case.label["class"] for case in scored if case.class_right)
    print(f"\n{'class':22}{'cases':>6}{'precision':>11}{'recall':>8}")
    for name in sorted(asked | answered):
        precision = f"{right[name] / answered[name]:.2f}" if answered[name] else "-"
        recall = f"{right[name] / asked[name]:.2f}" if asked[name] else "-"
        print(f"{name:22}{asked[name]:>6}{precision:>11}{recall:>8}")


def print_wrong(scored: list[Scored]) -> None:
    for case in scored:
        marks = [
            word
            for word, right in (
                ("class", case.class_right),
                ("terminal", case.terminal_right),
                ("line", case.line_right),
            )
            if not right
        ]
        if marks:
            print(f"\n{case.label['id']}: wrong {', '.join(marks)}")
            print(f"  wanted {case.label['class']} {case.label['terminal']} | {case.label['cause_line'][:150]}")
            print(f"  got    {case.failure_class} {case.terminal} [{case.rule}] | {case.line[:150]}")


def print_speed() -> None:
    chance = random.Random(7)
    lines = [
        f"2026-01-01 12:{i // 60 % 60:02d}:{i % 60:02d},{i % 1000:03d} INFO train: step {i}/900000 "
        f"loss {chance.random():.4f} lr {chance.random() / 1e4:.3e} tok/s {chance.randint(80000, 99999)}\n"
        for i in range(20000)
    ]
    block = "".join(lines).encode()
    data = [block] * (SPEED_BYTES // len(block))
    began = time.perf_counter()
    classify(data, Evidence(log_age_seconds=30.0))
    took = time.perf_counter() - began
    print(f"\nplain log of {SPEED_BYTES >> 20} MiB: {sum(map(len, data)) / 1e6 / took:.1f} MB/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="CORPUS_DIR")
    parser.add_argument("--list-wrong", action="store_true")
    parser.add_argument("--no-speed", action="store_true")
    args = parser.parse_args()
    scored = score(args.folder)
    print_totals(scored)
    print_classes(scored)
    if args.list_wrong:
        print_wrong(scored)
    if not args.no_speed:
        print_speed()


if __name__ == "__main__":
    main()
