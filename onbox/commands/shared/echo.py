"""Tell on standard output, and go on silently where nobody hears it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.cli.command import Options
    from onbox.contract.events import Record


def say(text: str | None) -> None:
    """Print a text, if there is one. Nobody there (`| head`, a full disk): the work goes on, its result counts."""
    if not text:
        return
    try:
        print(text, flush=True)
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def beater(args: Options) -> Callable[[dict[str, Any]], None] | None:
    """What says now and then how far an inline run is; None: for programs."""
    if args.json:
        return None
    from onbox.chain.viewer.progress_lines import beats  # noqa: PLC0415 - only inline

    return beats(say)


def listener(tell: Callable[[Record], str | None]) -> Callable[[Record], None]:
    """What says every journal record as `tell` words it."""
    return lambda record: say(tell(record))
