#!/usr/bin/env python3
"""What `onbox sweep` costs and survives, beside GNU parallel, task-spooler and HyperQueue in the same run.

usage: sweep.py [--cells 200] [--rounds 3] [--queued 10000] [--onbox PATH] [--hq-python PYTHON] [--only NAME,NAME]

Rounds are interleaved. Cells are a tiny C program that stamps its start and end with the monotonic clock. `parallel`
and `tsp` are found on PATH (Debian: parallel, task-spooler); HyperQueue is a Python that has `pip install hyperqueue`.
What is not there is named. On a shared machine compare the ratios of one run; absolute times follow the load.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from scripts.bench.chain import STAGE, handoffs_us, percentile

if TYPE_CHECKING:
    from collections.abc import Callable

CELL = """\
echo "begin $1 $(date +%s%N)" >>"$2"
sleep "$3"
echo "end $1 $(date +%s%N)" >>"$2"
[ "$1" != 3 ]
"""
TAG = "ONBOX_BENCH_SWEEP"
SPARED = {"sh", "sleep", "bash", "dash"}
BOUND_SECONDS = 120.0


class Work(NamedTuple):
    """One run of one tool: its folder, the command of cell N (as words, with N for the number), how many cells and how
    many at once.
    """

    folder: Path
    words: tuple[str, ...]
    cells: int
    jobs: int

    def line(self, number: object) -> str:
        return shlex.join([word.replace("@N@", str(number)) for word in self.words])


def onbox(work: Work, tools: argparse.Namespace) -> list[str]:
    words = [word.replace("@N@", "{n}") for word in work.words]
    return [tools.onbox, "sweep", "-j", str(work.jobs), f"n=1..{work.cells}", "--", *words]


def parallel(work: Work, tools: argparse.Namespace) -> list[str]:
    words = [word.replace("@N@", "{}") for word in work.words]
    (work.folder / "args").write_text("".join(f"{number}\n" for number in range(1, work.cells + 1)))
    found = [tools.parallel, "--will-cite", f"-j{work.jobs}", "--joblog", "log", "--resume", "-a", "args"]
    return [*found, shlex.join(words).replace("'{}'", "{}")]


def spooler(work: Work, tools: argparse.Namespace) -> list[str]:
    tsp = tools.tsp
    lines = [f"export TS_SOCKET={work.folder}/socket TS_MAXFINISHED=100000 TS_MAXCONN=20000", f"{tsp} -S {work.jobs}"]
    lines += [f"{tsp} -n {work.line(number)} >/dev/null" for number in range(1, work.cells + 1)]
    failed = f"{tsp} -l | awk '$2 == \"finished\" && $4 != 0' | wc -l"
    lines.append(f"{tsp} -w $({tsp} -n true); [ $({failed}) = 0 ]")
    (work.folder / "submit.sh").write_text("\n".join(lines) + "\n")
    return ["bash", "submit.sh"]


def hyperqueue(work: Work, tools: argparse.Namespace) -> list[str]:
    lines = [work.line(number) for number in range(1, work.cells + 1)]
    (work.folder / "hq.py").write_text(
        "import shlex\nfrom hyperqueue import Job, LocalCluster\nfrom hyperqueue.cluster import WorkerConfig\n"
        f"with LocalCluster() as cluster:\n    cluster.start_worker(WorkerConfig(cores={work.jobs}))\n"
        "    client, job = cluster.client(), Job()\n"
        f"    for line in {lines!r}:\n        job.program(shlex.split(line), stdout=None, stderr=None)\n"
        "    client.wait_for_jobs([client.submit(job)])\n"
    )
    return [tools.hq_python, "hq.py"]


TOOLS = {"onbox": onbox, "parallel": parallel, "task-spooler": spooler, "hyperqueue": hyperqueue}


def start(name: str, work: Work, tools: argparse.Namespace) -> subprocess.Popen[bytes]:
    words = TOOLS[name](work, tools)
    null = subprocess.DEVNULL
    environ = {**os.environ, TAG: str(work.folder)}
    return subprocess.Popen(words, cwd=work.folder, env=environ, stdin=null, stdout=null, stderr=null)


def members(folder: Path) -> list[tuple[int, str]]:
    """(pid, comm) of every process of this run."""
    mark = f"{TAG}={folder}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append((int(entry.name), (entry / "comm").read_text().strip()))
        except OSError:
            continue
    return found


def end(folder: Path) -> None:
    """End what is left of a run: only processes that carry its own mark."""
    for _ in range(50):
        left = members(folder)
        if not left:
            return
        for pid, _ in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.05)


def fresh(tools: argparse.Namespace) -> Path:
    return Path(tempfile.mkdtemp(dir=tools.folder))


def wait_for(condition: Callable[[], bool], bound: float = BOUND_SECONDS) -> bool:
    deadline = time.monotonic() + bound
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


# -- hand-off


def measure_handoff(names: list[str], tools: argparse.Namespace) -> None:
    gaps: dict[str, list[float]] = {name: [] for name in names}
    walls: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(tools.rounds):
        for name in names:
            folder = fresh(tools)
            work = Work(folder, (tools.stage, str(folder / "stamps"), "@N@"), tools.cells, 1)
            began = time.perf_counter()
            start(name, work, tools).wait(BOUND_SECONDS * 5)
            walls[name].append((time.perf_counter() - began) / tools.cells)
            path = folder / "stamps"
            gaps[name] += handoffs_us([int(line) for line in path.read_text().split()]) if path.exists() else []
            end(folder)
            shutil.rmtree(folder)
    print(f"hand-off, one cell after the other, {tools.cells} cells x {tools.rounds} rounds")
    for name in names:
        found = gaps[name]
        median, late = (statistics.median(found), percentile(found, 0.95)) if found else (float("nan"),) * 2
        wall = statistics.median(walls[name]) * 1000
        told = f"median {median / 1000:7.2f} ms   p95 {late / 1000:7.2f} ms   whole run {wall:7.2f} ms per cell"
        print(f"  {name:<14} {told}")


# -- memory with a long queue


def measure_memory(names: list[str], tools: argparse.Namespace) -> None:
    print(f"memory with {tools.queued} cells queued behind one that sleeps (all supervising processes)")
    for name in names:
        count = min(tools.queued, 1000) if name == "task-spooler" else tools.queued  # a process for each queued job
        folder = fresh(tools)
        (folder / "cell.sh").write_text(CELL)
        work = Work(folder, ("sh", str(folder / "cell.sh"), "@N@", str(folder / "ledger"), "300"), count, 1)
        started = start(name, work, tools)
        if not wait_for((folder / "ledger").exists):
            print(f"  {name:<14} no cell began within {BOUND_SECONDS:g} s")
        else:
            time.sleep(3.0)
            told = [(pid, comm) for pid, comm in members(folder) if pid != viewer_of(name, started.pid)]
            supervising = [(pid, comm, rss_mib(pid)) for pid, comm in told if comm not in SPARED]
            total, biggest = sum(one[2] for one in supervising), max((one[2] for one in supervising), default=0.0)
            extra = f" (of {count} cells)" if count != tools.queued else ""
            line = f"biggest process {biggest:6.1f} MiB   {len(supervising)} processes {total:7.1f} MiB{extra}"
            print(f"  {name:<14} {line}")
        end(folder)
        started.wait()
        shutil.rmtree(folder, ignore_errors=True)


def viewer_of(name: str, pid: int) -> int | None:
    """The command that only watches: it may be closed."""
    return pid if name == "onbox" else None


def rss_mib(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


# -- faults


def measure_faults(names: list[str], tools: argparse.Namespace) -> None:
    print("faults: 6 cells, two at a time; the third fails; kill -9 of what supervises, then the same command at once")
    head = (
        "goes on after a failure",
        "end tells",
        "two of one cell at once",
        "finishes",
        "cells that ran more than once",
    )
    print("  " + " " * 14 + " | ".join(head))
    for name in names:
        folder = fresh(tools)
        (folder / "cell.sh").write_text(CELL)
        work = Work(folder, ("sh", str(folder / "cell.sh"), "@N@", str(folder / "ledger"), "0.2"), 6, 2)
        code = start(name, work, tools).wait(BOUND_SECONDS)
        begun = {one[1] for one in ledger(folder) if one[0] == "begin"}
        end(folder)
        shutil.rmtree(folder, ignore_errors=True)
        first = ("yes" if len(begun) == 6 else f"no ({len(begun)} of 6)", "yes" if code else "NO")
        print(f"  {name:<14}" + " | ".join([*first, *kill_and_repeat(name, tools)]))


def kill_and_repeat(name: str, tools: argparse.Namespace) -> tuple[str, str, str]:
    folder = fresh(tools)
    (folder / "cell.sh").write_text(CELL)
    work = Work(folder, ("sh", str(folder / "cell.sh"), "@N@", str(folder / "ledger"), "2"), 6, 2)
    started = start(name, work, tools)
    wait_for(lambda: len(ledger(folder)) >= 4)  # two have begun, one has ended, another has begun
    for pid, comm in members(folder):
        if comm not in SPARED or pid == started.pid:
            os.kill(pid, signal.SIGKILL)
    started.wait()
    again = start(name, work, tools)
    try:
        again.wait(60)
    except subprocess.TimeoutExpired:
        again.kill()
    wait_for(lambda: all(counts(folder, "end").get(str(number)) for number in range(1, 7)), 20)
    told = ledger(folder)
    finished = {one[1] for one in told if one[0] == "end"}
    more = sorted(number for number, count in counts(folder, "begin").items() if count > 1)
    end(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return (
        "YES" if overlaps(told) else "no",
        "yes" if len(finished) == 6 else f"NO ({len(finished)} of 6)",
        ", ".join(more) or "none",
    )


def ledger(folder: Path) -> list[tuple[str, str, int]]:
    path = folder / "ledger"
    lines = path.read_text().splitlines() if path.exists() else []
    words = [line.split() for line in lines]
    return [(one[0], one[1], int(one[2])) for one in words if len(one) == 3]


def counts(folder: Path, word: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for kind, number, _ in ledger(folder):
        if kind == word:
            found[number] = found.get(number, 0) + 1
    return found


def overlaps(told: list[tuple[str, str, int]]) -> bool:
    """Whether two copies of one cell ran at the same time."""
    running: dict[str, int] = {}
    for kind, number, _ in sorted(told, key=lambda one: one[2]):
        running[number] = running.get(number, 0) + (1 if kind == "begin" else -1)
        if running[number] > 1:
            return True
    return False


def available(tools: argparse.Namespace) -> list[str]:
    wanted = tools.only.split(",") if tools.only else list(TOOLS)
    missing = {"parallel": not tools.parallel, "task-spooler": not tools.tsp, "hyperqueue": not tools.hq_python}
    for name in wanted:
        if missing.get(name):
            print(f"skipped: {name} is not here")
    return [name for name in wanted if not missing.get(name)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--queued", type=int, default=10_000)
    parser.add_argument("--onbox", default=shutil.which("onbox"))
    parser.add_argument("--hq-python", default=os.environ.get("HQ_PYTHON"))
    parser.add_argument("--only", default="")
    tools = parser.parse_args()
    tools.parallel, tools.tsp = shutil.which("parallel"), shutil.which("tsp")
    with tempfile.TemporaryDirectory(prefix="onbox-bench-") as folder:
        tools.folder = folder
        tools.stage = os.path.join(folder, "stage")
        Path(folder, "stage.c").write_text(STAGE)
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not tools.onbox or not compiler:
            print("wanted: onbox on PATH (or --onbox) and a C compiler")
            return 64
        subprocess.run([compiler, "-O2", "-o", tools.stage, os.path.join(folder, "stage.c")], check=True)
        names = available(tools)
        print(json.dumps({"load": os.getloadavg(), "cpus": os.cpu_count()}))
        measure_handoff(names, tools)
        measure_memory(names, tools)
        measure_faults(names, tools)
    return 0


if __name__ == "__main__":
    sys.exit(main())
