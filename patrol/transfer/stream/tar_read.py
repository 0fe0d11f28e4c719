"""A tar stream as it comes from a box: plain files only, each with exactly its bytes, nothing held in memory but one
header. What else a stream may hold (links, devices, global headers) is passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from patrol.transfer.stream.scripts import END

if TYPE_CHECKING:
    from collections.abc import Iterator

    from patrol.transfer.stream.talk import Talk

BLOCK = 512
LONG_LIMIT_BYTES = 1 << 16  # of a long name, or of an extended header
_EMPTY = bytes(BLOCK)


class Odd(Exception):
    """The stream is not a tar stream, or breaks off in the middle of what it says."""


class TarMember(NamedTuple):
    """A file whose bytes come now. name: as the stream tells it."""

    name: str
    size: int


def members(talk: Talk) -> Iterator[TarMember]:
    """The plain files of a stream; between two steps the caller reads exactly `size` bytes of each with `talk.pieces`.
    Ends before the mark of the script's end. Raises Odd, LinkLost.
    """
    long_name: str | None = None
    long_size: int | None = None
    while not talk.is_next(END):
        header = talk.exactly(BLOCK)
        if header == _EMPTY:  # of the end of a stream; behind it another may come
            continue
        kind, size = header[156:157], long_size if long_size is not None else _number(header[124:136])
        if not _sum_fits(header):
            raise Odd(f"this is not a tar stream: {safe_line(header[:60].decode('utf-8', 'replace'), 80)}")
        if kind in b"LxK":
            text = _read_long(talk, _number(header[124:136]))
            if kind == b"L":
                long_name = text.rstrip(b"\0").decode("utf-8", "surrogateescape")
            elif kind == b"x":
                long_name, long_size = _extended(text, long_name)
            continue
        name = long_name if long_name is not None else _name(header)
        long_name, long_size = None, None
        if kind in b"0\0":
            yield TarMember(name, size)
            talk.exactly(-size % BLOCK)
        elif kind not in b"123456":  # those have no bytes of their own
            for _ in talk.pieces(size + -size % BLOCK):
                pass


def _number(field: bytes) -> int:
    """A size: octal digits, or binary where the first bit is set."""
    if field[:1] >= b"\x80":
        return int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
    word = field.strip(b" \0")
    try:
        return int(word or b"0", 8)
    except ValueError as error:
        raise Odd("a size that is not a number") from error


def _sum_fits(header: bytes) -> bool:
    word = header[148:156].strip(b" \0")
    try:
        told = int(word, 8)
    except ValueError:
        return False
    return told == sum(header[:148]) + 8 * 32 + sum(header[156:])


def _name(header: bytes) -> str:
    name = header[:100].split(b"\0", 1)[0]
    if header[257:263] == b"ustar\0" and (before := header[345:500].split(b"\0", 1)[0]):
        name = before + b"/" + name
    return name.decode("utf-8", "surrogateescape")


def _read_long(talk: Talk, size: int) -> bytes:
    if size > LONG_LIMIT_BYTES:
        raise Odd(f"a name of {size} bytes")
    return talk.exactly(size + -size % BLOCK)[:size]


def _extended(text: bytes, name: str | None) -> tuple[str | None, int | None]:
    """Name and size of an extended header: records `LENGTH KEY=VALUE`, each ended by a line break."""
    size = None
    while text:
        length, _, rest = text.partition(b" ")
        if not length.isdigit() or len(length) > 6 or int(length) > len(text) or int(length) <= len(length):
            raise Odd("an extended header that does not fit")
        record = rest[: int(length) - len(length) - 2]
        key, _, value = record.partition(b"=")
        if key == b"path":
            name = value.decode("utf-8", "surrogateescape")
        elif key == b"size" and value.isdigit():
            size = int(value)
        text = text[int(length) :]
    return name, size
