"""Which names a box may tell, and where such a file lies here. Pure."""

from __future__ import annotations

import os
import posixpath

from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line

OUTSIDE = "_outside"  # where files lie whose place on the box is neither in the project nor in the run's folder
OWN_FOLDER = ".onbox-pull"  # of a destination: what the transfer itself keeps there
MANIFEST = "onbox-manifest.jsonl"
NAME_LIMIT_BYTES = 255
PATH_LIMIT_BYTES = 4096


class Refused(ValueError):
    """A box told a name that leads out of the destination, or that takes the place of the transfer's own files."""


class Root(NamedTuple):
    """A folder on the box from which files are taken. place: absolute, as the box told it. below: where its files lie
    here, "" or a path that ends in "/".
    """

    place: str
    below: str

    def holds(self, path: str) -> bool:
        return path == self.place or path.startswith(self.place.rstrip("/") + "/")


def checked(name: str) -> str:
    """A name relative to a root, as `./a/b` or `a/b`, in its plain form. Raises Refused."""
    plain = name.removeprefix("./")
    parts = plain.split("/")
    if not plain or plain.startswith("/") or "\0" in plain or any(part in ("", ".", "..") for part in parts):
        raise Refused(f"the box told a path that leads out of the folder: {safe_line(name, 200)}")
    if len(plain) <= NAME_LIMIT_BYTES and plain.isascii():
        return plain
    raw = [os.fsencode(part) for part in parts]
    if any(len(part) > NAME_LIMIT_BYTES for part in raw) or len(os.fsencode(plain)) > PATH_LIMIT_BYTES:
        raise Refused(f"the box told a path that is too long: {safe_line(name, 200)}")
    return plain


def local_name(root: Root, name: str) -> str:
    """Where a checked name of a root lies below the destination. Raises Refused."""
    local = root.below + name
    if local.split("/", 1)[0] == OWN_FOLDER or local == MANIFEST:
        raise Refused(f"the box has a file of the name that the transfer itself needs: {safe_line(local, 200)}")
    return local


def link_stays_inside(local: str, target: str) -> bool:
    """Whether a symbolic link at `local` with this target leads to a place below the destination."""
    if not target or target.startswith("/") or "\0" in target:
        return False
    end = posixpath.normpath(posixpath.join(posixpath.dirname(local), target))
    return end != ".." and not end.startswith("../") and end.split("/", 1)[0] != OWN_FOLDER
