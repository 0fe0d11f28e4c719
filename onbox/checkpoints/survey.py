"""Every checkpoint of a stage, with what it takes up and what points at it: for who lists, prunes or rolls back.

What could not be looked at is a part of the answer: nothing may be removed on the word of half a look.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.checkpoints.extent import Extent, measure
from onbox.checkpoints.on_disk import NO_TERMS, candidates, find_checkpoints, is_model, read_metadata, real_path
from onbox.checkpoints.select import WILD, step_of
from onbox.checkpoints.wholeness import examine
from onbox.model.manifest import folder_of
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onbox.checkpoints.lineage import LineageTerms
    from onbox.checkpoints.select import Checkpoint
    from onbox.model.manifest import Stage

MOST = 5000
_SPECIAL = ("best", "final", "last", "latest")  # words by which a checkpoint without a step is known
_LIKE_A_CHECKPOINT = re.compile(
    r"(?i)(?<![a-z])(?:ckpt|checkpoint|global_?step|step|epoch|iter|iteration|snapshot|model|weight)s?(?![a-z])"
)


class Surveyed(NamedTuple):
    """One checkpoint. path: absolute, through real folders. step: None where its name has none. whole, says, against,
    refused, unproven: as in `Checkpoint`. names: symbolic links beside it that lead to it. declared: the stage says
    that checkpoints lie there, or its name does; a numbered result may be something else.
    """

    path: str
    step: int | None
    whole: bool | None
    says: str
    extent: Extent
    against: str = ""
    refused: bool = False
    unproven: bool = False
    names: tuple[str, ...] = ()
    declared: bool = True

    @property
    def usable(self) -> bool:
        """A stage could go on from it."""
        return self.step is not None and self.whole is not False and not self.against


class Survey(NamedTuple):
    """found: by step, the newest first. unseen: `path: reason` of what could not be looked at. best: paths that the
    training itself calls its best.
    """

    found: tuple[Surveyed, ...] = ()
    unseen: tuple[str, ...] = ()
    best: tuple[str, ...] = ()


def survey(stage: Stage, project: str, terms: LineageTerms = NO_TERMS) -> Survey:
    """Look at all checkpoints of a stage."""
    folder = folder_of(project, stage)
    unseen = list(_closed_folders(stage, folder))
    try:
        numbered = find_checkpoints(stage, project, terms, MOST)
    except (OSError, ValueError) as error:
        return Survey((), (*unseen, _said(error, folder)))
    links = _links_beside({os.path.dirname(os.path.join(folder, one.path)) for one in numbered}, unseen)
    found: dict[tuple[object, ...], Surveyed] = {}
    named: list[Checkpoint | str] = [*numbered, *_special(stage, folder)]
    for one in named:
        looked = _look(stage, folder, one, links, unseen)
        if looked is not None:
            found.setdefault(_key(looked), looked)
    ranked = sorted(found.values(), key=lambda one: (-1 if one.step is None else one.step, one.path), reverse=True)
    return Survey(tuple(ranked), tuple(dict.fromkeys(unseen)), _best(ranked))


def _said(error: Exception, path: str) -> str:
    return f"{getattr(error, 'filename', None) or path}: {getattr(error, 'strerror', None) or error}"


def _key(one: Surveyed) -> tuple[object, ...]:
    return (one.path,) if one.extent.is_link else one.extent.identity


def _look(
    stage: Stage, folder: str, one: Checkpoint | str, links: dict[str, list[str]], unseen: list[str]
) -> Surveyed | None:
    """None: it has gone meanwhile, or it could not be looked at."""
    name = one if isinstance(one, str) else one.path
    path = real_path(os.path.join(folder, name))
    try:
        extent = measure(path)
        whole, says = examine(path, stage.checkpoints) if isinstance(one, str) else (one.whole, one.says)
    except FileNotFoundError:
        return None
    except OSError as error:
        unseen.append(_said(error, path))
        return None
    names, declared = tuple(links.get(path, ())), _is_declared(stage, folder, name)
    if isinstance(one, str):
        return Surveyed(path, None, whole, says, extent, names=names, declared=declared)
    if one.says.startswith("could not look"):
        unseen.append(f"{path}: {one.says}")
    return Surveyed(
        path, one.step, None if one.unproven else one.whole, one.says, extent,
        one.against or (one.says if one.unproven else ""), one.refused, one.unproven, names, declared,
    )  # fmt: skip


def _is_declared(stage: Stage, folder: str, name: str) -> bool:
    gate = stage.gates.checkpoints
    path = os.path.join(folder, name)
    if stage.checkpoints or (gate is not None and os.path.dirname(path) == os.path.normpath(f"{folder}/{gate.path}")):
        return True
    return _LIKE_A_CHECKPOINT.search("/".join(name.rstrip("/").split("/")[-2:])) is not None


def _special(stage: Stage, folder: str) -> Iterator[str]:
    """Those without a step: called best, final, latest, or a text that is a model. Artifacts, and what lies in the
    checkpoints' folder.
    """
    literal = (one.pattern for one in stage.artifacts if not one.has_wildcard)
    for path in dict.fromkeys((*literal, *candidates(stage, folder))):
        name = path.rstrip("/").rpartition("/")[2].lower()
        if step_of(path) is not None or name.endswith(".json"):
            continue
        if is_model(folder, path) if name.endswith(".txt") else any(word in name for word in _SPECIAL):
            yield path


def _links_beside(folders: Iterable[str], unseen: list[str]) -> dict[str, list[str]]:
    """Symbolic links in these folders, by the real path that they lead to."""
    found: dict[str, list[str]] = {}
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        found.setdefault(os.path.realpath(entry.path), []).append(entry.name)
        except OSError as error:
            unseen.append(_said(error, folder))
    return found


def _closed_folders(stage: Stage, folder: str) -> Iterator[str]:
    """Folders in which checkpoints may lie and that cannot be listed: a glob passes over them in silence."""
    gate = stage.gates.checkpoints
    above = [os.path.dirname(WILD.split(one.pattern, maxsplit=1)[0]) for one in stage.artifacts if one.has_wildcard]
    for name in [*above, gate.path] if gate else above:
        place = os.path.join(folder, name)
        try:
            with os.scandir(place) as entries:
                closed = [one.path for one in entries if one.is_dir() and not os.access(one.path, os.R_OK | os.X_OK)]
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            yield _said(error, place)
            continue
        yield from (f"{path}: Permission denied" for path in closed)


def _best(found: Sequence[Surveyed]) -> tuple[str, ...]:
    """transformers: the newest trainer_state.json names the best checkpoint so far."""
    for one in found:
        if one.extent.is_folder and one.whole:
            with suppress(OSError, ValueError, RecursionError):
                data = read_metadata(os.path.join(one.path, "trainer_state.json"))
                named = data.get("best_model_checkpoint") if isinstance(data, dict) else None
                name = os.path.basename(named.rstrip("/")) if isinstance(named, str) else ""
                return tuple(other.path for other in found if os.path.basename(other.path) == name)
    return ()
