"""What every command that starts or joins a run uses to tell one thing."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from onbox.cli.boundary import drop_output, lost_answer
from onbox.contract.exits import Exit
from onbox.errors import Trouble

if TYPE_CHECKING:
    from onbox.cli.command import Options


def say(args: Options, data: dict[str, Any], text: str) -> None:
    """One thing to tell: as JSON for programs, else as text."""
    print(json.dumps(data) if args.json else text, flush=True)


def say_before_start(args: Options, data: dict[str, Any], text: str) -> None:
    """One thing to tell ahead of a start. Raises Trouble where it cannot be told: then nothing is started."""
    try:
        say(args, data, text)
    except BrokenPipeError:
        raise  # who read it has gone
    except OSError as error:
        drop_output()
        raise Trouble(Exit.STATE_NOT_WRITTEN, f"nothing was started: {lost_answer(error)}") from error


def size_of(path: str) -> int:
    """Bytes of a file; 0 where there is none."""
    return os.path.getsize(path) if os.path.exists(path) else 0
