"""The table of rules, in the order in which they are asked: the first row that matches a line is its meaning. Pure.

To add a rule, add a row to the theme it belongs to (the modules beside this one). Specific rows stand before general
ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.triage.rules import device, distributed, memory, network, python, scheduler, statuses, storage, undecided

if TYPE_CHECKING:
    from onbox.triage.rules.rows import RuleRow

ROWS: tuple[RuleRow, ...] = (
    *distributed.RAYLET,
    *scheduler.LIMITS,
    *memory.SHARED,
    *memory.TPU,
    *memory.XLA_ON_HOST,
    *memory.CARD,
    *storage.SPACE,
    *device.HARDWARE,
    *device.KERNEL_REPORTS,
    *device.KERNEL_FAULT,
    *device.TPU_RUNTIME,
    *device.TPU_NODE,
    *device.DRIVER_TOOLS,
    *device.ENVIRONMENT[:2],
    *statuses.STATUSES,
    *memory.HOST[:5],
    *network.PORT,
    *storage.CHECKPOINT,
    *distributed.RAY,
    *distributed.FIRST_RANK,
    *distributed.COLLECTIVE,
    *network.AUTH,
    *network.NETWORK[:2],
    *storage.ACCESS,
    *python.NUMBERS,
    *python.SIMULATIONS,
    *storage.DATA,
    *scheduler.PEOPLE,
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
