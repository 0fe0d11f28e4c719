"""What earlier launches left, and the user's word on it: which DONE counts, and what stands in the way of a start."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.chain.artifacts.presence import find_results, lost_results
from onbox.chain.state.plan import Action, plan_stage
from onbox.chain.state.slots import read_marker
from onbox.chain.state.stage_evidence import look_at_stage
from onbox.chain.state.stage_records import about_files, last_metric
from onbox.contract.events import Event, render_event
from onbox.contract.markers import Invalid, Marker, render_marker
from onbox.contract.paths import CHAIN
from onbox.model.manifest import folder_of
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.clock import utc_text, wall
from onbox.system.files import remove_file, replace_file, user_name
from onbox.system.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from onbox.chain.state.plan import StageEvidence
    from onbox.chain.state.replay import History
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import FrozenStage
    from onbox.model.manifest import Stage


class ResultWishes(NamedTuple):
    """The user's word on earlier results: stages whose result counts though something speaks against it, or that are
    run again.
    """

    accept_done: Collection[str] = ()
    redo: Collection[str] = ()


class Conflict(NamedTuple):
    """A stage that must not be skipped and must not be run without a word.

    marker: its DONE marker, None if that is invalid or missing. reason: what is wrong with the marker. after: the
    stage before it that will run, so that this DONE would be older than its input. lost: results that are gone.
    """

    frozen: FrozenStage
    action: Action
    marker: Marker | None
    reason: str
    after: str | None = None
    lost: tuple[str, ...] = ()


class Conflicts(Exception):
    """Stages that need the user's word before the chain may go on."""

    def __init__(self, found: list[Conflict]) -> None:
        self.found = found
        super().__init__(f"{len(found)} stages need a decision")


class ResultsPlace(NamedTuple):
    """A run, and where its stages work; project None: on another disk, so that their results cannot be looked at."""

    paths: RunPaths
    project: str | None
    run_id: str = ""


def redo_with_followers(
    paths: RunPaths, names: Sequence[str], redo: Collection[str], kept: Collection[str]
) -> list[str]:
    """The stages to run again: a result behind one of them would be older than its input, so it is made again, too.

    names: of the chain, in order. kept: what counts by the user's word.
    """
    first = next((at for at, name in enumerate(names) if name in redo), len(names))
    followers = {name for name in names[first:] if os.path.lexists(paths.done(name))} - {*kept}
    return [name for name in names if name in redo or name in followers]


def find_conflicts(
    place: ResultsPlace, stages: Sequence[FrozenStage], history: History, wishes: ResultWishes
) -> list[Conflict]:
    """Stages whose DONE is of another command, older than a stage before it that will run, no marker at all, or whose
    results are gone; and stages of which another command is still alive.
    """
    found = []
    to_run: str | None = None
    for frozen in stages:
        name = frozen.stage.name
        evidence = look_at_stage(place.paths, frozen, history, chain_open=history.open)
        action = plan_stage(evidence).action
        conflict = _conflict(frozen, evidence, action, wishes, to_run)
        if conflict is None and action is Action.SKIP and name not in (*wishes.accept_done, *wishes.redo):
            conflict = _conflict_by_loss(place, frozen, evidence)
        if conflict is not None:
            found.append(conflict)
        elif name in wishes.redo or action not in (Action.SKIP, Action.LAND, *_SETTLED_BY_ACCEPTING):
            to_run = to_run or (None if name in wishes.accept_done else name)
    return found


_SETTLED_BY_ACCEPTING = (Action.REFUSE_STALE, Action.REFUSE_INVALID)


def _conflict(
    frozen: FrozenStage, evidence: StageEvidence, action: Action, wishes: ResultWishes, to_run: str | None
) -> Conflict | None:
    """What is in the way of one stage, the user's word taken into account. to_run: the first stage that will run."""
    name = frozen.stage.name
    marker = evidence.marker if isinstance(evidence.marker, Marker) else None
    if action is Action.REFUSE_LIVE or (action is Action.ADOPT and name in {*wishes.redo, *wishes.accept_done}):
        return Conflict(frozen, Action.REFUSE_LIVE, marker, "")
    if name in wishes.accept_done:
        tried = evidence.marker is not None or evidence.history.attempts > 0
        return None if tried else Conflict(frozen, action, None, "it never ran, so there is no result to accept")
    if name in wishes.redo:
        return None
    if action in _SETTLED_BY_ACCEPTING:
        reason = evidence.marker.reason if isinstance(evidence.marker, Invalid) else ""
        return Conflict(frozen, action, marker, reason)
    if action is Action.SKIP and to_run is not None:
        return Conflict(frozen, action, marker, "", after=to_run)
    return None


