"""The table from how a run stands to what is typed."""

from __future__ import annotations

from typing import Any

import pytest

from handbook.facts import FailureFacts, ResumeFacts
from handbook.recovery import RULES, advise
from tests.handbook.made import run_facts

FOREIGN = ResumeFacts("start", "starts again", "train", "step 10", whole=True, refused=("ckpt/step-20",))


def test_names_are_unique_and_the_last_row_takes_all() -> None:
    assert len({row.name for row in RULES}) == len(RULES)
    assert RULES[-1].holds(run_facts())


@pytest.mark.parametrize(
    ("row", "command", "changes"),
    [
        ("box-not-there", "patrol check gpu0", {"rule": "unreachable", "state": "unknown"}),
        ("no-run-seen", "", {"run": "", "managed": False, "state": "pending", "rule": "no-runs", "command": ""}),
        ("not-onboxs-own", "", {"managed": False, "command": ""}),
        ("done", "onbox status digits", {"state": "done", "rule": "done"}),
        ("no-room", "df -h . && df -i .", {"state": "failed", "failure_class": "disk_full"}),
        ("no-room", "df -h . && df -i .", {"state": "interrupted", "failure_class": "inode_exhausted"}),
        ("cause-not-known", "onbox logs --run digits", {"state": "failed", "failure_class": "unknown"}),
        ("do-not-repeat", "onbox logs --run digits", {"state": "failed", "failure_class": "code_error"}),
        ("do-not-repeat", "onbox logs --run digits", {"state": "interrupted", "failure_class": "cuda_oom"}),
        ("do-not-repeat", "onbox logs --run digits", {"state": "failed", "failure_class": "host_oom"}),
        ("do-not-repeat", "onbox logs --run digits", {"state": "failed", "failure_class": "divergence"}),
        ("failed", "onbox logs --run digits", {"state": "failed", "failure_class": "ray_node_died"}),
        ("other-lineage", "onbox resume --dry-run digits", {"state": "interrupted", "resume": FOREIGN}),
        ("stopped", "onbox resume --dry-run digits", {"state": "stopped", "rule": "stopped"}),
        ("runner-gone", "onbox resume -d digits", {"state": "running", "rule": "runner-gone"}),
        ("runner-gone", "onbox resume -d digits", {"further": (("runner-gone", "its runner is gone"),)}),
        ("interrupted", "onbox resume -d digits", {"state": "interrupted", "rule": "interrupted"}),
        ("seen-once", "onbox resume --dry-run digits", {"state": "unknown", "rule": "gone"}),
        ("stalled", "onbox logs --run digits", {"state": "stalled", "rule": "stalled"}),
        ("notices-stuck", "onbox notify list digits", {"further": (("notifications-stuck", "2 wait"),)}),
        ("well", "onbox status digits", {}),
        ("unknown", "onbox status digits", {"state": "unknown", "rule": "could-not-look", "command": ""}),
    ],
)
def test_each_situation_has_its_command(row: str, command: str, changes: dict[str, object]) -> None:
    run = run_facts(0)
    failure_class = changes.get("failure_class")
    if isinstance(failure_class, str):
        run = run._replace(failure=FailureFacts("train", failure_class, "proof", "remedy"))
    more: dict[str, Any] = {key: value for key, value in changes.items() if key != "failure_class"}
    advice = advise(run._replace(**more))
    assert row == advice.rule
    assert command in advice.first


@pytest.mark.parametrize("state", ["running", "stalled", "done", "failed", "stopped", "unknown", "pending", "degraded"])
def test_only_what_is_proven_dead_or_orphaned_is_told_to_be_resumed(state: str) -> None:
    assert "resume -d" not in advise(run_facts(0)._replace(state=state, rule="any", command="")).first


def test_results_that_are_gone_come_before_done() -> None:
    run = run_facts(4)
    lost = ResumeFacts("nothing", "all is done", "", "", None, missing=(("train", "best.npz"),))
    assert advise(run._replace(resume=lost)).rule == "results-missing"


def test_on_the_box_no_command_of_the_patrol_is_given() -> None:
    assert "patrol" not in advise(run_facts(3), here=True).first


def test_a_run_that_onbox_did_not_start_is_never_resumed() -> None:
    advice = advise(run_facts(2)._replace(managed=False, command="tail x"))
    assert (advice.first, advice.resume, advice.stop) == ("tail x", "", "")
