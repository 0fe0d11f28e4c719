"""Checkpoints that a stage left, on the disk: numbered artifacts and numbered entries of the checkpoint folder.

Whether one is whole is told without loading it: a folder by its metadata.json (or what other frameworks write last), a
zip (npz, pt) by its directory at the end, safetensors by the length in its head. Other formats tell nothing, and that
is said.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.contract.checkpoints import Checkpoint, Choice, choose, is_half_written, step_of
from onbox.contract.lineage import Terms, Written, judge, stated
from onbox.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.contract.manifest import Stage

NO_TERMS = Terms()
LOOKED_AT = 64  # the newest so many by step are examined
ENTRIES = 20000
_ZIPS = (".npz", ".pt", ".pth", ".zip", ".ckpt", ".keras")
_ZIP_END = b"PK\x05\x06"


# What a framework writes into a folder when all else is there: ours and Levanter's, torch's, Hugging Face's, Orbax's.
_PROOFS = ("metadata.json", ".metadata", "trainer_state.json", "_CHECKPOINT_METADATA", "commit_success.txt")
_TELLING = ("metadata.json", "trainer_state.json")
METADATA_LIMIT_BYTES = 8 << 20


def look_at_checkpoints(stage: Stage, project: str, terms: Terms = NO_TERMS) -> Choice:
    """What a resume of the stage would find. Raises OSError where a folder cannot be looked at."""
    folder = os.path.join(project, stage.cwd)
    known = {path: step for path in _candidates(stage, folder) if (step := step_of(path)) is not None}
    newest = sorted(known, key=lambda path: known[path], reverse=True)[:LOOKED_AT]
    found = [one for path in newest if (one := _examine(folder, path, known[path])) is not None]
    written = [_written(folder, one) for one in found if one.whole is not False]
    against = judge([one for one in written if one is not None], terms)
    return choose(
        one._replace(against=against[one.path].says, refused=against[one.path].certain) if one.path in against else one
        for one in found
    )


def _written(folder: str, one: Checkpoint) -> Written | None:
    """When it was written, and what it says of itself. None: it cannot be told."""
    path = os.path.join(folder, one.path)
    if not os.path.isdir(path):
        with suppress(OSError):
            return Written(one.path, one.step, os.stat(path).st_mtime)
        return None
    at, step, run = 0.0, None, ""
    for name in _PROOFS:
        with suppress(OSError, ValueError, RecursionError):
            at = max(at, os.stat(os.path.join(path, name)).st_mtime)
            if name in _TELLING:
                data = json.loads(read_file(os.path.join(path, name), METADATA_LIMIT_BYTES) or b"{}")
                step, run = stated(data) if isinstance(data, dict) and step is None and not run else (step, run)
    return Written(one.path, one.step, at, step, run) if at else None


def _candidates(stage: Stage, folder: str) -> Iterator[str]:
    import glob  # noqa: PLC0415 - only who looks for checkpoints needs it

    for artifact in stage.artifacts:
        if artifact.is_glob:
            yield from glob.glob(artifact.pattern, root_dir=folder, recursive=True)
    place = stage.gates.checkpoints.path if stage.gates.checkpoints else None
    if place is not None and place not in (".", ""):
        with suppress(FileNotFoundError, NotADirectoryError):
            for count, entry in enumerate(os.scandir(os.path.join(folder, place))):
                if count > ENTRIES:
                    return
                yield os.path.join(place, entry.name)


def _examine(folder: str, path: str, step: int) -> Checkpoint | None:
    """None: it has gone meanwhile."""
    whole_path = os.path.join(folder, path)
    try:
        if os.path.isdir(whole_path):
            proof = next((name for name in _PROOFS if os.path.isfile(os.path.join(whole_path, name))), None)
            if is_half_written(path):
                return Checkpoint(path, step, 0, False, "its name says that it is not finished")
            says = f"{proof} is there" if proof else "no metadata.json in it"
            return Checkpoint(path, step, 0, proof is not None, says)
        size = os.stat(whole_path).st_size
        whole, says = _examine_file(whole_path, size)
        return Checkpoint(path, step, size, whole, says)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Checkpoint(path, step, 0, None, f"could not look: {error.strerror}")


def _examine_file(path: str, size: int) -> tuple[bool | None, str]:
    if is_half_written(path):
        return False, "its name says that it is not finished"
    if size == 0:
        return False, "it is empty"
    if path.endswith(".safetensors"):
        return _safetensors(path, size)
    if path.endswith(_ZIPS):
        return _zip(path, size)
    return None, "its format tells nothing; only its size was looked at"


def _zip(path: str, size: int) -> tuple[bool | None, str]:
    with open(path, "rb") as file:
        if file.read(2) != b"PK":
            return None, "no zip; only its size was looked at"
        file.seek(max(0, size - 65600))
        found = _ZIP_END in file.read()
    return found, "its zip directory is there" if found else "its end is missing: cut off while it was written"


def _safetensors(path: str, size: int) -> tuple[bool | None, str]:
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 0 < length <= min(size, 100 << 20):
            return False, "its head is damaged or cut off"
        try:
            tensors = json.loads(file.read(length))
            end = max((one["data_offsets"][1] for key, one in tensors.items() if key != "__metadata__"), default=0)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            return False, "its head is damaged or cut off"
    whole = size == 8 + length + end
    return (
        whole,
        "its length is the one in its head" if whole else f"{size} bytes where its head tells {8 + length + end}",
    )
