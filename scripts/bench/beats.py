"""What a runner's looks at a growing log cost: `beats.py [--tree DIR]... [--mb-per-second N] [--beat SECONDS]
[--looks N] [--kind NAME]...`.

The log of an attempt grows by so many megabytes a second, and is looked at once a beat. Tells the CPU seconds of each
look and the share of a core of all of them, the first one left out. The looks' clock is set on by a beat; time is not
waited for (scripts/bench/incremental.py does). The goal is 1 % of a core at 1 MB/s.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from unittest.mock import patch

HERE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
KIND_NAMES = ("bars", "steps", "trainer", "json", "mixed", "own")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", action="append", help="a checkout to measure; may be given more than once")
    parser.add_argument("--mb-per-second", type=float, default=1.0)
    parser.add_argument("--beat", type=float, default=10.0)
    parser.add_argument("--looks", type=int, default=4)
    parser.add_argument("--kind", choices=KIND_NAMES, action="append")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)  # in a process of its own
    args = parser.parse_args()
    if args.once:
        print(json.dumps(_looks(args.kind[0], args.mb_per_second, args.beat, args.looks)))
        return 0
    for kind in args.kind or KIND_NAMES:
        for tree in args.tree or [HERE]:
            words = [sys.executable, os.path.abspath(__file__), "--once", "--kind", kind]
            words += ["--mb-per-second", str(args.mb_per_second), "--beat", str(args.beat), "--looks", str(args.looks)]
            done = subprocess.run(
                words, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": tree}, check=True
            )
            seconds, answer = json.loads(done.stdout)
            share = 100 * sum(seconds[1:]) / (args.beat * (args.looks - 1))
            each = " ".join(f"{cost:.3f}" for cost in seconds)
            print(
                f"{kind:<8} {share:5.2f} % of a core, looks of {each} s CPU  {answer}"
                f"  {os.path.basename(os.path.abspath(tree))}"
            )
    return 0


def _looks(kind: str, mb_per_second: float, beat: float, count: int) -> tuple[list[float], str]:
    sys.path.append(HERE)
    from onbox.chain.observe import progress_watch  # noqa: PLC0415 - of the checkout that is measured
    from scripts.bench.biglog import KINDS  # noqa: PLC0415 - as above

    line, clock = KINDS[kind], 0.0
    total = int(count * mb_per_second * beat * 1e6) // len(line(10**6, 5 * 10**5).encode())
    costs: list[float] = []
    patched = patch.object(progress_watch, "monotonic", lambda: clock)
    with tempfile.TemporaryDirectory(prefix="beats-") as folder, patched:
        path, number, told = os.path.join(folder, "train.log"), 0, None
        watch = progress_watch.ProgressWatch({})
        watch.begin(path)
        for look in range(1, count + 1):
            with open(path, "a", encoding="utf-8") as file:
                file.write(
                    "".join(line(total + total // 10, at) for at in range(number + 1, look * total // count + 1))
                )
            number, clock = look * total // count, clock + beat
            began = time.process_time()
            told = watch.look()
            costs.append(round(time.process_time() - began, 4))
    return costs, str(told and told["text"])


if __name__ == "__main__":
    sys.exit(main())
