"""What is really so, against what is said."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.contract.readings import observed
from onbox.contract.states import RunState
from patrol.decide.decide import DEFAULT_POLICY, decide_box, decide_run, decide_unreachable_run
from patrol.decide.table import ALL_RULES, GROUPS
from patrol.snapshot import BoxLook, Scheduler
from tests.patrol.makers import NOW, WAY
from tests.patrol.truth import CASES

if TYPE_CHECKING:
    from patrol.verdict import Verdict
    from tests.patrol.case import Case

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def judged(case: Case) -> Verdict:
    if case.look is not None:
        assert isinstance(case.snapshot, BoxLook)
        return decide_run(case.look, case.snapshot, case.before, case.box_before, NOW, way=WAY)
    if not case.name:
        return decide_box(case.snapshot, case.box_before, NOW, way=WAY)
    return decide_unreachable_run(case.snapshot, case.name, case.before, case.box_before, NOW, way=WAY)


@pytest.mark.parametrize("case", CASES, ids=[case.truth for case in CASES])
def test_the_truth_is_told(case: Case) -> None:
    verdict = judged(case)
    said = (verdict.finding.rule, verdict.finding.severity, verdict.state, tuple(one.rule for one in verdict.further))
    assert said == (case.rule, case.severity, case.state, case.flags), verdict.finding.say
    assert verdict.may_resume == case.resume


@pytest.mark.parametrize("case", CASES, ids=[case.truth for case in CASES])
def test_what_is_wrong_comes_with_a_way_on(case: Case) -> None:
    verdict = judged(case)
    for finding in (verdict.finding, *verdict.further):
        assert finding.say
        if finding.severity.rank >= 2:
            assert finding.remedy
            assert finding.command or finding.rule == "oom-kill"


@pytest.mark.parametrize("case", CASES, ids=[case.truth for case in CASES])
def test_a_resume_is_offered_only_where_nothing_forbids_it(case: Case) -> None:
    verdict = judged(case)
    if " resume -d " in verdict.finding.command:
        assert verdict.may_resume or verdict.state is RunState.PENDING  # one that never began: a person may start it


OF_ENGINES = [case for case in CASES if case.look is not None and isinstance(case.look.scheduler, Scheduler)]


@pytest.mark.parametrize("case", OF_ENGINES, ids=[case.truth for case in OF_ENGINES])
def test_what_is_decided_of_a_job_is_no_matter_of_our_wording(case: Case) -> None:
    assert case.look is not None
    assert isinstance(case.look.scheduler, Scheduler)
    reworded = case.look._replace(scheduler=case.look.scheduler._replace(note="", says="in other words"))
    assert judged(case._replace(look=reworded)).finding.rule == case.rule


def test_of_a_stage_that_is_done_with_a_warning_its_own_log_is_offered() -> None:
    case = next(case for case in CASES if case.truth == "done, and its last loss is nan")
    found = next(one for one in judged(case).further if one.rule == "done-with-warning")
    assert "onbox logs train --run digits" in found.command


def test_no_two_cases_tell_the_same_truth() -> None:
    assert len({case.truth for case in CASES}) == len(CASES) >= 40


def test_names_of_rules_are_unique_within_what_is_asked_together() -> None:
    for _, rules in GROUPS:
        names = [rule.name for rule in rules]
        assert len(set(names)) == len(names)


def test_every_rule_is_fired_by_a_case() -> None:
    fired = {case.rule for case in CASES} | {flag for case in CASES for flag in case.flags}
    assert {rule.name for rule in ALL_RULES} - fired == set()


def test_every_rule_says_why_it_is_there() -> None:
    assert [rule.name for rule in ALL_RULES if not rule.why] == []


def test_only_a_box_that_could_not_be_seen_is_soft_at_first() -> None:
    soft = {case.truth for case in CASES if judged(case).soft}
    assert "trains behind a link that is down, first time" in soft
    assert "trains behind a link that is down, third time" not in soft
    assert "the key was not accepted" not in soft
    assert "killed between two ticks: first look" in soft


def test_an_unseen_box_never_speaks_of_a_dead_run() -> None:
    words = [
        judged(case).finding.say
        for case in CASES
        if case.look is None and observed(getattr(case.snapshot, "runs", None)) is None
    ]
    assert words
    assert not [text for text in words if "dead" in text or "died" in text or "failed" in text]


def test_the_default_policy_is_the_table() -> None:
    assert DEFAULT_POLICY.run_rules == GROUPS[0][1]
