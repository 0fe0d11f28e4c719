"""What a finished run lacks of what its DONE markers vouch for, by the rule of the success gate: of a glob as many
files have to be left as its stage asks for. Pure.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from onbox.model.units import format_size
from onbox.outside import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from patrol.memory.run_manifest import ArtifactPromise
    from patrol.probe.box.left import LeftFiles, Listed

SHOWN = 20


def lost_of(left: LeftFiles, promises: Mapping[str, Sequence[ArtifactPromise]]) -> tuple[str, ...]:
    """In words, each with its path and stage. promises: the artifacts of each stage, as run.json declares them."""
    lost = dict(left.lost)
    counts = dict(left.counts)
    words: list[str] = []
    for stage, artifacts in promises.items():
        listed = [one for one in left.listed if one.stage == stage]
        unlisted = max(0, counts.get(stage, 0) - len(listed))
        for artifact in artifacts:
            own = [one for one in listed if _is_of(one.path, artifact)]
            gone = [one for one in own if one.place in lost]
            if len(own) - len(gone) + unlisted < min(artifact.min_count, len(own)):
                words += [_why(one, lost[one.place]) for one in gone]
    return tuple(dict.fromkeys(words))[:SHOWN]


def _is_of(path: str, artifact: ArtifactPromise) -> bool:
    if not artifact.is_glob:
        return path == artifact.pattern
    return any(fnmatchcase(path, pattern) for pattern in (artifact.pattern, artifact.pattern.replace("**/", "")))


def _why(one: Listed, size: int | None) -> str:
    now = "is not there any more" if size is None else f"has {format_size(size)}, and had {format_size(one.size)}"
    return safe_line(f"{one.path} of stage {one.stage} {now}", 200)
