"""Known faults in what scripts/test installs, by pip-audit: python scripts/audit.py PIP_AUDIT LOCK

Ends with 1 where a fault is known. Where the database cannot be reached it says so and ends with 0: that is not news.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

OPTIONS = "--progress-spinner off --timeout 20 --format json --disable-pip --require-hashes".split()
BOUND_SECONDS = 300.0


def main(program: str, lock: str) -> int:
    try:
        done = subprocess.run(
            [program, *OPTIONS, "-r", lock], capture_output=True, text=True, check=False, timeout=BOUND_SECONDS
        )
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return _skipped(f"no answer within {BOUND_SECONDS:g} s")
    except (ValueError, KeyError, TypeError):
        return _skipped((done.stderr.strip().splitlines() or ["it printed nothing"])[-1])
    audited = [one for one in found if "vulns" in one]
    for one in audited:
        for fault in one["vulns"]:
            fixed = ", ".join(fault.get("fix_versions") or []) or "none yet"
            print(f"{one['name']} {one['version']}: {fault['id']}; fixed in: {fixed}")
    if not audited:
        return _skipped(f"the database knows none of {len(found)} packages")
    print(f"{len(audited)} of {len(found)} packages looked up")
    return int(any(one["vulns"] for one in audited))


def _skipped(why: str) -> int:
    print(f"skipped: the database of known faults could not be asked ({why})")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
