"""Memory from tick to tick: what is counted, what is forgotten, and what wrong clocks cannot do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from onbox.contract.readings import Unseen
from onbox.contract.states import RunState
from patrol.decide.decide import decide_run, decide_unreachable_run
from patrol.memory.history import Before, BoxBefore
from patrol.memory.update_history import acknowledgement, fold, fold_box, rate_now
from patrol.snapshot import BoxIdentity, BoxLook, FinishedStage, GpuLook, RunLook
from tests.patrol.makers import (
    HEALTHY_PROGRESS,
    NOW,
    TICK,
    UPTIME,
    artifacts,
    away,
    box,
    dead,
    disk,
    done,
    failure,
    run,
    watched,
)

if TYPE_CHECKING:
    from patrol.verdict import Verdict


class Patrol:
    """Ticks in a row over one run; `local_jump`: how far this machine's clock is off."""

    def __init__(self) -> None:
        self.before, self.box_before = Before(), BoxBefore()
        self.seconds = 0.0
        self.local_jump = 0.0

    def at(self) -> float:
        return NOW + self.seconds + self.local_jump

    def tick(self, look: RunLook | None, seen: BoxLook | None = None, after: float = TICK) -> Verdict:
        self.seconds += after
        now = self.at()
        seen = seen or box(identity=BoxIdentity("gpu1", "boot-1", UPTIME + self.seconds, now, 0.0))
        if look is None:
            verdict = decide_unreachable_run(away("timeout"), "digits", self.before, self.box_before, now)
            self.before = fold(self.before, None, verdict, now)
            self.box_before = fold_box(self.box_before, away("timeout"), now)
            return verdict
        verdict = decide_run(look, seen, self.before, self.box_before, now)
        self.before = fold(self.before, look, verdict, now, seen)
        self.box_before = fold_box(self.box_before, seen, now)
        return verdict


def at_step(step: float, **changes: Any) -> RunLook:
    return run(progress=HEALTHY_PROGRESS._replace(current=step))._replace(**changes)


def test_since_when_is_kept_while_the_rule_is_the_same() -> None:
    patrol = Patrol()
    first = patrol.tick(at_step(1))
    later = patrol.tick(at_step(2))
    assert first.changed
    assert not later.changed
    assert later.since == first.since
    assert patrol.before.rule_ticks == 2


def test_dead_takes_two_looks_and_an_unseen_one_is_none() -> None:
    patrol = Patrol()
    patrol.tick(run())
    assert patrol.tick(dead()).finding.rule == "gone"
    assert patrol.tick(dead(stage_alive=Unseen("late"))).finding.rule == "could-not-look"
    assert patrol.tick(dead()).state is RunState.INTERRUPTED


def test_a_run_that_comes_back_is_counted_anew() -> None:
    patrol = Patrol()
    patrol.tick(dead())
    patrol.tick(run())
    assert patrol.tick(dead()).finding.rule == "gone"


def test_a_lost_link_changes_nothing_that_is_known_of_the_run() -> None:
    patrol = Patrol()
    patrol.tick(at_step(100))
    known = patrol.before
    for _ in range(5):
        assert patrol.tick(None).state is RunState.UNKNOWN
    assert (patrol.before.known_state, patrol.before.last_seen_at) == ("running", known.last_seen_at)
    assert patrol.before.steps == known.steps
    assert patrol.box_before.failures == 5
    assert patrol.tick(at_step(200)).finding.rule == "healthy"
    assert patrol.box_before.failures == 0


def test_unreachable_is_soft_until_the_second_time() -> None:
    patrol = Patrol()
    assert [patrol.tick(None).soft for _ in range(3)] == [True, False, False]


def collapse(patrol: Patrol) -> list[str]:
    """Ten ticks at full pace, then five at 60%."""
    step, rules = 0.0, []
    for tick in range(15):
        step += 200.0 if tick < 10 else 120.0
        rules.append(patrol.tick(at_step(step)).finding.rule)
    return rules


def test_a_collapse_is_told_after_several_slow_ticks() -> None:
    assert collapse(Patrol())[9:] == ["healthy"] * 3 + ["throughput-collapse"] * 3


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_a_jump_of_this_machines_clock_is_no_change_of_pace(jump: float) -> None:
    patrol = Patrol()
    step = 0.0
    for tick in range(16):
        step += 200.0
        patrol.local_jump = jump if tick >= 12 else 0.0
        assert patrol.tick(at_step(step)).finding.rule == "healthy"
    assert max(patrol.before.rates) - min(patrol.before.rates) < 1e-9


