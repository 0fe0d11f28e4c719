"""What differs between two definitions of a run."""

from __future__ import annotations

from onbox.contract.differences import Difference, Side, commit_text, find_differences
from onbox.model.manifest import Artifact, Stage

TRAIN = Stage("train", "python train.py", env=(("HF_TOKEN", "env:HF_TOKEN"), ("LR", "1")))
HEAD = {"git": {"commit": "a" * 40, "dirty": False}, "environment": {"PATH": "/bin", "HOME": "/root"}, "host": "gpu1"}


def differences(head: dict[str, object], *stages: Stage) -> list[Difference]:
    return list(find_differences(Side(HEAD, [TRAIN]), Side({**HEAD, **head}, stages or [TRAIN])))


def test_equal_definitions_differ_in_nothing() -> None:
    assert differences({}) == []


def test_a_changed_command_shows_both() -> None:
    assert differences({}, TRAIN._replace(cmd="python train.py --lr 2")) == [
        Difference("train cmd", "python train.py", "python train.py --lr 2")
    ]


def test_of_environments_only_names_are_told() -> None:
    stage = TRAIN._replace(env=(("HF_TOKEN", "secret-value"), ("LR", "1")))
    found = differences({"environment": {"PATH": "/opt/secret-place", "HOME": "/root"}}, stage)
    assert found == [Difference("train env", "", "HF_TOKEN"), Difference("environment", "", "PATH")]


def test_code_host_and_conditions() -> None:
    git = {"commit": "b" * 40, "dirty": True, "patch_sha256": "c" * 64}
    found = differences({"git": git, "host": "gpu2"}, TRAIN._replace(artifacts=(Artifact("best.npz"),)))
    assert [one.what for one in found] == ["train artifacts", "commit", "host"]
    assert found[1].after == f"{'b' * 12} + patch {'c' * 12}"


def test_code_that_was_not_looked_at_is_no_difference() -> None:
    assert differences({"git": {"unknown": "git did not answer"}}) == []
    assert commit_text({"absent": "not a git work tree"}) == "not a git work tree"


def test_stages_that_came_went_or_moved() -> None:
    more = Stage("eval", ("python", "eval.py", "a b"))
    assert differences({}, TRAIN, more) == [Difference("eval cmd", "", "python eval.py 'a b'")]
    found = list(find_differences(Side(HEAD, [TRAIN, more]), Side(HEAD, [more, TRAIN])))
    assert found == [Difference("order of stages", "train eval", "eval train")]
