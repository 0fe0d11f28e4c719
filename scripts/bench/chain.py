#!/usr/bin/env python3
"""What `onbox chain` costs, measured beside the plain shell chain `cmd && touch marker` in the same run.

usage: chain.py [--stages 200] [--rounds 5] [--onbox PATH] [--skip-large]

Rounds are interleaved; medians are printed, ratios against the shell first. Stages are a tiny C program that stamps its
start and end with the monotonic clock (without a C compiler the hand-off is left out and `true` stands in). On a shared
machine compare the ratios of one run; absolute times follow the load.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STAGE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static void stamp(const char *path) {
    struct timespec t;
    char line[64];
    clock_gettime(CLOCK_MONOTONIC, &t);
    int n = snprintf(line, sizeof line, "%lld\n", t.tv_sec * 1000000000LL + t.tv_nsec);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (write(fd, line, n) != n) _exit(74);
    close(fd);
}
int main(int argc, char **argv) { if (argc < 2) return 64; stamp(argv[1]); stamp(argv[1]); return 0; }
"""


class Bench:
    """One folder for everything, an `onbox` to measure, and the stage program (None without a C compiler)."""

    def __init__(self, onbox: str, folder: Path) -> None:
        self.onbox, self.folder = onbox, folder
        self.stage = self._compile()

    def _compile(self) -> str | None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            return None
        source, program = self.folder / "stage.c", self.folder / "stage"
        source.write_text(STAGE)
        subprocess.run([compiler, "-O2", "-o", program, source], check=True)
        return str(program)

    def project(self, stages: int, first: str | None = None) -> Path:
        """A fresh project with so many stages; `first` is the first one's shell line."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        cmd = json.dumps([self.stage, str(folder / "stamps")] if self.stage else ["/bin/true"])
        lines = ['[run]\nname = "bench"\n']
        commands = [json.dumps(first) if first else cmd, *[cmd] * (stages - 1)]
        lines += [f"[stages.s{number}]\ncmd = {command}\n" for number, command in enumerate(commands, start=1)]
        (folder / "onbox.toml").write_text("".join(lines))
        return folder

    def shell_chain(self, stages: int) -> Path:
        """The floor: one flat script, a marker touched after each stage."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        run = f"{self.stage} {folder}/stamps" if self.stage else "/bin/true"
        lines = [f"{{ {run} && touch {folder}/m{number}; }} || exit 1" for number in range(1, stages + 1)]
        (folder / "chain.sh").write_text("\n".join(lines) + "\n")
        return folder

    def run(self, folder: Path, *words: str) -> float:
        """Seconds that a command took."""
        began = time.perf_counter()
        subprocess.run(words, cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began

    def stamps(self, folder: Path) -> list[int]:
        path = folder / "stamps"
        return [int(line) for line in path.read_text().split()] if path.exists() else []


def handoffs_us(stamps: list[int]) -> list[float]:
    """End of a stage to the start of the next one; two stamps a stage."""
    return [(later - earlier) / 1000 for earlier, later in zip(stamps[1::2], stamps[2::2], strict=False)]


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def measure_chain(bench: Bench, stages: int, rounds: int) -> None:
    wall: dict[str, list[float]] = {"shell": [], "onbox": []}
    gaps: dict[str, list[float]] = {"shell": [], "onbox": []}
    cold, again = [], []
    for _ in range(rounds):
        folder = bench.shell_chain(stages)
        wall["shell"].append(bench.run(folder, "bash", str(folder / "chain.sh")))
        gaps["shell"] += handoffs_us(bench.stamps(folder))
        shutil.rmtree(folder)
        folder = bench.project(stages)
        began = time.monotonic_ns()
        wall["onbox"].append(bench.run(folder, bench.onbox, "chain"))
        stamps = bench.stamps(folder)
        gaps["onbox"] += handoffs_us(stamps)
        if stamps:
            cold.append((stamps[0] - began) / 1e6)
        again.append(bench.run(folder, bench.onbox, "chain") * 1000)
        shutil.rmtree(folder)
    shell, ours = (statistics.median(wall[name]) * 1e6 / stages for name in ("shell", "onbox"))
    print(f"per stage, {stages} stages     {ours / shell:5.2f}x shell   {ours:8.0f} us (shell {shell:.0f} us)")
    if gaps["shell"]:
        shell, ours = (statistics.median(gaps[name]) for name in ("shell", "onbox"))
        print(f"hand-off, median          {ours / shell:5.2f}x shell   {ours:8.0f} us (shell {shell:.0f} us)")
        print(f"hand-off, 95th percentile                {percentile(gaps['onbox'], 0.95):8.0f} us")
        print(f"cold start to first stage                {statistics.median(cold):8.1f} ms")
    print(f"re-run, {stages} stages done              {statistics.median(again):8.1f} ms")


def measure_detach(bench: Bench, rounds: int) -> None:
    took = []
    for _ in range(rounds):
        folder = bench.project(1, first="sleep 60")
        took.append(bench.run(folder, bench.onbox, "chain", "--detach", "--launch-check", "0") * 1000)
        bench.run(folder, bench.onbox, "stop", "--now")
        shutil.rmtree(folder)
    print(f"--detach returns                         {statistics.median(took):8.1f} ms")


def runner_facts(folder: Path) -> tuple[int, float, int, int]:
    """(pid, RSS in MiB, voluntary context switches, child processes) of the live runner."""
    pid = int(json.loads((folder / ".onbox/bench/lock").read_text())["pid"])
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return pid, int(status["VmRSS"].split()[0]) / 1024, int(status["voluntary_ctxt_switches"]), len(children)


def measure_idle(bench: Bench, label: str, stages: int, first: str, seconds: float) -> None:
    folder = bench.project(stages, first=first)
    bench.run(folder, bench.onbox, "chain", "--detach", "--launch-check", "0")
    time.sleep(3)
    _, _, before, _ = runner_facts(folder)
    time.sleep(seconds)
    _, rss, after, children = runner_facts(folder)
    print(f"idle, {label:<32} {rss:8.1f} MiB RSS, {after - before} wake-ups in {seconds:g} s, {children} keeper")
    bench.run(folder, bench.onbox, "stop", "--now")
    shutil.rmtree(folder)


def measure_large(bench: Bench) -> None:
    folder = bench.project(10_000)
    bench.run(folder, bench.onbox, "chain")
    took = [bench.run(folder, bench.onbox, "chain") * 1000 for _ in range(5)]
    print(f"re-run, 10000 stages done                {statistics.median(took):8.1f} ms")
    shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--onbox", default=str(Path(sys.executable).parent / "onbox"))
    parser.add_argument("--skip-large", action="store_true", help="leave out what takes minutes")
    args = parser.parse_args()
    # Otherwise every start would compile the sources anew, which no installed program does.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    version = subprocess.run([args.onbox, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{version}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}")
    with tempfile.TemporaryDirectory(prefix="onbox-bench-") as folder:
        bench = Bench(args.onbox, Path(folder))
        measure_chain(bench, args.stages, args.rounds)
        measure_detach(bench, args.rounds)
        measure_idle(bench, "1 stage", 1, "sleep 120", 10)
        measure_idle(bench, "10000 queued stages", 10_000, "sleep 120", 10)
        noisy = "head -c 1000000000 /dev/zero | tr '\\0' x; sleep 120"
        measure_idle(bench, "1 GB of output", 1, noisy, 10)
        if not args.skip_large:
            measure_large(bench)
    return 0


if __name__ == "__main__":
    sys.exit(main())
