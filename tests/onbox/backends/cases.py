"""Captured answers, by file name."""

from __future__ import annotations

from pathlib import Path

CASES = Path(__file__).resolve().parents[2] / "cases" / "backends"


def case(name: str) -> str:
    return (CASES / name).read_text(encoding="utf-8")
