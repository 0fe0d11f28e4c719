"""Who answers: host name, boot, uptime, clock, and whether `onbox` is on the path of an ssh command."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from patrol.snapshot import BoxIdentity

if TYPE_CHECKING:
    from patrol.probe.frames import SectionPart

LAST_SECOND = 253402300799.0  # of the year 9999, since the epoch

SHELL = r"""
p_identity() {
  p_host= p_boot= p_up=
  read -r p_host </proc/sys/kernel/hostname
  read -r p_boot </proc/sys/kernel/random/boot_id
  read -r p_up p_rest </proc/uptime
  printf '%s\n' "$p_host" "$p_boot" "$p_up"
  date +%s
  command -v onbox || echo
}
"""


class SeenIdentity(NamedTuple):
    identity: BoxIdentity
    onbox_on_path: bool


HALF_A_SECOND = 0.5  # the box tells whole seconds


def parse(part: SectionPart, middle: float, error_seconds: float = 0.0) -> Maybe[SeenIdentity]:
    """middle: local time in the middle between question and answer, against which the box's clock is held, with the
    error that this has: half the round trip.
    """
    lines = part.data.decode("utf-8", "replace").split("\n")
    clock = number(lines[3]) if len(lines) > 4 else None
    if clock is None or not 0.0 <= clock <= LAST_SECOND:
        return Unseen("the box told no time")
    told = number(lines[2])
    uptime = told if told is not None and 0.0 <= told <= LAST_SECOND else None
    boot_id = safe_line(lines[1], 64)
    return SeenIdentity(
        BoxIdentity(
            hostname=safe_line(lines[0], 253),
            boot_id=boot_id or Absent("this kernel tells no boot id"),
            uptime_seconds=Absent("this kernel tells no uptime") if uptime is None else uptime,
            clock_seconds=clock,
            clock_skew_seconds=clock + HALF_A_SECOND - middle,
            clock_error_seconds=error_seconds + HALF_A_SECOND,
        ),
        bool(lines[4].strip()),
    )


def number(text: str) -> float | None:
    """A plain decimal number; None for anything else."""
    try:
        value = float(text) if len(text) < 40 else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
