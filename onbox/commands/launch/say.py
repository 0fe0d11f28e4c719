"""What every command that starts or joins a run uses to tell one thing."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onbox.cli.command import Options


def say(args: Options, data: dict[str, Any], text: str) -> None:
    """One thing to tell: as JSON for programs, else as text."""
    print(json.dumps(data) if args.json else text, flush=True)


def size_of(path: str) -> int:
    """Bytes of a file; 0 where there is none."""
    return os.path.getsize(path) if os.path.exists(path) else 0
