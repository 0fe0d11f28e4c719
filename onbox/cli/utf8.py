"""Names of files are UTF-8, whatever the locale says."""

from __future__ import annotations

import os
import sys


def ensure_utf8() -> None:
    """Begin anew in python's UTF-8 mode where it was switched off (`LC_ALL=C PYTHONUTF8=0`): with names in ASCII no
    path with another letter can be stored or compared. The environment stays as it is: it is the stages', too.
    """
    if sys.getfilesystemencoding() == "ascii" and not sys.flags.utf8_mode and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - this very program
