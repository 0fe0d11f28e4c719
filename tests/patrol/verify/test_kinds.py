"""Each kind of file: a whole one is loaded, one that was cut off anywhere is not, and nothing in it is ever run."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
import tarfile
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

from patrol.verify.kinds import KINDS, kind_of, load
from patrol.verify.loaded import Broken, NotLoaded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def npz() -> bytes:
    file = io.BytesIO()
    np.savez_compressed(
        file, weights=np.arange(5000.0), bias=np.zeros((3, 4), dtype="i2"), when=np.array(["2026"], "M8[Y]")
    )
    return file.getvalue()


def npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.zeros(9, dtype=[("x", "f4"), ("name", "U5"), ("pair", "i8", (2,))]))
    return file.getvalue()


def safetensors() -> bytes:
    head = json.dumps({"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"by": "test"}})
    return struct.pack("<Q", len(head)) + head.encode() + bytes(24)


class Evil:
    """What a pickle could do to who loads it."""

    def __reduce__(self) -> tuple[object, ...]:
        return exec, ("open('ran', 'w').write('it ran')",)


def torch() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Evil()))
        archive.writestr("archive/data/0", bytes(4000))
        archive.writestr("archive/version", "3\n")
    return file.getvalue()


def old_torch() -> bytes:
    parts = (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}, Evil(), ["0"])
    return b"".join(pickle.dumps(part, 2) for part in parts) + bytes(4000)


def tar(mode: str = "w:gz") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
        member = tarfile.TarInfo("../../evil")
        member.size = 5000
        archive.addfile(member, io.BytesIO(bytes(5000)))
    return file.getvalue()


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"x" * 9999)
    return file.getvalue()


PARQUET = b"PAR1" + bytes(40) + b"foot" + struct.pack("<I", 4) + b"PAR1"
WHOLE: dict[str, Callable[[], bytes]] = {
    "a.npz": npz,
    "a.npy": npy,
    "a.safetensors": safetensors,
    "a.pt": torch,
    "old.pth": old_torch,
    "a.pkl": lambda: pickle.dumps(Evil()),
    "a.tar.gz": tar,
    "a.tar": lambda: tar("w"),
    "a.zip": zipped,
    "a.txt.gz": lambda: gzip.compress(bytes(range(256)) * 20),
    "a.jsonl": lambda: b'{"step": 1}\n{"step": 2, "loss": NaN}\n{"st": [3]}',
    "a.json": lambda: b'{"accuracy": 0.97, "list": [1, 2, 3]}',
    "a.csv": lambda: b"step,loss,note\n1,0.5,x\n2,0.4,longer",
    "a.parquet": lambda: PARQUET,
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_one_is_loaded_and_a_part_is_not(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path, data = tmp_path / name, WHOLE[name]()
    kind = kind_of(name)
    assert kind is not None
    path.write_bytes(data)
    assert load(kind, str(path))
    ends = {len(data) * part // 8 for part in range(1, 8)} | {1, len(data) - 1}
    if name == "a.csv":
        ends = {len(data) - 8}  # a text that was cut off within its last cell cannot be told from a whole one
    if name == "a.tar":
        ends = {300, 600, 5000}  # behind its members there are only zeros
    if name == "old.pth":
        ends = {20, 60}
    if name == "a.jsonl":
        ends = {5, 20, len(data) - 1}
    for end in ends:
        path.write_bytes(data[:end])
        with pytest.raises((Broken, UnicodeError)):
            load(kind, str(path))
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path.parent / "evil").exists()


@pytest.mark.parametrize("name", ["a.npz", "a.pt", "a.tar.gz", "a.zip", "a.txt.gz"])
def test_a_bit_that_turned_is_found(tmp_path: Path, name: str) -> None:
    data = bytearray(WHOLE[name]())
    data[len(data) // 3] ^= 0x10
    (tmp_path / name).write_bytes(data)
    kind = kind_of(name)
    assert kind is not None
    with pytest.raises(Broken):
        load(kind, str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", b"[" * 100_000),
        ("a.safetensors", struct.pack("<Q", 1 << 62) + b"{}"),
        ("a.safetensors", struct.pack("<Q", 2) + b"[]"),
        ("a.npy", b"\x93NUMPY\x01\x00\x10\x00" + b"(" * 16),
        ("a.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff"),
        ("a.pkl", b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f"),
        ("a.pt", b"PK\x03\x04" + bytes(100)),
        ("a.csv", b"a,b\n\xff\xfe,1\n"),
    ],
)
def test_what_is_made_to_hurt_is_only_broken(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    kind = kind_of(name)
    assert kind is not None
    with pytest.raises(Broken):
        load(kind, str(tmp_path / name))


@pytest.mark.parametrize("name", ["train.bin", "model.ckpt"])
@pytest.mark.parametrize("start", [b"PK\x00\x01", b"\x00\x00", b"ggml"])
def test_another_programs_format_under_torchs_ending_is_not_broken(tmp_path: Path, name: str, start: bytes) -> None:
    (tmp_path / name).write_bytes(start + bytes(range(256)) * 20)
    kind = kind_of(name)
    assert kind is not None
    with pytest.raises(NotLoaded, match="not a format of torch"):
        load(kind, str(tmp_path / name))


def test_a_torch_file_of_zeros_is_broken(tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_bytes(bytes(5000))
    kind = kind_of("model.pt")
    assert kind is not None
    with pytest.raises(Broken):
        load(kind, str(tmp_path / "model.pt"))


def test_each_kind_is_in_the_table_once() -> None:
    endings = [ending for kind in KINDS for ending in kind.endings]
    assert len(endings) == len(set(endings))
    assert kind_of("x/model.TAR.GZ") is not None
    assert kind_of("train.log") is None
    marker = kind_of(".onbox/digits/markers/train_DONE")
    assert marker is not None
    assert marker.name == "marker"
