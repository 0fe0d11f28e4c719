"""What must be said before a launch that somebody answers for."""

from __future__ import annotations

from typing import Any

import pytest

from handbook.check.contract_check import BLOCKS, World, named_files, promises, trajectory_files
from onbox.config.tables.record import Contract
from onbox.model.manifest import Stage

FULL = Contract(
    dri="ann", goal="a loss below 2", stop="loss above 4", issue="https://example.com/1",
    tracker="lab/run-1, resume=allow", output_root="/mnt/shared/digits", initialize_from="/mnt/base/step-4000",
    final_step=100_000, retention="every 1e5 steps", rollback="10 back", runtime="image:2.3", babysitter="patrol",
)  # fmt: skip
GIT = {"commit": "1a2b3c4d5e6f", "dirty": False, "patch_sha256": None}
WORLD = World(
    FULL,
    (Stage("train", "python train.py --token=abcdef0123"),),
    GIT,
    (),
    pushed=True,
    owners=(),
    configured_max=None,
    source=True,
)


def test_that_there_is_no_tracker_can_be_said() -> None:
    assert blocked(WORLD._replace(contract=FULL._replace(tracker="none"))) == []


def blocked(world: World, **more: Any) -> list[str]:
    return [one.name for one in promises(world, **more) if one.standing in BLOCKS]


def test_all_said_blocks_nothing_and_shows_no_secret() -> None:
    assert blocked(WORLD) == []
    assert "abcdef0123" not in str(promises(WORLD))


@pytest.mark.parametrize(
    ("change", "item"),
    [
        ({"dri": ""}, "DRI"), ({"output_root": ""}, "output root"), ({"output_root": "out"}, "output root"),
        ({"output_root": "/tmp/x"}, "output root"), ({"output_root": "/mnt/$USER"}, "output root"),
        ({"tracker": "lab/run-1"}, "tracker"), ({"rollback": ""}, "checkpoints"), ({"runtime": ""}, "runtime"),
        ({"initialize_from": "/mnt/base/final"}, "initialized from"), ({"final_step": None}, "final step"),
        ({"babysitter": ""}, "babysitter"), ({"issue": ""}, "issue"),
    ],
)  # fmt: skip
def test_what_is_not_said_blocks(change: dict[str, Any], item: str) -> None:
    assert blocked(WORLD._replace(contract=FULL._replace(**change))) == [item]


@pytest.mark.parametrize(
    ("change", "item"),
    [
        ({"git": {"absent": "not a git work tree"}}, ["code", "tree"]), ({"pushed": False}, ["code"]),
        ({"changed": ("train.py", "README.md")}, ["tree"]), ({"untracked": ("train.py",)}, ["tree"]),
        ({"source": False}, ["initialized from"]), ({"stages": ()}, ["command"]),
    ],
)  # fmt: skip
def test_what_is_not_so_blocks(change: dict[str, Any], item: list[str]) -> None:
    assert blocked(WORLD._replace(**change)) == item


def test_what_cannot_touch_a_training_does_not_block() -> None:
    harmless = ("README.md", "docs/x.py", "tests/test_a.py", "logs/a", "train.log")
    assert trajectory_files(harmless) == []
    assert blocked(WORLD._replace(changed=harmless)) == []
    assert blocked(WORLD._replace(changed=("train.py",)), accept_dirty=True) == []


def test_what_is_inferred_is_called_so() -> None:
    world = WORLD._replace(contract=FULL._replace(dri="", final_step=None), owners=("ann",), configured_max=5155)
    said = {one.name: one for one in promises(world)}
    assert [said[name].standing for name in ("DRI", "final step")] == ["inferred", "inferred"]


def test_the_files_that_commands_name_are_looked_for_below_each_stage() -> None:
    stages = (
        Stage("a", "python -u train.py --lr 0.1"),
        Stage("b", ("sh", "run.sh", "/abs"), cwd="sub"),
        Stage("c", "it's"),
    )
    assert set(named_files(stages)) >= {"train.py", "sub/run.sh"}
    assert not {"/abs", "sub//abs", "--lr"} & set(named_files(stages))
