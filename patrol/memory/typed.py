"""Named tuples back from the plain data that they were written as, checked against the types of their fields. Pure.

A value of another type than its field's is never passed on: a `Maybe` becomes `Unseen`, a field with a default has its
default, one of a sequence is left out; where a field without a default is amiss there is no tuple at all.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import as_number, as_whole
from onbox.contract.readings import Absent, Unseen, unplain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Kinds = Mapping[str, type[Any]]

NOT_UNDERSTOOD = Unseen("what was kept of it could not be understood")
_OUTER = re.compile(r"(Maybe|tuple)\[(.*)\]")


class Amiss(ValueError):
    """A value that is none of its type."""


def from_plain(name: str, data: object, kinds: Kinds) -> Any:
    """A tuple of the class of that name. kinds: classes by name, those of fields too. Raises Amiss."""
    if not isinstance(data, dict):
        raise Amiss(name)
    kind = kinds[name]
    found = {}
    for field, annotation in _fields(kind):
        if field in data:
            try:
                found[field] = _value(annotation, data[field], kinds)
            except Amiss:
                if field not in kind._field_defaults:
                    raise
        elif field not in kind._field_defaults:
            raise Amiss(f"{name}: it lacks {field}")
    return kind(**found)


def _fields(kind: type[Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, getattr(one, "__forward_arg__", str(one))) for name, one in kind.__annotations__.items())


_PLAIN: dict[str, Callable[[object], Any]] = {
    "str": lambda value: value if isinstance(value, str) else None,
    "bool": lambda value: value if isinstance(value, bool) else None,
    "int": as_whole,
    "float": as_number,
}


def _value(annotation: str, value: object, kinds: Kinds) -> Any:
    outer = _OUTER.fullmatch(annotation)
    if outer is not None and outer[1] == "Maybe":
        return _maybe(outer[2], value, kinds)
    if outer is not None:
        return _sequence(outer[2], value, kinds)
    words = annotation.split(" | ")
    if value is None and "None" in words:
        return None
    for word in words:
        if word in kinds:
            return _one_of(kinds[word], value) if issubclass(kinds[word], Enum) else from_plain(word, value, kinds)
        found = _PLAIN[word](value) if word in _PLAIN else None
        if found is not None:
            return found
    raise Amiss(annotation)


def _one_of(kind: type[Enum], value: object) -> Enum:
    """By its value, or by its name in small letters."""
    for one in kind:
        if value in (one.value, one.name.lower()) and isinstance(value, str):
            return one
    raise Amiss(kind.__name__)


def _maybe(inner: str, value: object, kinds: Kinds) -> Any:
    known = unplain(value)
    if isinstance(known, Absent | Unseen):
        return known
    try:
        return _value(inner, known, kinds)
    except Amiss:
        return NOT_UNDERSTOOD


def _sequence(inner: str, value: object, kinds: Kinds) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise Amiss(inner)
    if not inner.endswith(", ..."):
        words = inner.split(", ")
        if len(words) != len(value):
            raise Amiss(inner)
        return tuple(_value(word, one, kinds) for word, one in zip(words, value, strict=True))
    found = []
    for one in value:
        try:
            found.append(_value(inner.removesuffix(", ..."), one, kinds))
        except Amiss:
            continue
    return tuple(found)
