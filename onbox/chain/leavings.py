"""Whether what a stage wrote is still there, as its DONE marker says: files and folders with their bytes."""

from __future__ import annotations

from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from onbox.chain.artifacts import find_files
from onbox.contract.manifest import Artifact
from onbox.contract.units import format_size

if TYPE_CHECKING:
    from onbox.chain.artifacts import Found
    from onbox.contract.manifest import Stage
    from onbox.contract.markers import Marker

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
        own = [path for path in listed if _is_of(path, artifact)]
        whys = [why for path in own if (why := _why(path, listed[path], folder))]
        wanted = min(artifact.min_count, len(own))
        (changed if len(own) - len(whys) + unlisted >= wanted else gone).extend(whys)
    return Lost(tuple(gone[:SHOWN]), tuple(changed[:SHOWN]))


def find_results(stage: Stage, folder: str) -> list[Found]:
    """All that its artifacts match now. Of one that cannot be looked at nothing is listed."""
    found: list[Found] = []
    for artifact in stage.artifacts:
        with suppress(OSError, ValueError):
            found += find_files(artifact, folder)
    return found


def _listed(marker: Marker) -> dict[str, int]:
    """Path and bytes; nothing of a marker that was accepted by hand."""
    found = marker.data.get("artifacts")
    return {
        str(one["path"]): one["bytes"]
        for one in (found if isinstance(found, list) else ())
        if isinstance(one, dict) and isinstance(one.get("path"), str) and isinstance(one.get("bytes"), int)
    }


def _is_of(path: str, artifact: Artifact) -> bool:
    if not artifact.is_glob:
        return path == artifact.pattern
    return any(fnmatchcase(path, pattern) for pattern in (artifact.pattern, artifact.pattern.replace("**/", "")))


def _why(path: str, size_bytes: int, folder: str) -> str:
    try:
        now = next(iter(find_files(Artifact(path), folder)), None)
    except (OSError, ValueError):
        return ""
    if now is None:
        return f"{path} is not there any more"
    if now.size_bytes != size_bytes:
        return f"{path} has {format_size(now.size_bytes)}, and had {format_size(size_bytes)}"
    return ""