def _conflict_by_loss(place: ResultsPlace, frozen: FrozenStage, evidence: StageEvidence) -> Conflict | None:
    if place.project is None or not isinstance(evidence.marker, Marker):
        return None
    lost = lost_results(frozen.stage, folder_of(place.project, frozen.stage), evidence.marker)
    return Conflict(frozen, Action.SKIP, evidence.marker, "", lost=lost.gone) if lost.gone else None


def all_done(place: ResultsPlace, stages: Iterable[tuple[Stage, str]], chain_fingerprint: str) -> bool:
    """Whether the chain has ended well with exactly these commands, and what its stages left is still there.

    CHAIN_DONE is taken away when a chain starts, so it vouches for the stages' markers: only those of stages with
    artifacts need to be read.
    """
    paths = place.paths
    whole = read_marker(paths.done(CHAIN))
    if not isinstance(whole, Marker) or whole.fingerprint != chain_fingerprint:
        return False
    names = set(os.listdir(paths.markers))
    return all(f"{stage.name}_DONE" in names and not _has_lost(place, stage) for stage, _ in stages)


def _has_lost(place: ResultsPlace, stage: Stage) -> bool:
    if not stage.artifacts or place.project is None:
        return False
    marker = read_marker(place.paths.done(stage.name))
    return isinstance(marker, Marker) and bool(lost_results(stage, folder_of(place.project, stage), marker).gone)


# -- the user's word


def carry_out(place: ResultsPlace, stages: Sequence[FrozenStage], wishes: ResultWishes, history: History) -> None:
    """Accept or drop earlier results, as the user said. Journaled before it is done."""
    chosen = [frozen for frozen in stages if frozen.stage.name in {*wishes.accept_done, *wishes.redo}]
    if not chosen:
        return
    journal = Journal(place.paths.journal)
    for frozen in chosen:
        name, paths = frozen.stage.name, place.paths
        redo = name in wishes.redo
        event = Event.STAGE_REDO if redo else Event.DONE_ACCEPTED
        record = {"at": utc_text(wall()), "event": event, "stage": name, "fingerprint": frozen.fingerprint}
        if redo:
            journal.append(render_event(record))
            remove_file(paths.done(name))
        else:
            data = _accepted(place, frozen, history, str(record["at"]))
            record |= {key: data[key] for key in _OF_ACCEPTED if key in data}
            journal.append(render_event(record))
            remove_file(paths.failed(name))
            replace_file(paths.done(name), render_marker(data))
        history.apply(record)
    journal.close()


_OF_ACCEPTED = ("accepted_by", "in_spite_of", "duration_seconds", "progress", "metric")
_OF_FAILURE = (
    "cmd",
    "cwd",
    "env",
    "exit_code",
    "started_at",
    "ended_at",
    "duration_seconds",
    "resources",
    "tracker",
    "progress",
)


def _accepted(place: ResultsPlace, frozen: FrozenStage, history: History, at: str) -> dict[str, Any]:
    """The DONE marker that a person's word makes: that of before, or what is known of the attempt that failed."""
    stage, known = frozen.stage, history.of(frozen.stage.name)
    marker = read_marker(place.paths.done(stage.name))
    if isinstance(marker, Marker):
        data = dict(marker.data)
    else:
        failed = read_marker(place.paths.failed(stage.name))
        seen = failed.data if isinstance(failed, Marker) else {}
        data = {"run_id": place.run_id, "stage": stage.name, "attempt": known.attempts}
        data |= {key: seen[key] for key in _OF_FAILURE if seen.get(key) is not None}
        reason = seen.get("reason") or known.last
        data |= {"in_spite_of": safe_line(reason, 300)} if reason else {}
        data |= {"ended_at": seen.get("ended_at") or at, **last_metric(seen)}
    data.pop("code", None)  # what was accepted is the result, whatever code it is of
    data |= {"fingerprint": frozen.fingerprint, "accepted_at": at, "accepted_by": user_name(os.getuid())}
    return {**data, **_what_is_there(place, stage)}


def _what_is_there(place: ResultsPlace, stage: Stage) -> dict[str, Any]:
    """The results as they are now: that is what was accepted."""
    if place.project is None or not stage.artifacts:
        return {}
    return about_files(find_results(stage, folder_of(place.project, stage)))
