"""What onbox costs beside a stage whose log grows all the time: `incremental.py [--tree DIR]... [--mb-per-second N]
[--seconds N] [--sample-every 30s] [--rounds N] [--kind NAME]...`.

Each kind of log is written by the stage of a real `onbox chain`, so many megabytes a second. Tells the CPU seconds of
the runner, the keeper and all their other children (not those of the command) as a share of a core, and what that is
above the share beside a stage that writes nothing. All stages of a round run at the same time; medians of the rounds.
The goal is 1 % of a core at 1 MB/s. DIR: a checkout to measure; may be given more than once (default: this one).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
WRITES_A_SECOND = 10
WARM_UP_SECONDS = 8.0  # interpreter, first look
PATIENCE_SECONDS = 60.0
TICKS = os.sysconf("SC_CLK_TCK")
QUIET = "nothing"
CONFIG = """[run]
name = "bench"
sample_every = "{every}"

[stages.train]
cmd = {cmd}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", action="append", help="a checkout to measure; may be given more than once")
    parser.add_argument("--mb-per-second", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--sample-every", default="30s")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kind", choices=list(KINDS), action="append")
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)  # the stage's command
    args = parser.parse_args()
    if args.write:
        _write(args.kind[0], int(args.mb_per_second * 1e6), args.seconds)
        return 0
    trees = [os.path.abspath(tree) for tree in args.tree or [HERE]]
    kinds = [QUIET, *(kind for kind in args.kind or KINDS if kind != QUIET)]
    shares: dict[tuple[str, str], list[float]] = {(kind, tree): [] for kind in kinds for tree in trees}
    told: dict[tuple[str, str], str] = {}
    for _ in range(args.rounds):
        with tempfile.TemporaryDirectory(prefix="incremental-") as folder, ExitStack() as ends:
            stages: dict[tuple[str, str], Stage] = {}
            for number, (kind, tree) in enumerate(shares):
                stages[kind, tree] = Stage(Path(folder, str(number)), tree, _command(args, kind), args.sample_every)
                ends.callback(stages[kind, tree].end)
            time.sleep(WARM_UP_SECONDS)
            before = {key: (stage.cpu_seconds(), time.monotonic()) for key, stage in stages.items()}
            time.sleep(args.seconds)
            for key, stage in stages.items():
                known, began = before[key]
                now = stage.cpu_seconds()
                spent = sum(max(0.0, seconds - known.get(pid, 0.0)) for pid, seconds in now.items())
                shares[key].append(100 * spent / (time.monotonic() - began))
            told = {key: stage.told() for key, stage in stages.items()}
    for (kind, tree), rounds in shares.items():
        share, idle = statistics.median(rounds), statistics.median(shares[QUIET, tree])
        print(
            f"{kind:<8} {share:5.2f} % of a core, {share - idle:+5.2f} % for the log  {told[kind, tree]}"
            f"  {os.path.basename(tree)}"
        )
    return 0


def _command(args: argparse.Namespace, kind: str) -> list[str]:
    words = [sys.executable, os.path.abspath(__file__), "--write", "--kind", kind]
    return [*words, "--mb-per-second", str(args.mb_per_second), "--seconds", str(args.seconds + 2 * PATIENCE_SECONDS)]


