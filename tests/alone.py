"""For what looks for projects wherever they use to lie: a view of this machine without what others run on it."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING

from patrol.discover import USUAL_PLACES
from tests.box import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

# The usual places are emptied; what the test itself needs of them is shown again, from a view of everything that is
# then gone.
_SCRIPT = r"""
whole=$1 places=$2 needed=$3
shift 3
mkdir -p "$whole" && mount --rbind / "$whole" || exit
for place in $places; do
  [ ! -d "$place" ] || mount -t tmpfs none "$place" || exit
done
printf '%s\n' "$needed" | while IFS= read -r one; do
  [ -d "$one" ] || { mkdir -p "$one" && mount --rbind "$whole$one" "$one"; } || exit
done
umount -l "$whole" && exec "$@"
"""


def alone(folder: Path) -> tuple[str, ...]:
    """Words before a program that is to find no project but those below `folder`. () where nobody may hide the others:
    then what they run is hardly readable either.
    """
    if not _may_mount():
        return ()
    needed = dict.fromkeys((os.fspath(folder), os.fspath(REPOSITORY), sys.prefix, sys.base_prefix, *_imported()))
    words = (os.fspath(folder / "whole"), " ".join(USUAL_PLACES), "\n".join(needed))
    return ("unshare", "--mount", "sh", "-c", _SCRIPT, "alone", *words)


def _imported() -> list[str]:
    """Where modules come from; a venv of links leads elsewhere."""
    return [path for path in sys.path if os.path.isdir(path)]


@cache
def _may_mount() -> bool:
    words = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        return os.geteuid() == 0 and subprocess.run(words, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
