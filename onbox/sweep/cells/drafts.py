"""From what a person writes to cells: words of the command line, tables of onbox.toml, lines of a queue file. Pure."""

from __future__ import annotations

import json
import re
import shlex
from itertools import product
from typing import TYPE_CHECKING

from onbox.model.sweep import PARAMETER, Cell, Values, cell_name
from onbox.named_tuple import NamedTuple
from onbox.sweep.cells.template import LINE, OWN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

CELLS_LIMIT = 100_000
RANGE = r"(-?\d{1,15})\.\.(-?\d{1,15})(?:\.\.(\d{1,15}))?"
PRIORITY = "priority"
RESERVED = (*OWN, PRIORITY)
VALUE_LIMIT = 10_000

Axis = tuple[str, tuple[str, ...]]


class BadCell(ValueError):
    """What is wrong with one word, table or line: a sentence without its place."""


class Draft(NamedTuple):
    """A cell that has no number yet."""

    values: Values
    priority: int = 0
    origin: str = ""

    @property
    def name(self) -> str:
        return cell_name(self.values)


# -- values


def text_of(value: object) -> str:
    """A value of onbox.toml or of JSON as a command gets it. Raises BadCell."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        raise BadCell("a value is a text, a number, true or false")
    if "\0" in value or len(value) > VALUE_LIMIT:
        raise BadCell(f"a value has no NUL and at most {VALUE_LIMIT} characters")
    return value


def check_name(name: str) -> str:
    """A parameter's name. Raises BadCell."""
    if not re.fullmatch(PARAMETER, name):
        raise BadCell(f"{name!r} is not a parameter's name: letters, digits, '_', '.' and '-', a letter first")
    if name in RESERVED:
        raise BadCell(f"{name} is not free as a parameter's name: it has a meaning of its own")
    return name


def values_of(text: str) -> tuple[str, ...]:
    """What stands behind the `=` of a word: `1e-3,1e-4`, `0..4`, `0..10..5`, or a JSON list. Raises BadCell."""
    if text.lstrip().startswith("["):
        return _json_list(text)
    found = []
    for part in text.split(","):
        matched = re.fullmatch(RANGE, part.strip())
        found += _range(matched) if matched else [part.strip()]
    if not all(found):
        raise BadCell('a value is empty; to mean an empty text, write a list: ["", "x"]')
    return tuple(found)


def _json_list(text: str) -> tuple[str, ...]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise BadCell(f"it begins like a JSON list but is not one ({error})") from error
    if not data:
        raise BadCell("the list is empty")
    return tuple(map(text_of, data))


def _range(matched: re.Match[str]) -> list[str]:
    first, last, step = int(matched[1]), int(matched[2]), int(matched[3] or 1)
    if not step:
        raise BadCell("a range has a step of 1 or more")
    count = abs(last - first) // step + 1
    if count > CELLS_LIMIT:
        raise BadCell(f"a range of {count} values; at most {CELLS_LIMIT} cells make a sweep")
    way = step if last >= first else -step
    return [str(first + way * place) for place in range(count)]


# -- a grid


def axis_of(word: str) -> Axis:
    """`lr=1e-3,1e-4` as (name, values). Raises BadCell."""
    name, sign, text = word.partition("=")
    if not sign:
        raise BadCell("write NAME=VALUE,VALUE…, such as 'lr=1e-3,1e-4' or 'seed=0..4'")
    return check_name(name.strip()), values_of(text)


def grid(axes: Sequence[Axis]) -> Iterator[Draft]:
    """Every combination, the last axis the fastest. Raises BadCell."""
    names = [name for name, _ in axes]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadCell(f"parameter {twice} is given twice: give all its values at once")
    count = 1
    for name, found in axes:
        if len(set(found)) < len(found):
            twice = next(value for value in found if found.count(value) > 1)
            raise BadCell(f"{name}={twice} is given twice: each cell runs once")
        count *= len(found)
    if count > CELLS_LIMIT:
        raise BadCell(f"the grid has {count} cells; at most {CELLS_LIMIT} make a sweep")
    for combination in product(*(found for _, found in axes)):
        yield Draft(tuple(zip(names, combination, strict=True)), 0, "grid")


# -- one cell by itself


def from_table(table: Mapping[str, object], origin: str) -> Draft:
    """A table such as { lr = 1e-3, seed = 2, priority = 1 }. Raises BadCell."""
    priority = table.get(PRIORITY, 0)
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise BadCell("priority is a whole number")
    pairs = tuple((check_name(name), text_of(value)) for name, value in table.items() if name != PRIORITY)
    if not pairs:
        raise BadCell("a cell has at least one parameter")
    return Draft(pairs, priority, origin)


def from_line(line: str, wanted: Collection[str], origin: str) -> Draft | None:
    """A line of a queue file: `lr=1e-3 seed=2 priority=5`; or, where the commands have {line}, any text. None: a blank
    line or a comment. Raises BadCell.
    """
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    if LINE in wanted:
        priority, _, rest = text.partition(" ")
        matched = re.fullmatch(rf"{PRIORITY}=(-?\d{{1,9}})", priority)
        return Draft(((LINE, rest.strip()),), int(matched[1]), origin) if matched else Draft(((LINE, text),), 0, origin)
    try:
        words = shlex.split(text, comments=True)
    except ValueError as error:
        raise BadCell(f"its quotes do not match ({error})") from error
    table: dict[str, object] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise BadCell(f"{word!r} is not NAME=VALUE")
        if name in table:
            raise BadCell(f"{name} is given twice")
        table[name] = int(value) if name == PRIORITY and re.fullmatch(r"-?\d{1,9}", value) else value
    return from_table(table, origin)


def missing_in(draft: Draft, wanted: Collection[str]) -> str:
    """What speaks against the cell, by the parameters that the commands want; "": nothing."""
    names = {name for name, _ in draft.values}
    lacks, unknown = sorted({*wanted} - names), sorted(names - {*wanted})
    said = [f"lacks {', '.join(lacks)}"] if lacks else []
    said += [f"{', '.join(unknown)} is in no command"] if unknown else []
    return "; ".join(said)


def numbered(drafts: Iterable[Draft], known: Collection[str], first: int) -> Iterator[Cell]:
    """The drafts that are not among the known cells, each once, with numbers from `first` on."""
    seen = set(known)
    for draft in drafts:
        name = draft.name
        if name not in seen:
            seen.add(name)
            yield Cell(first, name, draft.values, draft.priority, draft.origin)
            first += 1
