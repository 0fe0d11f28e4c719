"""What the patrol tells the handbook: after a tick its page is renewed, and a check of results enters the logbook. By
its command, not by import: imports run from the handbook to the patrol, never back.
"""

from __future__ import annotations

import importlib.util
import subprocess
from typing import TYPE_CHECKING

from onbox.system.self_exec import child_words

if TYPE_CHECKING:
    from patrol.config.settings import Settings

LOG_SECONDS = 60.0
_RENEW = "from handbook.renewal import main; sys.exit(main(sys.argv[1:]))"
_CALL = "from handbook.cli import main; sys.exit(main(sys.argv[1:]))"


def renew_handbook(settings: Settings) -> int | None:
    """Start the renewal, detached; its pid. None: none is installed. It is never waited for: a tick's lines and
    exit code do not depend on it.
    """
    if importlib.util.find_spec("handbook") is None:
        return None
    try:
        return subprocess.Popen(
            child_words(
                _RENEW, "from_memory", settings.config_path or "", "" if settings.config_path else settings.folder
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ).pid
    except OSError:
        return None  # no more processes, no memory: the next tick tries again, and the page says how old it is


def log_in_handbook(settings: Settings, run: str, text: str) -> str:
    """Write one entry into a run's record; why that failed, "" where it did not, or where no handbook is installed."""
    if importlib.util.find_spec("handbook") is None:
        return ""
    words = child_words(_CALL, "log", "--run", run, "--kind", "observation", *_where(settings), "--", text)
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=LOG_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.decode("utf-8", "replace").strip()[-300:]


def _where(settings: Settings) -> tuple[str, str]:
    return ("-c", settings.config_path) if settings.config_path else ("--folder", settings.folder)
