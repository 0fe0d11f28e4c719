"""The one table of engines: what there is, and which module does what for it. An engine's name stands here and in its
own modules, nowhere else.

Modules are named, not imported: each is loaded where it is used, and a program on the box loads none of them for a run
that stays there.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Engine(NamedTuple):
    """One engine that can run the stages as jobs. docs/backends.md, "Adding a back end", says what each module has.

    name: as in `backend = NAME` and in the table [NAME]. what: for people. config: how its table is read (a `Part`).
    backend: makes a `Backend`. check: what `onbox check` looks at. stages: of an engine where each stage is a job of
    its own: how its order is made; "": the chain is one job. probe: how its commands are asked on the box; "": they are
    not. look: how its cluster is asked over HTTP; "": it is not. address_key: the key of its table that says where it
    answers. takes_project: a submission takes the project along, so that its jobs have another disk. variables: what
    its commands need of the environment; a run keeps them.
    """

    name: str
    what: str
    config: str
    backend: str
    check: str
    stages: str = ""
    probe: str = ""
    look: str = ""
    address_key: str = ""
    takes_project: bool = False
    variables: tuple[str, ...] = ()


ENGINES: tuple[Engine, ...] = (
    Engine(
        "slurm",
        "Slurm: each stage a batch job, joined by afterok",
        config="onbox.config.tables.slurm",
        backend="onbox.backends.slurm.backend",
        check="onbox.preflight.engine_slurm",
        stages="onbox.backends.slurm.options",
        probe="onbox.backends.slurm.probe",
        variables=("SLURM_CONF",),
    ),
    Engine(
        "ray",
        "Ray Jobs, by the REST interface of its dashboard: the chain is one job",
        config="onbox.config.tables.ray",
        backend="onbox.backends.ray.backend",
        check="onbox.preflight.engine_ray",
        look="onbox.backends.ray.cluster",
        address_key="address",
    ),
    Engine(
        "iris",
        "Iris, by its controller's RPC and the `iris` command: the chain is one job",
        config="onbox.config.tables.iris",
        backend="onbox.backends.iris.backend",
        check="onbox.preflight.engine_iris",
        look="onbox.backends.iris.cluster",
        address_key="controller",
        takes_project=True,
    ),
)
BY_NAME: Mapping[str, Engine] = MappingProxyType({row.name: row for row in ENGINES})
NAMES = tuple(BY_NAME)
CHOICES = ("local", *NAMES)  # where `onbox chain` runs its stages
CLUSTERS = tuple(row.name for row in ENGINES if row.look)  # asked over HTTP: there is no shell, only jobs
PER_STAGE = tuple(row.name for row in ENGINES if row.stages)
ON_BOX = tuple(row.name for row in ENGINES if row.probe)  # asked by commands, where their jobs were submitted
VARIABLES = tuple(name for row in ENGINES for name in row.variables)
