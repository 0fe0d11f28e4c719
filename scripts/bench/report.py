"""What the report page costs: `report.py [--runs 50] [--days 30]`, in a real Chromium where there is one.

Size, time to make it, and in the browser: how long until the page can be used (its script has run, from the start of
the navigation), and how long a run takes from being opened until its charts are drawn.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))

from patrol.page.gather import gather
from patrol.page.write import page_of
from tests.browser import Browser, find_browser
from tests.patrol.page.fleet import cases, make_fleet

REPEATS = 5
SIZE_LIMIT_MB, READY_LIMIT_SECONDS = 6.0, 2.0
OPEN = """(async () => {
  const run = document.querySelectorAll("details.run")[%d], began = performance.now();
  run.open = true;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return [performance.now() - began, run.querySelectorAll("canvas").length];
})()"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--days", type=float, default=30.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder, now = Path(name), time.time()
        kinds = [kind.name for kind in cases()]
        settings = make_fleet(folder / "project", now, boxes=args.runs, days=args.days, with_series=kinds)
        began = time.process_time()
        history = gather(settings, now, now - args.days * 86400)
        gathered = time.process_time()
        page = page_of(history)
        made = time.process_time()
        path = folder / "report.html"
        path.write_text(page)
        size = path.stat().st_size / 1e6
        points, own = (
            sum(map(len, of)) for of in zip(*((run.points, run.series) for run in history.runs), strict=True)
        )
        print(
            f"{len(history.runs)} runs, {args.days:g} days, {points} points of ticks and {own} of the runs' own series"
        )
        print(f"size                 {size:.2f} MB (at most {SIZE_LIMIT_MB:g})")
        print(f"read from the memory {gathered - began:.2f} s of CPU, page made in {made - gathered:.2f} s")
        ready = in_browser(folder, path)
    return int(size > SIZE_LIMIT_MB or (ready is not None and ready > READY_LIMIT_SECONDS))


def in_browser(folder: Path, path: Path) -> float | None:
    """Seconds until the page can be used, as a median; None: there is no browser."""
    program = find_browser()
    if program is None:
        print("no browser here: apt-get install chromium")
        return None
    browser = Browser(program, folder / "profile")
    try:
        browser.look_as(width=1400)
        readies, opens = [], []
        for number in range(REPEATS):
            browser.open(path)
            readies.append(float(browser.run("document.documentElement.dataset.ready")) / 1000)
            took, canvases = browser.run(OPEN % (number + 3))
            assert canvases, "a run was opened and no chart was drawn"
            opens.append(took / 1000)
        memory = browser.run("performance.memory.usedJSHeapSize") / 1e6
    finally:
        browser.close()
    ready = statistics.median(readies)
    print(
        f"ready to use         {ready:.2f} s (at most {READY_LIMIT_SECONDS:g}; worst of {REPEATS}: {max(readies):.2f})"
    )
    print(f"a run opened         {statistics.median(opens):.2f} s until its charts are drawn")
    print(f"script's memory      {memory:.0f} MB")
    return ready


if __name__ == "__main__":
    sys.exit(main())
