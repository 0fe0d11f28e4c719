"""The numbers that the rules compare with: each with its unit, its default and its reason. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Unwanted
from onbox.named_tuple import NamedTuple
from patrol.decide.cadence import FALLBACK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable


class Thresholds(NamedTuple):
    """What a rule compares with. A rule fires beyond the number, never at it (`_looks`, `_ticks`, `_count`: at it)."""

    cadence_seconds: float = FALLBACK_SECONDS
    cadences_count: float = 2.0
    stall_after_seconds: float = 1800.0
    capacity_after_seconds: float = 1800.0
    start_grace_seconds: float = 120.0
    linger_seconds: float = 600.0
    unreachable_looks: int = 2
    gone_looks: int = 2
    repeat_count: int = 2
    retries_count: int = 2
    slow_percent: float = 25.0
    slow_ticks: int = 3
    baseline_ticks: int = 5
    artifacts_factor: float = 3.0
    loss_percent: float = 50.0
    loss_ticks: int = 2
    memory_percent: float = 90.0
    host_memory_percent: float = 95.0
    memory_stall_percent: float = 20.0
    io_stall_percent: float = 60.0
    disk_percent: float = 90.0
    disk_critical_percent: float = 97.0
    full_within_seconds: float = 12 * 3600.0
    full_soon_seconds: float = 2 * 3600.0
    gpu_idle_percent: float = 5.0
    gpu_busy_percent: float = 60.0
    gpu_ticks: int = 3
    clock_skew_seconds: float = 120.0
    fast_finish_percent: float = 50.0
    overdue_percent: float = 150.0
    notices_ticks: int = 2
    flap_percent: float = 30.0
    flap_end_percent: float = 20.0


class Threshold(NamedTuple):
    """One row: the key in `[patrol.thresholds]`, the field above, what a value may be, and what it is for."""

    key: str
    field: str
    parse: Callable[[object], float]
    unit: str
    why: str


def _percent(value: object) -> float:
    text = value.strip().removesuffix("%") if isinstance(value, str) else value
    try:
        number = -1.0 if isinstance(text, bool) else float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if not 0 <= number <= 100:
        raise Unwanted('a share from 0 to 100, such as 90 or "90%"')
    return number


_COUNT = values.count_from(1)
_SPAN = values.positive_duration
_S, _P = "seconds", "%"

THRESHOLDS: tuple[Threshold, ...] = (
    Threshold("cadence", "cadence_seconds", _SPAN, _S, "time between two ticks; default: the longest gap of the schedule"),
    Threshold("cadences", "cadences_count", _COUNT, "cadences", "a monitor that is silent for longer is stale"),
    Threshold("stall_after", "stall_after_seconds", _SPAN, _S, "signals older than this are old, where the run declares nothing"),
    Threshold("capacity_after", "capacity_after_seconds", _SPAN, _S, "a job that waits in a queue for longer is a warning"),
    Threshold("start_grace", "start_grace_seconds", _SPAN, _S, "an attempt younger than this has only just started"),
    Threshold("linger", "linger_seconds", _SPAN, _S, "a process may live on for this long after its proof of success"),
    Threshold("unreachable_looks", "unreachable_looks", _COUNT, "looks in a row", "from then on a box that does not answer is believed to be away"),
    Threshold("gone_looks", "gone_looks", _COUNT, "looks in a row", "how often a run must be seen without process and marker to be called dead"),
    Threshold("repeats", "repeat_count", _COUNT, "attempts", "the same failure so often is not an accident"),
    Threshold("retries", "retries_count", _COUNT, "retries", "a stage that was retried so often is degraded"),
    Threshold("slow_percent", "slow_percent", _percent, _P, "throughput so far below its own baseline has collapsed"),
    Threshold("slow_ticks", "slow_ticks", _COUNT, "ticks in a row", "for so long, or it was a checkpoint or an evaluation"),
    Threshold("baseline_ticks", "baseline_ticks", _COUNT, "looks", "a baseline of rates or losses needs so many"),
    Threshold("artifacts_factor", "artifacts_factor", _COUNT, "times", "artifacts that take so many times as long as they ever did are late"),
    Threshold("loss_percent", "loss_percent", _percent, _P, "a loss so far above its own baseline has risen"),
    Threshold("loss_ticks", "loss_ticks", _COUNT, "ticks in a row", "for so long, or it was one hard batch"),
    Threshold("memory_percent", "memory_percent", _percent, _P, "memory held of the group's limit; beyond it the OOM killer is near"),
    Threshold("host_memory_percent", "host_memory_percent", _percent, _P, "memory in use of the whole box, where the group has no limit"),
    Threshold("memory_stall_percent", "memory_stall_percent", _percent, _P, "time lost waiting for memory (PSI)"),
    Threshold("io_stall_percent", "io_stall_percent", _percent, _P, "time lost waiting for disks (PSI)"),
    Threshold("disk_percent", "disk_percent", _percent, _P, "bytes or inodes in use: pressure"),
    Threshold("disk_critical_percent", "disk_critical_percent", _percent, _P, "bytes or inodes in use: the next checkpoint may not fit"),
    Threshold("full_within", "full_within_seconds", _SPAN, _S, "a trend that fills a disk within this time is a warning"),
    Threshold("full_soon", "full_soon_seconds", _SPAN, _S, "a trend that fills a disk within this time is critical"),
    Threshold("gpu_idle_percent", "gpu_idle_percent", _percent, _P, "no GPU above this: idle"),
    Threshold("gpu_busy_percent", "gpu_busy_percent", _percent, _P, "the busiest GPU below this: bound by CPU or data"),
    Threshold("gpu_ticks", "gpu_ticks", _COUNT, "ticks in a row", "never from one snapshot"),
    Threshold("clock_skew", "clock_skew_seconds", _SPAN, _S, "clocks further apart make times in logs misleading"),
    Threshold("fast_finish_percent", "fast_finish_percent", _percent, _P, "an end in less than this share of the expected time is suspect"),
    Threshold("overdue_percent", "overdue_percent", _COUNT, _P, "what runs for more than this share of the time that was declared is overdue"),
    Threshold("notices_ticks", "notices_ticks", _COUNT, "ticks in a row", "notices that wait so long are stuck"),
    Threshold("flap_percent", "flap_percent", _percent, _P, "weighted changes between well and ill in the last 21 ticks: flapping"),
    Threshold("flap_end_percent", "flap_end_percent", _percent, _P, "flapping ends below this"),
)  # fmt: skip

DEFAULTS = Thresholds()
