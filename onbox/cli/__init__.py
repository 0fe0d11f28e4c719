"""The command line of every program here: its tree, its edge to the user, and the questions it may ask."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

from onbox.cli.streams import open_the_closed
from onbox.cli.utf8 import ensure_utf8

if TYPE_CHECKING:
    from typing import NoReturn


def entry() -> NoReturn:
    """The console script of `onbox`."""
    ensure_utf8()
    open_the_closed()  # before the runner below is spoken to by a socket that took a stream's number
    gc.set_threshold(100_000)  # as boundary.py says; ahead of what is imported here it saves 2.4 ms
    if sys.argv[1:2] == ["chain"] and "--inline" not in sys.argv:
        from onbox.chain.runner.early_runner import start_early  # noqa: PLC0415 - by the other commands it is not needed

        start_early()
    from onbox.cli import app  # noqa: PLC0415 - what a runner or a tick starts uses parts of this package, without click

    app.entry()
