"""Rows made of lists of names. Pure."""

from __future__ import annotations

from onbox.named_tuple import NamedTuple
from onbox.triage.rules.rows import RuleRow


class Listed(NamedTuple):
    """names: regular expressions of names that mean the same, separated by `|`. The rest as in a row."""

    id: str
    failure_class: str
    explains: int
    names: str
    example: str
    fatal: bool = False
    rivals: tuple[str, ...] = ()


def rows(form: str, need: str, source: str, *lists: Listed) -> tuple[RuleRow, ...]:
    """A row for each list. form: how the layer writes a name, with `{}` where it stands."""
    return tuple(
        RuleRow(
            one.id,
            one.failure_class,
            one.explains,
            need,
            form.replace("{}", f"(?:{one.names})"),
            source,
            one.example,
            one.fatal,
            one.rivals,
        )
        for one in lists
    )
