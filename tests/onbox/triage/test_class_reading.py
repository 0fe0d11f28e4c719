"""The class of a fault by the words of the last lines, where no rule is sure of it."""

from __future__ import annotations

import pytest

from onbox.logs.model.lines import readable
from onbox.triage.classes import CLASSES
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence
from onbox.triage.reading.record import SeenLine
from onbox.triage.wording.class_reading import plain, read_class, weights
from onbox.triage.wording.lettered import BIAS

HEAD = "launch: job 12 on node gn4\nloading shards\nmodel: 1.3B parameters\nepoch 1 loss 2.31\nepoch 2 loss 2.12\n"
LOGS = {
    "data_error": f"{HEAD}reading part 7\npart 7: row 4410 has 11 columns, the header 12\n"
    "reader failed\nlaunch: job 12 exited with code 1\n",
    "auth_error": f"{HEAD}publishing weights\nregistry answered: token of user ci has expired, 401\n"
    "publish step failed\nlaunch: job 12 exited with code 1\n",
    "disk_full": f"{HEAD}saving\nthe volume has no room left for the next checkpoint, 0 bytes free\n"
    "save failed\nlaunch: job 12 exited with code 1\n",
}


def seen(text: str) -> tuple[SeenLine, ...]:
    return tuple(SeenLine(at, readable(line.encode())) for at, line in enumerate(text.splitlines(), start=1))


@pytest.mark.parametrize(("failure_class", "log"), LOGS.items(), ids=LOGS)
def test_words_name_the_class_where_a_rule_says_only_that_it_failed(failure_class: str, log: str) -> None:
    assert read_class(seen(log), None, known="code_error", rule="launcher", confidence="low")[0] == failure_class
    assert classify(log.encode()).failure_class == failure_class


def test_a_sure_rule_is_not_asked_again() -> None:
    for log in LOGS.values():
        assert read_class(seen(log), None, known="cuda_oom", rule="cuda-oom", confidence="high")[0] == "cuda_oom"


def test_of_a_few_lines_only_a_rule_that_knows_little_is_asked_again() -> None:
    few = seen("part 7: row 4410 has 11 columns, the header 12\nexited with code 1\n")
    assert read_class(few, None, known="code_error", rule="defect", confidence="medium") == ("code_error", None)
    assert read_class(few, few[1], known="code_error", rule="launcher", confidence="low") == ("data_error", few[0])


def test_the_class_of_the_rule_is_shown_beside_it() -> None:
    for log in LOGS.values():
        verdict = classify(log.encode())
        if verdict.rule == "reads-as":
            assert verdict.confidence == "low"
            assert "code_error" in {one.failure_class for one in verdict.secondary}


def test_a_guess_makes_nothing_run_again_by_itself() -> None:
    log = f"{HEAD}fetching part 4\nthe mirror does not answer any more, gave it up\nlaunch: job 12 exited with code 1\n"
    known = classify(log.encode(), Evidence(exit_code=1))
    assert not known.retry or known.rule != "reads-as"


def test_the_table_speaks_of_classes_only() -> None:
    table, names = weights(), {row.key for row in CLASSES}
    assert set(table[BIAS]) <= names - {"success_healthy", "unknown"}
    assert set(table.names.values()) == set(table[BIAS])
    assert plain({"last:exit 1", "trouble:exit 1", "behind:3"}) == {"exit 1"}


def test_hostile_lines_have_a_class_like_others() -> None:
    junk = seen(
        "\n".join([bytes(range(256)).decode("latin-1").replace("\n", " "), "x" * 100_000, *"abcdefgh", "ошибка"])
    )
    found = read_class(junk, junk[0], known="data_error", rule="launcher", confidence="low").failure_class
    assert found in set(weights()[BIAS])


def test_words_tell_the_class_of_a_known_failure_too_but_nothing_runs_again_for_them() -> None:
    told = classify(b"round 1 of 40 ok\nround 2 of 40: the coordinator hung up on us\n", Evidence(exit_code=1))
    assert (told.failure_class, told.rule, told.confidence) == ("nccl_or_distributed", "reads-as", "low")
    assert told.retry is False