class Stage:
    """One chain of one stage, of one checkout."""

    def __init__(self, folder: Path, tree: str, command: list[str], every: str) -> None:
        folder.mkdir()
        (folder / "onbox.toml").write_text(CONFIG.format(cmd=json.dumps(command), every=every))
        self._folder = folder
        self._environ = {**os.environ, "PYTHONPATH": tree}
        self._onbox("chain", "-d")
        try:
            self._wait(tree)
        except SystemExit:
            self.end()
            raise

    def _wait(self, tree: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (self._folder / "command.pid").exists():
            if time.monotonic() > deadline:
                raise SystemExit(f"{tree}: its stage did not start within {PATIENCE_SECONDS:g} s")
            time.sleep(0.1)
        self._command = int((self._folder / "command.pid").read_text())
        self._runner = int(json.loads((self._folder / ".onbox/bench/lock").read_text())["pid"])

    def _onbox(self, *words: str) -> None:
        words = (sys.executable, "-m", "onbox", *words)
        subprocess.run(words, cwd=self._folder, env=self._environ, stdout=subprocess.DEVNULL, check=False)

    def cpu_seconds(self) -> dict[int, float]:
        """Of the runner and all that descends from it but the command, each with its children that have ended."""
        table = dict(_processes())
        ours = {self._runner}
        for _ in table:
            more = {pid for pid, (parent, _) in table.items() if parent in ours and pid != self._command} - ours
            if not more:
                break
            ours |= more
        return {pid: table[pid][1] for pid in ours if pid in table}

    def told(self) -> str:
        """How far it is, as its status tells it."""
        told = json.loads((self._folder / ".onbox/bench/status.json").read_text()).get("progress") or {}
        return str(told.get("text"))

    def end(self) -> None:
        self._onbox("stop", "--now")


def _processes() -> list[tuple[int, tuple[int, float]]]:
    """Of each process its parent, and the CPU seconds of it and of its children that have ended."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path("/proc", pid, "stat").read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        found.append((int(pid), (int(words[1]), sum(map(int, words[11:15])) / TICKS)))
    return found


def _write(kind: str, bytes_per_second: int, seconds: float) -> None:
    """Be the stage's command: write the log, at its pace."""
    Path("command.part").write_text(str(os.getpid()))
    Path("command.part").rename("command.pid")
    print("ready", flush=True)  # the launch waits for a first line
    random.seed(1)
    line, began, written, number = KINDS[kind], time.monotonic(), 0, 0
    while (elapsed := time.monotonic() - began) < seconds:
        due = int(elapsed * bytes_per_second) if kind != QUIET else 0
        parts = []
        while written < due:
            number += 1
            parts.append(line(number).encode())
            written += len(parts[-1])
        sys.stdout.buffer.write(b"".join(parts))
        sys.stdout.buffer.flush()
        time.sleep(1 / WRITES_A_SECOND)


TOTAL = 20_000_000
_WORDS = "the cache was filled from a shard of the data set and its index is now in memory while workers wait".split()


def _steps(number: int) -> str:
    epoch = f"Epoch {number // 100_000 + 1}/200\n" if number % 100_000 == 1 else ""
    return f"{epoch}2026-01-01 10:00:{number % 60:02d} INFO step {number}/{TOTAL} loss {_loss(number)} lr 1e-4\n"


def _bars(number: int) -> str:
    percent = 100 * number // TOTAL
    bar = "█" * (percent // 10)
    return f"\rtrain: {percent:3d}%|{bar:<10}| {number}/{TOTAL} [1:51:40<20:02:03,  3.28s/it, loss={_loss(number)}]"


def _dense(number: int) -> str:
    return f"training for {TOTAL} steps\n" if number == 1 else f"{_loss(number)}\n"


def _json(number: int) -> str:
    return f'{{"level": "info", "step": {number}, "max_steps": {TOTAL}, "loss": {_loss(number)}, "lr": 1e-4}}\n'


def _chatter(number: int) -> str:
    if number % 1000 == 0:
        return f"step {number}/{TOTAL} loss {_loss(number)}\n"
    return f"worker {number % 8}: {' '.join(random.choices(_WORDS, k=9))}\n"


def _own(number: int) -> str:
    """No two lines alike in their letters."""
    word = "".join("ghijklmnop"[int(digit)] for digit in str(number))
    return f"step {number}/{TOTAL} loss {_loss(number)} sample {word} of shard {word[::-1]} is read\n"


def _loss(number: int) -> str:
    return f"{2 + 1 / number + random.random() / 10:.4f}"


KINDS: dict[str, Callable[[int], str]] = {
    QUIET: lambda _: "",
    "steps": _steps,
    "bars": _bars,
    "dense": _dense,
    "json": _json,
    "chatter": _chatter,
    "own": _own,
}

if __name__ == "__main__":
    sys.exit(main())
