"""What is sent to a box: the script that finds a python there, and the look-out for either, python or sh."""

from __future__ import annotations

import json
import os
import re
import shlex
from functools import cache
from typing import TYPE_CHECKING

from sentinels.box.lookout_sh import look_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sentinels.link.schedule import LinkPace


ITEM_WORDS = 8
LOOK_SECONDS = 0.05  # python's; the shell makes 0.2 of it
PROGRAM_FILES = ("lookout_items.py", "lookout_processes.py", "lookout_run.py", "lookout.py")
# Values: ENGINE (any, python or sh), PYTHON (to be tried first; may be empty),
# its program and the program's words as JSON, then the program for sh and the same words in quotes. Program and words
# go through the environment: in argv they would answer to any `pgrep -f`. A python that is there and does not start (a
# broken shim) must not end the wait: it is tried first.
LAUNCH = r"""
engine=$1 first=$2 program=$3 words=$4 look=$5 args=$6
shift 6
if [ "$engine" != sh ]; then
  for python in "$first" python3 python /usr/bin/python3 /opt/conda/bin/python3; do
    [ -n "$python" ] && command -v "$python" >/dev/null 2>&1 || continue
    "$python" -ISc 'import sys; sys.exit(sys.version_info < (3, 6))' </dev/null >/dev/null 2>&1 || continue
    export SENTINEL_PROGRAM="$program" SENTINEL_WORDS="$words"
    exec "$python" -ISc 'import os; exec(os.environ["SENTINEL_PROGRAM"])'
  done
fi
eval "set -- $args"
eval "$look"
"""


@cache
def program_text() -> str:
    """The program for a python on the box: its modules as one text, without their imports of each other."""
    folder = os.path.dirname(os.path.abspath(__file__))
    parts = []
    for name in PROGRAM_FILES:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            parts.append(file.read())
    return re.sub(r"(?m)^from sentinels\.[^\n(]*(\([^)]*\))?\n", "", "".join(parts))


def script() -> str:
    """What the remote `sh` runs; `values_of` makes its values."""
    return LAUNCH


def values_of(items: Sequence[tuple[str, ...]], pace: LinkPace, *, engine: str = "any", python: str = "") -> list[str]:
    """The values of `script`. items: (KIND, ID, words...), filled up to eight words each."""
    flat = [word for item in items for word in (*item, *("",) * (ITEM_WORDS - len(item)))]
    words = [f"{pace.hold:.0f}", f"{pace.beat:.0f}", f"{pace.deaf:.0f}", f"{LOOK_SECONDS:g}", *flat]
    return [
        engine,
        python,
        program_text(),
        json.dumps(words),
        look_text(),
        shlex.join(words),
    ]
