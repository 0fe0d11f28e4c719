"""Arrays and weights: npy, npz, safetensors. Sizes are compared with what the heads tell; no array is built."""

from __future__ import annotations

import ast
import zipfile
from typing import IO, TYPE_CHECKING

from onbox.contract.json_text import parse_json
from patrol.verify.archives import load_zip
from patrol.verify.loaded import Broken
from patrol.verify.pickles import read_pickle

if TYPE_CHECKING:
    from typing import Any

NPY_MAGIC = b"\x93NUMPY"
NPY_HEAD_LIMIT_BYTES = 1 << 20
TENSOR_HEAD_LIMIT_BYTES = 100 << 20  # as the format's own reader has it
_WIDTHS = {
    "F64": 64,
    "I64": 64,
    "U64": 64,
    "F32": 32,
    "I32": 32,
    "U32": 32,
    "F16": 16,
    "BF16": 16,
    "I16": 16,
    "U16": 16,
}
_WIDTHS |= {"F8_E4M3": 8, "F8_E5M2": 8, "I8": 8, "U8": 8, "BOOL": 8, "C64": 64}
_CHUNK = 1 << 20


def load_npy(path: str) -> str:
    """Raises Broken, OSError."""
    with open(path, "rb") as file:
        file.seek(0, 2)
        size = file.tell()
        file.seek(0)
        return _npy(file, size)


def load_npz(path: str) -> str:
    """Every array of it: the checksum of its bytes, and their number against its head."""
    load_zip(path)
    with zipfile.ZipFile(path) as archive:
        names = [one for one in archive.infolist() if not one.is_dir()]
        for one in names:
            with archive.open(one) as file:
                try:
                    _npy(file, one.file_size)
                except Broken as broken:
                    raise Broken(f"{one.filename}: {broken}") from broken
    return f"{len(names)} arrays"


def _npy(file: IO[bytes], size: int) -> str:
    begin = file.read(8)
    if begin[:6] != NPY_MAGIC or len(begin) < 8:
        raise Broken("it does not begin as an array of NumPy does")
    width = 2 if begin[6] == 1 else 4
    length = int.from_bytes(file.read(width), "little")
    if length > NPY_HEAD_LIMIT_BYTES:
        raise Broken(f"its head would have {length} bytes")
    head = _head(file.read(length))
    if "O" in str(head["descr"]):
        return f"objects, {read_pickle(file)}"
    wanted = _item_bytes(head["descr"])
    for side in head["shape"]:
        wanted *= side
    there = size - 8 - width - length
    if wanted != there:
        raise Broken(f"its head tells of {wanted} bytes, and {there} are there")
    while file.read(_CHUNK):
        pass
    return f"array {head['shape']}"


def _head(text: bytes) -> dict[str, Any]:
    try:
        head = ast.literal_eval(text.decode("latin-1").strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise Broken("its head cannot be understood") from error
    shape = head.get("shape") if isinstance(head, dict) else None
    if (
        not isinstance(shape, tuple)
        or not all(isinstance(one, int) and one >= 0 for one in shape)
        or "descr" not in head
    ):
        raise Broken("its head does not tell a shape")
    return dict(head)


def _item_bytes(descr: object) -> int:
    """Of one element: `<f4`, or a list of fields `(name, kind)` or `(name, kind, shape)`."""
    if isinstance(descr, list):
        total = 0
        for field in descr:
            if not isinstance(field, tuple) or len(field) not in (2, 3):
                raise Broken("its kind of elements cannot be understood")
            count = 1
            for side in field[2] if len(field) == 3 else ():
                count *= int(side)
            total += count * _item_bytes(field[1])
        return total
    word = str(descr).lstrip("<>|=")
    digits = word[1:].partition("[")[0]  # dates: M8[ns]
    if not word or not digits.isdigit():
        raise Broken(f"its kind of elements is not known: {str(descr)[:40]}")
    return int(digits) * (4 if word[0] == "U" else 1)


def load_safetensors(path: str) -> str:
    """Its head, and each tensor's place: they follow one another without a gap, up to the end of the file."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        length = int.from_bytes(file.read(8), "little")
        if not 0 < length <= min(size - 8, TENSOR_HEAD_LIMIT_BYTES):
            raise Broken(f"its head would have {length} bytes")
        try:
            head = parse_json(file.read(length))
            tensors = {key: one for key, one in head.items() if key != "__metadata__"}
            places = sorted((*one["data_offsets"], key) for key, one in tensors.items())
            widths = {key: _tensor_bits(one) for key, one in tensors.items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Broken("its head cannot be understood") from error
    at = 0
    for begin, end, key in places:
        if begin != at or end < begin:
            raise Broken(f"the place of tensor {key!r} does not follow the one before")
        bits = widths[key]
        if bits is not None and bits != 8 * (end - begin):
            raise Broken(f"tensor {key!r} has {end - begin} bytes, and its shape wants {bits // 8}")
        at = end
    if 8 + length + at != size:
        raise Broken(f"its head tells of {8 + length + at} bytes, and {size} are there")
    return f"{len(tensors)} tensors"


def _tensor_bits(one: dict[str, Any]) -> int | None:
    """None: of a kind that is not known here."""
    width = _WIDTHS.get(str(one["dtype"]))
    if width is None:
        return None
    for side in one["shape"]:
        width *= int(side)
    return width
