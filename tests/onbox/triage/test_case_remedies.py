"""What to do is said of the case, where its line tells it."""

from __future__ import annotations

import pytest

from onbox.contract.states import RunState
from onbox.runs.next_step import Standing, next_step
from onbox.runs.signs import signs_of_failure
from onbox.triage.case_remedies import remedy_of
from onbox.triage.classes import REMEDIES
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

TORCH = b"""Traceback (most recent call last):
  File "train.py", line 12, in <module>
    model.to("cuda")
AssertionError: Torch not compiled with CUDA enabled
"""


def test_a_torch_without_cuda_is_told_so() -> None:
    found = classify(TORCH, Evidence(exit_code=1))
    assert found.failure_class == "cuda_env"
    assert found.remedy.startswith("This torch wheel has no CUDA: install one that has")


@pytest.mark.parametrize(
    ("failure_class", "line", "words"),
    [
        ("config_error", "run.sh: line 3: DATA_DIR: unbound variable", "Set DATA_DIR before"),
        ("config_error", "bash: line 1: pyhton: command not found", "There is no program pyhton here"),
        ("code_error", "ModuleNotFoundError: No module named 'flash_attn'", "Install flash_attn into"),
        (
            "code_error",
            "ModuleNotFoundError: No module named 'src.models'",
            "If src.models is a folder of this project",
        ),
        ("cuda_env", "RuntimeError: No CUDA GPUs are available", "No GPU is visible to it"),
    ],
)
def test_the_case_is_named(failure_class: str, line: str, words: str) -> None:
    assert words in remedy_of(failure_class, "any", line)


def test_the_class_speaks_for_all_others() -> None:
    assert remedy_of("disk_full", "any", "OSError: [Errno 28]") == REMEDIES["disk_full"]
    assert remedy_of("a word of later", "any", None) == REMEDIES["unknown"]


@pytest.mark.parametrize("log", [b"step 3/10 loss 1\n", b"step 3/10 loss 1\nKilled\n"])
def test_no_kill_is_counted_where_nobody_looked(log: bytes) -> None:
    looked, unlooked = (classify(log, Evidence(signal=9, oom_kill_delta=kills)).remedy for kills in (0, None))
    assert "no kill for memory was counted" in looked
    assert "counted" not in unlooked
    assert "memory.events" in unlooked


def test_who_was_killed_may_go_on() -> None:
    found = classify(b"step 3/10 loss 1\nKilled\n", Evidence(exit_code=137, signal=9, oom_kill_delta=0))
    assert "no kill for memory was counted. Find out who did, then resume" in found.remedy
    step = next_step(Standing(RunState.FAILED, signs_of_failure(found.failure_class)))
    assert step.then == "find out what ended it, as the remedy says; then resume"
    assert [one.words("digits") for one in step.with_word] == [("resume", "-d", "digits")]
