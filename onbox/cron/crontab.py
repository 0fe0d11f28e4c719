"""The user's crontab, read and changed through crontab(1): under a lock, read again before it is written."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from onbox.contract.exits import Exit
from onbox.cron.crontab_text import means_no_crontab
from onbox.errors import Trouble
from onbox.local.locks import take
from onbox.model.units import counted
from onbox.outside import safe_line
from onbox.system.files import make_folders

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM_SECONDS = 20.0
LOCK = "crontab.lock"


class NoCrontab(Trouble):
    """This machine has no crontab(1)."""


def read_crontab() -> str:
    """The user's crontab; "" if there is none yet. Raises Trouble when it cannot be known."""
    code, out, said = _run(["crontab", "-l"], b"")
    if code == 0:
        return os.fsdecode(out)
    if means_no_crontab(code, said):
        return ""
    raise Trouble(Exit.STATE_NOT_WRITTEN, f"`crontab -l` failed (exit code {code}): {said or 'it said nothing'}")


def change_crontab(lock_folder: str, change: Callable[[str], str]) -> bool:
    """Read the crontab, change it, write it, and see that it is what was written. False: there was nothing to change.

    Nobody waits here: who finds the lock taken says so. Raises Trouble, StateNotWritten.
    """
    make_folders(lock_folder)
    lock = take(os.path.join(lock_folder, LOCK))
    if lock is None:
        raise Trouble(Exit.ANOTHER_RUNNER, "somebody else is changing the crontab just now; type it again")
    try:
        before = read_crontab()
        after = change(before)
        if after == before:
            return False
        _write(before, after)
        return True
    finally:
        lock.release()


def _write(before: str, after: str) -> None:
    words = ["crontab", "-" if after else "-r"]
    code, _, said = _run(words, os.fsencode(after))
    if code != 0:
        raise Trouble(Exit.STATE_NOT_WRITTEN, f"`{' '.join(words)}` failed (exit code {code}): {said}; nothing changed")
    if read_crontab().rstrip("\n") != after.rstrip("\n"):
        count = before.count("\n")
        text = f"the crontab is not what was written into it; it had {counted(count, 'line')} before; look: crontab -l"
        raise Trouble(Exit.STATE_NOT_WRITTEN, text)


def _run(argv: list[str], stdin: bytes) -> tuple[int, bytes, str]:
    """Exit code, stdout, and what it said, as one line. In English, so that "none yet" can be told."""
    env = {**os.environ, "LC_ALL": "C", "CRONTAB_NOHEADER": "Y"}
    try:
        done = subprocess.run(argv, input=stdin, capture_output=True, check=False, timeout=PROGRAM_SECONDS, env=env)
    except FileNotFoundError:
        raise NoCrontab(Exit.USAGE, "this machine has no crontab program") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Trouble(Exit.STATE_NOT_WRITTEN, f"`{' '.join(argv)}` did not work: {error}") from error
    return done.returncode, done.stdout, safe_line(os.fsdecode(done.stderr).strip())
