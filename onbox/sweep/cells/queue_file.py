"""A queue file: one line is one cell, and lines may be added while the sweep runs. Pure but for `read_queue`.

A line counts once it is whole. The last one, where its newline is missing, counts when the file has been quiet for a
moment: an editor leaves it so for good, a writer only until its next write.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.sweep.cells.drafts import BadCell, from_line, missing_in
from onbox.system.clock import wall
from onbox.system.files import open_plain

if TYPE_CHECKING:
    from collections.abc import Collection

    from onbox.sweep.cells.drafts import Draft

QUIET_SECONDS = 2.0
SIZE_LIMIT_BYTES = 1 << 26
PROBLEMS_KEPT = 20


class Queue(NamedTuple):
    """problems: what is wrong with lines, each with its place. is_growing: its last line may not be whole yet. stamp:
    equal while the file is the same.
    """

    drafts: tuple[Draft, ...] = ()
    problems: tuple[str, ...] = ()
    is_growing: bool = False
    stamp: tuple[int, int, int] = (0, 0, 0)


def stamp_of(path: str) -> tuple[int, int, int]:
    """Raises OSError."""
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


def read_queue(path: str, wanted: Collection[str]) -> Queue:
    """The cells of the file as it is now. wanted: parameters of the commands. Raises OSError."""
    with open_plain(path) as file:
        found = os.fstat(file.fileno())
        text = file.read(SIZE_LIMIT_BYTES)
    is_quiet = abs(wall() - found.st_mtime) >= QUIET_SECONDS
    queue = parse_queue(text, wanted, os.path.basename(path), is_quiet=is_quiet)
    return queue._replace(stamp=(found.st_ino, found.st_size, found.st_mtime_ns))


def parse_queue(data: bytes, wanted: Collection[str], name: str, *, is_quiet: bool) -> Queue:
    """is_quiet: nothing was written to it for a moment."""
    text = data.decode("utf-8-sig", "replace")
    lines = text.split("\n")
    last = lines.pop()
    if last.strip() and is_quiet:
        lines.append(last)
    drafts: dict[str, Draft] = {}
    problems = []
    for number, line in enumerate(lines, start=1):
        try:
            draft = from_line(line, wanted, f"{name}:{number}")
            if draft is None:
                continue
            wrong = missing_in(draft, wanted) or _said_before(draft, drafts)
            if wrong:
                raise BadCell(wrong)
            drafts[draft.name] = draft
        except BadCell as bad:
            problems.append(f"{name} line {number}: {bad}")
    return Queue(tuple(drafts.values()), tuple(problems), bool(last.strip()) and not is_quiet)


def _said_before(draft: Draft, drafts: dict[str, Draft]) -> str:
    before = drafts.get(draft.name)
    return "" if before is None else f"the same cell as {before.origin}: each cell runs once"
