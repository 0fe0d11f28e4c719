"""The class of a failed attempt, from how it ended."""

from __future__ import annotations

import pytest

from onbox.triage.classes import CLASSES, REMEDIES
from onbox.triage.evidence import EVIDENCE, EvidenceEnd, classify_end


def exited(code: int | None, *gates: str) -> EvidenceEnd:
    return EvidenceEnd(code, None, "exit", gates)


def killed(number: int) -> EvidenceEnd:
    return EvidenceEnd(128 + number, number, "exit")


CASES = [
    ("timed-out", "time_limit", EvidenceEnd(143, 15, "timeout")),
    ("timed-out", "time_limit", EvidenceEnd(0, None, "timeout")),
    ("stalled", "hang_stall", EvidenceEnd(137, 9, "stalled")),
    ("diverged", "divergence", EvidenceEnd(143, 15, "diverged")),
    ("detected", "unknown", EvidenceEnd(143, 15, "detected")),
    ("stopped", "user_interrupt", EvidenceEnd(None, None, "stopped")),
    ("not-started", "not_started", EvidenceEnd(None, None, "not_started")),
    ("oom-killed", "host_oom", EvidenceEnd(137, 9, "exit", oom_kills=1)),
    ("oom-killed", "host_oom", EvidenceEnd(1, None, "exit", oom_kills=3)),
    ("killed-none-counted", "unknown", EvidenceEnd(137, 9, "exit", oom_kills=0)),
    ("exit-0-but-refused", "false_success", EvidenceEnd(0, None, "exit", ("min_duration",), 1)),
    ("exit-0-but-refused", "false_success", exited(0, "artifact best.npz")),
    ("loss-not-finite", "divergence", exited(0, "finite_loss")),
    ("exit-0-but-refused", "false_success", exited(0, "min_duration")),
    ("interrupted", "user_interrupt", killed(2)),
    ("asked-to-end", "preempted", killed(15)),
    ("asked-to-end", "preempted", killed(10)),
    ("asked-to-end", "preempted", killed(12)),
    ("asked-to-end", "preempted", killed(24)),
    ("temporary", "network_blip", exited(75)),
    ("timeout-tool", "time_limit", exited(124)),
    ("no-permission", "permission_error", exited(77)),
    ("no-permission", "permission_error", exited(126)),
    ("no-command", "config_error", exited(127)),
    ("no-command", "config_error", exited(66)),
    ("usage", "config_error", exited(2)),
    ("usage", "config_error", exited(64)),
    ("usage", "config_error", exited(78)),
    ("bug-signal", "code_error", killed(11)),
    ("bug-signal", "code_error", killed(7)),
    ("bug-signal", "code_error", killed(8)),
    ("bug-signal", "code_error", killed(4)),
    ("killed-cause-unknown", "unknown", killed(9)),
    ("unproven", "unknown", killed(6)),
    ("unproven", "unknown", exited(1)),
    ("unproven", "unknown", exited(255)),
    ("unproven", "unknown", exited(None)),
    ("cut-off", "preempted", EvidenceEnd(None, None, "cut_off")),
    ("end-missed", "unknown", EvidenceEnd(None, None, "end_missed")),
    ("keeper-lost", "unknown", EvidenceEnd(None, None, "keeper_lost")),
]


@pytest.mark.parametrize(("rule", "failure_class", "end"), CASES)
def test_an_end_has_its_class(rule: str, failure_class: str, end: EvidenceEnd) -> None:
    row = classify_end(end)
    assert (rule, failure_class) == (row.rule, row.failure_class)


@pytest.mark.parametrize("end", [end for _, _, end in CASES])
def test_the_last_row_always_holds(end: EvidenceEnd) -> None:
    assert EVIDENCE[-1].holds(end)


def test_names_of_rows_are_unique() -> None:
    names = [row.rule for row in EVIDENCE]
    assert len(names) == len(set(names))


def test_every_row_is_reached_by_some_end() -> None:
    assert {row.rule for row in EVIDENCE} == {rule for rule, _, _ in CASES}


def test_every_row_gives_a_known_class_and_its_source() -> None:
    assert [row.rule for row in EVIDENCE if row.failure_class not in REMEDIES or not row.source] == []


def test_every_class_has_one_remedy() -> None:
    assert len(CLASSES) == len(REMEDIES)
    assert [row.key for row in CLASSES if not row.remedy.endswith(".")] == []
