"""The limits of this container and session: memory, CPU against thread pools, processes, open files."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen, observed
from onbox.model.units import format_duration, format_size
from onbox.preflight.report import CheckResult, passed, unseen, warned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onbox.preflight.report import CheckFacts

MEMORY_BUSY_SHARE = 0.8
PIDS_BUSY_SHARE = 0.8
FEW_FILES = 4096
# Thread pools that ask for the machine's cores and know nothing of a quota.
POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_MAX_THREADS", "RAYON_NUM_THREADS")


def check_memory(facts: CheckFacts) -> Iterator[CheckResult]:
    memory = facts.snapshot.memory
    if isinstance(memory, Absent | Unseen):
        yield unseen("memory", memory.why)
        return
    limit, used, host = (
        observed(memory.limit_bytes),
        observed(memory.held_bytes),
        observed(memory.host.total_bytes),
    )
    if isinstance(memory.limit_bytes, Unseen):
        yield unseen("memory", memory.limit_bytes.why)
    elif limit is None:
        yield passed(
            "memory", f"no limit visible; the machine has {format_size(host) if host else 'an unknown amount'}"
        )
    elif used is not None and used > MEMORY_BUSY_SHARE * limit:
        seen = f"{format_size(used)} of {format_size(limit)} are in use before anything has started"
        yield warned("memory", seen, "end what uses it, or raise the container's limit")
    else:
        whole = f"; `free` shows the machine's {format_size(host)}" if host and host > limit else ""
        yield passed("memory", f"limit {format_size(limit)}{whole}")
    kills = observed(memory.oom_kills_total)
    if kills:
        yield warned(
            "memory",
            f"{kills} processes of this container were killed for memory before",
            "fewer workers or a higher limit",
        )


def check_threads(facts: CheckFacts) -> Iterator[CheckResult]:
    """Thread pools against the cores that this container may use."""
    cpu = facts.snapshot.cpu
    if isinstance(cpu, Absent | Unseen):
        yield unseen("threads", cpu.why)
        return
    usable, host = observed(cpu.usable_cores), observed(cpu.host_cores)
    if usable is None:
        yield unseen("threads", getattr(cpu.usable_cores, "why", ""))
        return
    cores = max(1, int(usable))
    for name, environ in _environments(facts).items():
        yield from _judge_pools(name, environ, cores, host, quota=isinstance(cpu.quota_cores, float))


def _environments(facts: CheckFacts) -> dict[str, Mapping[str, str]]:
    """The environments that stages will have, each once; the session's own where there are no stages."""
    found: dict[str, Mapping[str, str]] = {}
    for stage in facts.stages:
        environ = {**facts.environ, **dict(stage.env)}
        pools = {name: environ[name] for name in POOLS if name in environ}
        if pools not in found.values():
            found[f"stage {stage.name}"] = pools
    return found or {"this session": {name: facts.environ[name] for name in POOLS if name in facts.environ}}


def _judge_pools(
    who: str, pools: Mapping[str, str], cores: int, host: int | None, *, quota: bool
) -> Iterator[CheckResult]:
    remedy = f'in onbox.toml: [run] env = {{ OMP_NUM_THREADS = "{cores}" }} (per process: fewer with several ranks)'
    large = [f"{name}={value}" for name, value in pools.items() if value.isdigit() and int(value) > cores]
    if large:
        yield warned("threads", f"{who}: {', '.join(large)} on {cores} usable cores", remedy)
    elif "OMP_NUM_THREADS" not in pools and quota and host is not None and host > cores:
        seen = f"{who}: OMP_NUM_THREADS is not set: libraries start {host} threads on a quota of {cores} cores"
        yield warned("threads", seen, remedy)
    else:
        yield passed("threads", f"{who}: {cores} usable cores" + (f" of {host}" if host and host != cores else ""))


def check_pids(facts: CheckFacts) -> Iterator[CheckResult]:
    pids = facts.snapshot.pids
    if isinstance(pids, Absent | Unseen):
        return  # no such controller here: nothing limits the number of processes
    used, limit = observed(pids.current), observed(pids.limit)
    if used is not None and limit is not None and used > PIDS_BUSY_SHARE * limit:
        yield warned(
            "processes", f"{used} of {limit} processes and threads are in use", "raise the container's pids limit"
        )
    elif limit is not None:
        yield passed("processes", f"{'?' if used is None else used} of {limit} processes and threads")


def check_rlimits(_: CheckFacts) -> Iterator[CheckResult]:
    """Limits that the session hands down to every process (getrlimit(2))."""
    troubles = []
    files, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= files < FEW_FILES:
        troubles.append(
            (f"{files} open files per process", f"ulimit -n {FEW_FILES * 16} in the shell that starts the chain")
        )
    for kind, what in (
        (resource.RLIMIT_CPU, "CPU time"),
        (resource.RLIMIT_FSIZE, "file size"),
        (resource.RLIMIT_AS, "address space"),
    ):
        soft, _hard = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY:
            amount = format_duration(float(soft)) if kind == resource.RLIMIT_CPU else format_size(soft)
            troubles.append(
                (f"{what} is limited to {amount} per process", "raise it with ulimit before you start the chain")
            )
    for seen, remedy in troubles:
        yield warned("limits", seen, remedy)
    if not troubles:
        yield passed("limits", f"{files} open files; no limit on CPU time, file size or address space")
