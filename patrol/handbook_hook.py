"""After a tick the handbook that lies beside the configuration is renewed. By its command, not by import: imports run
from the handbook to the patrol, never back. Where none was ever built nothing is started.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from patrol.settings import Settings


def renew_handbook(settings: Settings) -> int | None:
    """Start the renewal, detached; its pid. None: none is installed. It is never waited for: a tick's lines and
    exit code do not depend on it.
    """
    if importlib.util.find_spec("handbook") is None:
        return None
    where = ("-c", settings.config_path) if settings.config_path else ("--folder", settings.folder)
    words = [sys.executable, "-m", "handbook", "build", "--from-memory", *where]
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    try:
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": path},
        ).pid
    except OSError:
        return None  # no more processes, no memory: the next tick tries again, and the page says how old it is