def test_an_epoch_counter_that_moves_every_other_tick_is_no_collapse() -> None:
    patrol = Patrol()
    rules = {patrol.tick(at_step(float(tick // 2))).finding.rule for tick in range(30)}
    assert rules == {"healthy"}


def test_a_counter_that_stands_still_is_slower_than_its_smallest_step() -> None:
    patrol = Patrol()
    for tick in range(12):
        patrol.tick(at_step(float(100 * tick)))
    found = [patrol.tick(at_step(1100.0)).finding.rule for _ in range(5)]
    assert found[-1] == "throughput-collapse"


def test_a_restart_from_a_checkpoint_is_no_negative_pace() -> None:
    patrol = Patrol()
    patrol.tick(at_step(4000))
    patrol.tick(at_step(3000, attempt=2))
    patrol.tick(at_step(3200, attempt=2))
    assert len(patrol.before.rates) == 1
    assert patrol.before.rates[0] == pytest.approx(200 / TICK)


def test_looks_that_follow_each_other_by_hand_are_no_collapse() -> None:
    patrol = Patrol()
    for tick in range(12):
        patrol.tick(at_step(200.0 * tick))
    found = {patrol.tick(at_step(2200.0 + 10 * (tick // 8)), after=10.0).finding.rule for tick in range(40)}
    assert found == {"healthy"}


def test_the_time_while_a_run_was_dead_is_no_slow_pace() -> None:
    patrol, end = Patrol(), HEALTHY_PROGRESS._replace(current=2200.0)
    for tick in range(12):
        patrol.tick(watched(progress=HEALTHY_PROGRESS._replace(current=200.0 * tick)))
    for _ in range(6):
        patrol.tick(watched(stage_alive=False, progress=end))
    again = [patrol.tick(watched(progress=end._replace(current=2000.0 + 200 * tick))) for tick in range(1, 5)]
    assert [verdict.finding.rule for verdict in again] == ["healthy"] * 4


def test_pace_of_another_stage_is_no_baseline() -> None:
    patrol = Patrol()
    for tick in range(12):
        patrol.tick(at_step(1000.0 * tick))
    patrol.tick(at_step(5.0, stage="eval"))
    assert patrol.before.rates == ()


def test_a_replaced_run_begins_with_an_empty_memory() -> None:
    patrol = Patrol()
    for tick in range(12):
        patrol.tick(at_step(1000.0 * tick))
    patrol.before = patrol.before._replace(acknowledged=acknowledgement("r1", "stalled"), silenced_until=1e12)
    verdict = patrol.tick(at_step(5.0, run_id="r2"))
    assert [finding.rule for finding in verdict.further] == ["replaced"]
    assert patrol.before.rates == ()
    assert patrol.before.acknowledged is None
    assert patrol.before.silenced_until == 1e12
    assert patrol.tick(at_step(10.0, run_id="r2")).further == ()


def test_the_same_failure_in_two_attempts_is_a_repeated_one() -> None:
    patrol = Patrol()
    failed = dead(outcome="chain_failed", failure=failure())
    assert [patrol.tick(failed).finding.rule for _ in range(3)] == ["failed"] * 3
    assert patrol.tick(run(attempt=2)).finding.rule == "healthy"
    again = patrol.tick(failed._replace(attempt=2))
    assert (again.finding.rule, again.may_resume) == ("repeated-failure", False)


def test_times_of_earlier_runs_are_the_expectation_of_the_next() -> None:
    patrol = Patrol()
    patrol.tick(done(finished=(FinishedStage("train", 40_000.0), FinishedStage("eval", 60.0))))
    fast = done(run_id="r2", finished=(FinishedStage("train", 1000.0), FinishedStage("eval", 61.0)))
    for _ in range(2):
        flags = {finding.rule: finding.say for finding in patrol.tick(fast).further}
        assert flags["fast-finish"] == "stage train took 16m40s where 11h06m was expected"


def test_what_is_always_over_in_no_time_is_never_too_fast() -> None:
    patrol = Patrol()
    patrol.tick(done(finished=(FinishedStage("eval", 1.2),)))
    verdict = patrol.tick(done(run_id="r2", finished=(FinishedStage("eval", 0.4),)))
    assert [finding.rule for finding in verdict.further] == ["replaced"]


def test_gpu_idle_takes_three_ticks() -> None:
    patrol = Patrol()
    seen = box(gpus=(GpuLook(0, 0, 1, 2, 40),))
    idle = [patrol.tick(at_step(float(tick)), seen).further for tick in range(4)]
    assert [bool(flags) for flags in idle] == [False, False, True, True]


def test_inodes_that_shrink_are_told_before_they_end() -> None:
    patrol = Patrol()
    flags = []
    for tick in range(8):
        left = 8_000_000 - 500_000 * tick
        seen = box(disks=(disk()._replace(inodes_free=left, inodes_total=10_000_000),))
        verdict = patrol.tick(at_step(float(tick)), seen)
        flags = [finding for finding in verdict.further if finding.rule.startswith("disk")]
    assert [finding.rule for finding in flags] == ["disk-trend"]
    assert "inodes of / full in 4h30m at the rate of the last 3h30m" in flags[0].say


def test_checkpoints_that_come_and_go_are_no_trend() -> None:
    patrol = Patrol()
    for tick in range(20):
        left = int(4e11) - int(1e11) * (tick % 3)
        verdict = patrol.tick(at_step(float(tick)), box(disks=(disk()._replace(bytes_free=left),)))
        assert verdict.further == ()


def test_kernel_lines_are_told_once() -> None:
    memory = fold_box(BoxBefore(boot_id="boot-1"), box(), NOW)
    assert memory.kernel_seconds == UPTIME


def test_without_a_counter_there_is_no_pace() -> None:
    assert rate_now(Before(), run(), box(), NOW) is None


def saves(patrol: Patrol, ages: list[float]) -> list[bool]:
    """Whether the saves are told to be late, tick by tick: the steps go on, the newest artifact is so old."""
    said = []
    for number, age in enumerate(ages):
        verdict = patrol.tick(at_step(100.0 * number)._replace(artifacts=artifacts(age)))
        said.append("artifacts-late" in [finding.rule for finding in verdict.further])
    return said


def test_saves_that_stop_are_late_until_the_next_one() -> None:
    minutes = [5.0, 12, 3, 9, 8, 38, 68, 98, 128, 158, 2, 10]
    late = [False] * 8 + [True] * 2 + [False] * 2
    assert saves(Patrol(), [60 * age for age in minutes]) == late


def test_a_save_every_five_hours_is_never_late() -> None:
    assert not any(saves(Patrol(), [1800.0 * (look % 10) for look in range(60)]))


def test_a_first_save_that_takes_long_is_not_late() -> None:
    assert not any(saves(Patrol(), [1800.0 * look for look in range(20)]))
