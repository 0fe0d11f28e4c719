"""Thresholds and rules as a user changes them, and what is said of mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from onbox.config.fields import ConfigErrors
from onbox.model.boxes import PatrolSettings
from patrol.decide.cadence import cadence_of
from patrol.decide.decide import decide_run
from patrol.decide.policy import Policy, read_policy
from patrol.verdict import Severity, Verdict
from tests.patrol.makers import HEALTHY_PROGRESS, NOW, artifacts, before, box, box_before, log, run

if TYPE_CHECKING:
    from patrol.snapshot import RunLook

STALLED = run(log=log(4000.0), artifacts=artifacts(4000.0))


def policy(*rules: dict[str, Any], **thresholds: Any) -> Policy:
    return read_policy(PatrolSettings(thresholds=thresholds, rules=tuple(rules)))


def decided(look: RunLook, by: Policy) -> Verdict:
    return decide_run(look, box(), before(), box_before(), NOW, by)


def errors(*rules: dict[str, Any], **thresholds: Any) -> list[str]:
    with pytest.raises(ConfigErrors) as caught:
        policy(*rules, **thresholds)
    return [str(error) for error in caught.value.errors]


def test_a_threshold_is_changed() -> None:
    assert decided(STALLED, policy()).finding.rule == "stalled"
    assert decided(STALLED, policy(stall_after="2h")).finding.rule == "healthy"


def test_a_threshold_of_one_run_is_its_own() -> None:
    for key in ("gpu1/digits", "digits"):
        assert decided(STALLED, policy(**{key: {"stall_after": "2h"}})).finding.rule == "healthy"
    assert decided(STALLED, policy(**{"gpu2/digits": {"stall_after": "2h"}})).finding.rule == "stalled"


def test_the_runs_own_stall_after_comes_before_the_policys() -> None:
    slow = STALLED._replace(stall_after_seconds=7200.0)
    assert decided(slow, policy(stall_after="1m")).finding.rule == "healthy"


def test_severity_message_and_remedy_are_changed() -> None:
    change = {"name": "stalled", "severity": "warning", "message": "{box}/{run}: {say} {{!}}", "remedy": "Call me."}
    finding = decided(STALLED, policy(change)).finding
    assert finding.severity is Severity.WARNING
    assert finding.remedy == "Call me."
    assert finding.say.startswith("gpu1/digits: alive, but every signal is old")
    assert finding.say.endswith("{!}")


def test_text_of_a_box_is_never_a_template() -> None:
    look = run(waiting_for="{run.__class__} {0} {")
    assert "{run.__class__} {0} {" in decided(look, policy({"name": "waiting", "message": "so: {say}"})).finding.say


def test_a_rule_is_switched_off() -> None:
    assert decided(STALLED, policy({"name": "stalled", "enabled": False})).finding.rule == "quiet"


def test_a_rule_is_asked_earlier() -> None:
    look = run(retries=5, progress=HEALTHY_PROGRESS._replace(loss="nan"))
    assert decided(look, policy()).finding.rule == "loss-lost"
    assert decided(look, policy({"name": "degraded", "before": "loss-lost"})).finding.rule == "degraded"


def test_moving_a_rule_never_allows_a_resume() -> None:
    moved = policy({"name": "healthy", "before": "done-acknowledged"})
    assert not decided(run(), moved).may_resume


def test_every_mistake_is_told_at_once() -> None:
    found = errors(
        {"name": "staled"},
        {"severity": "bad", "name": "stalled"},
        {"name": "quiet", "message": "{log} {"},
        {"name": "unclear", "enabled": False},
        {"name": "healthy", "before": "gpu-idle"},
        {"name": "quiet", "colour": "red"},
        {},
        stal_after="1h",
        memory_percent=120,
        gone_looks=0,
        digits={"stall_after": "soon"},
    )
    text = "\n".join(found)
    for wanted in (
        'patrol.thresholds.stal_after: "stal_after" is not a known key; did you mean "stall_after"?',
        "patrol.thresholds.memory_percent: 120 is not a share",
        "patrol.thresholds.gone_looks: 0 is not a whole number of 1 or more",
        'patrol.thresholds.digits.stall_after: "soon" is not a duration',
        'patrol.rules[0].name: "staled" is not a rule; did you mean "stalled"?',
        'patrol.rules[1].severity: "bad" is not',
        "patrol.rules[2].message",
        'patrol.rules[3].name: "unclear" is not a rule that may be moved',
        'patrol.rules[4].before: "gpu-idle" is not a rule that is asked together with healthy',
        'patrol.rules[5].colour: "colour" is not a known key',
        "patrol.rules[6].name: is missing",
    ):
        assert wanted in text


@pytest.mark.parametrize(
    ("schedule", "seconds"),
    [
        ("3,33 * * * *", 1800),
        ("*/15 * * * *", 900),
        ("7 * * * *", 3600),
        ("0 9-17 * * *", 16 * 3600),
        ("0 8 * * mon-fri", 3 * 86400),
        ("*/9 * * * *", 540),
        ("0 0 * * 7", 7 * 86400),
        ("nonsense", 1800),
        ("x * * * *", 1800),
        ("0 0 * * 1-", 1800),
        ("*/0 * * * *", 1800),
    ],
)
def test_the_cadence_is_the_longest_gap_of_the_schedule(schedule: str, seconds: float) -> None:
    assert cadence_of(schedule) == seconds


def test_the_cadence_comes_from_the_schedule() -> None:
    assert read_policy(PatrolSettings(schedule="7 * * * *")).thresholds.cadence_seconds == 3600
    assert policy(cadence="10m").thresholds.cadence_seconds == 600
