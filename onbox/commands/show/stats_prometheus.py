"""The picture of `onbox stats` as Prometheus metrics (text exposition format 0.0.4). Pure.

Only what was observed becomes a metric: an absent or unseen value is left out, never 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.metrics import metric_head, metric_line
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Metric(NamedTuple):
    """One metric of the whole picture: its name, where its value stands, its type, its help. factor: to the base unit
    that its name says (https://prometheus.io/docs/practices/naming/).
    """

    name: str
    path: tuple[str, ...]
    kind: str
    help: str
    factor: float | None = None


METRICS: tuple[Metric, ...] = (
    Metric("memory_working_set_bytes", ("memory", "working_set_bytes"), "gauge", "Memory less droppable page cache."),
    Metric("memory_held_bytes", ("memory", "held_bytes"), "gauge", "Memory that cannot be dropped without swap."),
    Metric("memory_current_bytes", ("memory", "current_bytes"), "gauge", "Memory with page cache."),
    Metric("memory_limit_bytes", ("memory", "limit_bytes"), "gauge", "The tightest limit of all levels."),
    Metric("oom_kills_total", ("memory", "oom_kills_total"), "counter", "Processes killed for memory in this group."),
    Metric("cpu_seconds_total", ("cpu", "used_seconds_total"), "counter", "CPU time of this group."),
    Metric("cpu_usable_cores", ("cpu", "usable_cores"), "gauge", "Cores by quota and affinity."),
    Metric("cpu_throttled_seconds_total", ("cpu", "throttled_seconds_total"), "counter", "Time cut off by the quota."),
    Metric("pids", ("pids", "current"), "gauge", "Processes and threads of the group."),
    Metric("pids_limit", ("pids", "limit"), "gauge", "How many it may have."),
    Metric("processes", ("tree", "processes"), "gauge", "Processes of the stage."),
    Metric("threads", ("tree", "threads"), "gauge", "Threads of the stage."),
    Metric("resident_memory_bytes", ("tree", "rss_bytes"), "gauge", "Resident memory of the stage's processes."),
    Metric("host_memory_available_bytes", ("memory", "host", "available_bytes"), "gauge", "Of the whole machine."),
)
DISK_METRICS: tuple[Metric, ...] = (
    Metric("disk_free_bytes", ("room", "bytes_free"), "gauge", "Free for a user who is not root."),
    Metric("disk_size_bytes", ("room", "bytes_total"), "gauge", "Size of the file system."),
    Metric("disk_inodes_free", ("room", "inodes_free"), "gauge", "Free inodes, where they are counted."),
    Metric("disk_inodes", ("room", "inodes_total"), "gauge", "Inodes in all, where they are counted."),
)
GPU_METRICS: tuple[Metric, ...] = (
    Metric("gpu_utilization_ratio", ("utilization_percent",), "gauge", "Share of time in which a kernel ran.", 0.01),
    Metric("gpu_memory_used_bytes", ("memory_used_bytes",), "gauge", "Memory in use."),
    Metric("gpu_memory_size_bytes", ("memory_total_bytes",), "gauge", "Memory in all."),
    Metric("gpu_temperature_celsius", ("temperature_celsius",), "gauge", "Temperature."),
    Metric("gpu_power_watts", ("power_watts",), "gauge", "Power."),
    Metric("gpu_sm_clock_hertz", ("sm_clock_mhz",), "gauge", "SM clock.", 1e6),
    Metric("gpu_ecc_uncorrected_errors_total", ("ecc_uncorrected_total",), "counter", "Uncorrected ECC errors."),
)


def render_metrics(data: Mapping[str, Any]) -> str:
    """All metrics. `data`: as `onbox stats --json` prints it."""
    run = {"run": data["run"]} if data.get("run") else {}
    groups: list[tuple[tuple[Metric, ...], list[tuple[dict[str, str], Any]]]] = [(METRICS, [(run, data)])]
    disks = data.get("disks")
    if isinstance(disks, list):
        groups.append((DISK_METRICS, [({**run, "mount": disk["mount"]}, disk) for disk in disks]))
    gpus = data.get("gpus")
    cards = gpus.get("gpus") if isinstance(gpus, dict) else None
    if isinstance(cards, list):
        groups.append((GPU_METRICS, [({**run, "gpu": str(card.get("number"))}, card) for card in cards]))
    return "".join(line for table, subjects in groups for metric in table for line in _lines(metric, subjects))


def _lines(metric: Metric, subjects: list[tuple[dict[str, str], Any]]) -> Iterator[str]:
    values = [(labels, _in_base_unit(_find(subject, metric.path), metric.factor)) for labels, subject in subjects]
    known = [(labels, value) for labels, value in values if value is not None]
    if known:
        yield metric_head(f"onbox_{metric.name}", metric.help, metric.kind)
    for labels, value in known:
        yield metric_line(f"onbox_{metric.name}", labels.items(), value)


def _in_base_unit(value: float | None, factor: float | None) -> float | None:
    return value if value is None or factor is None else round(value * factor, 6)


def _find(data: Any, path: tuple[str, ...]) -> float | None:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, int | float) and not isinstance(data, bool) else None
