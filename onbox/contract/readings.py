"""How a look at one thing can end: with what was observed, with its absence, or with no look at all. Pure.

The three never share a shape. A field of type `Maybe[int]` is an int, `Absent`, or `Unseen`; never 0, -1 or None for
something that was not seen.
"""

from __future__ import annotations

from typing import Any, TypeVar, Union

from onbox.named_tuple import NamedTuple


class Absent(NamedTuple):
    """Looked, and there is none (no limit, no GPU, a file system that counts no inodes). why: for people.

    session: which life of an engine answered; "" where that is not known or does not matter.
    """

    why: str
    session: str = ""


class Unseen(NamedTuple):
    """Could not look: what is there is not known. why: what stood in the way."""

    why: str


T = TypeVar("T")
Maybe = Union[T, Absent, Unseen]  # noqa: UP007 - evaluated at run time, on Python 3.10 too


def observed(value: Maybe[T]) -> T | None:
    """The value where one was observed, else None: for arithmetic that has its own answer to "not known"."""
    return None if isinstance(value, Absent | Unseen) else value


def plain(value: Any) -> Any:
    """A reading as JSON-ready data: `{"absent": why}` and `{"unknown": why}` for what is not there or was not seen."""
    if isinstance(value, Absent):
        return {"absent": value.why}
    if isinstance(value, Unseen):
        return {"unknown": value.why}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def unplain(value: Any) -> Any:
    """The inverse of `plain` for a single field: a dict with exactly one of the two keys becomes its reading again."""
    if isinstance(value, dict) and value.keys() == {"absent"}:
        return Absent(str(value["absent"]))
    if isinstance(value, dict) and value.keys() == {"unknown"}:
        return Unseen(str(value["unknown"]))
    return value
