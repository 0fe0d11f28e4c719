"""Labelled logs, for the scripts that learn from them: folders with `labels.jsonl`, and the cases of the tests."""

from __future__ import annotations

import json
import os
from typing import Any

HEALTHY = "success_healthy"
STALLED = "stalled"  # the state of a log that just stops: its words are those of a run that goes on
CASES = "expected.tsv"  # what a folder of cases holds


def json_lines(path: str) -> list[dict[str, Any]]:
    """The objects of a file; none where it is not there."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def labels_in(folder: str) -> list[dict[str, Any]]:
    """What is said of each log of a folder; none where it has no `labels.jsonl`."""
    return json_lines(os.path.join(folder, "labels.jsonl"))


def holds_cases(path: str) -> bool:
    """Whether it is a folder as `tests/cases/triage`."""
    return os.path.exists(os.path.join(path, CASES))


def cases_in(folder: str) -> list[tuple[str, list[str], str]]:
    """Of each case the name of its log, the classes that it may have, and its state."""
    with open(os.path.join(folder, CASES), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [(f"{name}.log", classes.split("|"), state) for name, classes, state in rows]


def read_log(folder: str, name: str) -> bytes:
    """A log's bytes."""
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()
