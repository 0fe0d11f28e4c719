"""Whatever a look brings, a verdict comes of it, and nobody is called dead without proof."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING

import pytest

from onbox.contract.readings import Unseen, observed
from onbox.contract.states import RunState
from onbox.model.screen import columns
from patrol.decide.decide import explain_run
from patrol.decide.remote_command import Way
from patrol.liveness import Presence, presence_of
from patrol.memory.history import Before, BoxBefore
from patrol.memory.update_history import fold, fold_box
from patrol.report.lines import details, line, wide_line
from patrol.report.machine_formats import ReportEntry, document, nagios
from patrol.verdict import Severity, Verdict
from tests.patrol.makers import NOW, TICK
from tests.patrol.random_looks import a_box, a_box_memory, a_memory, a_run

if TYPE_CHECKING:
    from patrol.snapshot import BoxLook, RunLook

PER_ROUND = 250
ROUNDS = 20 if os.environ.get("ONBOX_EVERY_STEP") else 5


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_whatever_was_seen(seed: int) -> None:
    random = Random(seed)
    way = Way("gpu1", "gpu1", "/root/it's here")
    for _ in range(PER_ROUND):
        look, box, before, box_before = a_run(random), a_box(random), a_memory(random), a_box_memory(random)
        verdict, rules, flags = explain_run(look, box, before, box_before, NOW, way=way)
        assert rules[-1].rule == verdict.finding.rule
        assert all(tried.failed for tried in rules[:-1])
        assert len(flags) > 10
        assert_proven(verdict, look, box, before, box_before)
        assert_tellable(verdict, look, box, before)
        assert_bounded(fold(before, look, verdict, NOW, box), fold_box(box_before, box, NOW))


def assert_proven(verdict: Verdict, look: RunLook, box: BoxLook, before: Before, box_before: BoxBefore) -> None:
    presence = presence_of(look)
    if verdict.state is RunState.INTERRUPTED:
        assert presence in (Presence.GONE, Presence.UNSEEN, Presence.UNDECLARED)
        assert observed(look.outcome) == "chain_interrupted" or presence is Presence.GONE
        assert not isinstance(look.outcome, Unseen)
        assert observed(look.outcome) == "chain_interrupted" or not isinstance(look.done, Unseen)
    if verdict.finding.rule == "interrupted":
        identity = observed(box.identity)
        rebooted = identity is not None and observed(identity.boot_id) not in (None, box_before.boot_id)
        heartbeat = observed(look.heartbeat_age_seconds)
        assert before.gone_ticks >= 1 or rebooted or (look.managed and heartbeat is not None and heartbeat > 0)
    if verdict.state is RunState.FAILED:
        recorded = observed(look.outcome) in ("chain_failed", "gate_refused")
        engine = observed(look.scheduler)
        proven = engine is not None and (engine.run_state == "failed" or engine.rule == "never-ran")
        assert recorded or (presence is Presence.GONE and (observed(look.failure) is not None or proven))
    if verdict.state is RunState.DONE:
        assert observed(look.done) is not None
        assert presence in (Presence.GONE, Presence.UNDECLARED)
    if verdict.state is RunState.STALLED:
        assert presence in (Presence.ALIVE, Presence.ORPHAN)
        assert not isinstance(look.log, Unseen)
    if verdict.may_resume:
        assert look.managed
        assert presence is not Presence.ALIVE
        assert presence is Presence.ORPHAN or not isinstance(look.failure, Unseen)


def assert_tellable(verdict: Verdict, look: RunLook, box: BoxLook, before: Before) -> None:
    shown = wide_line(verdict, look, box, NOW, before)
    assert columns(line(verdict, look, NOW)) <= 80
    assert len(shown) < 200
    lines = [shown, *details(verdict, look, NOW), *nagios([ReportEntry(verdict, look, box)], NOW, verdict.severity)]
    assert all(text.isprintable() for text in lines), lines
    told = document([ReportEntry(verdict, look, box)], NOW, verdict.severity)
    assert told["schema"] == 1
    assert told["runs"][0]["rule"] == verdict.finding.rule
    assert (verdict.severity is Severity.OK) == (not details(verdict, look, NOW))


def assert_bounded(after: Before, box_after: BoxBefore) -> None:
    assert len(after.steps) <= 64
    assert len(after.rates) <= 64
    assert len(after.rules) <= 21
    assert len(after.signatures) <= 16
    assert len(box_after.disks) <= 256
    assert all(rate >= 0 for rate in after.rates)
    assert all(one[0] <= NOW for one in box_after.disks)


def test_many_ticks_in_a_row_keep_the_memory_small() -> None:
    random = Random(7)
    before, box_before, now = Before(), BoxBefore(), NOW
    for _ in range(400):
        now += random.choice((TICK, TICK, 0.0, -9 * TICK, 1e6))
        look, box = a_run(random)._replace(run="digits"), a_box(random)._replace(box="gpu1")
        verdict = explain_run(look, box, before, box_before, now).verdict
        assert verdict.since <= now
        before, box_before = fold(before, look, verdict, now, box), fold_box(box_before, box, now)
    assert len(before.steps) <= 64
    assert len(before.durations) <= 32
    assert len(box_before.disks) <= 256
