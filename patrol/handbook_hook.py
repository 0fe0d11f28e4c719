"""After a tick the handbook that lies beside the configuration is renewed. By its command, not by import: imports run
from the handbook to the patrol, never back. Where none was ever built nothing is started.
"""

from __future__ import annotations

import importlib.util
import subprocess
from typing import TYPE_CHECKING

from onbox.system.self_exec import child_words

if TYPE_CHECKING:
    from patrol.config.settings import Settings

_CALL = "from handbook.cli import main; sys.exit(main(sys.argv[1:]))"


def renew_handbook(settings: Settings) -> int | None:
    """Start the renewal, detached; its pid. None: none is installed. It is never waited for: a tick's lines and
    exit code do not depend on it.
    """
    if importlib.util.find_spec("handbook") is None:
        return None
    where = ("-c", settings.config_path) if settings.config_path else ("--folder", settings.folder)
    try:
        return subprocess.Popen(
            child_words(_CALL, "build", "--from-memory", *where),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ).pid
    except OSError:
        return None  # no more processes, no memory: the next tick tries again, and the page says how old it is
