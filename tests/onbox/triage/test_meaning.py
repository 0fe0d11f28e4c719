"""What a sentence says that no rule knows."""

from __future__ import annotations

import pytest

from onbox.triage.classes import REMEDIES
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence
from onbox.triage.meaning import ROWS, meaning_of
from onbox.triage.rules.themes import THEMES

SAYINGS = [
    ("network_blip", "BrokerUnavailable", "giving up after 5 attempts"),
    ("checkpoint_corrupt", "IntegrityError", "/runs/a/step_400: expected 12 tensors but found 9"),
    ("auth_error", "SecretsRefused", "vault says this role may not read kv/train"),
    ("quota_exceeded", "StorageQuotaReached", "project vol-7 uses 2.00 TB of 2.00 TB"),
    ("preempted", "LeaseRevoked", "capacity was withdrawn by the pool, machine goes back in 60 s"),
    ("cuda_env", "RuntimeError", "faisslike was built without GPU support"),
    ("cuda_env", "RuntimeError", "found 0 devices of type 'HPU' on this host, but needs at least 1"),
    ("data_error", "", "manifest lists 12 shards, 3 of them are not there"),
    ("divergence", "", "gradient norm above 1e4 for 10 steps, aborting the run"),
    ("host_oom", "", "JavaScript heap out of memory"),
]


@pytest.mark.parametrize(("failure_class", "name", "sentence"), SAYINGS)
def test_a_thing_and_its_trouble_tell_the_class(failure_class: str, name: str, sentence: str) -> None:
    found = meaning_of(sentence, name)
    assert found is not None
    assert (found.failure_class, found.rivals) == (failure_class, ())


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("RuntimeError", "Event loop is closed"),
        ("ValueError", "too many values to unpack (expected 2)"),
        ("RuntimeError", "stage 3 failed"),
        ("TypeError", "unsupported operand type(s) for +: 'int' and 'str'"),
    ],
)
def test_a_slip_in_the_code_means_nothing_else(name: str, sentence: str) -> None:
    assert meaning_of(sentence, name) is None


def test_where_two_classes_are_named_alike_both_are_told() -> None:
    verdict = classify(b"step 1 loss 2\nERROR heartbeat to tracker failed: timed out\n", Evidence(log_age_seconds=30.0))
    assert (verdict.failure_class, verdict.confidence) == ("unknown", "low")
    assert [finding.failure_class for finding in verdict.secondary] == ["network_blip", "nccl_or_distributed"]


def test_where_a_library_gives_no_reason_both_candidates_are_told() -> None:
    log = (
        b'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    y = lin(x)\n'
        b"RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`\n"
    )
    verdict = classify(log, Evidence(log_age_seconds=30.0))
    assert (verdict.failure_class, verdict.confidence) == ("unknown", "low")
    assert [finding.failure_class for finding in verdict.secondary] == ["cuda_oom", "cuda_env"]


def test_themes_are_of_known_classes_and_unique() -> None:
    assert {theme.failure_class for theme in THEMES} <= REMEDIES.keys()
    assert len(ROWS) == len(THEMES)


@pytest.mark.parametrize(
    ("last", "confidence"),
    [
        ("NameError: name 'optimiser' is not defined", "high"),
        ("AttributeError: 'Trainer' object has no attribute 'fit_all'", "high"),
        ("KeyError: 'acc'", "high"),
        ("IndexError: list index out of range", "high"),
        ("IndexError: Read less bytes than requested", "medium"),
        ("SyntaxError: Only one checksum type may be given", "medium"),
        ("AttributeError: 'NoneType' object has no attribute 'shape'", "medium"),
    ],
)
def test_confidence_in_a_defect_is_high_only_for_the_interpreters_own_words(last: str, confidence: str) -> None:
    traceback = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    run()\n'
    verdict = classify(f"step 3/10 loss 0.5\n{traceback}{last}\n".encode(), Evidence(process_alive=False, exit_code=1))
    assert (verdict.failure_class, verdict.confidence) == ("code_error", confidence)


def test_confidence_is_never_high_for_a_class_read_from_a_sentence() -> None:
    log = b'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nBrokerUnavailable: giving up\n'
    verdict = classify(log, Evidence(log_age_seconds=30.0))
    assert (verdict.failure_class, verdict.confidence) == ("network_blip", "medium")
