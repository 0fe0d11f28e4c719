"""What `onbox progress` and `onbox triage` cost on logs of three sizes: `biglog.py [--tree DIR]... [--mb N]...
[--kind NAME]... [--command NAME]...`.

Makes one log of each kind and size (1, 100 and 1000 MB), lets each checkout in turn read it with both commands and
`onbox progress` from a pipe too, and tells CPU seconds, the peak of memory and the answer. The cost should not grow
with the size. DIR: a checkout to measure, such as one of an older commit (`git worktree add`); may be given more than
once (default: this one).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, NamedTuple

HERE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_SECONDS = 300
SIZES = (1, 100, 1000)
MADE_LINES = 100_000
COMMANDS = ("progress", "progress -", "triage")
CRASH = (
    "Traceback (most recent call last):\n"
    '  File "/home/u/train.py", line 88, in <module>\n    loss.backward()\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 79.3 GiB in total\n"
)


class Cost(NamedTuple):
    cpu_seconds: float
    peak_mib: float
    answer: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", action="append")
    parser.add_argument("--mb", type=int, action="append")
    parser.add_argument("--kind", choices=list(KINDS), action="append")
    parser.add_argument("--command", choices=COMMANDS, action="append")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="big-log-") as folder:
        path = os.path.join(folder, "train.log")
        for kind, size in ((kind, size) for kind in args.kind or KINDS for size in args.mb or SIZES):
            _make(path, KINDS[kind], size * 1_000_000)
            for command in args.command or COMMANDS:
                for tree in args.tree or [HERE]:
                    cost = measure(tree, command, path)
                    print(
                        f"{kind:<8} {size:5} MB {command:<10} {cost.cpu_seconds:7.2f} s CPU {cost.peak_mib:6.0f} MiB"
                        f"  {cost.answer}  {os.path.basename(os.path.abspath(tree))}",
                        flush=True,
                    )
    return 0


def measure(tree: str, command: str, path: str) -> Cost:
    """CPU and memory of one command, its interpreter's start included."""
    code = (
        "import json, os, resource, subprocess, sys\n"
        "log = os.popen('cat ' + sys.argv[-1]) if sys.argv[-2] == '-' else None\n"
        "words = sys.argv[1:-1] if log else sys.argv[1:]\n"
        f"done = subprocess.run(words, stdin=log, capture_output=True, text=True, timeout={PATIENCE_SECONDS})\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, done.stdout, done.stderr]))"
    )
    words = [sys.executable, "-c", code, sys.executable, "-m", "onbox", *command.split(), path]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tree, check=False)
    if done.returncode:
        return Cost(float("nan"), float("nan"), f"over {PATIENCE_SECONDS} s")
    cpu, peak, out, err = json.loads(done.stdout)
    lines = [line.strip() for line in out.splitlines()[:2]]
    return Cost(cpu, peak, " | ".join([*lines, *(["(told what was not read)"] if "not read" in err else [])])[:150])


def _make(path: str, line: Callable[[int, int], str], size: int) -> None:
    """A log of about `size` bytes. Its lines are made from how many there are and their number; in the middle of a
    large one, which takes long to make, some lines come again and again.
    """
    total = int(size / len(line(10**6, 5 * 10**5).encode()))
    again = max(0, (total - 4 * MADE_LINES) // MADE_LINES)
    first = total - (again + 1) * MADE_LINES  # of the lines that come again

    def lines(start: int, end: int) -> str:
        return "".join(line(total + total // 10, number) for number in range(start, end))

    with open(path, "w", encoding="utf-8") as file:
        if not again:
            file.write(lines(1, total + 1))
            return
        file.write(lines(1, MADE_LINES))
        middle = lines(first, first + MADE_LINES)
        for _ in range(again):
            file.write(middle)
        file.write(lines(total - 2 * MADE_LINES, total + 1))


def _bars(total: int, number: int) -> str:
    percent = 100 * number // total
    bar = "█" * (percent // 10)
    return f"\rEpoch 1: {percent:3d}%|{bar:<10}| {number}/{total} [1:51:40<20:02:03,  3.28s/it, loss=1.8{number % 10}]"


def _steps(total: int, number: int) -> str:
    return f"step {number}/{total} loss {2 + 1 / number:.4f} lr 3e-4 gnorm 0.{number % 90}\n"


def _trainer(total: int, number: int) -> str:
    banner = f"***** Running training *****\n  Total optimization steps = {total:,}\n" if number == 1 else ""
    epoch = 3 * number / total
    return banner + f"{{'loss': {2 + 1 / number:.4f}, 'grad_norm': 0.{number % 90}, 'epoch': {epoch:.6f}}}\n"


def _json(total: int, number: int) -> str:
    return f'{{"level": "info", "step": {number}, "max_steps": {total}, "loss": {2 + 1 / number:.4f}}}\n'


def _mixed(total: int, number: int) -> str:
    """Remarks and steps; a crash in the middle that the run survived, and one at the end."""
    total = int(total / 1.1)
    if number in (total // 2, total):
        return CRASH + ("restarting from checkpoint\n" if number < total else "")
    if number % 10:
        return f"2026-11-21 03:15:01,{number % 1000:03d} INFO data.py: reading part {number % 977} from the cache\n"
    return f"2026-11-21 03:15:01,658 INFO train.py: step {number}/{total} loss {2 + 1 / number:.4f}\n"


def _own(total: int, number: int) -> str:
    """No two lines alike in their letters."""
    word = "".join("abcdefghij"[int(digit)] for digit in str(number))
    return f"step {number}/{total} loss {2 + 1 / number:.4f} sample {word} of shard {word[::-1]} done\n"


KINDS: dict[str, Callable[[int, int], str]] = {
    "bars": _bars,
    "steps": _steps,
    "trainer": _trainer,
    "json": _json,
    "mixed": _mixed,
    "own": _own,
}

if __name__ == "__main__":
    sys.exit(main())
