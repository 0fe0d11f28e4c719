"""A sentence that tells its reader what to choose speaks of a setting; the same words about a tensor speak of code."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence
from onbox.triage.meaning import speaks_of_setting
from onbox.triage.rules.demands import DEMANDS
from onbox.triage.rules.names import class_of_name

SETTINGS = {
    "forbids": "Cannot specify num_nodes with include",
    "demands": "num_stages (12) must divide distributed world size (8)",
    "supports": "Unknown compile mode: auto. Must be 'jit' or 'eager'.",
    "asks": "Please make sure eval_dataset be provided or val_size >1e-6",
    "lacks": "No reference checkpoint provided, so no repo name to upload to",
}
CODE = (
    "Expected tensor to have the same size as the mask",
    "close() must be called before the loop ends",
    "Unknown AddressSpace enum entry.",
    "Could not infer dtype of the object",
    "axis 3 is out of range, must be less than 2",
)


def raised(name: str, sentence: str) -> bytes:
    trace = 'Traceback (most recent call last):\n  File "train.py", line 4, in <module>\n    run(cfg)\n'
    return f"step 1 loss 2.0\nstep 2 loss 1.9\n{trace}{name}: {sentence}\n".encode()


def test_each_kind_of_demand_has_an_example() -> None:
    assert set(SETTINGS) == {demand.kind for demand in DEMANDS}


@pytest.mark.parametrize("name", ["ValueError", "RuntimeError", "lib.errors.PlanError"])
@pytest.mark.parametrize("sentence", SETTINGS.values(), ids=SETTINGS)
def test_a_demand_is_about_a_setting_whatever_raises_it(name: str, sentence: str) -> None:
    verdict = classify(raised(name, sentence), Evidence(log_age_seconds=30.0))
    assert (verdict.failure_class, verdict.confidence) == ("config_error", "medium")


@pytest.mark.parametrize("sentence", CODE)
def test_the_same_words_about_code_are_no_demand(sentence: str) -> None:
    assert not speaks_of_setting(sentence)
    assert classify(raised("RuntimeError", sentence), Evidence(log_age_seconds=30.0)).failure_class == "code_error"


def test_a_named_setting_outweighs_a_word_of_code() -> None:
    assert speaks_of_setting("tensor parallelism must be enabled with --tp")
    assert not speaks_of_setting("tensor parallelism must be enabled")


@pytest.mark.parametrize(
    ("name", "failure_class"),
    [
        ("lib.UsageError", "config_error"),
        ("CheckpointMissing", "checkpoint_corrupt"),
        ("hub.errors.DownloadError", "network_blip"),
        ("CredentialProblem", "auth_error"),
        ("PeerLostException", "nccl_or_distributed"),
        ("StageError", None),
        ("DownloadCheckpointError", None),  # two things alike
    ],
)
def test_the_name_of_an_exception_tells_where_its_sentence_does_not(name: str, failure_class: str | None) -> None:
    assert class_of_name(name) == failure_class
    log = raised(name if name.endswith("Error") else f"{name}Error", "stage 3 of the plan")
    assert classify(log, Evidence(log_age_seconds=30.0)).failure_class == (failure_class or "code_error")
