"""Checkpoints that a stage left, on the disk: numbered artifacts and numbered entries of the checkpoint folder.

Whether one is whole is told in `wholeness.py`, without loading it.
"""

from __future__ import annotations

import glob
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.checkpoints.kinds import KINDS
from onbox.checkpoints.lineage import LineageTerms, SavedCheckpoint, judge, stated
from onbox.checkpoints.select import HALF, Checkpoint, Choice, choose, holder_of_step, is_half_written, step_of
from onbox.checkpoints.wholeness import examine
from onbox.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.model.manifest import Stage

NO_TERMS = LineageTerms()
LOOKED_AT = 64  # the newest so many by step are examined
ENTRIES = 20000
_PROOFS = tuple(dict.fromkeys(name for kind in KINDS for name in kind.last))
_TELLING = ("metadata.json", "trainer_state.json")
METADATA_LIMIT_BYTES = 8 << 20


def look_at_checkpoints(stage: Stage, project: str, terms: LineageTerms = NO_TERMS) -> Choice:
    """What a resume of the stage would find. Raises OSError where a folder cannot be looked at."""
    folder = os.path.join(project, stage.cwd)
    newest = newest_candidates(stage, folder)
    found = [one for path, step in newest if (one := _examine(folder, path, step, stage.checkpoints)) is not None]
    written = [_written(folder, one) for one in found if one.whole is not False]
    against = judge([one for one in written if one is not None], terms)
    return choose(
        one._replace(against=against[one.path].says, refused=against[one.path].certain) if one.path in against else one
        for one in found
    )


def newest_candidates(stage: Stage, folder: str) -> list[tuple[str, int]]:
    """What looks like a checkpoint of the stage, whole or not, with its step: the newest 64 by step, newest first."""
    known = {path: step for path in _candidates(stage, folder) if (step := step_of(path)) is not None}
    return sorted(known.items(), key=lambda item: item[1], reverse=True)[:LOOKED_AT]


def _written(folder: str, one: Checkpoint) -> SavedCheckpoint | None:
    """When it was written, and what it says of itself. None: it cannot be told."""
    path = os.path.join(folder, one.path)
    if not os.path.isdir(path):
        with suppress(OSError):
            return SavedCheckpoint(one.path, one.step, os.stat(path).st_mtime)
        return None
    at, step, run, tells = 0.0, None, "", False
    for name in _PROOFS:
        with suppress(OSError, ValueError, RecursionError):
            at = max(at, os.stat(os.path.join(path, name)).st_mtime)
            if name in _TELLING:
                data = json.loads(read_file(os.path.join(path, name), METADATA_LIMIT_BYTES) or b"{}")
                tells = tells or isinstance(data, dict)
                step, run = stated(data) if isinstance(data, dict) and step is None and not run else (step, run)
    with suppress(OSError):
        return SavedCheckpoint(one.path, one.step, at or os.stat(path).st_mtime, step, run, tells)
    return None


def _candidates(stage: Stage, folder: str) -> Iterator[str]:
    for artifact in stage.artifacts:
        if artifact.is_glob:
            found = glob.glob(artifact.pattern, root_dir=folder, recursive=True)
            yield from (holder_of_step(path, artifact.pattern) for path in found)
    place = stage.gates.checkpoints.path if stage.gates.checkpoints else None
    if place is not None and place not in (".", ""):
        with suppress(FileNotFoundError, NotADirectoryError):
            for count, entry in enumerate(os.scandir(os.path.join(folder, place))):
                if count > ENTRIES:
                    return
                yield os.path.join(place, entry.name)


def _examine(folder: str, path: str, step: int, kind: str) -> Checkpoint | None:
    """None: it has gone meanwhile."""
    whole_path = os.path.join(folder, path)
    try:
        is_folder = os.path.isdir(whole_path)
        size = 0 if is_folder else os.stat(whole_path).st_size
        whole, says = (False, HALF) if is_half_written(path) else examine(whole_path, kind)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Checkpoint(path, step, 0, None, f"could not look: {error.strerror}")
    unproven = is_folder and whole is None
    return Checkpoint(path, step, size, False if unproven else whole, says, unproven=unproven)
