"""What an option takes that is a number, a duration or a size. What is out of its range is refused before the command
begins, in the same words everywhere. Each option says where its range begins.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import click

from onbox.model.units import parse_duration, parse_size

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_WHOLE = 2**63 - 1  # more is not a number to SQLite, nor to the kernel
MOST_SECONDS = 1_000_000_000
_N = TypeVar("_N", int, float)


class WholeNumber(click.IntRange):
    """As its error calls it: `'abc' is not a valid whole number`."""

    name = "whole number"

    def __init__(self, least: int, most: int | None = None) -> None:
        super().__init__(least, most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = int(super().convert(value, param, ctx))
        if number > MOST_WHOLE:
            self.fail(f"{number} is too large", param, ctx)
        return number


class Number(click.FloatRange):
    """As its error calls it: `'abc' is not a valid number`."""

    name = "number"

    def __init__(self, least: float, most: float) -> None:
        super().__init__(least, most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):  # it lies in every range, as no comparison holds for it
            self.fail(f"{value!r} is not a valid {self.name}", param, ctx)
        return number


def duration(least_seconds: float = 0) -> Callable[[str], float]:
    """A type of options: seconds, typed as `90s` or `2h`."""
    return _amount(parse_duration, least_seconds, f"{least_seconds:g}s")


def size(least_bytes: int = 0) -> Callable[[str], int]:
    """A type of options: bytes, typed as `5GB`."""
    return _amount(parse_size, least_bytes, f"{least_bytes} B")


def _amount(parse: Callable[[str], _N], least: _N, shown: str) -> Callable[[str], _N]:
    def read(text: str) -> _N:
        try:
            amount = parse(text)
        except ValueError as error:
            raise click.BadParameter(f"{text!r} is not {error}") from error
        if amount < least:
            raise click.BadParameter(f"{text!r} is less than {shown}")
        return amount

    return read
