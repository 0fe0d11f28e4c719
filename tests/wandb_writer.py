"""A run file as W&B writes it, for tests that must not need wandb: header, LevelDB's framing, protobuf records."""

from __future__ import annotations

import json
import struct
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

BLOCK_BYTES = 32768
HISTORY, SUMMARY, OUTPUT, RUN, EXIT = 2, 3, 13, 17, 18


def _varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def _field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _items(metrics: dict[str, Any]) -> bytes:
    items = [_field(2, key.encode()) + _field(16, json.dumps(value).encode()) for key, value in metrics.items()]
    return b"".join(_field(1, item) for item in items)


class WandbFile:
    """One run's file in its directory; every method appends and flushes."""

    def __init__(self, folder: Path, run_id: str = "abc12345", name: str = "try-7", project: str = "digits") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"run-{run_id}.wandb"
        self.path.write_bytes(b":W&B" + b"\xbe\xe1\x00")
        self._add(RUN, _field(1, run_id.encode()) + _field(3, project.encode()) + _field(8, name.encode()))

    def _add(self, number: int, value: bytes) -> None:
        data, size = _field(number, value), self.path.stat().st_size
        out, first = b"", True
        while data or first:
            left = BLOCK_BYTES - (size + len(out)) % BLOCK_BYTES
            if left < 7:
                out += b"\0" * left
                continue
            part, data = data[: left - 7], data[left - 7 :]
            kind = 1 if first and not data else 2 if first else 3 if data else 4
            out += struct.pack("<IHB", zlib.crc32(part), len(part), kind) + part
            first = False
        with self.path.open("ab") as file:
            file.write(out)

    def log(self, step: int, at_seconds: float, **metrics: Any) -> None:
        values = {"global_step": step, "_step": step - 1, "_timestamp": at_seconds, **metrics}
        self._add(HISTORY, _items(values))
        self._add(SUMMARY, _field(1, _field(2, b"global_step") + _field(16, str(step).encode())))

    def print(self, size_bytes: int) -> None:
        """A line of the console, which W&B keeps too."""
        self._add(OUTPUT, _field(1, b"x" * size_bytes))

    def finish(self, exit_code: int = 0) -> None:
        self._add(EXIT, _varint(1 << 3) + _varint(exit_code) if exit_code else b"")
