"""Pickles as lists of opcodes: whether they come to their end. Never run: what they build stays unbuilt."""

from __future__ import annotations

import io
import pickletools
import zipfile
from typing import IO

from onbox.checkpoints.wholeness import ZIP_STARTS
from patrol.verify.archives import load_zip
from patrol.verify.loaded import Broken, NotLoaded

PICKLE_LIMIT_BYTES = 256 << 20
_TORCH_FIRST = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # the number with which torch began its files before they were zips
_TORCH_PICKLES = 5
_PICKLE_START = b"\x80"
_SHARED_ENDINGS = (".bin", ".ckpt")  # raw tokens, GGML, fastText and TensorFlow 1 have them, too


def read_pickle(file: IO[bytes]) -> str:
    """One pickle from here to its STOP. Raises Broken."""
    count = 0
    try:
        for _ in pickletools.genops(file):
            count += 1
    except Exception as error:
        raise Broken(f"its pickle breaks off or is damaged after {count} steps ({type(error).__name__})") from error
    return f"a pickle of {count} steps, not run"


def load_pickle(path: str) -> str:
    """A file of pickles, one behind the other; torch's own of old has its tensors behind five of them."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        if size > PICKLE_LIMIT_BYTES and not file.read(64).startswith(b"\x80"):
            raise NotLoaded(f"longer than {PICKLE_LIMIT_BYTES} bytes")
        file.seek(0)
        said = read_pickle(file)
        if _of_old_torch(path):
            for _ in range(_TORCH_PICKLES - 1):
                said = read_pickle(file)
            return "weights in the form before zips"
        if file.tell() == size:
            return said
        return f"{said}, and {size - file.tell()} bytes behind it"


def _of_old_torch(path: str) -> bool:
    with open(path, "rb") as file:
        return _TORCH_FIRST in file.read(64)


def load_torch(path: str) -> str:
    """A zip as torch.save writes it: each part's checksum, and its pickle's steps; or the form that it had before."""
    if not zipfile.is_zipfile(path):
        with open(path, "rb") as file:
            start = file.read(4)
        if start.startswith(ZIP_STARTS):
            raise Broken("its end is missing: it was cut off while it was written")
        if path.lower().endswith(_SHARED_ENDINGS) and not start.startswith(_PICKLE_START):
            raise NotLoaded("not a format of torch")
        return load_pickle(path)
    load_zip(path)
    with zipfile.ZipFile(path) as archive:
        pickles = [one for one in archive.infolist() if one.filename.endswith(".pkl")]
        for one in pickles:
            if one.file_size > PICKLE_LIMIT_BYTES:
                raise NotLoaded(f"{one.filename} is longer than {PICKLE_LIMIT_BYTES} bytes")
            with archive.open(one) as file:
                read_pickle(io.BytesIO(file.read()))
        tensors = sum("/data/" in one.filename for one in archive.infolist())
    return f"{tensors} tensors, {len(pickles)} pickles, not run"
