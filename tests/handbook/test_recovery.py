"""From how a run stands to what is typed: the table's step, with what records and a dry run add, as commands."""

from __future__ import annotations

from typing import Any

import pytest

from handbook.page.facts import RecordFacts, ResumeFacts
from handbook.page.recovery import advise
from tests.handbook.made import run_facts

FOREIGN = ResumeFacts("start", "starts again", "train", "step 10", whole=True, refused=("ckpt/step-20",))
LOST = ResumeFacts("nothing", "all is done", "", "", None, missing=(("train", "best.npz"),))
REFUSES = ResumeFacts("refuse", "of another command", "train", "", None)


@pytest.mark.parametrize(
    ("step", "command", "changes"),
    [
        ("box-not-there", "patrol check gpu0", {"signs": ("NO_CONTACT",), "state": "unknown"}),
        ("no-run-seen", "", {"run": "", "managed": False, "state": "pending", "look": ""}),
        ("not-onboxs-own", "", {"managed": False, "look": ""}),
        ("done", "patrol pull gpu0/digits", {"state": "done"}),
        ("sealed", "patrol pull gpu0/digits", {"state": "done", "record": RecordFacts(1.0, True, None, 2.0)}),
        (
            "no-room",
            "df -h . && df -i . && onbox prune --dry-run digits",
            {"state": "failed", "signs": ("NO_ROOM", "NO_REPEAT")},
        ),
        ("cause-not-known", "onbox logs --run digits", {"state": "failed", "signs": ("CAUSE_UNKNOWN",)}),
        ("cells-failed", "onbox logs --run digits", {"state": "failed", "signs": ("CELLS_FAILED", "NO_REPEAT")}),
        ("do-not-repeat", "onbox logs --run digits", {"state": "interrupted", "signs": ("NO_REPEAT",)}),
        ("failed", "onbox logs --run digits", {"state": "failed"}),
        ("other-lineage", "onbox resume --dry-run digits", {"state": "interrupted", "resume": FOREIGN}),
        ("results-missing", "onbox resume --dry-run digits", {"state": "done", "resume": LOST}),
        ("done-with-warning", "onbox status digits", {"state": "done", "signs": ("DOUBTED", "ILL")}),
        ("results-pulled", "patrol verify gpu0/digits", {"state": "done", "signs": ("PULLED",)}),
        ("results-verified", "patrol teardown-check gpu0", {"state": "done", "signs": ("VERIFIED",), "resume": LOST}),
        ("results-do-not-fit", "onbox resume --dry-run digits", {"state": "interrupted", "resume": REFUSES}),
        ("stopped", "onbox resume --dry-run digits", {"state": "stopped"}),
        ("runner-gone", "onbox resume -d digits", {"state": "running", "signs": ("RUNNER_GONE",)}),
        ("interrupted", "onbox resume -d digits", {"state": "interrupted"}),
        ("disk-full-now", "df -h /s && df -i /s", {"state": "interrupted", "signs": ("DISK_FULL_NOW",), "disk": "/s"}),
        ("seen-once", "onbox status digits", {"state": "unknown", "signs": ("SEEN_ONCE",)}),
        ("stalled", "onbox logs --run digits", {"state": "stalled"}),
        ("notices-stuck", "onbox notify list digits", {"signs": ("NOTICES_STUCK", "ILL")}),
        ("ill", "patrol history gpu0/digits", {"signs": ("ILL",), "look": "patrol history gpu0/digits"}),
        ("well", "onbox status digits", {}),
        ("unknown", "onbox status digits", {"state": "unknown"}),
        ("unknown", "onbox status digits", {"state": "a word of later", "signs": ("LATER",)}),
    ],
)
def test_each_situation_has_its_command(step: str, command: str, changes: dict[str, Any]) -> None:
    advice = advise(run_facts(0)._replace(**changes))
    assert step == advice.step.name
    assert command in advice.first


@pytest.mark.parametrize("state", ["running", "stalled", "done", "failed", "stopped", "unknown", "pending", "degraded"])
def test_only_what_is_proven_dead_or_orphaned_is_told_to_be_resumed(state: str) -> None:
    assert "resume -d" not in advise(run_facts(0)._replace(state=state, look="")).first


def test_what_a_person_must_allow_is_never_the_next_command() -> None:
    advice = advise(run_facts(0)._replace(signs=("STOP_POINT",)))
    assert " stop " not in advice.first
    assert [(what, " onbox stop digits" in command) for what, command in advice.asked] == [("stop it", True)]


def test_nothing_is_resumed_or_stopped_that_is_done() -> None:
    advice = advise(run_facts(4))
    assert (advice.resume, advice.dry_run, advice.stop) == ("", "", "")
    assert [what for what, _ in advice.asked] == ["acknowledge it"]


def test_on_the_box_no_command_of_the_patrol_is_given() -> None:
    assert "patrol" not in advise(run_facts(3), here=True).first
    assert not [command for _, command in advise(run_facts(4), here=True).asked if "patrol" in command]


def test_a_run_that_onbox_did_not_start_is_never_resumed() -> None:
    advice = advise(run_facts(2)._replace(managed=False, look="tail x"))
    assert (advice.first, advice.resume, advice.stop) == ("tail x", "", "")
