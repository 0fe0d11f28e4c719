"""Send a folder to a box: compare, send what is missing or short, compare again. What was cut off goes on."""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import closing
from typing import TYPE_CHECKING

from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.named_tuple import NamedTuple
from patrol.transfer.compare import Compared, compare
from patrol.transfer.fetch import parse_digest_line
from patrol.transfer.names import Refused, checked
from patrol.transfer.stream.scripts import APPEND, DIGEST, HEAD_DIGEST, RECEIVE, TREE
from patrol.transfer.stream.talk import LinkLost, Talk, nul_ended
from patrol.transfer.stream.tar_write import BLOCK, end_of_stream, header_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from patrol.ssh.client import SshTarget
    from patrol.transfer.meter import Meter

LISTING_LIMIT_BYTES = 1 << 29
CHUNK_BYTES = 1 << 18
GOES_ON_FROM_BYTES = 1 << 20  # a shorter file is sent anew


class Copy(NamedTuple):
    """local: the folder here, absolute. remote: on the box, below the project unless absolute."""

    target: SshTarget
    project: str | None
    local: str
    remote: str


def list_here(folder: str) -> tuple[dict[str, int], list[str]]:
    """Names below the folder with their bytes; and what is no plain file. Raises OSError."""
    found: dict[str, int] = {}
    odd: list[str] = []
    places = [""]
    while places:
        above = places.pop()
        with os.scandir(os.path.join(folder, above)) as entries:
            for entry in entries:
                name = f"{above}/{entry.name}" if above else entry.name
                if entry.is_dir(follow_symlinks=False):
                    places.append(name)
                elif entry.is_file(follow_symlinks=False):
                    found[name] = entry.stat(follow_symlinks=False).st_size
                else:
                    odd.append(name)
    return found, odd


def list_there(copy: Copy) -> dict[str, int]:
    """Names below the folder on the box with their bytes; {} where it is not there. Raises LinkLost, Refused."""
    with closing(Talk(copy.target, TREE, (copy.project or "", copy.remote))) as talk:
        data, code = talk.until_end(LISTING_LIMIT_BYTES)
    if code != 0:
        return {}
    found = {}
    for record in data.split(b"//\n"):
        head, _, raw = record.decode("utf-8", "surrogateescape").partition(" /./")
        size = head.removeprefix("/ ")
        if raw and size.isdigit() and len(size) < 19:
            found[checked(raw)] = int(size)
    return found


def look(copy: Copy, *, by_checksum: bool = False) -> tuple[Compared, list[str]]:
    """What of the folder is there; and what here is no plain file. Raises LinkLost, Trouble."""
    try:
        here, odd = list_here(copy.local)
        there = list_there(copy)
    except OSError as error:
        raise Trouble(Exit.USAGE, f"{error.filename or copy.local}: {error.strerror}") from error
    except Refused as refused:
        raise Trouble(Exit.USAGE, f"{copy.target.box}: {refused}") from refused
    same = [name for name, size in here.items() if there.get(name) == size]
    unlike = _unlike(copy, same) if by_checksum and same else []
    return compare(here, there, unlike), odd


def _unlike(copy: Copy, names: Sequence[str]) -> list[str]:
    with closing(Talk(copy.target, DIGEST, (_place(copy),), nul_ended(names), stall_seconds=3600.0)) as talk:
        data, _ = talk.until_end(LISTING_LIMIT_BYTES)
    told = dict(filter(None, map(parse_digest_line, data.split(b"\n"))))
    return [name for name in names if told.get(name) != _digest(os.path.join(copy.local, name))]


def send(copy: Copy, found: Compared, meter: Meter) -> None:
    """Send what is wanted. Raises LinkLost, OSError; what came until then stays there."""
    begun = [name for name in found.short if found.there[name] >= GOES_ON_FROM_BYTES]
    going_on = _with_same_beginning(copy, found, begun) if begun else []
    for name in going_on:
        _append(copy, name, found.there[name], found.here[name], meter)
    fresh = [name for name in found.wanted if name not in going_on]
    if fresh:
        with closing(Talk(copy.target, RECEIVE, (_place(copy),), _stream(copy, fresh, meter))) as talk:
            said, code = talk.until_end(1 << 20)
        if code != 0:
            words = said.decode("utf-8", "replace").strip()[-200:]
            raise LinkLost("late", f"tar on the box ended with code {code}: {words}")


def _place(copy: Copy) -> str:
    if copy.remote.startswith(("/", "~")) or not copy.project:
        return copy.remote
    return f"{copy.project.rstrip('/')}/{copy.remote}"


def _with_same_beginning(copy: Copy, found: Compared, names: Sequence[str]) -> list[str]:
    """Those whose bytes there are the beginning of the file here, by checksum."""
    same = []
    for name in names:
        values = (_place(copy), f"./{name}", str(found.there[name]))
        with closing(Talk(copy.target, HEAD_DIGEST, values, stall_seconds=3600.0)) as talk:
            data, _ = talk.until_end(1 << 16)
        if data.split(b" ")[0].strip() == _digest(os.path.join(copy.local, name), found.there[name]).encode():
            same.append(name)
    return same


def _append(copy: Copy, name: str, offset: int, size: int, meter: Meter) -> None:
    path = os.path.join(copy.local, name)
    with closing(Talk(copy.target, APPEND, (_place(copy), f"./{name}"), _bytes_of(path, offset, size, meter))) as talk:
        talk.until_end(1 << 16)


def _stream(copy: Copy, names: Sequence[str], meter: Meter) -> Iterator[bytes]:
    """A tar stream of plain files."""
    for name in names:
        path = os.path.join(copy.local, name)
        seen = os.stat(path, follow_symlinks=False)
        if not stat.S_ISREG(seen.st_mode):
            continue
        yield header_of(name, seen.st_size, int(seen.st_mtime), executable=bool(seen.st_mode & stat.S_IXUSR))
        yield from _bytes_of(path, 0, seen.st_size, meter)
        yield bytes(-seen.st_size % BLOCK)
    yield end_of_stream()


def _bytes_of(path: str, offset: int, size: int, meter: Meter) -> Iterator[bytes]:
    """Exactly those bytes; a file that is shorter now is filled up with zeros, and the look afterwards tells."""
    with open(path, "rb") as file:
        file.seek(offset)
        left = size - offset
        while left > 0:
            part = file.read(min(CHUNK_BYTES, left)) or bytes(min(CHUNK_BYTES, left))
            left -= len(part)
            meter.add(len(part), os.path.basename(path))
            yield part


def _digest(path: str, limit: int | None = None) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        left = limit if limit is not None else os.fstat(file.fileno()).st_size
        while left > 0 and (part := file.read(min(CHUNK_BYTES, left))):
            digest.update(part)
            left -= len(part)
    return digest.hexdigest()
