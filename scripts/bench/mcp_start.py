#!/usr/bin/env python3
"""CPU time of `patrol mcp` from its start to the answer of `tools/list`, over stdio.

usage: mcp_start.py [--rounds 9] [--against CHECKOUT]

Beside it, in turn: the SDK's import alone, which is the floor, and another checkout of this project. Printed: minimum
and median of each, in ms.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

REPOSITORY = Path(__file__).resolve().parents[2]
MESSAGES = (
    {
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}},
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
)


def cpu_ms(checkout: Path, folder: str, words: Sequence[str], *, talks: bool) -> float:
    """CPU of one process. talks: it is a server, which is asked and then left."""
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(checkout), "HOME": folder},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    if talks:
        for message in MESSAGES:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
            if "id" in message:
                answer = json.loads(process.stdout.readline())
                assert "result" in answer, answer
    process.stdin.close()
    process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.returncode
    return (used.ru_utime + used.ru_stime) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--against", type=Path, help="another checkout of this project")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "onbox.toml").write_text('[boxes.here]\nbackend = "local"\nproject = "."\n')
        server = ("-m", "patrol", "mcp")
        rows = {"import mcp": (REPOSITORY, ("-c", "import mcp"), False), "patrol mcp": (REPOSITORY, server, True)}
        if args.against:
            rows[f"patrol mcp in {args.against}"] = (args.against.resolve(), server, True)
        found: dict[str, list[float]] = {name: [] for name in rows}
        for _ in range(args.rounds + 1):  # the first fills caches
            for name, (checkout, words, talks) in rows.items():
                found[name].append(cpu_ms(checkout, folder, words, talks=talks))
        for name, values in found.items():
            print(f"{name:<40}{min(values[1:]):7.0f}/{statistics.median(values[1:]):.0f}")


if __name__ == "__main__":
    main()
