from __future__ import annotations

import pickle
import typing

import pytest

import onbox.named_tuple


class Lean(onbox.named_tuple.NamedTuple):
    """Lean."""

    name: str
    limit: float | None = None

    @property
    def shown(self) -> str:
        return f"{self.name}: {self.limit}"


class Typed(typing.NamedTuple):
    """Typed."""

    name: str
    limit: float | None = None


@pytest.mark.parametrize("of", [lambda kind: kind._fields, lambda kind: kind._field_defaults, typing.get_type_hints])
def test_a_class_has_what_typing_gives_it(of: typing.Callable[[type], object]) -> None:
    assert of(Lean) == of(Typed)


def test_a_default_before_a_field_without_one_is_refused() -> None:
    with pytest.raises(TypeError, match="limit without a default"):

        class Shifted(onbox.named_tuple.NamedTuple):
            name: str = "a"
            limit: float  # type: ignore[misc]


def test_what_a_class_defines_is_kept() -> None:
    assert Lean("a", 2.0).shown == "a: 2.0"
    assert (Lean.__doc__, Lean.__module__, Lean.__qualname__) == ("Lean.", __name__, "Lean")


def test_it_is_a_tuple_that_other_processes_read() -> None:
    assert pickle.loads(pickle.dumps(Lean("a")._replace(limit=3.0))) == ("a", 3.0)


def test_a_field_without_a_value_is_an_error() -> None:
    with pytest.raises(TypeError, match="name"):
        Lean()  # type: ignore[call-arg]
