"""The command line of every program here: its tree, its edge to the user, and the questions it may ask."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn


def entry() -> NoReturn:
    """The console script of `onbox`."""
    gc.set_threshold(100_000)  # as boundary.py says; ahead of what is imported here it saves 2.4 ms
    from onbox.cli import app  # noqa: PLC0415 - what a runner or a tick starts uses parts of this package, without click

    app.entry()
