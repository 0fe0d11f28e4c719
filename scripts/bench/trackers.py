"""What a look at a run's tracker costs beside the look itself.

python scripts/bench/trackers.py [LOOKS]

A box without ssh: the real probe under this machine's sh, LOOKS times each (default 40); medians.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)

from onbox.model.boxes import BoxSettings  # noqa: E402 - found by the line above
from tests.patrol.probe.local_sh import LocalBox  # noqa: E402 - as above
from tests.patrol.probe.test_trackers import (  # noqa: E402 - as above
    CLOCK,
    FOLDER,
    begun,
    make_run,
    tracker_run,
    trackio,
)
from tests.wandb_writer import WandbFile  # noqa: E402 - as above

TRACKIO = {"tracker": "trackio", "run_id": None, "name": "try-7", "project": "digits"}


def main() -> None:
    looks = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print(f"{'case':<28} {'sh wall':>9} {'sh cpu':>9} {'sent':>8} {'answer':>8}")
    for name, kind in (
        ("no tracker", ""),
        ("wandb, unchanged", "still"),
        ("wandb, grows", "grows"),
        ("trackio", "trackio"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            _measure(name, kind, LocalBox(Path(folder)), looks)


def _measure(name: str, kind: str, box: LocalBox, looks: int) -> None:
    file = WandbFile(box.folder / FOLDER)
    file.log(1, CLOCK)
    if kind == "trackio":
        trackio(box.folder / "digits.db", 7)
        make_run(box, begun(), tracker_run(box.folder / "digits.db", **TRACKIO), python=sys.executable)
    else:
        make_run(box, begun(), *([tracker_run(box.folder / FOLDER)] if kind else []))
    rows = []
    for step in range(looks + 2):
        if kind == "grows":
            file.print(10_000)
            file.log(step + 2, CLOCK + step)
        box.look(BoxSettings("gpu1", "gpu1", project=str(box.folder)))
        if step >= 2:  # the first tells of the tracker, the second reads it whole
            rows.append(box.traffic)
    wall, cpu = (statistics.median(getattr(row, field) for row in rows) * 1000 for field in ("seconds", "cpu_seconds"))
    up, down = (statistics.median(getattr(row, field) for row in rows) for field in ("up_bytes", "down_bytes"))
    print(f"{name:<28} {wall:>6.1f} ms {cpu:>6.1f} ms {up:>6.0f} B {down:>6.0f} B")


if __name__ == "__main__":
    main()
