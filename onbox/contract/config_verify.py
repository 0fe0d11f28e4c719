"""[verify]: the user's own commands that load a file once it is home, by pattern. Pure."""

from __future__ import annotations

import shlex
from types import MappingProxyType
from typing import TYPE_CHECKING

from onbox.contract import config_values as values
from onbox.contract.config_fields import Table, Unwanted

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_verify(file: Table) -> Mapping[str, str]:
    """In file order: the first pattern that fits is taken."""
    table = Table(file.path_of("verify"), file.values.get("verify", {}), None, file.errors)
    return MappingProxyType({pattern: table.read(pattern, _command, "") for pattern in table.values})


def _command(value: object) -> str:
    text = values.text(value)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise Unwanted(f"a command whose quotes are closed ({error})") from error
    if not words:
        raise Unwanted('a command such as "python check.py"')
    return text
