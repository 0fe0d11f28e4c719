"""Every case of ours has an expectation."""

from __future__ import annotations

import json
import os

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "..")


def test_every_case_has_an_expectation_and_a_short_name() -> None:
    folder = os.path.join(ROOT, "tests", "cases", "progress")
    with open(os.path.join(folder, "expectations.json"), encoding="utf-8") as file:
        named = {row["file"] for row in json.load(file)}
    assert {name for name in os.listdir(folder) if name.endswith(".log")} == named
    assert all(len(name) <= 60 for name in named)
