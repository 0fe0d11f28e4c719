"""The files that a box lists: asked for, and taken apart. What is not understood is left out and told."""

from __future__ import annotations

import stat
from contextlib import closing
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from patrol.transfer.names import checked, local_name
from patrol.transfer.stream.scripts import LIST, STAT
from patrol.transfer.stream.talk import Talk, nul_ended
from patrol.transfer.wanted import NOT_RECORDS, takes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from patrol.ssh.client import SshTarget
    from patrol.transfer.names import Root
    from patrol.transfer.wanted import Want

LIMIT_BYTES = 1 << 29
FILES_LIMIT = 2_000_000


class File(NamedTuple):
    """A plain file on the box. name: below its root, checked. local: below the destination. stamp: its times as the box
    tells them; with the size they say whether it is still the same file.
    """

    root: int
    name: str
    local: str
    size: int
    stamp: str

    @property
    def is_record(self) -> bool:
        """Of the run's own folder."""
        return self.root == 1


class Link(NamedTuple):
    """A symbolic link on the box; it is never followed."""

    root: int
    name: str
    local: str
    target: str


class Listing(NamedTuple):
    """files, links: by their local name. odd: what is neither: a FIFO, a socket, a device. unlisted: what find said
    that it could not look at. empty: numbers of the wants that found nothing.
    """

    files: dict[str, File]
    links: dict[str, Link]
    odd: tuple[str, ...]
    unlisted: tuple[str, ...]
    empty: tuple[int, ...]


def list_files(target: SshTarget, roots: Sequence[Root], wants: Sequence[Want]) -> Listing:
    """Raises LinkLost, Refused."""
    values = [word for want in wants for word in (roots[want.root].place, want.kind, want.pattern)]
    with closing(Talk(target, LIST, values)) as talk:
        data, _ = talk.until_end(LIMIT_BYTES)
        unlisted = tuple(safe_line(line, 200) for line in talk.remarks("<<<unlisted>>> "))
    return parse_listing(data, roots, wants)._replace(unlisted=unlisted)


def parse_listing(data: bytes, roots: Sequence[Root], wants: Sequence[Want]) -> Listing:
    """Pure. Raises Refused for a name that leads elsewhere."""
    listing = Listing({}, {}, (), (), ())
    odd: list[str] = []
    found: set[int] = set()
    number = -1
    for record in data.split(b"//\n"):
        text = record.decode("utf-8", "surrogateescape")
        if text.startswith("/ w ") and text[4:].isdigit():
            number = min(int(text[4:]), len(wants) - 1)
            continue
        in_order = number >= 0 and text.startswith("/ ") and len(listing.files) < FILES_LIMIT
        if in_order and _take(text, wants[number], roots, listing, odd):
            found.add(number)
    empty = tuple(at for at in range(len(wants)) if at not in found)
    return listing._replace(odd=tuple(dict.fromkeys(odd)), empty=empty)


def _take(text: str, want: Want, roots: Sequence[Root], listing: Listing, odd: list[str]) -> bool:
    """Put one record where it belongs; whether it is of a file that is wanted."""
    if text.startswith("/ L /"):
        raw, _, target = text[5:].partition("//")
    else:
        head, _, raw = text.partition(" /./")
        target = ""
    name = checked(raw)
    if not _is_wanted(name, want):
        return False
    local = local_name(roots[want.root], name)
    if text.startswith("/ L /"):
        listing.links[local] = Link(want.root, name, local, target)
        return True
    words = head.split(" ", 3)
    if len(words) < 4 or not words[2].isdigit() or len(words[2]) > 18:
        return False
    mode = int(words[1], 16) if len(words[1]) < 9 and all(one in "0123456789abcdef" for one in words[1]) else 0
    if stat.S_ISREG(mode):
        listing.files[local] = File(want.root, name, local, int(words[2]), words[3][:80])
    elif not stat.S_ISLNK(mode):
        odd.append(local)
    return True


def _is_wanted(name: str, want: Want) -> bool:
    if want.root == 1 and NOT_RECORDS.fullmatch(name):
        return False
    return want.keeps is None or takes(want.keeps, name)


def look_again(target: SshTarget, roots: Sequence[Root], files: Iterable[File]) -> dict[str, File]:
    """The same files as they are now, by their local name; one that is gone, or is no file any more, is left out.
    Raises LinkLost, Refused.
    """
    by_root: dict[int, list[File]] = {}
    for file in files:
        by_root.setdefault(file.root, []).append(file)
    found: dict[str, File] = {}
    for number, asked in by_root.items():
        with closing(Talk(target, STAT, (roots[number].place,), nul_ended(file.name for file in asked))) as talk:
            data, _ = talk.until_end(LIMIT_BYTES)
        found |= _stated(data, {file.name: file for file in asked})
    return found


def _stated(data: bytes, asked: Mapping[str, File]) -> dict[str, File]:
    found = {}
    for record in data.split(b"//\n"):
        head, _, raw = record.decode("utf-8", "surrogateescape").partition(" /./")
        words = head.split(" ", 3)
        if raw not in asked or len(words) < 4 or not words[2].isdigit() or len(words[2]) > 18:
            continue
        mode = int(words[1], 16) if len(words[1]) < 9 and all(one in "0123456789abcdef" for one in words[1]) else 0
        if stat.S_ISREG(mode):
            found[asked[raw].local] = asked[raw]._replace(size=int(words[2]), stamp=words[3][:80])
    return found
