"""Zips, tars and gzip: read to their end in pieces, nothing is unpacked."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, cast

from patrol.verify.loaded import Broken

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 1 << 20
_PACKED: tuple[tuple[bytes, Callable[..., object]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\0", lzma.open),
)
_ODD = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, UnicodeError)


def load_zip(path: str) -> str:
    """Every part's own checksum. Raises Broken, OSError."""
    try:
        with zipfile.ZipFile(path) as archive:
            for one in archive.infolist():
                with archive.open(one) as file:
                    while file.read(_CHUNK):
                        pass
            return f"{len(archive.infolist())} parts"
    except _ODD as error:
        raise Broken(f"as a zip it is damaged or cut off ({error})") from error


def load_tar(path: str) -> str:
    """Every member to its end, whatever it is packed with, and what packs it to its own."""
    count = 0
    try:
        with _unpacked(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                count += 1
                file = archive.extractfile(member) if member.isreg() else None
                left = member.size if file is not None else 0
                while file is not None and (part := file.read(_CHUNK)):
                    left -= len(part)
                if left:
                    raise Broken(f"its member {member.name!r} is cut off")
                archive.members = []  # type: ignore[attr-defined] # else all of them stay in memory
            while stream.read(_CHUNK):
                pass
    except (tarfile.TarError, lzma.LZMAError, OSError, *_ODD) as error:
        raise Broken(f"as a tar it is damaged or cut off ({error})") from error
    if not count:
        raise Broken("there is nothing in it")
    return f"{count} members"


def _unpacked(path: str) -> IO[bytes]:
    with open(path, "rb") as file:
        begin = file.read(6)
    opened = next((opens for mark, opens in _PACKED if begin.startswith(mark)), open)
    return cast("IO[bytes]", opened(path, "rb"))


def load_gzip(path: str) -> str:
    """To its checksum."""
    size = 0
    try:
        with gzip.open(path, "rb") as file:
            while part := file.read(_CHUNK):
                size += len(part)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Broken(f"as gzip it is damaged or cut off ({error})") from error
    return f"{size} bytes unpacked"
