#!/usr/bin/env python3
"""What each import inside a function saves: CPU time and memory of what it loads beyond what its module has loaded.

usage: late_imports.py [--rounds 3] [PART-OF-A-PATH...]

One line per function, the dearest first: milliseconds (the least of the rounds) and MiB, modules loaded, the place.
docs/decisions/0015-imports-inside-functions.md says which of them may stay.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = ("onbox", "patrol", "sentinels", "handbook")
# argv: the module, the statements. A page is held in memory once it was touched: what stays is what counts.
MEASURED = """
import gc, importlib, json, sys, time
def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20
importlib.import_module(sys.argv[1])
gc.collect(); gc.disable()
count, memory, began = len(sys.modules), rss(), time.process_time()
try:
    exec(sys.argv[2], {"__name__": sys.argv[1], "__package__": sys.argv[1].rpartition(".")[0]})
    missing = ""
except ImportError as error:
    missing = error.name or str(error)
print(json.dumps([(time.process_time() - began) * 1000, rss() - memory, len(sys.modules) - count, missing]))
"""


class Late(NamedTuple):
    """The imports of one function. line: of the first."""

    path: Path
    line: int
    module: str
    function: str
    statements: str


def find_late(path: Path) -> Iterator[Late]:
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found = [one for one in ast.walk(node) if isinstance(one, ast.Import | ast.ImportFrom)]
            if found:
                yield Late(path, found[0].lineno, module, node.name, "\n".join(map(ast.unparse, found)))


def measure(late: Late, rounds: int) -> tuple[float, float, int, str]:
    found = []
    for _ in range(rounds):
        words = [sys.executable, "-c", MEASURED, late.module, late.statements]
        env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        found.append(json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, env=env).stdout))
    return min(one[0] for one in found), min(one[1] for one in found), found[0][2], found[0][3]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("parts", nargs="*", metavar="PART-OF-A-PATH")
    args = parser.parse_args()
    files = [file for name in PACKAGES for file in sorted((REPOSITORY / name).rglob("*.py"))]
    files = [file for file in files if not args.parts or any(part in str(file) for part in args.parts)]
    measured = [(measure(late, args.rounds), late) for file in files for late in find_late(file)]
    for (milliseconds, mebibytes, modules, missing), late in sorted(measured, key=lambda one: -one[0][0]):
        place = f"{late.path.relative_to(REPOSITORY)}:{late.line} {late.function}"
        loads = ", ".join(late.statements.replace("import ", "").replace("from ", "").splitlines())
        note = f"  (missing here: {missing})" if missing else ""
        print(f"{milliseconds:7.1f} ms {mebibytes:6.2f} MiB {modules:4}  {place}  [{loads}]{note}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
