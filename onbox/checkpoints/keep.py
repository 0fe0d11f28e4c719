"""Why a checkpoint is kept: one ordered table. Pure.

A checkpoint that no row keeps may be removed (`onbox prune`). The rows go by step: all files of one step are one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

DEFAULT_KEEP = 10
LEAST_KEEP = 2  # a rollback needs one to go back to


class Candidate(NamedTuple):
    """A checkpoint as the rows look at it. step: None where its name has none. usable: a stage could go on from it: it
    is not known to be incomplete, nor of another lineage. names: what points at it: symbolic links beside it, by name.
    proven: and it is known to be whole.
    """

    path: str
    step: int | None
    usable: bool
    names: tuple[str, ...] = ()
    proven: bool = True


class Retention(NamedTuple):
    """keep: so many of the newest usable steps. milestones: the first one at or after each multiple of it."""

    keep: int = DEFAULT_KEEP
    milestones: int | None = None


class Ties(NamedTuple):
    """What ties checkpoints to the run, as paths. final_step: of the whole training. done: the stage is through.
    sources: what its attempts went on from, the newest first. rolled_back_to: targets of rollbacks that hold. best:
    what the training itself calls its best.
    """

    final_step: int | None = None
    done: bool = False
    launch_source: str = ""
    recovery_source: str = ""
    rolled_back_to: tuple[str, ...] = ()
    best: tuple[str, ...] = ()


class _Scene(NamedTuple):
    retention: Retention
    ties: Ties
    steps: tuple[int, ...]  # of usable ones, the newest first
    milestones: frozenset[int]
    proven: int | None  # the newest step of which that is known


class KeepRow(NamedTuple):
    """name: as `--json` has it. holds: whether it keeps the checkpoint. says: why, for people."""

    name: str
    holds: Callable[[Candidate, _Scene], bool]
    says: Callable[[_Scene], str]
    reason: str


def _has_word(one: Candidate, word: str) -> bool:
    name = one.path.rstrip("/").rpartition("/")[2]
    return any(word in text.lower() for text in (name, *one.names))


def _is_newest(one: Candidate, scene: _Scene) -> bool:
    return bool(scene.steps) and one.step == scene.steps[0]


def _is_final(one: Candidate, scene: _Scene) -> bool:
    by_step = one.step is not None and one.step == scene.ties.final_step
    return by_step or _has_word(one, "final") or (scene.ties.done and _is_newest(one, scene))


def _is_newest_proven(one: Candidate, scene: _Scene) -> bool:
    among_latest = scene.proven in scene.steps[: scene.retention.keep]
    return one.step is not None and one.step == scene.proven and not among_latest


ROWS: tuple[KeepRow, ...] = (
    KeepRow(
        "latest", lambda one, scene: one.step in scene.steps[: scene.retention.keep],
        lambda scene: f"latest {scene.retention.keep}",
        "the newest whole ones: what a resume continues from, and what a rollback goes back to",
    ),
    KeepRow("final", _is_final, lambda _: "final", "the result of the training"),
    KeepRow(
        "launch_source", lambda one, scene: one.path == scene.ties.launch_source, lambda _: "launch source",
        "the run began from it",
    ),
    KeepRow(
        "recovery_source", lambda one, scene: one.path == scene.ties.recovery_source, lambda _: "recovery source",
        "the newest attempt continued from it",
    ),
    KeepRow(
        "rollback_target", lambda one, scene: one.path in scene.ties.rolled_back_to, lambda _: "rollback target",
        "a person went back to it",
    ),
    KeepRow(
        "milestone", lambda one, scene: one.step in scene.milestones,
        lambda scene: f"milestone of {scene.retention.milestones}", "kept for good, one for each so many steps",
    ),
    KeepRow(
        "best", lambda one, scene: one.path in scene.ties.best or _has_word(one, "best"), lambda _: "best",
        "the training calls it its best",
    ),
    KeepRow(
        "whole", _is_newest_proven,
        lambda _: "newest that is known to be whole", "the others may turn out not to be",
    ),
    KeepRow("linked", lambda one, _: bool(one.names), lambda _: "a link names it", "somebody points at it"),
    KeepRow(
        "newer", lambda one, scene: not scene.steps or (one.step or 0) > scene.steps[0],
        lambda _: "newer than the newest whole one", "it may be under way",
    ),
    KeepRow("unnumbered", lambda one, _: one.step is None, lambda _: "no step in its name", "its age tells nothing"),
)  # fmt: skip


class Why(NamedTuple):
    """name: of the row. says: for people."""

    name: str
    says: str


def why_kept(found: Sequence[Candidate], retention: Retention, ties: Ties) -> dict[str, tuple[Why, ...]]:
    """By path, the rows that keep it; () for one that may go."""
    steps = tuple(sorted({one.step for one in found if one.usable and one.step is not None}, reverse=True))
    proven = max((one.step for one in found if one.usable and one.proven and one.step is not None), default=None)
    scene = _Scene(retention, ties, steps, _milestones(steps, retention.milestones), proven)
    return {one.path: tuple(Why(row.name, row.says(scene)) for row in ROWS if row.holds(one, scene)) for one in found}


def _milestones(steps: Iterable[int], every: int | None) -> frozenset[int]:
    """The first step at or after each multiple: a training that saves every 300 steps has none at 1000."""
    if not every:
        return frozenset()
    first: dict[int, int] = {}
    for step in sorted(steps, reverse=True):
        first[step // every] = step
    return frozenset(step for multiple, step in first.items() if multiple > 0)
