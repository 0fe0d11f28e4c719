#!/usr/bin/env python3
"""kill -9 at random moments: the runner, the keeper, or both, and then the same command again, until the chain is done.

usage: kill_soak.py [--rounds 50] [--seed 1] [--onbox PATH]

Checked after every round: no stage ran twice at once, no finished stage ran again, every marker is whole, the chain
ended well. Where only runners were killed, no stage ran more often than once.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STAGES = 4


def stage_line(number: int) -> str:
    """A stage that says when it begins and ends, with its own pid, so that any overlap shows."""
    return f"s{number}=echo begin {number} $$ >>ran; sleep 0.0$((RANDOM % 9 + 1)); echo end {number} $$ >>ran"


def find_victims(project: Path) -> tuple[int | None, int | None]:
    """(runner, keeper) as the files of the run name them now; None if unknown."""
    runner = keeper = None
    with contextlib.suppress(OSError, ValueError):
        runner = int(json.loads((project / ".onbox/soak/lock").read_text())["pid"])
    for slot in (project / ".onbox/soak/markers").glob(".s*.slot"):
        with contextlib.suppress(OSError):
            if found := re.search(r"keeper (\d+)", slot.read_text(errors="replace")):
                keeper = int(found[1])
    return runner, keeper


def kill(pid: int | None) -> bool:
    try:
        if pid is None or b"onbox" not in Path(f"/proc/{pid}/cmdline").read_bytes():
            return False  # ended already; its pid may be another's by now
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return False
    return True


def problems(project: Path, *, keepers_killed: int) -> list[str]:
    """What is wrong with a finished run."""
    found = []
    open_stage: tuple[str, str] | None = None
    begun: dict[str, int] = {}
    ended: set[str] = set()
    for line in (project / "ran").read_text().splitlines():
        word, number, pid = line.split()
        if word == "begin":
            if open_stage is not None and Path(f"/proc/{open_stage[1]}").exists():
                found.append(f"stage {number} began while {open_stage} was still alive")
            if number in ended and not keepers_killed:
                found.append(f"finished stage {number} ran again")
            open_stage, begun[number] = (number, pid), begun.get(number, 0) + 1
        elif open_stage == (number, pid):
            open_stage = None
            ended.add(number)
        else:
            found.append(f"two at once: {line} ended while {open_stage} was open")
    found += [f"stage {n} ran {c} times" for n, c in begun.items() if c > 1 and not keepers_killed]
    for name in [*(f"s{n}" for n in range(1, STAGES + 1)), "CHAIN"]:
        try:
            assert json.loads((project / f".onbox/soak/markers/{name}_DONE").read_text())["exit_code"] == 0
        except (OSError, ValueError, AssertionError) as error:
            found.append(f"marker of {name}: {error!r}")
    return found


def one_round(onbox: str, chance: random.Random, project: Path) -> tuple[int, int]:
    """Run one chain to its end under fire: (kills of runners, kills of keepers)."""
    words = [onbox, "chain", "--run", "soak", *(stage_line(number) for number in range(1, STAGES + 1))]
    runners = keepers = 0
    while True:
        null = subprocess.DEVNULL
        viewer = subprocess.Popen(words, cwd=project, stdin=null, stdout=null, stderr=null)
        for _ in range(chance.randint(0, 3)):
            time.sleep(chance.uniform(0.0, 0.15))
            runner, keeper = find_victims(project)
            if kill(runner):
                runners += 1
            if chance.random() < 0.2 and kill(keeper):
                keepers += 1
        if viewer.wait(60) == 0:
            return runners, keepers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--onbox", default=str(Path(sys.executable).parent / "onbox"))
    args = parser.parse_args()
    chance = random.Random(args.seed)
    runners = keepers = wrong = 0
    for number in range(args.rounds):
        with tempfile.TemporaryDirectory(prefix="onbox-soak-", ignore_cleanup_errors=True) as folder:
            killed_runners, killed_keepers = one_round(args.onbox, chance, Path(folder))
            for problem in problems(Path(folder), keepers_killed=killed_keepers):
                wrong += 1
                print(f"round {number} (seed {args.seed}): {problem}")
            runners, keepers = runners + killed_runners, keepers + killed_keepers
    print(f"{args.rounds} chains, {runners} runners and {keepers} keepers killed: {wrong} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
