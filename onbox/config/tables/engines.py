"""What a configuration says of the engines that run its jobs: their tables, and a stage's `sbatch`. Pure."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from onbox.config.fields import Table, Unwanted
from onbox.model.engines import ENGINES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.config.tables.engine_part import EnginePart, Options

PARTS: Mapping[str, EnginePart] = MappingProxyType({row.name: import_module(row.config).PART for row in ENGINES})


def read_backends(file: Table) -> Mapping[str, Mapping[str, object]]:
    """The engines' tables, checked: only keys that are set, durations in seconds; `sbatch` as Options."""
    return MappingProxyType({name: part.read(_sub_table(file, name, part)) for name, part in PARTS.items()})


def _sub_table(file: Table, name: str, part: EnginePart) -> Table:
    return Table(file.path_of(name), file.values.get(name, {}), part.keys, file.errors)


def read_options(table: Table) -> Options:
    """What a stage's job asks of its engine: (option, value) pairs sorted by name, value None for a flag."""
    return tuple(pair for part in PARTS.values() if part.read_options is not None for pair in part.read_options(table))


def general_options(backends: Mapping[str, Mapping[str, object]]) -> Options:
    """Those that the engine's table sets for every stage."""
    found = next((table["sbatch"] for table in backends.values() if "sbatch" in table), ())
    return found if isinstance(found, tuple) else ()


def merge_options(general: Options, own: Options) -> Options:
    """Both sorted by name; where both have an option, the stage's own value holds."""
    return tuple(sorted({**dict(general), **dict(own)}.items()))


def job_id(engine: str, value: object) -> str:
    """The id of a job that somebody submitted to a cluster of this engine. Raises Unwanted."""
    parse = PARTS[engine].job_id
    if parse is None:
        raise Unwanted("a job that can be asked for over HTTP")
    return parse(value)
