"""Which files of a run come home: its artifacts, its results, its logs, markers and records. Pure."""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from onbox.contract.paths import DEFAULT_STATE_DIR
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from patrol.transfer.names import OUTSIDE, Root

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onbox.model.boxes import BoxSettings
    from onbox.model.manifest import Stage
    from patrol.transfer.survey import RunSurvey

PATH, GLOB = "p", "g"
# What in a run's folder is the machinery of that box, and tells nothing of the run: locks, notices, reserved places.
NOT_RECORDS = lazy(r"(?:lock|stop\.json|(?:outbox|sent|dead)/.*|markers/\..*|.*\.tmp[0-9a-f]{10})")
_WILD = re.compile(r"[*?[]")


class Want(NamedTuple):
    """One thing to look for below a root: a path, or a pattern of sh. keeps: what of it is taken, as the parts of a
    glob; None: all. why: where it is said that it belongs to the run.
    """

    root: int
    kind: str
    pattern: str
    why: str
    keeps: tuple[str, ...] | None = None


def roots_of(found: RunSurvey, run: str) -> tuple[Root, ...]:
    """The project, the run's own folder, and the rest of the box."""
    own = Root(found.run_folder or "/nonexistent", f"{DEFAULT_STATE_DIR}/{run}/")
    return (Root(found.project, ""), own, Root("/", f"{OUTSIDE}/"))


def wants_of(found: RunSurvey, roots: Sequence[Root], box: BoxSettings, run: str) -> list[Want]:
    """Everything, each thing once."""
    wants = [Want(1, PATH, ".", "the run's records")] if found.run_folder else []
    for stage in found.stages:
        for artifact in stage.artifacts:
            path = _of_stage(found, stage, artifact.pattern)
            wants += _want(roots, path, f"an artifact of stage {stage.name}", is_glob=artifact.is_glob)
    for stage, path, _ in found.promised:
        wants += _want(roots, _of_stage(found, stage, path), f"stage {stage.name}'s DONE lists it", is_glob=False)
    for path, why in _configured(box, run):
        whole = found.home + path[1:] if path.startswith("~/") else path
        wants += _want(roots, whole, why, is_glob=True)
    return list({(one.root, one.kind, one.pattern, one.keeps): one for one in reversed(wants)}.values())


def promised_files(found: RunSurvey, roots: Sequence[Root]) -> Iterator[tuple[int, str, int | None, str]]:
    """Root and name of each file or folder that a DONE marker vouches for, its bytes, and the stage."""
    for stage, path, size in found.promised:
        for want in _want(roots, _of_stage(found, stage, path), "", is_glob=False):
            yield want.root, want.pattern.removeprefix("./"), size, stage.name


def _configured(box: BoxSettings, run: str) -> list[tuple[str, str]]:
    """Of a box's own table: small results, and of a watched run its log, its files and its proof."""
    found = [(pattern, "`results` of the box") for pattern in box.results]
    for watch in box.watches:
        if watch.name == run:
            paths = [watch.log, *watch.artifacts, watch.done_file]
            found += [(path, "of the watched run") for path in paths if path]
    return found


def name_results(box: str, *, is_watched: bool) -> str:
    """What to do where nobody has said which files are a run's results."""
    of_watch = "in `artifacts` of its `watch` entry, or " if is_watched else ""
    return f"name the result files {of_watch}in `results` of [boxes.{box}] in onbox.toml, then pull again"


def words_of_watched(found: RunSurvey, roots: Sequence[Root], box: BoxSettings, run: str) -> frozenset[tuple[int, str]]:
    """Root and name of what a watched run says of itself: its log and its proof, unless they are named as results."""
    results = {path for watch in box.watches if watch.name == run for path in watch.artifacts} | set(box.results)
    said = {path for watch in box.watches if watch.name == run for path in (watch.log, watch.done_file) if path}
    wholes = (found.home + path[1:] if path.startswith("~/") else path for path in said - results)
    wants = (want for whole in wholes for want in _want(roots, whole, "", is_glob=False))
    return frozenset((want.root, want.pattern.removeprefix("./")) for want in wants)


def _of_stage(found: RunSurvey, stage: Stage, path: str) -> str:
    """An absolute path of the box."""
    project = found.head.project if found.head is not None else found.project
    whole = posixpath.normpath(posixpath.join(project, stage.cwd, path))
    if project != found.project and (whole + "/").startswith(project.rstrip("/") + "/"):
        whole = posixpath.normpath(found.project + whole[len(project.rstrip("/")) :])  # the folder goes by another name
    return whole


def _want(roots: Sequence[Root], path: str, why: str, *, is_glob: bool) -> list[Want]:
    whole = posixpath.normpath(posixpath.join(roots[0].place, path))
    number = next(at for at in (1, 0, 2) if roots[at].holds(whole))
    name = posixpath.relpath(whole, roots[number].place)
    if not (is_glob and _WILD.search(name)):
        return [Want(number, PATH, "." if name == "." else f"./{name}", why)]
    if "**" not in name.split("/"):
        return [Want(number, GLOB, f"./{name}", why)]
    parts = name.split("/")
    above = "/".join(parts[: next(at for at, part in enumerate(parts) if _WILD.search(part))])
    return [Want(number, PATH, f"./{above}" if above else ".", why, tuple(parts))]


def takes(parts: Sequence[str], name: str) -> bool:
    """Whether a glob with `**`, by its parts, matches a name or a folder above it. Each part is compared once with each
    piece of the name, so that no pattern of a box takes long.
    """
    at = _with_skips(parts, {0})
    for piece in name.split("/"):
        further = set()
        for place in at:
            if place == len(parts) or (parts[place] == "**" and place == len(parts) - 1):
                return True  # all of it is matched: what lies below belongs to it
            if parts[place] == "**":
                further.add(place)
            elif fnmatchcase(piece, parts[place]):
                further.add(place + 1)
        at = _with_skips(parts, further)
    return len(parts) in at


def _with_skips(parts: Sequence[str], places: set[int]) -> set[int]:
    """`**` may stand for no folder at all, but not at the end."""
    for place in range(len(parts) - 1):
        if place in places and parts[place] == "**":
            places.add(place + 1)
    return places
