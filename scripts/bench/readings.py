"""What the readings cost: one snapshot beside psutil's equivalents, and the runner's share of CPU in an idle hour.

    python scripts/bench/readings.py

Needs psutil for the comparison (`pip install psutil`); without it that row is left out. CPU time, not wall time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from onbox.collectors.sample import sample_of
from onbox.collectors.snapshot import find_groups, take_snapshot
from onbox.system.process import look_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.system.process import Identity

ROUNDS = 200
CADENCE_SECONDS = 30.0
SOAK_SECONDS = 20.0
SOAK_CADENCE = "100ms"


def cpu_milliseconds(work: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall milliseconds of one call, over many; the first ones warm up."""
    for _ in range(5):
        work()
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(ROUNDS):
        work()
    return (time.process_time() - cpu) * 1000 / ROUNDS, (time.perf_counter() - wall) * 1000 / ROUNDS


def psutil_snapshot(leader: Identity, paths: list[str]) -> Callable[[], object] | None:
    """The same questions asked of psutil: host memory (it knows no cgroup), CPU, load, disks, the process tree."""
    try:
        import psutil  # noqa: PLC0415 - optional
    except ImportError:
        return None

    def look() -> object:
        process = psutil.Process(leader.pid)
        family = [process, *process.children(recursive=True)]
        tree = [(one.memory_info(), one.cpu_times(), one.num_threads(), one.status(), one.num_fds()) for one in family]
        disks = [(psutil.disk_usage(path), os.statvfs(path)) for path in paths]
        return psutil.virtual_memory(), psutil.swap_memory(), psutil.cpu_times(), psutil.getloadavg(), disks, tree

    return look


def bench_snapshot() -> None:
    entry = look_up(os.getppid())
    assert entry is not None
    paths = ["/", "/tmp", "/dev/shm", os.getcwd()]
    groups = find_groups()
    table = len([name for name in os.listdir("/proc") if name.isdigit()])
    rows: list[tuple[str, Callable[[], object]]] = [
        ("onbox snapshot and sample", lambda: sample_of(take_snapshot(groups, paths, entry.identity))),
        ("finding the cgroups (once per runner)", find_groups),
    ]
    peer = psutil_snapshot(entry.identity, paths)
    if peer is not None:
        rows.append(("psutil, the same questions without cgroups", peer))
    print(f"{'one snapshot, no GPU (' + str(table) + ' processes on the box)':<55}{'CPU ms':>8}{'wall ms':>9}")
    for name, work in rows:
        cpu, wall = cpu_milliseconds(work)
        print(f"{name:<55}{cpu:>8.2f}{wall:>9.2f}")


def bench_runner() -> None:
    """A real runner over a sleeping stage, sampling far more often than usual; its CPU time per sample scaled back."""
    with tempfile.TemporaryDirectory(prefix="onbox-bench-") as folder:
        project = Path(folder) / "idle"
        project.mkdir()
        (project / "onbox.toml").write_text(
            f"[run]\nsample_every = '{SOAK_CADENCE}'\n[stages.a]\ncmd = 'sleep 3600'\nstall_after = '24h'\n"
        )
        onbox = [sys.executable, "-m", "onbox"]
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        subprocess.run([*onbox, "chain", "-d"], cwd=project, env=env, check=True, stdout=subprocess.DEVNULL)
        state = project / ".onbox" / "idle"
        pid = int((state / "lock").read_text().split('"pid": ')[1].split(",")[0])
        time.sleep(2)
        before, lines = _cpu_seconds(pid), _lines(state)
        time.sleep(SOAK_SECONDS)
        spent, taken = _cpu_seconds(pid) - before, _lines(state) - lines
        resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        subprocess.run([*onbox, "stop", "--now"], cwd=project, env=env, check=True, stdout=subprocess.DEVNULL)
    each = spent / max(1, taken)
    print(
        f"\nthe runner: {taken} samples in {SOAK_SECONDS:g} s, {each * 1000:.2f} ms CPU each, {resident / 1e6:.1f} MB"
    )
    share = 100 * each / CADENCE_SECONDS
    hourly = each * 3600 / CADENCE_SECONDS
    print(f"at the default cadence of {CADENCE_SECONDS:g} s: {share:.4f} % of a core, {hourly:.2f} s an hour")


def _cpu_seconds(pid: int) -> float:
    entry = look_up(pid)
    return 0.0 if entry is None else entry.cpu_ticks / os.sysconf("SC_CLK_TCK")


def _lines(state: Path) -> int:
    path = state / "samples.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


if __name__ == "__main__":
    bench_snapshot()
    bench_runner()
