"""Whether what a stage wrote is still there, as its DONE marker says: files and folders with their bytes."""

from __future__ import annotations

from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from onbox.chain.artifacts.on_disk import find_files
from onbox.model.manifest import Artifact
from onbox.model.units import format_size
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.chain.artifacts.on_disk import FoundFile
    from onbox.contract.markers import Marker
    from onbox.model.manifest import Stage

SHOWN = 20


class Lost(NamedTuple):
    """In words, each with its path. gone: what the stage's own conditions miss now. changed: what is another one than
    the stage had left, or missing, though its conditions hold.
    """

    gone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def lost_results(stage: Stage, folder: str, marker: Marker) -> Lost:
    """What is not there any more, or not as it was. What cannot be looked at is not lost."""
    listed = _listed(marker)
    unlisted = max(0, int(marker.data.get("artifact_count") or 0) - len(listed))
    gone: list[str] = []
    changed: list[str] = []
    for artifact in stage.artifacts:
        own = [one for one in listed if _is_of(one.path, artifact)]
        whys = [(one, _why(one, folder)) for one in own]
        lost = [why for _, (why, is_lost) in whys if is_lost]
        holds = len(own) - len(lost) + unlisted >= min(artifact.min_count, len(own))
        (changed if holds else gone).extend(lost)
        changed += [why for _, (why, is_lost) in whys if why and not is_lost]
    return Lost(tuple(gone[:SHOWN]), tuple(changed[:SHOWN]))


def find_results(stage: Stage, folder: str) -> list[FoundFile]:
    """All that its artifacts match now. Of one that cannot be looked at nothing is listed."""
    found: list[FoundFile] = []
    for artifact in stage.artifacts:
        with suppress(OSError, ValueError):
            found += find_files(artifact, folder)
    return found


class _Listed(NamedTuple):
    """One entry of a marker. mtime: whole seconds; None: written by an earlier version."""

    path: str
    size_bytes: int
    mtime: int | None


def _listed(marker: Marker) -> list[_Listed]:
    """Nothing of a marker that was accepted by hand."""
    found = marker.data.get("artifacts")
    return [
        _Listed(one["path"], one["bytes"], one.get("mtime"))
        for one in (found if isinstance(found, list) else ())
        if isinstance(one, dict) and isinstance(one.get("path"), str) and isinstance(one.get("bytes"), int)
    ]


def _is_of(path: str, artifact: Artifact) -> bool:
    if not artifact.is_glob:
        return path == artifact.pattern
    return any(fnmatchcase(path, pattern) for pattern in (artifact.pattern, artifact.pattern.replace("**/", "")))


def _why(one: _Listed, folder: str) -> tuple[str, bool]:
    """What is another thing than it was ("" if nothing is), and whether the result is lost by that."""
    try:
        now = next(iter(find_files(Artifact(one.path), folder)), None)
    except (OSError, ValueError):
        return "", False
    if now is None:
        return f"{one.path} is not there any more", True
    if now.size_bytes != one.size_bytes:
        return f"{one.path} has {format_size(now.size_bytes)}, and had {format_size(one.size_bytes)}", True
    if one.mtime is not None and now.mtime_ns // 10**9 != one.mtime:
        return f"{one.path} was written again since, with the same size", False
    return "", False
