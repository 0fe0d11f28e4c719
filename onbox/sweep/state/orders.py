"""What a person wants of cells while the sweep may be at work: small files that its runner takes in, one by one.

They wait where no runner lives; the next one takes them in before anything else.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from onbox.contract.json_text import parse_object
from onbox.named_tuple import NamedTuple
from onbox.system.clock import utc_text, wall
from onbox.system.files import make_folders, read_file, remove_file, replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onbox.contract.paths import RunPaths

SKIP, REOPEN = "skip", "reopen"
LIMIT_BYTES = 1 << 24


class SweepOrder(NamedTuple):
    """What is to be done with which cells, by their numbers."""

    path: str
    what: str
    cells: tuple[int, ...]


def folder_of(paths: RunPaths) -> str:
    return f"{paths.root}/orders"


def leave(paths: RunPaths, what: str, cells: Sequence[int]) -> str:
    """Write the order down; the file's path. Raises StateNotWritten."""
    folder = folder_of(paths)
    make_folders(folder)
    path = f"{folder}/{utc_text(wall()).replace(':', '')}-{os.getpid()}.json"
    replace_file(path, json.dumps({"do": what, "cells": list(cells)}).encode("ascii") + b"\n")
    return path


def waiting(paths: RunPaths) -> Iterator[SweepOrder]:
    """The orders that nobody has taken in yet, oldest first."""
    try:
        names = sorted(name for name in os.listdir(folder_of(paths)) if name.endswith(".json"))
    except FileNotFoundError:
        return
    for name in names:
        path = f"{folder_of(paths)}/{name}"
        data = parse_object(read_file(path, LIMIT_BYTES)) or {}
        cells = data.get("cells")
        numbers = tuple(one for one in cells if isinstance(one, int)) if isinstance(cells, list) else ()
        yield SweepOrder(path, str(data.get("do")), numbers)


def done_with(order: SweepOrder) -> None:
    """Raises StateNotWritten."""
    remove_file(order.path)
