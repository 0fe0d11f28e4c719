"""Which checkpoints may go, how much that frees, and the word by which somebody agrees to exactly this list."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

from onbox.chain.run_status import look_at_run
from onbox.chain.stage_checkpoints import shown_path
from onbox.chain.state.slots import find_keeper, read_slot
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.model.manifest import folder_of
from onbox.named_tuple import NamedTuple
from onbox.retention.guards import FreeCheckpoint, why_not
from onbox.retention.open_files import CannotLook, who_has_open
from onbox.retention.other_runs import written_by_others
from onbox.system.process import find_family

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.chain.stage_checkpoints import RunCheckpoints, StageCheckpoints
    from onbox.checkpoints.keep import Retention
    from onbox.checkpoints.survey import Surveyed
    from onbox.contract.paths import RunPaths


class PruneItem(NamedTuple):
    """One checkpoint that may go, as it was when it was listed. path: real. name: as it is shown."""

    path: str
    name: str
    stage: str
    step: int | None
    bytes: int
    files: int
    newest_at: float
    identity: tuple[int, int]


class SparedCheckpoint(NamedTuple):
    """One that no rule keeps and that is not touched all the same."""

    name: str
    row: str
    why: str


class PrunePlan(NamedTuple):
    """found: how many checkpoints there are."""

    items: tuple[PruneItem, ...]
    guarded: tuple[SparedCheckpoint, ...]
    found: int
    retention: Retention

    @property
    def bytes(self) -> int:
        return sum(item.bytes for item in self.items)

    @property
    def word(self) -> str:
        """Of exactly this list: who repeats it agrees to nothing else."""
        return next((word for word, _ in self._words()), "")

    def agreed(self, word: str) -> PrunePlan | None:
        """What somebody agreed to by this word. While the run works the list grows at its newer end: what was added
        since is left out. None: it is the word of another list.
        """
        return next((self._replace(items=items) for one, items in self._words() if one == word), None)

    def _words(self) -> list[tuple[str, tuple[PruneItem, ...]]]:
        """The word of the whole list, then that of all but the newest, and so on."""
        oldest_first = sorted(self.items, key=lambda item: (item.step or 0, item.path))
        running, words = hashlib.sha256(json.dumps(self.retention).encode()), []
        for count, item in enumerate(oldest_first, start=1):
            running.update(json.dumps([item.path, *item.identity, item.bytes, item.newest_at]).encode())
            words.append((running.hexdigest()[:8], tuple(reversed(oldest_first[:count]))))
        return words[::-1]


def make_plan(paths: RunPaths, run: RunCheckpoints, now: float) -> PrunePlan:
    """What may go. Raises Trouble where something could not be looked at."""
    unseen = [text for of in run.stages for text in of.survey.unseen]
    if unseen:
        more = f", and {len(unseen) - 1} more" if len(unseen) > 1 else ""
        raise Trouble(Exit.GATE_REFUSED, f"nothing is removed: could not look at {unseen[0]}{more}")
    unkept = _unkept(run)
    open_by = _open_by(paths, [one.path for _, one in unkept]) if unkept else {}
    places, others = _places(paths, run), _of_others(paths, run, [one for _, one in unkept])
    items, guarded = [], []
    for of, one in unkept:
        began = min((it.began_at for it in of.attempts), default=None)
        age = now - one.extent.newest_at
        inner = tuple(path for path in places if path != one.path)
        row = why_not(it := FreeCheckpoint(one, began, age, open_by.get(one.path, ""), inner, others.get(one.path, "")))
        name = shown_path(run.head.project, one.path)
        if row is not None:
            guarded.append(SparedCheckpoint(name, row.name, row.says(it)))
            continue
        extent = one.extent
        identity = (extent.identity[0], extent.identity[1])
        items.append(
            PruneItem(one.path, name, of.stage.name, one.step, extent.bytes, extent.files, extent.newest_at, identity)
        )
    return PrunePlan(tuple(items), tuple(guarded), len(_by_path(run)), run.retention)


def _by_path(run: RunCheckpoints) -> dict[str, list[tuple[StageCheckpoints, Surveyed]]]:
    """Stages may share a folder."""
    found: dict[str, list[tuple[StageCheckpoints, Surveyed]]] = {}
    for of in run.stages:
        for one in of.survey.found:
            found.setdefault(one.path, []).append((of, one))
    return found


def _unkept(run: RunCheckpoints) -> list[tuple[StageCheckpoints, Surveyed]]:
    """Those that no stage keeps."""
    return [seen[0] for path, seen in _by_path(run).items() if not any(of.kept[path] for of, _ in seen)]


def _places(paths: RunPaths, run: RunCheckpoints) -> tuple[str, ...]:
    """What must not go along with a folder."""
    head = run.head
    config = head.data.get("config")
    places = [paths.root, head.project, *(folder_of(head.project, of.stage) for of in run.stages), *_by_path(run)]
    return tuple(os.path.realpath(path) for path in (*places, *([config] if isinstance(config, str) else [])))


def _of_others(paths: RunPaths, run: RunCheckpoints, found: list[Surveyed]) -> dict[str, str]:
    own = [it.began_at for of in run.stages for it in of.attempts]
    try:
        return written_by_others(paths, {one.path: one.extent.newest_at for one in found}, own)
    except (OSError, ValueError) as error:
        raise Trouble(
            Exit.GATE_REFUSED, f"nothing is removed: could not look at the runs beside it: {error}"
        ) from error


def _open_by(paths: RunPaths, found: Iterable[str]) -> dict[str, str]:
    """Raises Trouble where what the live stage has open cannot be seen."""
    view = look_at_run(paths)
    if view is None:
        return {}
    holder = view.holder
    if holder is not None and holder.host != os.uname().nodename:
        raise Trouble(
            Exit.GATE_REFUSED, f"nothing is removed: the run is alive on {holder.host}; what it has open is seen there"
        )
    try:
        return who_has_open(list(found), _family(paths, view.stage_alive))
    except CannotLook as error:
        raise Trouble(Exit.GATE_REFUSED, f"nothing is removed: {error}") from error


def _family(paths: RunPaths, stage: str | None) -> set[int]:
    """Processes of the live stage."""
    slot, _, _ = read_slot(paths.slot(stage)) if stage is not None else (None, None, None)
    keeper = find_keeper(slot, paths.slot(stage)) if slot is not None and stage is not None else None
    return {entry.identity.pid for entry in find_family(keeper)} if keeper is not None else set()
