"""Checkpoints that a stage left, on the disk: numbered artifacts and numbered entries of the checkpoint folder.

Whether one is whole is told in `wholeness.py`, without loading it.
"""

from __future__ import annotations

import glob
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.checkpoints.lineage import LineageTerms, SavedCheckpoint, judge, stated
from onbox.checkpoints.select import HALF, WILD, Checkpoint, Choice, choose, holder_of_step, is_half_written, step_of
from onbox.checkpoints.siblings import PROOFS, compare_with_others
from onbox.checkpoints.wholeness import examine, is_lightgbm
from onbox.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.model.manifest import Stage

NO_TERMS = LineageTerms()
LOOKED_AT = 64  # the newest so many by step are examined
ENTRIES = 20000
# `results_2026.csv` has a number too. metadata.json and the like name the folder that they lie in.
_OTHER_RESULTS = (".csv", ".tsv", ".jsonl", ".log", ".txt", ".md", ".html", ".png", ".jpg", ".svg", ".pdf", ".parquet")
_TELLING = ("metadata.json", "trainer_state.json")
METADATA_LIMIT_BYTES = 8 << 20


def look_at_checkpoints(stage: Stage, project: str, terms: LineageTerms = NO_TERMS) -> Choice:
    """What a resume of the stage would find. Raises OSError where a folder cannot be looked at."""
    return choose(find_checkpoints(stage, project, terms))


def find_checkpoints(
    stage: Stage, project: str, terms: LineageTerms = NO_TERMS, most: int = LOOKED_AT
) -> list[Checkpoint]:
    """The stage's checkpoints with a step in their name, the newest `most` of them. Raises OSError."""
    folder = os.path.join(project, stage.cwd)
    known = {path: step for path in candidates(stage, folder) if (step := step_of(path)) is not None}
    newest = sorted(known, key=lambda path: known[path], reverse=True)[:most]
    looked = [one for path in newest if (one := _examine(folder, path, known[path], stage.checkpoints)) is not None]
    found = compare_with_others(folder, looked)
    written = [written_at(folder, one.path, one.step) for one in found if one.whole is not False]
    against = judge([one for one in written if one is not None], terms)
    return [
        one._replace(against=against[one.path].says, refused=against[one.path].certain) if one.path in against else one
        for one in found
    ]


def real_path(path: str) -> str:
    """The path through real folders; the last part is kept as it is, a link too."""
    path = path.rstrip("/")
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def written_at(folder: str, name: str, step: int) -> SavedCheckpoint | None:
    """When it was written, and what it says of itself. None: it cannot be told."""
    path = os.path.join(folder, name)
    if not os.path.isdir(path):
        with suppress(OSError):
            return SavedCheckpoint(name, step, os.stat(path).st_mtime)
        return None
    at, stated_step, run, tells = 0.0, None, "", False
    for proof in PROOFS:
        with suppress(OSError, ValueError, RecursionError):
            at = max(at, os.stat(os.path.join(path, proof)).st_mtime)
            if proof in _TELLING and isinstance(data := read_metadata(os.path.join(path, proof)), dict):
                tells = True
                stated_step, run = stated(data) if stated_step is None and not run else (stated_step, run)
    with suppress(OSError):
        return SavedCheckpoint(name, step, at or os.stat(path).st_mtime, stated_step, run, tells)
    return None


def read_metadata(path: str) -> Any:
    """What a JSON file of a checkpoint holds. Raises OSError, ValueError, RecursionError."""
    return json.loads(read_file(path, METADATA_LIMIT_BYTES) or b"{}")


def candidates(stage: Stage, folder: str) -> Iterator[str]:
    for artifact in stage.artifacts:
        if artifact.has_wildcard:
            found = glob.glob(artifact.pattern, root_dir=folder, recursive=True)
            models = [path for path in found if not path.endswith(_OTHER_RESULTS) or is_model(folder, path)]
            holders = [holder_of_step(path, artifact.pattern) for path in models]
            yield from holders
            if not set(holders) & set(found):
                yield from _without_match(artifact.pattern, folder)
    place = stage.gates.checkpoints.path if stage.gates.checkpoints else None
    if place is not None and place not in (".", ""):
        with suppress(FileNotFoundError, NotADirectoryError):
            for count, entry in enumerate(os.scandir(os.path.join(folder, place))):
                if count > ENTRIES:
                    return
                yield os.path.join(place, entry.name)


def is_model(folder: str, path: str) -> bool:
    """Whether a text is a model, by its first line."""
    with suppress(OSError):  # gone meanwhile, or not ours to read: then it is a result like the others
        return is_lightgbm(os.path.join(folder, path))
    return False


def _without_match(pattern: str, folder: str) -> list[str]:
    """Folders of `ckpt/step-*/metadata.json` that hold no such file: begun, and perhaps never finished."""
    while "/" in pattern:
        pattern = pattern.rpartition("/")[0]
        last = pattern.rpartition("/")[2]
        if last != "**" and WILD.search(last):
            return [path for path in glob.glob(pattern, root_dir=folder) if os.path.isdir(os.path.join(folder, path))]
    return []


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
        unseen = f"could not look: {error.strerror}"
        return Checkpoint(path, step, 0, None, unseen, against=unseen)
    unproven = is_folder and whole is None
    return Checkpoint(path, step, size, False if unproven else whole, says, unproven=unproven)
