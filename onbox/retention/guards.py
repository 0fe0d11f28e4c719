"""What must not be removed, whatever no rule keeps: one ordered table. Pure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.checkpoints.survey import Surveyed

FRESH_SECONDS = 60.0


class FreeCheckpoint(NamedTuple):
    """A checkpoint that no rule keeps, and what is known around it. began_at: when the stage's first attempt began;
    None: no attempt is known. age_seconds: since its newest write. open_by: `pid 12 (python)`; "": nobody. inner: other
    checkpoints, and places of the run, by their real paths. other_run: the run of this project that wrote it; "": ours.
    """

    one: Surveyed
    began_at: float | None
    age_seconds: float
    open_by: str
    inner: tuple[str, ...]
    other_run: str = ""


class GuardRow(NamedTuple):
    """says: why it stays, for people."""

    name: str
    holds: Callable[[FreeCheckpoint], bool]
    says: Callable[[FreeCheckpoint], str]
    reason: str


def _holds_others(it: FreeCheckpoint) -> bool:
    inside = os.path.join(it.one.path, "")
    return any(path.startswith(inside) or path == it.one.path for path in it.inner)


ROWS: tuple[GuardRow, ...] = (
    GuardRow(
        "link", lambda it: it.one.extent.is_link, lambda _: "a symbolic link: what it leads to is not ours to remove",
        "a link may point to something that nobody listed",
    ),
    GuardRow(
        "other_lineage", lambda it: bool(it.one.against) and not it.one.unproven, lambda it: it.one.against,
        "of another run, or set aside by a person: that person decides",
    ),
    GuardRow(
        "undeclared", lambda it: not it.one.declared,
        lambda _: "perhaps no checkpoint; to say that it is: `checkpoints` of its stage",
        "a numbered artifact may be a result or a data shard",
    ),
    GuardRow(
        "before_run", lambda it: it.began_at is None or it.one.extent.newest_at < it.began_at,
        lambda _: "written before this run began", "it belongs to something else",
    ),
    GuardRow(
        "other_run", lambda it: bool(it.other_run), lambda it: f"written by run {it.other_run}",
        "two runs of a project may use one folder, one after the other",
    ),
    GuardRow(
        "hard_link", lambda it: it.one.extent.shared, lambda _: "a file of it has another name (a hard link)",
        "its bytes would not be freed, and something relies on the other name",
    ),
    GuardRow(
        "mount", lambda it: it.one.extent.mounted, lambda _: "another file system is mounted in it",
        "what is mounted there is not part of the checkpoint",
    ),
    GuardRow(
        "holds_others", _holds_others, lambda _: "other checkpoints, or files of the run, lie in it",
        "they would go with it",
    ),
    GuardRow(
        "fresh", lambda it: it.age_seconds < FRESH_SECONDS,
        lambda _: f"written to in the last {FRESH_SECONDS:g} s", "it may be under way",
    ),
    GuardRow("open", lambda it: bool(it.open_by), lambda it: f"open: {it.open_by}", "somebody reads or writes it"),
)  # fmt: skip


def why_not(it: FreeCheckpoint) -> GuardRow | None:
    """The row that holds it; None: it may go."""
    return next((row for row in ROWS if row.holds(it)), None)
