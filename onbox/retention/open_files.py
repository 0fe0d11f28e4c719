"""Which process has something below a path open: as a file, mapped into memory, or as its working directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.system.process import process_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


class CannotLook(Exception):
    """What a process of the run has open is not to be seen."""


def who_has_open(paths: Sequence[str], must_see: Collection[int] = (), root: str = "/") -> dict[str, str]:
    """By path `pid 12 (python)`, of those that a process of this machine has open. Processes of other users that may
    not be looked at are passed over, but for those of must_see. paths: real ones. Raises CannotLook.
    """
    found: dict[str, str] = {}
    for entry in process_table(root):
        pid = entry.identity.pid
        try:
            opened = list(_opened(os.path.join(root, "proc", str(pid))))
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
        except PermissionError as error:
            if pid in must_see:
                raise CannotLook(f"what pid {pid} ({entry.name}) has open cannot be seen ({error.strerror})") from error
            continue
        for path in paths:
            inside = os.path.join(path, "")
            if path not in found and any(one == path or one.startswith(inside) for one in opened):
                found[path] = f"pid {pid} ({entry.name})"
    return found


def _opened(folder: str) -> Iterator[str]:
    for number in os.listdir(os.path.join(folder, "fd")):
        try:
            yield os.readlink(os.path.join(folder, "fd", number))
        except FileNotFoundError:
            continue  # closed meanwhile
    yield os.readlink(os.path.join(folder, "cwd"))
    with open(os.path.join(folder, "maps"), encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            words = line.rstrip("\n").split(maxsplit=5)
            if len(words) == 6 and words[5].startswith("/"):
                yield words[5]
