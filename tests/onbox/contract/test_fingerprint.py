"""What makes two commands the same command."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.contract.fingerprint import chain_fingerprint, stage_fingerprint
from onbox.model.manifest import Stage
from tests.onbox.model.test_manifest import WHOLE

PLAIN = Stage("train", "python train.py")


def test_the_value_is_pinned() -> None:
    """A change of these makes every DONE of earlier versions one of another command."""
    assert stage_fingerprint(PLAIN) == "8b9e4bc39efddd39"
    assert stage_fingerprint(WHOLE) == "1b33c9618975c962"
    assert chain_fingerprint([("train", "a" * 16), ("eval", "b" * 16)]) == "d45c0cf070d1eb9f"


@pytest.mark.parametrize(
    "change",
    [
        {"cmd": "python train.py "},
        {"cmd": "python train.py --lr 1"},
        {"cmd": ("python", "train.py")},
        {"cmd": ("python train.py",)},
        {"cwd": "src"},
        {"env": (("SEED", "7"),)},
    ],
)
def test_another_work_has_another_fingerprint(change: dict[str, Any]) -> None:
    assert stage_fingerprint(PLAIN) != stage_fingerprint(PLAIN._replace(**change))


@pytest.mark.parametrize("field", sorted(set(WHOLE._fields) - {"cmd", "cwd", "env"}))
def test_how_a_stage_is_judged_does_not_matter(field: str) -> None:
    changed = PLAIN._replace(name="other") if field == "name" else PLAIN._replace(**{field: getattr(WHOLE, field)})
    assert changed != PLAIN
    assert stage_fingerprint(PLAIN) == stage_fingerprint(changed)


def test_the_order_of_variables_does_not_matter() -> None:
    one, other = PLAIN._replace(env=(("A", "1"), ("B", "2"))), PLAIN._replace(env=(("B", "2"), ("A", "1")))
    assert stage_fingerprint(one) == stage_fingerprint(other)


def test_arguments_are_kept_apart() -> None:
    assert stage_fingerprint(PLAIN._replace(cmd=("a b", "c"))) != stage_fingerprint(PLAIN._replace(cmd=("a", "b c")))


@pytest.mark.parametrize(
    "chain",
    [
        [],
        [("train", "a")],
        [("eval", "b"), ("train", "a")],
        [("train", "b"), ("eval", "a")],
        [("train", "a"), ("test", "b")],
        [("train", "a"), ("eval", "b"), ("test", "c")],
    ],
)
def test_another_chain_has_another_fingerprint(chain: list[tuple[str, str]]) -> None:
    assert chain_fingerprint([("train", "a"), ("eval", "b")]) != chain_fingerprint(chain)
