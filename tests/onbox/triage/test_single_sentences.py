"""The last sentence of a script of somebody's own: whether it tells of a failure, of which class, and which line says
why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.triage.classes import CLASSES
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence
from onbox.triage.wording.sentence import ILL, UNKNOWN, classes_of, leaning_of

if TYPE_CHECKING:
    from onbox.triage.verdict import Diagnosis

FRESH = Evidence(log_age_seconds=30.0)
WORK = "reading 12 tiles\ntile 1 in 3.1 s\ntile 2 in 3.0 s\ntile 3 in 3.3 s\n"
# In words that are no library's, and of which no rule knows one.
FAILED = {
    "the object store does not let us in any more, the key has expired": "auth_error",
    "ran out of GPU memory on tile 4, nothing was written": "cuda_oom",
    "the scratch volume is full, I stop here": "disk_full",
    "our three hours on this partition are up, 9 tiles left undone": "time_limit",
    "no write access to the results folder, leaving": "permission_error",
    "the tile server hung up on us five times, giving up": "network_blip",
}
WELL = (
    "all 12 tiles written, mean error 0.3 px",
    "tile 4 was not needed, skipped on purpose",
    "no tile is missing",
    "done, 3 tiles had to be fetched twice",
    "next look in 10 min",
)


def read(log: str) -> Diagnosis:
    return classify(log.encode(), FRESH)


@pytest.mark.parametrize("last", FAILED)
def test_a_script_that_says_why_it_ends_has_failed(last: str) -> None:
    verdict = read(f"{WORK}{last}\n")
    assert (verdict.failure_class, verdict.state) == (FAILED[last], "dead"), verdict
    assert verdict.line == last


def test_a_plain_complaint_as_the_last_line_counts_whatever_all_other_words_say() -> None:
    well = "".join(f"{name}.tif: 3 bands, ok\nsaved {name}.tif, all good\n" for name in ("ada", "bea", "cem", "dov"))
    assert read(f"{well}srctp has wrong format, and nothing of it was taken\n").state == "dead"


@pytest.mark.parametrize("last", WELL)
def test_a_script_that_ends_well_or_goes_on_is_well(last: str) -> None:
    assert read(f"{WORK}{last}\n").failure_class == "success_healthy"


def test_a_log_of_one_line_is_read() -> None:
    verdict = read("the two sides of the corpus do not line up, training not started\n")
    assert (verdict.state, verdict.confidence) == ("dead", "low"), verdict


def test_a_plain_complaint_names_the_class_of_a_run_that_is_known_to_have_failed() -> None:
    log = b"pass 1\npass 2\nsession has run out, please log in again (chunks 0-1 are safe)\n"
    verdict = classify(log, Evidence(exit_code=1))
    assert (verdict.failure_class, verdict.confidence) == ("auth_error", "low"), verdict
    assert verdict.line is not None
    assert verdict.line.startswith("session has run out")
    assert classify(b"pass 1\npass 2\npass 3\n", Evidence(exit_code=1)).failure_class == "unknown"


def test_what_was_guessed_from_a_sentence_is_never_sure() -> None:
    for last in FAILED:
        assert read(f"{WORK}{last}\n").confidence != "high"


def test_the_line_that_tells_why_is_shown_above_one_that_tells_only_that() -> None:
    verdict = read(f"{WORK}upload: the bucket has not answered for 60 s\nrelease: not published\n")
    assert verdict.failure_class == "network_blip", verdict
    assert verdict.line == "upload: the bucket has not answered for 60 s", verdict


@pytest.mark.parametrize("text", ["", " ", "\x00\xff\u2028", "=ill", "=bias\t=letters", "x" * 100_000, "ошибка диска"])
def test_any_line_has_a_reading(text: str) -> None:
    assert isinstance(leaning_of(text), float)
    assert set(classes_of(text)) <= {row.key for row in CLASSES} | {UNKNOWN}
    assert ILL not in classes_of(text)
