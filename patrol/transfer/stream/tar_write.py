"""The blocks of a tar stream of plain files, in the form that GNU and busybox both read. Pure."""

from __future__ import annotations

BLOCK = 512
_NAME_BYTES = 100


def header_of(name: str, size: int, mtime: int, *, executable: bool = False) -> bytes:
    """The header of a file, with one for its name before it where that is long. name: below the folder."""
    raw = b"./" + name.encode("utf-8", "surrogateescape")
    long = b""
    if len(raw) > _NAME_BYTES:
        text = raw + b"\0"
        long = _block(b"././@LongLink", len(text), 0, b"L", 0o644) + text + bytes(-len(text) % BLOCK)
    return long + _block(raw[:_NAME_BYTES], size, mtime, b"0", 0o755 if executable else 0o644)


def end_of_stream() -> bytes:
    return bytes(2 * BLOCK)


def _block(name: bytes, size: int, mtime: int, kind: bytes, mode: int) -> bytes:
    number = f"{size:011o}\0".encode() if size < 8**11 else (b"\x80" + size.to_bytes(11, "big"))
    head = name.ljust(100, b"\0") + f"{mode:07o}\0".encode() + b"0000000\0" * 2 + number
    head += f"{max(0, mtime):011o}\0".encode() + b" " * 8 + kind + bytes(100) + b"ustar  \0"
    head = head.ljust(BLOCK, b"\0")
    return head[:148] + f"{sum(head):06o}\0 ".encode() + head[156:]
