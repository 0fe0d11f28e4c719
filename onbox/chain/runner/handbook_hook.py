"""The page about this box's runs that lies in the state directory is renewed when something has happened here.

By its command, not by import (imports run from the handbook to `onbox`, never back), and only where such a page was
built once (`handbook build --here`): the runner stays small, and a chain of a thousand short stages starts no thousand
processes, because renewals are spaced.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.system.clock import monotonic
from onbox.system.process import Files, start_detached
from onbox.system.self_exec import PACKAGE_ROOT, child_words

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE = "HANDBOOK.md"
SPACING_SECONDS = 10.0
_CALL = "import os; os.nice(10); from handbook.renewal import main; sys.exit(main(sys.argv[1:]))"


class Renewal:
    """For one runner. project: where the page's project lies; run_dir: below the state directory."""

    def __init__(self, project: str, run_dir: str, environ: Mapping[str, str]) -> None:
        self._project, self._environ = project, environ
        self._page = os.path.join(os.path.dirname(run_dir), PAGE)
        self._due = False
        self._next_at = 0.0
        self._pid: int | None = None

    def happened(self, *, ended: bool = False) -> None:
        """Something was journaled. ended: the chain's end, after which nobody beats any more."""
        self._due = True
        self.beat(at_once=ended)

    def beat(self, *, at_once: bool = False) -> None:
        """Start what is due. Never waits, never fails: the page says itself how old it is."""
        self._reap()
        if not self._due or (monotonic() < self._next_at and not at_once) or not self._exists():
            return
        words = child_words(_CALL, "here", "", self._project)
        with suppress(OSError):
            self._pid = start_detached(words, dict(self._environ), Files(output=os.devnull))
            self._due, self._next_at = False, monotonic() + SPACING_SECONDS

    def _exists(self) -> bool:
        return os.path.exists(self._page) and os.path.isdir(os.path.join(PACKAGE_ROOT, "handbook"))

    def _reap(self) -> None:
        if self._pid is not None:
            with suppress(ChildProcessError):
                if os.waitpid(self._pid, os.WNOHANG)[0] == 0:
                    return
            self._pid = None
