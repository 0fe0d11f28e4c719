"""Plain values out of the untrusted JSON of a run's files: each as what it should be, or why it is not. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import parse_object
from onbox.contract.names import stage_name_problem
from onbox.contract.readings import Absent, Unseen
from onbox.outside import safe_line, safe_words
from onbox.system.clock import parse_utc

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.readings import Maybe


TEXT_LIMIT = 300


def json_of(files: Mapping[str, bytes], name: str) -> Maybe[dict[str, Any]]:
    text = files.get(name)
    if text is None:
        return Absent(f"no {name}")
    data = parse_object(text)
    return Unseen(f"{name} is damaged or too long") if data is None else data


def stage_of(name: object) -> Maybe[str]:
    """A stage's name becomes a word of commands: only one that onbox itself would give."""
    if not isinstance(name, str) or not name:
        return Absent("no stage")
    return Unseen(f"not a stage's name: {safe_words(name, 40)!r}") if stage_name_problem(name) else name


def text_of(value: object, why: str) -> Maybe[str]:
    return safe_line(value, TEXT_LIMIT) if isinstance(value, str) and value else Absent(why)


def first_int(*values: object) -> Maybe[int]:
    found = next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), None)
    return Absent("no attempt") if found is None else found


def age_of(at: object, clock: float, why: str = "no time") -> Maybe[float]:
    """Seconds since a time of the box's own clock. The clock was read as whole seconds."""
    if not isinstance(at, str) or not at:
        return Absent(why)
    seconds = parse_utc(at[:40])
    return Unseen("its time cannot be understood") if seconds is None else max(0.0, clock - seconds)
