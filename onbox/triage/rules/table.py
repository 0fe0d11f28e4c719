"""The table of rules, in the order in which they are asked: the first row that matches a line is its meaning. Pure.

To add a rule, add a row to the theme it belongs to (the modules beside this one). Specific rows stand before general
ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.triage.rules import device, distributed, memory, network, python, scheduler, statuses, storage, undecided
from onbox.triage.rules.vocabularies import clusters, errnos, languages, services, signals, tools, translated

if TYPE_CHECKING:
    from onbox.triage.rules.rows import RuleRow

ROWS: tuple[RuleRow, ...] = (
    *distributed.RAYLET,
    *signals.UNIT_ENDS,
    *clusters.SLURM_STATES,
    *clusters.LSF_ENDS,
    *clusters.CONDOR,
    *clusters.SUBMITTING,
    *scheduler.LIMITS,
    *signals.LIMIT_SIGNALS,
    *memory.SHARED,
    *memory.TPU,
    *memory.XLA_ON_HOST,
    *memory.CARD,
    *storage.SPACE,
    *tools.MPI,
    *device.HARDWARE,
    *device.KERNEL_REPORTS,
    *device.KERNEL_FAULT,
    *device.TPU_RUNTIME,
    *device.TPU_NODE,
    *device.DRIVER_TOOLS,
    *statuses.STATUSES,
    *device.ENVIRONMENT[:2],
    *network.CERTIFICATES,  # says why there is no connection, and no image
    *clusters.CONTAINERS,
    *memory.HOST[:5],
    *network.PORT,
    *storage.CHECKPOINT,
    *distributed.RAY,
    *distributed.FIRST_RANK,
    *distributed.COLLECTIVE,
    *services.GRPC,
    *services.CLOUDS,
    *services.HTTP,
    *tools.CURL,
    *tools.RSYNC,
    *tools.ARIA,
    *tools.SSH,
    *tools.GIT,
    *tools.PACKAGES,
    *services.DATABASES,
    *network.AUTH,
    *network.NETWORK[:2],
    *storage.ACCESS,
    *errnos.ERRNOS,
    *translated.TRANSLATED,
    *python.NUMBERS,
    *languages.FORTRAN,
    *languages.OTHERS,
    *languages.CPP,
    *languages.NODE,
    *languages.GO_AND_RUST,
    *languages.RUBY,
    *languages.R_LANGUAGE,
    *python.SIMULATIONS,
    *storage.DATA,
    *scheduler.PEOPLE,
    *signals.ASKING_SIGNALS,
    *signals.CRASH_SIGNALS,
    *translated.SHELLS,
    *signals.NOT_FOUND,
    *services.ASKED_FOR,
    *memory.BUS_EXIT,
    *memory.HOST[5:],
    *python.LIBRARIES,
    *python.SETTINGS,
    *distributed.LAUNCHERS,
    *network.NETWORK[2:],
    *undecided.UNDECIDED,
    *device.ENVIRONMENT[2:],
    *python.DEFECTS,
    *distributed.UNKNOWN_LEVEL,
)
