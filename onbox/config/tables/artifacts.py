"""The artifacts and checkpoints of a stage: from tables to `Artifact` records. Pure.

What no file can ever match is an error here, and not a surprise after hours of work.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onbox.checkpoints.kinds import PRESETS, kind_named
from onbox.config import values
from onbox.config.fields import ConfigError, Table, Unwanted, read_value, shown
from onbox.config.keys import Key, Keys, OwnKey
from onbox.model.manifest import Artifact
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.model.manifest import CheckpointGate, Stage

ARTIFACTS_WANTED = 'a list such as ["best.npz", { glob = "epoch_*.npz", min_count = 3 }]'
CHECKPOINTS_WANTED = f'{", ".join(PRESETS)}, or a table such as {{ kind = "hf", path = "out" }}'
_WILD = re.compile(r"[*?\[]")
_SHELL = re.compile(r"~|\$[A-Za-z_{]")


class ArtifactKeys(Keys):
    """One of `artifacts` of a stage."""

    path = OwnKey("One file or folder, by its name.", '"last.npz"')
    glob = OwnKey("Files or folders, by a pattern.", '"epoch_*.npz"')
    min_count = Key(values.count_from(1), 1, "At least this many must be there; with glob.", "3", usual="1")
    min_bytes = Key(
        values.size, 1, "Each must be at least this large; for a folder, all its files together.", '"1KB"', usual="1"
    )


class CheckpointsKeys(Keys):
    """`checkpoints` of a stage."""

    kind = Key(values.one_of(PRESETS, "a kind of checkpoint"), "", "Their layout.", '"hf"', wanted=", ".join(PRESETS))
    path = OwnKey("Where they are.", '"ckpt"', usual="as artifacts or gates.checkpoints say")
    min_count = Key(values.count_from(1), 1, "At least this many whole ones must be there.", "1", usual="1")


class Preset(NamedTuple):
    """kind: the layout of the stage's checkpoints; "": not declared. artifacts: what is wanted of them."""

    kind: str = ""
    artifacts: tuple[Artifact, ...] = ()


def read_artifacts(table: Table) -> tuple[Artifact, ...]:
    value = table.values.get("artifacts", ())
    if not isinstance(value, list | tuple):
        table.fail("artifacts", value, ARTIFACTS_WANTED)
        return ()
    path = table.path_of("artifacts")
    found = (_read_artifact(f"{path}[{i}]", item, table.errors) for i, item in enumerate(value))
    return tuple(artifact for artifact in found if artifact is not None)


def _read_artifact(path: str, value: object, errors: list[ConfigError]) -> Artifact | None:
    """A text is one literal path; a table says `path` or `glob`. None: wrong, and reported."""
    if isinstance(value, str):
        return read_value(path, value, _plain_artifact, None, errors)
    if not isinstance(value, Mapping):
        errors.append(ConfigError(path, shown(value), 'a path, or a table such as { glob = "epoch_*.npz" }'))
        return None
    table = Table(path, value, ArtifactKeys, errors)
    literal = table.read("path", _literal_path, None)
    pattern = table.read("glob", _pattern, None)
    min_count = table.get(ArtifactKeys.min_count)
    min_bytes = table.get(ArtifactKeys.min_bytes)
    if "path" in table and "glob" in table:
        table.fail("glob", value["glob"], "allowed beside path: exactly one of path and glob")
    if "path" not in table and "glob" not in table:
        table.missing("path", "exactly one of path and glob")
    if "path" in table and min_count > 1:
        table.fail("min_count", min_count, "possible for one path; write glob")
    if pattern is not None and min_count > 1 and not _WILD.search(pattern):
        table.fail("min_count", min_count, "possible: without * or ? this glob matches one path at most")
    found = literal or pattern
    return Artifact(found, pattern is not None, min_count, min_bytes) if found else None


def _literal_path(value: object) -> str:
    path = values.text(value).rstrip("/")
    if not path:
        raise Unwanted("a path below the stage's cwd")
    if _SHELL.match(path):
        raise Unwanted("a plain path: no shell reads it, so that ~ and $NAME stay as they are")
    return path


def _pattern(value: object) -> str:
    """A glob that can match something: no shell expands what stands in it."""
    pattern = _literal_path(value)
    if re.search(r"\{[^{},]*,[^{}]*\}", pattern):
        raise Unwanted("a glob: { } is not expanded; write one artifact for each")
    return pattern


def _plain_artifact(value: object) -> Artifact:
    """A literal path. One with a wildcard would be looked for by that very name and refuse DONE after hours of work."""
    path = _literal_path(value)
    if "*" in path or "?" in path:
        raise Unwanted("a literal path; write { glob = … }, or { path = … } if the file has just this name")
    return Artifact(path)


def merge_artifacts(*groups: Iterable[Artifact]) -> tuple[Artifact, ...]:
    """What is named twice (as an artifact, and by the preset of its checkpoints) is one artifact, with the stricter
    numbers: it is counted and judged once.
    """
    merged: dict[tuple[str, bool], Artifact] = {}
    for artifact in itertools.chain(*groups):
        key = (posixpath.normpath(artifact.pattern), artifact.is_glob)
        one = merged.setdefault(key, artifact)
        merged[key] = one._replace(
            min_count=max(one.min_count, artifact.min_count), min_bytes=max(one.min_bytes, artifact.min_bytes)
        )
    return tuple(merged.values())


# -- checkpoints


def read_checkpoints(stage: Table, gate: CheckpointGate | None) -> Preset:
    """The stage's `checkpoints`: a preset, and where they lie. Without a path that is where the gate or the artifacts
    say; a preset that nothing could ever be held against is an error.
    """
    if "checkpoints" not in stage:
        return Preset()
    value = stage.values["checkpoints"]
    if not isinstance(value, str | Mapping):
        stage.fail("checkpoints", value, CHECKPOINTS_WANTED)
        return Preset()
    given = {"kind": value} if isinstance(value, str) else value
    table = Table(stage.path_of("checkpoints"), given, CheckpointsKeys, stage.errors)
    kind = table.get(CheckpointsKeys.kind)
    path = table.read("path", _pattern, None) or (gate.path if gate is not None and gate.path != "." else None)
    count = table.get(CheckpointsKeys.min_count)
    if not kind:
        return Preset()
    if path is not None:
        return Preset(kind, (Artifact(posixpath.join(path, kind_named(kind).glob), True, count),))
    if not _has_glob(stage.values.get("artifacts")):
        stage.fail("checkpoints", kind, f'enough: say where they lie: {{ kind = "{kind}", path = "ckpt" }}')
    return Preset(kind)


def _has_glob(artifacts: object) -> bool:
    found = artifacts if isinstance(artifacts, list | tuple) else ()
    return any(isinstance(one, Mapping) and "glob" in one for one in found)


def refuse_shared_artifacts(stages: Iterable[Stage], errors: list[ConfigError]) -> None:
    """Two stages that write one file: the second would destroy what the first was judged by."""
    writers: dict[str, str] = {}
    for stage in stages:
        for artifact in stage.artifacts:
            if artifact.is_glob:
                continue
            path = posixpath.normpath(posixpath.join(stage.cwd, artifact.pattern))
            first = writers.setdefault(path, stage.name)
            if first != stage.name:
                wanted = f"its own: stages {first} and {stage.name} write the same file"
                errors.append(ConfigError(f"stages.{stage.name}.artifacts", shown(artifact.pattern), wanted))
