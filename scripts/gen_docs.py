"""Render the pages of docs/ that are tables in the code.

python scripts/gen_docs.py            write them
python scripts/gen_docs.py --check    end with 1 if one is out of date
"""

from __future__ import annotations

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from onbox.triage.docs import render_page  # noqa: E402 - found by the line above
from sentinels.docs import render_page as render_sentinel  # noqa: E402

PAGES = (("docs/triage.md", render_page), ("docs/sentinel-truth.md", render_sentinel))


def main() -> int:
    stale = []
    for name, render in PAGES:
        path = os.path.join(ROOT, name)
        wanted = render()
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if file.read() == wanted:
                    continue
        stale.append(name)
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(wanted)
    print("\n".join(stale) or "up to date")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
