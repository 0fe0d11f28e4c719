"""A log whose end is not known is read a second time, by its words: a failure that they bear out is one, and a fault
that they make light of ended nothing."""

from __future__ import annotations

import os

import pytest

from onbox.logs.model.lines import readable
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence
from onbox.triage.reading.record import SeenLine
from onbox.triage.wording.second_reading import is_overruled, weights
from onbox.triage.wording.words import words_of

FRESH = Evidence(log_age_seconds=30.0)
CASES = os.path.join(os.path.dirname(__file__), "..", "..", "cases", "triage")
# Logs that the rules took for what they are not, with the exit code that was not known to them.
READ_AGAIN = {
    "refused_login_then_files_left": ("auth_error", 1),
    "no_hub_then_run_finished": ("network_blip", 1),
    "fsck_corrected": ("success_healthy", 0),
    "container_without_card": ("cuda_env", 1),
    "ray_task_tried_again": ("success_healthy", 0),
}


def log(case: str) -> bytes:
    with open(os.path.join(CASES, f"{case}.log"), "rb") as file:
        return file.read()


def seen(text: str) -> tuple[SeenLine, ...]:
    return tuple(SeenLine(at, readable(line.encode())) for at, line in enumerate(text.splitlines(), start=1))


@pytest.mark.parametrize("case", READ_AGAIN)
def test_the_words_of_the_end_decide_where_the_rules_are_wrong(case: str) -> None:
    verdict = classify(log(case), FRESH)
    assert (verdict.failure_class, verdict.confidence) == (READ_AGAIN[case][0], "low")


@pytest.mark.parametrize("case", READ_AGAIN)
def test_where_the_end_is_known_the_words_overrule_nothing(case: str) -> None:
    known = classify(log(case), Evidence(exit_code=READ_AGAIN[case][1]))
    assert known.terminal is bool(READ_AGAIN[case][1])
    assert known.rule != "reads-well"


def test_a_few_lines_or_the_same_line_again_and_again_are_not_read_again() -> None:
    last = seen("traceback\nfatal error: giving up, nothing was written\n" * 40)
    assert not is_overruled(last, ill=False, confidence="low", rule="no-fault-seen")
    assert not is_overruled((), ill=False, confidence="low", rule="no-fault-seen")


def test_words_have_places_and_numbers_and_paths_are_one_word_each() -> None:
    words = words_of(
        seen("\n".join([*(f"step {at} of 9000" for at in range(20)), "saved /data/run 7/model.pt in 3.2 s"]))
    )
    assert {"last:saved", "end:saved /", "end:/ p", "near:step some_of_it", "last:in 9"} <= words
    assert not any(char in word for word in words for char in "2345678")


def test_what_stands_behind_a_loop_has_a_place_of_its_own() -> None:
    loop = "\n".join(f"step {at} loss 0.{at}" for at in range(9))
    left = words_of(seen(f"{loop}\nthe validation set is empty"))
    assert {"left:1", "left:is empty"} <= left
    assert "left:0" in words_of(seen(loop)), "the loop still runs"
    assert not any(word.startswith("left:") for word in words_of(seen("reading\nwriting")))


def test_none_and_one_are_other_words_than_more_and_all_than_a_part() -> None:
    clean, failed = words_of(seen("0 errors, exit 0, 12/12 written")), words_of(seen("3 errors, exit 1, 9/12 written"))
    assert {"last:0 errors", "last:exit 0", "last:all_of_it written"} <= clean
    assert {"last:9 errors", "last:exit 1", "last:some_of_it written"} <= failed
    assert words_of(()) == frozenset()


def test_hostile_lines_are_words_like_others() -> None:
    junk = seen(
        "\n".join([bytes(range(256)).decode("latin-1").replace("\n", " "), "x" * 100_000, "\t\t", "ошибка 显存不足"])
    )
    assert all("\t" not in word and "\n" not in word for word in words_of(junk))


def test_every_row_of_the_table_can_be_met() -> None:
    table = weights()
    places = {word.partition(":")[0] for word in table if not word.startswith("=")}
    assert places == {"last", "end", "near", "behind", "trouble", "after", "left"}
    assert {"=bias", "=words", "=answer:well medium", "=rule:said-done"} <= set(table)
