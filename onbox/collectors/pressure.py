"""Pressure stall information (PSI): the share of time in which work waited for memory, I/O or CPU.

Source: Documentation/accounting/psi.rst. Of the container's own group in cgroup v2; else of the host, and named so.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.collectors.reading import read_text
from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.collectors.groups import ControlGroup
    from onbox.contract.readings import Maybe

RESOURCES = ("cpu", "memory", "io")


class Stall(NamedTuple):
    """`some`: at least one task waited; `full`: all of them (Absent for cpu on older kernels). Percent of the last 10
    and 60 seconds; total seconds since the group (or the boot) began.
    """

    some_percent_10s: float
    some_percent_60s: float
    full_percent_10s: Maybe[float]
    full_percent_60s: Maybe[float]
    some_seconds_total: float


class PressureReading(NamedTuple):
    """of_host: these are the whole machine's values, not the container's."""

    of_host: bool
    cpu: Maybe[Stall]
    memory: Maybe[Stall]
    io: Maybe[Stall]


def parse_stall(text: Maybe[str]) -> Maybe[Stall]:
    """`some avg10=0.00 avg60=0.00 avg300=0.00 total=0` and the same with `full`; total in microseconds."""
    if isinstance(text, Absent | Unseen):
        return text
    found: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        kind, *pairs = line.split() or [""]
        try:
            found[kind] = {key: float(value) for key, _, value in (pair.partition("=") for pair in pairs)}
        except ValueError:
            return Unseen(f"a pressure line reads {line[:60]!r}")
    some, full = found.get("some"), found.get("full")
    if some is None or not {"avg10", "avg60", "total"} <= some.keys():
        return Unseen(f"no pressure in {text[:60]!r}")
    none = Absent("this kernel tells no full stall here")
    return Stall(
        some["avg10"],
        some["avg60"],
        none if full is None else full.get("avg10", none),
        none if full is None else full.get("avg60", none),
        some["total"] / 1e6,
    )


def read_pressure(group: Maybe[ControlGroup], root: str = "/") -> PressureReading:
    """Of the group, if its tree is v2 and has the files; else of the host. Those of the tree's root are the host's."""
    if not isinstance(group, Absent | Unseen) and group.version == 2:
        stalls = [parse_stall(read_text(f"{group.own}/{name}.pressure")) for name in RESOURCES]
        if any(isinstance(stall, Stall) for stall in stalls):
            is_root = not os.path.exists(f"{group.own}/cgroup.events")  # which every other group has (cgroup-v2.rst)
            return PressureReading(is_root, *stalls)
    return PressureReading(True, *(parse_stall(read_text(os.path.join(root, "proc/pressure", n))) for n in RESOURCES))
