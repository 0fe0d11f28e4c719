"""Whether a checkpoint is this run's own: one ordered table. Pure.

That a checkpoint is newer by its number says nothing of where it comes from. What tells against one is a word of the
user's, what its own metadata says, or the order in which checkpoints were written.
"""

from __future__ import annotations

import re
from collections import Counter
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

STEP_KEYS = ("step", "global_step")
RUN_KEYS = ("run_id", "run", "run_name", "wandb_run_id", "tracker_run")


class SavedCheckpoint(NamedTuple):
    """A checkpoint with a step in its name. at: when it was last written, seconds since the epoch. stated_step,
    stated_run: what its metadata says; None, "": nothing. tells: it has metadata, whatever that says.
    """

    path: str
    step: int
    at: float
    stated_step: int | None = None
    stated_run: str = ""
    tells: bool = False


class LineageTerms(NamedTuple):
    """rejected: patterns of checkpoints that nobody may go on from. own: names by which the run's checkpoints may call
    it: run id, name, its runs at a tracker, and whatever its contract says of tracker and origin. attempts: when those
    of the stage began. rolled_back: names of those that a rollback rejects which was cut off before it could set all
    of them aside. begun_anew: when the stage's work began from the start, after it was done or redone; None: it never
    was.
    """

    rejected: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    attempts: tuple[float, ...] = ()
    rolled_back: tuple[str, ...] = ()
    begun_anew: float | None = None


class Against(NamedTuple):
    """Why one must not be gone on from. certain: it is a fact; False: a sign, which does not hold a resume back."""

    row: str
    says: str
    certain: bool


class _Seen(NamedTuple):
    terms: LineageTerms
    run: str | None  # as the run's own checkpoints call it; "": they name none; None: not known
    branch: SavedCheckpoint | None  # of the newest attempt that wrote any: the one with the highest step
    branch_began: float


class LineageRow(NamedTuple):
    name: str
    holds: Callable[[SavedCheckpoint, _Seen], bool]
    says: Callable[[SavedCheckpoint, _Seen], str]
    certain: bool
    reason: str


def _is_rejected(one: SavedCheckpoint, seen: _Seen) -> bool:
    path = one.path.rstrip("/")
    return any(fnmatchcase(path, pattern) or path.endswith(f"/{pattern}") for pattern in seen.terms.rejected)


def _not(run: str | None) -> str:
    return f"not {run}" if run else "the others name none"


def _is_given_up(one: SavedCheckpoint, seen: _Seen) -> bool:
    return seen.terms.begun_anew is not None and one.at < seen.terms.begun_anew


def _is_of_earlier_branch(one: SavedCheckpoint, seen: _Seen) -> bool:
    return seen.branch is not None and one.step > seen.branch.step and one.at < seen.branch_began


ROWS: tuple[LineageRow, ...] = (
    LineageRow(
        "rejected", _is_rejected, lambda *_: "[contract] rejected names it", True,
        "a lineage that somebody has judged is not taken up again because it is newer",
    ),
    LineageRow(
        "rolled-back", lambda one, seen: one.path.rstrip("/").rpartition("/")[2] in seen.terms.rolled_back,
        lambda *_: "a rollback that was cut off rejects it: onbox rollback --finish, or --undo", True,
        "half a rollback must not be gone on from",
    ),
    LineageRow(
        "other-step", lambda one, _: one.stated_step is not None and one.stated_step != one.step,
        lambda one, _: f"its metadata says step {one.stated_step}", True,
        "name and content are of two checkpoints: a copy, a rename, a save that was cut off",
    ),
    LineageRow(
        "other-run", lambda one, seen: bool(one.stated_run) and seen.run is not None and one.stated_run != seen.run,
        lambda one, seen: f"its metadata says run {one.stated_run}, {_not(seen.run)}", True,
        "a shared or re-used folder holds checkpoints of other trainings",
    ),
    LineageRow(
        "given-up", _is_given_up, lambda *_: "written before the stage was begun anew", False,
        "who runs a stage again from the start does not want what an earlier run of it, maybe of another command, left",
    ),
    LineageRow(
        "earlier-branch", _is_of_earlier_branch,
        lambda _, seen: f"written before the attempt that has reached step {seen.branch.step if seen.branch else '?'}",
        False, "after a rollback, or a restart from the beginning, the highest number is of what was given up",
    ),
)  # fmt: skip


def judge(found: Sequence[SavedCheckpoint], terms: LineageTerms) -> dict[str, Against]:
    """What tells against each, by path; those against which nothing does are left out."""
    began, branch = _branch(found, terms.attempts)
    seen = _Seen(terms, _run_of(found, terms), branch, began)
    judged = {}
    for one in found:
        row = next((row for row in ROWS if row.holds(one, seen)), None)
        if row is not None:
            judged[one.path] = Against(row.name, row.says(one, seen), row.certain)
    return judged


def _run_of(found: Iterable[SavedCheckpoint], terms: LineageTerms) -> str | None:
    """How the run's own checkpoints call it: a name that is known as ours; else what most of those say that were
    written since its first attempt began (of as many, those that came first); else what the newest says. A training
    names all of its checkpoints or none: one name among others that have metadata without one is of another training.
    """
    words = {word for text in terms.own for word in (text, *re.split(r"[\s,;/]+", text))}
    telling = [one for one in found if one.tells or one.stated_run]
    known = next((one.stated_run for one in telling if one.stated_run in words), None)
    if known is not None or not telling:
        return known
    own = [one for one in telling if terms.attempts and one.at >= min(terms.attempts)]
    if not own:
        return max(telling, key=lambda one: one.at).stated_run
    count = Counter(one.stated_run for one in own)
    return max(own, key=lambda one: (count[one.stated_run], -one.at)).stated_run


def _branch(found: Sequence[SavedCheckpoint], attempts: Iterable[float]) -> tuple[float, SavedCheckpoint | None]:
    for began in sorted(attempts, reverse=True):
        own = [one for one in found if one.at >= began]
        if own:
            return began, max(own, key=lambda one: one.step)
    return 0.0, None


def stated(metadata: Mapping[str, object]) -> tuple[int | None, str]:
    """Step and run that a checkpoint's metadata names."""
    steps = [value for key in STEP_KEYS if isinstance(value := metadata.get(key), int) and not isinstance(value, bool)]
    runs = [value for key in RUN_KEYS if isinstance(value := metadata.get(key), str) and value]
    return (steps[0] if steps else None), (runs[0] if runs else "")
