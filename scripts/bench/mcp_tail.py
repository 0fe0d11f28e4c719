#!/usr/bin/env python3
"""What the box spends on `tail_logs`: the end of a log, and a search in its last 16 MiB, for a small and a large log.

usage: mcp_tail.py [--rounds 9] [--gib 1]

The script that the server sends over ssh is run here by `sh`, without a network. Printed: CPU time of the shell and all
that it started, and wall time; minimum and median, in ms.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from patrol.mcp.log_tail import GREP_BYTES, LINES_LIMIT, SCRIPT, WINDOW_BYTES  # noqa: E402 - found by the line above
from patrol.ssh.client import script_with_values  # noqa: E402

LINE = b"step 123456/999999 loss 0.123456 lr 3.0e-04 tokens/s 51234.5 grad_norm 0.98 mem 71.2GiB\n"
SMALL_BYTES = 1 << 20


def make_log(path: Path, size: int) -> None:
    block = LINE * ((1 << 20) // len(LINE))
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(block)


def ask(path: Path, grep: str) -> tuple[float, float]:
    """CPU and wall milliseconds."""
    values = (str(path), "", str(GREP_BYTES if grep else WINDOW_BYTES), grep)
    reading, writing = os.pipe()
    began = time.monotonic()
    with tempfile.TemporaryFile() as out:
        ends = (
            (os.POSIX_SPAWN_DUP2, reading, 0),
            (os.POSIX_SPAWN_DUP2, out.fileno(), 1),
            (os.POSIX_SPAWN_CLOSE, writing),
        )
        pid = os.posix_spawn("/bin/sh", ["sh", "-s"], os.environ, file_actions=ends)
        os.close(reading)
        os.write(writing, script_with_values(SCRIPT, values))
        os.close(writing)
        _, status, used = os.wait4(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        out.seek(0)
        assert b"onbox tail end" in out.read()
    return (used.ru_utime + used.ru_stime) * 1000, (time.monotonic() - began) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--gib", type=float, default=1.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        logs = {"1 MiB": Path(folder) / "small", f"{args.gib:g} GiB": Path(folder) / "large"}
        make_log(logs["1 MiB"], SMALL_BYTES)
        make_log(logs[f"{args.gib:g} GiB"], int(args.gib * (1 << 30)))
        print(f"at most {LINES_LIMIT} lines; minimum/median, ms{'':<12}{'CPU':>16}{'wall':>16}")
        for what, grep in (("end", ""), ("grep, few match", "step 12345[67]/9 "), ("grep, all match", "loss")):
            for size, path in logs.items():
                found = [ask(path, grep) for _ in range(args.rounds)]
                texts = [f"{min(one):.1f}/{statistics.median(one):.1f}" for one in zip(*found, strict=True)]
                print(f"{what + ' of ' + size:<44}{texts[0]:>16}{texts[1]:>16}", flush=True)


if __name__ == "__main__":
    main()
