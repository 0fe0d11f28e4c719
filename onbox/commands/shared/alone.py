"""One command at a time that removes or rejects checkpoints of a run."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.system.lock import try_lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.contract.paths import RunPaths


@contextmanager
def alone(paths: RunPaths) -> Iterator[None]:
    """Raises Trouble where another is at work. The lock is on the journal, a file that is there: on a full disk none
    could be made.
    """
    lock = try_lock(paths.journal)
    if lock is None:
        raise Trouble(Exit.ANOTHER_RUNNER, "another `onbox prune` or `onbox rollback` of this run is at work")
    try:
        yield
    finally:
        os.close(lock)
