"""Why a run ended, as triage reads it in a log: in the words of a snapshot. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.outside import safe_line
from patrol.snapshot import Failure

if TYPE_CHECKING:
    from onbox.triage.verdict import Diagnosis

NO_FAULT_RULES = frozenset({"unproven", "silent-log"})  # what they say is told by process and log age, not by the log
LINE_LIMIT = 300


def fault_of(verdict: Diagnosis) -> Failure | None:
    """None: the log shows no end by a fault. The proof is as the log has it, on one line."""
    if not verdict.terminal or verdict.rule in NO_FAULT_RULES:
        return None
    return Failure(
        failure_class=verdict.failure_class,
        remedy=verdict.remedy,
        retry_allowed=verdict.retry,
        signature=verdict.signature,
        proof=safe_line(verdict.line or "", LINE_LIMIT),
        where=safe_line(verdict.where or "", LINE_LIMIT),
        source="log",
        confidence=verdict.confidence,
    )
