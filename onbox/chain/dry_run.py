"""What `onbox resume` would do, without doing any of it. Looking changes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.chain.artifacts.on_disk import find_files
from onbox.chain.artifacts.small_results import ResultText, read_results
from onbox.chain.lock.lock_owner import Holder, read_holder
from onbox.chain.lock.runner_health import is_frozen, is_late
from onbox.chain.resume_source import lineage_terms
from onbox.chain.state.earlier_results import ResultsPlace, ResultWishes, find_conflicts
from onbox.chain.state.plan import Action, plan_stage
from onbox.chain.state.read_status import heartbeat_age_seconds, read_status
from onbox.chain.state.replay import StageHistory, replay
from onbox.chain.state.slots import read_marker
from onbox.chain.state.stage_evidence import look_at_stage
from onbox.checkpoints.on_disk import NO_TERMS, look_at_checkpoints
from onbox.checkpoints.wholeness import UNPROVEN
from onbox.contract.events import parse_events
from onbox.contract.markers import Marker
from onbox.contract.paths import CHAIN, SWEEP
from onbox.contract.readings import Absent, Maybe, Unseen, observed, plain
from onbox.contract.runfile import is_apart
from onbox.model.manifest import Artifact
from onbox.model.origin import Origin
from onbox.named_tuple import NamedTuple
from onbox.system.journal import read_lines
from onbox.system.lock import is_locked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.checkpoints.lineage import LineageTerms
    from onbox.checkpoints.select import Checkpoint, Choice
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import FrozenStage, RunHead
    from onbox.model.manifest import Stage

MISSING_SHOWN = 20
RESULT_STAGES = 20
UNSAID = Origin()


class StageForecast(NamedTuple):
    """One stage. row, action: of the plan. missing: files that its DONE marker names and that are not there."""

    name: str
    row: str
    action: Action
    missing: tuple[str, ...]


class Forecast(NamedTuple):
    """would: `attach` (a runner lives; nothing is started), `nothing` (all is done), `refuse` (results do not fit; see
    conflicts), `adopt` (a stage lives without a runner; it is waited for), `start` (a command is started).
    stage: the one that it is about. resuming: whether that is told to go on (ONBOX_RESUME=1).
    checkpoint: what that stage finds; Absent: it declares none, or there is none yet. results: of a run that is done.
    frozen, late: of a live runner, as `onbox status` tells it: stopped by a signal; its heartbeat is overdue.
    """

    would: str
    stage: str | None
    resuming: bool
    holder: Holder | None
    stages: tuple[StageForecast, ...]
    conflicts: tuple[str, ...]
    checkpoint: Maybe[Choice]
    results: tuple[ResultText, ...] = ()
    frozen: bool = False
    late: bool = False

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        """`(stage, path)` of every result that is gone although its stage is DONE."""
        return tuple((stage.name, path) for stage in self.stages for path in stage.missing)

    @property
    def refused(self) -> tuple[Checkpoint, ...]:
        """Checkpoints that hold a resume back: newer than the one to go on from, and certainly of another lineage."""
        known = observed(self.checkpoint)
        return known.refused if known is not None and self.would == "start" and self.resuming else ()

    @property
    def unusable(self) -> tuple[Checkpoint, ...]:
        """Incomplete checkpoints, where there is no other: the stage would begin at 0, or go on from one of them."""
        known = observed(self.checkpoint)
        if known is None or known.chosen is not None or self.would != "start" or not self.resuming:
            return ()
        return tuple(one for one in known.passed_over if one.whole is False and one.says != UNPROVEN)


_AT_REST = (Action.SKIP, Action.LAND, Action.REFUSE_STALE, Action.REFUSE_INVALID)
_RESUMING = (Action.RESTART, Action.RETRY, Action.START)


def foretell(paths: RunPaths, head: RunHead, stages: Sequence[FrozenStage], origin: Origin = UNSAID) -> Forecast:
    """Look at the run as a resume would find it. origin: what is promised of its checkpoints. Raises OSError,
    LockUnsupported.
    """
    history = replay(parse_events(read_lines(paths.journal)))
    alive = bool(is_locked(paths.lock))
    seen = tuple(
        _stage(head, frozen, look_at_stage(paths, frozen, history, chain_open=history.open)) for frozen in stages
    )
    conflicts = () if alive else tuple(find_conflicts(_place(paths, head), stages, history, ResultWishes()))
    first = next((one for one in seen if one.action not in _AT_REST), None)
    stage = next((frozen.stage for frozen in stages if first is not None and frozen.stage.name == first.name), None)
    holder = read_holder(paths.lock) if alive else None
    would = _would(paths, alive=alive, conflicts=bool(conflicts), first=first)
    names = tuple(f"{one.frozen.stage.name}: {'; '.join((one.action.value, *one.lost))}" for one in conflicts)
    known = history.of(first.name) if first is not None else StageHistory()
    resuming = first is not None and first.action in _RESUMING and known.has_earlier_work
    terms = lineage_terms(paths, head, stage, origin) if stage is not None and known.attempts else NO_TERMS
    named = first.name if first else None
    if would == "nothing":
        checkpoint = final_checkpoint(paths, head, stages, origin)
        return Forecast(would, named, resuming, holder, seen, names, checkpoint, _results(paths, head, stages))
    forecast = Forecast(would, named, resuming, holder, seen, names, _checkpoint(stage, head, terms))
    if not alive:
        return forecast
    return forecast._replace(
        frozen=is_frozen(holder), late=is_late(head, heartbeat_age_seconds(read_status(paths) or {}))
    )


def _place(paths: RunPaths, head: RunHead) -> ResultsPlace:
    backend = head.data.get("backend")
    return ResultsPlace(paths, None if isinstance(backend, dict) and is_apart(backend) else head.project)


def _would(paths: RunPaths, *, alive: bool, conflicts: bool, first: StageForecast | None) -> str:
    if alive:
        return "attach"
    if conflicts:
        return "refuse"
    if first is None:
        return "nothing" if isinstance(read_marker(paths.done(CHAIN)), Marker) else "start"
    return "adopt" if first.action is Action.ADOPT else "start"


def _stage(head: RunHead, frozen: FrozenStage, evidence: Any) -> StageForecast:
    row = plan_stage(evidence)
    missing = _missing(frozen.stage, head, evidence.marker) if isinstance(evidence.marker, Marker) else ()
    return StageForecast(frozen.stage.name, row.name, row.action, missing)


def _missing(stage: Stage, head: RunHead, marker: Marker) -> tuple[str, ...]:
    """Files that the marker names and that are gone, or empty where they were not."""
    folder = os.path.join(head.project, stage.cwd)
    listed = marker.data.get("artifacts")
    found = []
    for one in listed if isinstance(listed, list) else ():
        path, size = (one.get("path"), one.get("bytes")) if isinstance(one, dict) else (None, None)
        if isinstance(path, str) and not _is_there(path, folder, size):
            found.append(path)
    return tuple(found[:MISSING_SHOWN])


def _is_there(path: str, folder: str, size: object) -> bool:
    try:
        now = next(iter(find_files(Artifact(path), folder)), None)
    except (OSError, ValueError):
        return True  # it could not be looked at: nothing is known against it
    return now is not None and (now.size_bytes > 0 or not size)


def _checkpoint(stage: Stage | None, head: RunHead, terms: LineageTerms) -> Maybe[Choice]:
    if stage is None:
        return Absent("no stage is left to run")
    return _look(stage, head, terms)


def final_checkpoint(paths: RunPaths, head: RunHead, stages: Sequence[FrozenStage], origin: Origin) -> Maybe[Choice]:
    """What the last stage that leaves numbered checkpoints has left; of a chain that is done."""
    for frozen in reversed(stages):
        found = _look(frozen.stage, head, lineage_terms(paths, head, frozen.stage, origin))
        if not isinstance(found, Absent):
            return found
    return Absent("no stage leaves numbered checkpoints")


def _results(paths: RunPaths, head: RunHead, stages: Sequence[FrozenStage]) -> tuple[ResultText, ...]:
    """Of the last stages, in order of the chain."""
    found: list[ResultText] = []
    for frozen in stages[-RESULT_STAGES:]:
        marker = read_marker(paths.done(frozen.stage.name))
        if isinstance(marker, Marker):
            found += read_results(frozen.stage, head.project, marker.data)
    return tuple(found)


def _look(stage: Stage, head: RunHead, terms: LineageTerms) -> Maybe[Choice]:
    try:
        choice = look_at_checkpoints(stage, head.project, terms)
    except (OSError, ValueError) as error:
        return Unseen(str(error))
    if choice.chosen is None and not choice.passed_over:
        declared = any(one.has_wildcard for one in stage.artifacts) or stage.gates.checkpoints is not None
        return Absent(
            "none is there yet" if declared else "no numbered artifacts and no checkpoint folder are declared"
        )
    return choice


def as_data(run: str, run_id: str, forecast: Forecast) -> dict[str, Any]:
    """For `--json`."""
    return {
        "schema": 1,
        "run": run,
        "run_id": run_id,
        "would": forecast.would,
        "says": in_words(forecast),
        "stage": forecast.stage,
        "resuming": forecast.resuming,
        "runner_pid": forecast.holder.pid if forecast.holder else None,
        "stages": [
            {"name": one.name, "plan": one.row, "action": one.action.value, "missing": list(one.missing)}
            for one in forecast.stages
        ],
        "conflicts": list(forecast.conflicts),
        "missing": [{"stage": stage, "path": path} for stage, path in forecast.missing],
        "checkpoint": plain(forecast.checkpoint),
        "refused_checkpoints": [one.path for one in forecast.refused],
        "unusable_checkpoints": [one.path for one in forecast.unusable],
        "results": plain(forecast.results),
    }


def in_words(forecast: Forecast) -> str:
    """One sentence."""
    stage = forecast.stage
    if forecast.would == "attach":
        return _attach_words(forecast)
    if forecast.would == "nothing":
        return "every stage is done: a resume starts nothing"
    if forecast.would == "refuse":
        return "a resume starts nothing before a word of yours: " + "; ".join(forecast.conflicts[:3])
    if forecast.would == "adopt":
        return f"stage {stage} is alive without a runner: a resume takes it over, and does not start it a second time"
    if stage is None:
        return "every stage is done: a resume records the end"
    if stage == SWEEP:
        return "no runner is alive: a resume runs the cells that are open; failed ones only `onbox sweep retry-failed`"
    action = next((one.action for one in forecast.stages if one.name == stage), None)
    if action is Action.FINISH_FAILURE:
        return (
            f"stage {stage} failed, which is not the run's end yet: a resume records it; the one after starts it again"
        )
    if action is Action.JUDGE:
        return f"stage {stage} ended while no runner lived: a resume judges how, and goes on from there"
    row = next((one.row for one in forecast.stages if one.name == stage), "")
    first = "anew, without ONBOX_RESUME" if row in ("marker-removed", "redo-asked-for") else "for the first time"
    how = "again, with ONBOX_RESUME=1" if forecast.resuming else first
    return f"no runner and no stage is alive: a resume starts stage {stage} {how}"


def _attach_words(forecast: Forecast) -> str:
    """A runner lives. One that does nothing at this moment is not said to be at work."""
    pid = f" (pid {forecast.holder.pid})" if forecast.holder else ""
    if forecast.frozen and forecast.holder:
        on = f"it goes on after: kill -CONT {forecast.holder.pid}"
        return f"its runner{pid} is frozen by a signal (SIGSTOP): a resume starts nothing, it only watches; {on}"
    if forecast.late:
        return f"its runner{pid} is stuck or stopped, its heartbeat is late: a resume starts nothing, it only watches"
    return f"a runner is at work{pid}: a resume starts nothing, it watches"


def checkpoint_words(checkpoint: Maybe[Choice]) -> str:
    """What the stage finds, in words."""
    if isinstance(checkpoint, Absent):
        return checkpoint.why
    if isinstance(checkpoint, Unseen):
        return f"could not look: {checkpoint.why}"
    chosen = checkpoint.chosen
    words = {True: "whole", False: "incomplete", None: "whole or not is not known"}
    parts = [
        f"step {chosen.step}, {chosen.path}: {words[chosen.whole]} ({chosen.says})" if chosen else "none that is whole"
    ]
    parts += [f"passed over: {one.path} ({one.against or one.says})" for one in checkpoint.passed_over]
    return "; ".join(parts)
