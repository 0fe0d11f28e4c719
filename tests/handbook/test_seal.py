"""Which runs may be sealed, and what their seal keeps."""

from __future__ import annotations

import pytest

from handbook.check.issue import body, command_to_send, update
from handbook.check.seal import RunEnd, captured, checks, final_facts
from handbook.page.facts import (
    DoneStage,
    IdentityFacts,
    PassedFacts,
    ResultFacts,
    ResumeFacts,
    RunFacts,
    StageFacts,
    TrackerFacts,
)
from onbox.config.tables.record import Contract
from onbox.contract.readings import Absent, Unseen, observed
from tests.handbook.made import run_facts

LAST = ResumeFacts(
    "nothing", "all is done", "", "step 100, ckpt/step-100: whole", whole=True, step=100, path="ckpt/step-100",
    newest="step 100, ckpt/step-100: whole",
)  # fmt: skip
TRAINED = DoneStage(
    2, 0, 3600.0, "~100/100 (100%) loss 0.41", 100.0, (("ckpt/step-50/w", 7), ("ckpt/step-100/w", 7)), 2
)
STAGES = (
    StageFacts("train", "python train.py", "done", end=TRAINED),
    StageFacts("eval", "python eval.py", "done", end=DoneStage(1, 0, 2.0, Absent("no progress was shown"))),
)
DONE = run_facts(4, resume=LAST, stages=STAGES)
PROMISED = Contract(final_step=100, output_root="/mnt/digits")


def false(
    run: RunFacts = DONE, contract: Contract = PROMISED, damages: tuple[str, ...] = (), waiters: tuple[str, ...] = ()
) -> list[str]:
    return [one.name for one in checks(RunEnd(run, contract, damages, waiters)) if one.holds is False]


def test_a_run_that_is_whole_may_be_sealed() -> None:
    assert false() == []
    assert "final checkpoint step 100" in captured(DONE, PROMISED)


@pytest.mark.parametrize(
    ("change", "item"),
    [
        ({"state": "running"}, "terminal success"), ({"state": "failed"}, "terminal success"),
        ({"resume": LAST._replace(missing=(("train", "best.npz"),))}, "results"),
        ({"resume": LAST._replace(step=90)}, "final checkpoint"),
        ({"resume": LAST._replace(whole=False)}, "final checkpoint"),
        ({"resume": LAST._replace(step=None)}, "final checkpoint"),
        ({"stages": (STAGES[0], STAGES[1]._replace(state="pending"))}, "stages"),
        ({"rule": "tracker-unfinished", "says": "its run at W&B has no end"}, "tracker"),
        ({"further": (("tracker-unfinished", "its run at W&B has no end"),)}, "tracker"),
        ({"trackers": (TrackerFacts("train", "wandb abc", True, ("it is in project b, not a",)),)}, "tracker"),
    ],
)  # fmt: skip
def test_what_is_not_so_is_named(change: dict[str, object], item: str) -> None:
    assert false(DONE._replace(**change)) == [item]  # type: ignore[arg-type]


NEWER = PassedFacts("ckpt/step-200", 200, "incomplete", "metadata.json is missing")


@pytest.mark.parametrize(
    ("resume", "holds"),
    [
        (LAST._replace(passed=(NEWER,)), False),
        (LAST._replace(passed=(NEWER._replace(fault="unproven"),)), False),
        (LAST._replace(passed=(NEWER._replace(fault="foreign"),)), False),
        (LAST._replace(passed=(NEWER._replace(fault="given up"),)), True),
        (LAST._replace(passed=(NEWER._replace(step=100),)), True),
        (LAST._replace(passed=(NEWER,), step=None, whole=None), False),
        (LAST._replace(passed=(NEWER._replace(fault="unproven"),), step=None, whole=None), None),
        (LAST._replace(passed=(NEWER._replace(fault="unproven"),), whole=None), None),
    ],
)
def test_the_final_checkpoint_is_the_highest_step_that_was_seen(resume: ResumeFacts, *, holds: bool | None) -> None:
    found = checks(RunEnd(DONE._replace(resume=resume), PROMISED._replace(final_step=None), (), ()))
    (one,) = [one for one in found if one.name == "final checkpoint"]
    assert one.holds is holds, one.says
    if holds is False:
        assert "ckpt/step-200: metadata.json is missing" in one.says


