"""Small logs of many frameworks, written for this test, against what an honest reader says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

FOLDER = Path(__file__).resolve().parents[2] / "cases" / "triage"
EXPECTED = [
    line.split("\t")
    for line in (FOLDER / "expected.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
STALE_SECONDS, FRESH_SECONDS = 6 * 3600.0, 30.0


@pytest.mark.parametrize(("name", "classes", "state"), EXPECTED, ids=[row[0] for row in EXPECTED])
def test_a_log_has_its_class(name: str, classes: str, state: str) -> None:
    log = (FOLDER / f"{name}.log").read_bytes()
    age = STALE_SECONDS if state == "stalled" else FRESH_SECONDS
    verdict = classify(log, Evidence(log_age_seconds=age))
    assert verdict.failure_class in classes.split("|"), verdict
    assert verdict.terminal is (state == "dead"), verdict


def test_every_case_is_expected() -> None:
    assert {row[0] for row in EXPECTED} == {path.stem for path in FOLDER.glob("*.log")}


def test_there_are_enough_healthy_traps() -> None:
    assert sum(row[1] == "success_healthy" for row in EXPECTED) >= 25
