"""Which stages the words of `onbox chain` mean."""

from __future__ import annotations

import pytest

from onbox.config.parse import Config, parse_config
from onbox.config.stage_selection import UsageProblem, stages_from_words
from onbox.model.manifest import Amount, Gates, Stage

DATA = {
    "run": {"env": {"A": "1"}},
    "gates": {"disk_free": "1GB"},
    "stages": {
        "prepare": {"cmd": "make data"},
        "train": {"cmd": "python train.py", "artifacts": ["best.npz"], "timeout": "1h"},
        "eval": {"cmd": ["python", "eval.py"]},
    },
}
CONFIG = parse_config(DATA, default_name="x")
EMPTY = parse_config({}, default_name="x")


def names_of(words: list[str]) -> list[str]:
    return [stage.name for stage in stages_from_words(words, CONFIG)]


def problem_of(words: list[str], config: Config = CONFIG) -> UsageProblem:
    with pytest.raises(UsageProblem) as caught:
        stages_from_words(words, config)
    return caught.value


def test_no_words_mean_all_stages_in_file_order() -> None:
    assert names_of([]) == ["prepare", "train", "eval"]


def test_names_mean_configured_stages_in_the_order_given() -> None:
    assert stages_from_words(["eval", "train"], CONFIG) == (CONFIG.stages[2], CONFIG.stages[1])


def test_a_command_makes_a_stage_without_configuration() -> None:
    assert stages_from_words(["train=python train.py"], EMPTY) == (Stage("train", "python train.py"),)


def test_a_new_stage_gets_the_environment_and_gates_of_the_file() -> None:
    wanted = Stage("extra", "true", env=(("A", "1"),), gates=Gates(disk_free=Amount(10**9)))
    assert stages_from_words(["extra=true"], CONFIG) == (wanted,)


def test_a_command_for_a_configured_stage_keeps_its_conditions() -> None:
    (stage,) = stages_from_words(["train=python train.py --lr 0.1"], CONFIG)
    assert stage == CONFIG.stages[1]._replace(cmd="python train.py --lr 0.1")


@pytest.mark.parametrize(
    ("word", "name", "cmd"),
    [
        ("a=B=c python x.py", "a", "B=c python x.py"),
        ("a = python x.py", "a", "python x.py"),
        ("a=echo 'x' ", "a", "echo 'x' "),
        ("a==", "a", "="),
    ],
)
def test_a_word_is_split_at_its_first_equals_sign(word: str, name: str, cmd: str) -> None:
    assert stages_from_words([word], EMPTY) == (Stage(name, cmd),)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tarin"], 'no stage "tarin"; did you mean "train"?'),
        (["qqq"], 'no stage "qqq"; there are: eval, prepare, train'),
        (["train", "train"], 'stage "train" is named 2 times'),
        (["train", "train=x"], 'stage "train" is named 2 times'),
        (["train="], "stage train: the command is empty"),
        (["train=  \n"], "stage train: the command is empty"),
        (["new=a\0b"], "stage new: the command is not a text without NUL characters"),
        (["=x"], '"" is not a name'),
        (["a b=x"], '"a b" is not a name'),
        (["chain=x"], '"chain" is not free'),
        (["a_DONE=x"], '"a_DONE" is not free'),
        (["train.1=x"], "stage train.1 cannot be combined with train"),
        (["a\x1b[31m=x"], '"a\\x1b[31m" is not a name'),
    ],
)
def test_wrong_words_are_refused(words: list[str], said: str) -> None:
    assert said in str(problem_of(words))


def test_every_problem_is_told_at_once() -> None:
    assert len(problem_of(["tarin", "eval", "eval", "x=", "a/b=c"]).problems) == 4


def test_an_unknown_name_brings_the_hint_how_to_run_a_command() -> None:
    assert "onbox chain 'NAME=COMMAND'" in str(problem_of(["python train.py"]))
    assert "onbox chain 'NAME=COMMAND'" in str(problem_of(["train"], EMPTY))
    assert "NAME=COMMAND" not in str(problem_of(["x="]))


def test_nothing_to_run_is_a_problem() -> None:
    assert "nothing to run" in str(problem_of([], EMPTY))


def test_a_problem_is_a_value_error() -> None:
    assert isinstance(problem_of(["x="]), ValueError)