def test_a_training_that_went_on_after_its_last_checkpoint_is_a_caveat() -> None:
    longer = STAGES[0]._replace(end=TRAINED._replace(step=450.0))
    found = checks(RunEnd(DONE._replace(stages=(longer, STAGES[1])), PROMISED, (), ()))
    assert [(one.name, one.says) for one in found if one.holds is None] == [
        ("final checkpoint", "step 100, ckpt/step-100: whole; its stage went on to step 450")
    ]


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({"trackers": (TrackerFacts("train", "wandb abc", True),)}, True),
        ({"trackers": (TrackerFacts("train", "wandb abc", Unseen("it did not answer")),)}, None),
        ({"further": (("tracker-unsynced", "its metrics lie on this box only"),)}, None),
    ],
)
def test_what_the_tracker_says_is_judged(changes: dict[str, object], *, holds: bool | None) -> None:
    identity_ = identity(DONE)._replace(tracker="wandb abc")
    run = DONE._replace(identity=identity_)._replace(**changes)  # type: ignore[arg-type]
    assert [one.holds for one in checks(RunEnd(run, PROMISED, (), ())) if one.name == "tracker"] == [holds]


def test_the_seal_keeps_the_end_of_every_stage_and_the_small_results() -> None:
    results = (ResultFacts("eval", "results.csv", "acc,0.91\n# of 3", whole=True),)
    warned = STAGES[1]._replace(end=DoneStage(1, 0, 2.0, Absent("no progress was shown"), warnings=("loss nan",)))
    files = "ckpt/step-50/w 7 B, ckpt/step-100/w 7 B"
    told = final_facts(DONE._replace(stages=(STAGES[0], warned), resume=LAST._replace(results=results)))
    assert told.splitlines() == [
        f"- train: exit 0, took 1h00m, attempt 2, ~100/100 (100%) loss 0.41; 2 artifacts: {files}",
        "- eval: exit 0, took 2.0s, attempt 1, no progress was shown; WARNING: loss nan",
        "", "results.csv of stage eval:", "", "    acc,0.91", "    # of 3",
    ]  # fmt: skip
    warnings = checks(RunEnd(DONE._replace(stages=(STAGES[0], warned)), PROMISED, (), ()))
    assert ("stages", None, "eval: loss nan") in warnings


def test_damage_and_watchers_are_named() -> None:
    assert false(damages=("entry 3 was edited",)) == ["logbook"]
    assert false(waiters=("sentinel ab pid 7 for gpu4:digits waits",)) == ["watchers here"]


def test_what_nobody_saw_is_neither_true_nor_false() -> None:
    cut = DONE._replace(resume=Unseen("cut off"), stages=Unseen("cut off"), state="unknown")
    unseen = checks(RunEnd(cut, PROMISED, (), Unseen("no ps")))
    assert {one.name for one in unseen if one.holds is None} == {
        "terminal success", "stages", "results", "final checkpoint", "watchers here",
    }  # fmt: skip


def test_an_issue_names_its_record_and_a_machines_update_says_so() -> None:
    made = body(DONE, [("DRI", "ann"), ("Issue", "x")], "logbook/digits.md")
    assert "`logbook/digits.md`" in made
    assert "- **DRI**: ann" in made
    assert update(DONE, (), approved=False).startswith("🤖 ")
    assert not update(DONE, (), approved=True).startswith("🤖")
    new = "gh issue create --title 'Hero run: digits' --label experiment --label agent-generated --body-file /x"
    assert command_to_send("digits", "", "/x") == new
    assert (
        command_to_send("digits", "https://example.com/1", "/x")
        == "gh issue comment https://example.com/1 --body-file /x"
    )


def test_code_that_git_could_not_tell_is_not_said_to_hold() -> None:
    unknown = DONE._replace(identity=identity(DONE)._replace(code="git did not answer within 5 s"))
    assert [one.holds for one in checks(RunEnd(unknown, PROMISED, (), ())) if one.name == "code"] == [None]
    known = DONE._replace(identity=identity(DONE)._replace(code="1a2b3c4d5e6f + patch 9f8e7d6c5b4a"))
    assert [one.holds for one in checks(RunEnd(known, PROMISED, (), ())) if one.name == "code"] == [True]


def identity(run: RunFacts) -> IdentityFacts:
    found = observed(run.identity)
    assert found is not None
    return found
