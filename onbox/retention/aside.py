"""Where a checkpoint is moved before it is deleted, or when it is rejected: beside its folder, on its file system.

The name says what was done and by which word: `.ckpt.onbox/pruned-1f09ab22-step-10`. No pattern for checkpoints finds
it there. Where no folder can be made (no inode left) it gets a dotted name in its own folder instead.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.system.files import PRIVATE_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

PRUNED, REJECTED = "pruned", "rejected"


def aside_path(path: str, what: str, word: str, project: str) -> str:
    """The name that a checkpoint gets. Makes the folder for it where that is possible."""
    parent, name = os.path.split(path)
    folder = _folder(parent, project)
    try:
        with suppress(FileExistsError):
            os.mkdir(folder, PRIVATE_FOLDER)
        if os.stat(folder).st_dev == os.stat(parent).st_dev and not os.path.islink(folder):
            return os.path.join(folder, f"{what}-{word}-{name}")
    except OSError:
        pass  # no inode, a folder above that is another's: its own folder is left
    return os.path.join(parent, f".onbox-{what}-{word}-{name}")


def _folder(parent: str, project: str) -> str:
    """Beside the checkpoints' folder; inside where that is the project itself."""
    if parent == os.path.realpath(project):
        return os.path.join(parent, ".checkpoints.onbox")
    return os.path.join(os.path.dirname(parent), f".{os.path.basename(parent)}.onbox")


class Lying(NamedTuple):
    """Something that was moved aside: by which word, from where, and where it lies."""

    word: str
    original: str
    path: str


def lying_aside(parent: str, what: str, project: str) -> Iterator[Lying]:
    """All that was moved from the folder `parent`. Raises OSError."""
    for folder, lead in ((_folder(parent, project), f"{what}-"), (parent, f".onbox-{what}-")):
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
            for entry in entries:
                word, dash, name = entry.name.removeprefix(lead).partition("-")
                if entry.name.startswith(lead) and dash and name:
                    yield Lying(word, os.path.join(parent, name), entry.path)


def remove_empty_folder(path: str) -> None:
    """The folder of what was moved aside, once nothing lies in it."""
    folder = os.path.dirname(path)
    if os.path.basename(folder).endswith(".onbox"):
        with suppress(OSError):
            os.rmdir(folder)
