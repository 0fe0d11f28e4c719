"""Which back ends there are: name to the module that makes one. Loaded on use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.backends.base import Backend


class Row(NamedTuple):
    """module: has `make(settings, folder)`, which gives a `Backend`. what: for people."""

    name: str
    module: str
    what: str


BACKENDS: tuple[Row, ...] = (
    Row("slurm", "onbox.backends.slurm", "Slurm: each stage a batch job, joined by afterok"),
    Row("ray", "onbox.backends.ray", "Ray Jobs, by the REST interface of its dashboard: the chain is one job"),
    Row("iris", "onbox.backends.iris", "Iris, by its controller's RPC and the `iris` command: the chain is one job"),
)
NAMES = tuple(row.name for row in BACKENDS)


def make_backend(name: str, settings: Mapping[str, Any], folder: str) -> Backend:
    """The back end `name`. settings: as frozen into run.json. folder: the run's folder for jobs, which exists.

    Raises KeyError for an unknown name, ValueError for settings that do not suffice.
    """
    row = next((row for row in BACKENDS if row.name == name), None)
    if row is None:
        raise KeyError(name)
    backend: Backend = import_module(row.module).make(settings, folder)
    return backend
