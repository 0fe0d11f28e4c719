"""The command line of every program here: its tree, its edge to the user, and the questions it may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.cli import app

if TYPE_CHECKING:
    from typing import NoReturn


def entry() -> NoReturn:
    """The console script of `onbox`."""
    app.entry()
