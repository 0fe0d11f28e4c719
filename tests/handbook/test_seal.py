"""Which runs may be sealed."""

from __future__ import annotations

import pytest

from handbook.facts import IdentityFacts, ResumeFacts, RunFacts
from handbook.issue import body, command, update
from handbook.seal import End, captured, checks
from onbox.contract.config_record import Contract
from onbox.contract.readings import Unseen, observed
from tests.handbook.made import run_facts

LAST = ResumeFacts("nothing", "all is done", "", "step 100, ckpt/step-100: whole", whole=True, step=100)
DONE = run_facts(4, resume=LAST)
PROMISED = Contract(final_step=100, output_root="/mnt/digits")


def false(
    run: RunFacts = DONE, contract: Contract = PROMISED, damages: tuple[str, ...] = (), waiters: tuple[str, ...] = ()
) -> list[str]:
    return [one.name for one in checks(End(run, contract, damages, waiters)) if one.holds is False]


def test_a_run_that_is_whole_may_be_sealed() -> None:
    assert false() == []
    assert "checkpoint step 100" in captured(DONE, PROMISED)


@pytest.mark.parametrize(
    ("change", "item"),
    [
        ({"state": "running"}, "terminal success"), ({"state": "failed"}, "terminal success"),
        ({"resume": LAST._replace(missing=(("train", "best.npz"),))}, "results"),
        ({"resume": LAST._replace(step=90)}, "final checkpoint"),
        ({"resume": LAST._replace(whole=False)}, "final checkpoint"),
        ({"resume": LAST._replace(step=None)}, "final checkpoint"),
    ],
)  # fmt: skip
def test_what_is_not_so_is_named(change: dict[str, object], item: str) -> None:
    assert false(DONE._replace(**change)) == [item]  # type: ignore[arg-type]


def test_damage_and_watchers_are_named() -> None:
    assert false(damages=("entry 3 was edited",)) == ["logbook"]
    assert false(waiters=("sentinel ab pid 7 for gpu4:digits waits",)) == ["watchers here"]


def test_what_nobody_saw_is_neither_true_nor_false() -> None:
    unseen = checks(End(DONE._replace(resume=Unseen("cut off"), state="unknown"), PROMISED, (), Unseen("no ps")))
    assert {one.name for one in unseen if one.holds is None} == {
        "terminal success", "results", "final checkpoint", "watchers here",
    }  # fmt: skip


def test_an_issue_names_its_record_and_a_machines_update_says_so() -> None:
    made = body(DONE, [("DRI", "ann"), ("Issue", "x")], "logbook/digits.md")
    assert "`logbook/digits.md`" in made
    assert "- **DRI**: ann" in made
    assert update(DONE, (), approved=False).startswith("🤖 ")
    assert not update(DONE, (), approved=True).startswith("🤖")
    new = "gh issue create --title 'Hero run: digits' --label experiment --label agent-generated --body-file /x"
    assert command("digits", "", "/x") == new
    assert command("digits", "https://example.com/1", "/x") == "gh issue comment https://example.com/1 --body-file /x"


def test_code_that_git_could_not_tell_is_not_said_to_hold() -> None:
    unknown = DONE._replace(identity=identity(DONE)._replace(code="git did not answer within 5 s"))
    assert [one.holds for one in checks(End(unknown, PROMISED, (), ())) if one.name == "code"] == [None]
    known = DONE._replace(identity=identity(DONE)._replace(code="1a2b3c4d5e6f + patch 9f8e7d6c5b4a"))
    assert [one.holds for one in checks(End(known, PROMISED, (), ())) if one.name == "code"] == [True]


def identity(run: RunFacts) -> IdentityFacts:
    found = observed(run.identity)
    assert found is not None
    return found
