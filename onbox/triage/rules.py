"""The table of rules, in the order in which they are asked: the first row that matches a line is its meaning. Pure.

To add a rule, add a row to the theme it belongs to (`rules_memory`, `rules_storage`, `rules_device`,
`rules_distributed`, `rules_network`, `rules_scheduler`, `rules_python`). Specific rows stand before general ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.triage import (
    rules_device,
    rules_distributed,
    rules_memory,
    rules_network,
    rules_python,
    rules_scheduler,
    rules_storage,
)

if TYPE_CHECKING:
    from onbox.triage.rows import RuleRow

ROWS: tuple[RuleRow, ...] = (
    *rules_scheduler.LIMITS,
    *rules_memory.SHARED,
    *rules_memory.TPU,
    *rules_memory.XLA_ON_HOST,
    *rules_memory.CARD,
    *rules_storage.SPACE,
    *rules_device.HARDWARE,
    *rules_device.KERNEL_FAULT,
    *rules_device.TPU_NODE,
    *rules_device.DRIVER_TOOLS,
    *rules_device.ENVIRONMENT[:2],
    *rules_memory.HOST[:5],
    *rules_network.PORT,
    *rules_storage.CHECKPOINT,
    *rules_distributed.RAY,
    *rules_distributed.FIRST_RANK,
    *rules_distributed.COLLECTIVE,
    *rules_network.AUTH,
    *rules_network.NETWORK[:1],
    *rules_storage.ACCESS,
    *rules_python.NUMBERS,
    *rules_python.SIMULATIONS,
    *rules_storage.DATA,
    *rules_scheduler.PEOPLE,
    *rules_memory.BUS_EXIT,
    *rules_memory.HOST[5:],
    *rules_python.SETTINGS,
    *rules_distributed.LAUNCHERS,
    *rules_network.NETWORK[1:],
    *rules_device.ENVIRONMENT[2:],
    *rules_python.DEFECTS,
    *rules_distributed.UNKNOWN_LEVEL,
)
