"""What a run is right now, from what lies on the disk and what the kernel says. Looking never changes anything."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING, Any

from onbox.chain.lock.lock_owner import Holder, read_holder
from onbox.chain.lock.runner_health import is_frozen
from onbox.chain.missed_end import look_at_unseen_end
from onbox.chain.state.frozen_run import read_head, read_stages
from onbox.chain.state.read_status import heartbeat_age_seconds, read_status
from onbox.chain.state.replay import History, replay
from onbox.chain.state.slots import find_keeper, read_marker, read_slot
from onbox.contract.events import Event, parse_events
from onbox.contract.markers import Invalid, Marker
from onbox.contract.states import RunState, StageState
from onbox.logs.tail import look_at_log
from onbox.model.detect import detect_from_dict
from onbox.named_tuple import NamedTuple
from onbox.runs.signs import Sign, signs_of_stage
from onbox.runs.state import state_of
from onbox.system.clock import wall
from onbox.system.journal import read_lines
from onbox.system.lock import is_locked
from onbox.system.process import look_up
from onbox.triage.repeats import Repeated

if TYPE_CHECKING:
    from onbox.contract.events import Record
    from onbox.contract.markers import Slot
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import FrozenStage, RunHead
    from onbox.runs.unseen_end import UnseenEnd
    from onbox.system.process import ProcessEntry


NOT_JUDGED = "ended; its runner has yet to judge how"


class StageView(NamedTuple):
    """One stage as it is now. `marker` is its DONE marker's data; None if there is none. began_at: of its newest
    attempt.
    """

    name: str
    state: StageState
    attempts: int
    marker: dict[str, Any] | None
    note: str = ""
    began_at: str | None = None


class RunView(NamedTuple):
    """One run as it is now. `runner_alive` and `stage_alive` are the kernel's word (file locks), not a claim of a file.

    keeper_alive: whether the live stage has a keeper, which will record its end and continue the chain.
    heartbeat_age_seconds: age of status.json; None if there is none. `end` is the chain's last end record, if it has
    ended. `unreadable_lines`: damaged journal lines, which were passed over. tracker_runs: the newest records of runs
    at experiment trackers, oldest first. repeated: how often its newest bad end came. began_at: of the first launch
    since the chain was last done; launches: of all; worked_seconds: how long those since then took. keeper_gone: the
    live stage's keeper had begun and is dead: nobody will record how the stage ends. runner_frozen: the live runner was
    stopped by a signal (SIGSTOP, a debugger). stage_signs: what a resume finds of the stage at work. unseen_end: what
    is known of its end, where nobody recorded it and nothing lives.
    """

    head: RunHead
    state: RunState
    runner_alive: bool
    stage_alive: str | None
    keeper_alive: bool
    holder: Holder | None
    stages: tuple[StageView, ...]
    status: dict[str, Any]
    end: dict[str, Any] | None
    heartbeat_age_seconds: float | None
    unreadable_lines: int
    tracker_runs: tuple[Record, ...] = ()
    repeated: Repeated = Repeated(0)
    began_at: str | None = None
    launches: int = 0
    rechecked: str = ""
    keeper_gone: bool = False
    runner_frozen: bool = False
    stage_signs: frozenset[Sign] = frozenset()
    unseen_end: UnseenEnd | None = None
    worked_seconds: float | None = None

    @property
    def current(self) -> str | None:
        """The stage that is or was at work; None when all are done or none began."""
        return next((stage.name for stage in self.stages if stage.state is not StageState.DONE), None)

    @property
    def watch_signs(self) -> frozenset[Sign]:
        """What is wrong with those who watch its live stage."""
        rows = (
            (not self.runner_alive and self.stage_alive is not None, Sign.RUNNER_GONE),
            (self.runner_frozen, Sign.RUNNER_FROZEN),
            (self.runner_alive and self.keeper_gone, Sign.KEEPER_GONE),
        )
        return frozenset(sign for holds, sign in rows if holds)


def look_at_run(paths: RunPaths) -> RunView | None:
    """The run at `paths`; None if there is none. Raises OSError, ValueError (a damaged run.json), LockUnsupported."""
    head = read_head(paths)
    if head is None:
        return None
    history = replay(parse_events(read_lines(paths.journal)))
    runner_alive = bool(is_locked(paths.lock))
    status = read_status(paths) or {}
    names = set(os.listdir(paths.markers)) if os.path.isdir(paths.markers) else set()
    stages = tuple(
        _view_stage(paths, frozen, history, names, runner_alive=runner_alive) for frozen in read_stages(paths)
    )
    stage_alive = next((view.name for view in stages if view.state is StageState.RUNNING), None)
    holder = read_holder(paths.lock) if runner_alive else None
    lives = runner_alive or stage_alive is not None
    unseen = None if lives else look_at_unseen_end(paths, head, history.facts)
    is_here = holder is not None and holder.host == platform.node()
    return RunView(
        head,
        state_of(
            history.facts,
            runner_alive=runner_alive,
            stage_alive=stage_alive is not None,
            claims_stall=status.get("state") == RunState.STALLED.value,
        ),
        runner_alive,
        stage_alive,
        stage_alive is not None and _has_keeper(paths, stage_alive),
        holder,
        stages,
        status,
        history.last_end,
        heartbeat_age_seconds(status),
        len(history.unreadable),
        tuple(history.facts.tracker_runs),
        history.facts.repeated(detect_from_dict(head.data.get("detect")).same_step),
        history.facts.began_at,
        history.launches,
        history.facts.rechecked,
        is_here and stage_alive is not None and _lost_keeper(paths, stage_alive),
        is_frozen(holder),
        _stage_signs(paths, history, names, unseen),
        unseen,
        history.facts.worked_seconds(wall()),
    )


def _stage_signs(paths: RunPaths, history: History, names: set[str], unseen: UnseenEnd | None) -> frozenset[Sign]:
    stage = history.facts.stage
    slot = read_slot(paths.slot(stage))[0] if stage is not None and f".{stage}.slot" in names else None
    return signs_of_stage(history.facts, slot, unseen)


def _has_keeper(paths: RunPaths, stage: str) -> bool:
    slot, _, _ = read_slot(paths.slot(stage))
    return slot is not None and find_keeper(slot, paths.slot(stage)) is not None


def _lost_keeper(paths: RunPaths, stage: str) -> bool:
    """The slot is read again after the look at the process: a keeper records the exit code before it ends."""
    path = paths.slot(stage)
    before, _, _ = read_slot(path)
    if before is None or before.keeper_pid is None or _is_there(look_up(before.keeper_pid)):
        return False
    after, _, locked = read_slot(path)
    return locked and after is not None and after.attempt == before.attempt and after.exit_code is None


def _is_there(entry: ProcessEntry | None) -> bool:
    return entry is not None and not entry.is_zombie


def _view_stage(
    paths: RunPaths, frozen: FrozenStage, history: History, names: set[str], *, runner_alive: bool
) -> StageView:
    name = frozen.stage.name
    known = history.of(name)
    marker = read_marker(paths.done(name)) if f"{name}_DONE" in names else None
    if isinstance(marker, Marker):
        note = "" if marker.fingerprint == frozen.fingerprint else "DONE of another command"
        return StageView(name, StageState.DONE, marker.attempt, dict(marker.data), note)
    began = (known.started or {}).get("at")
    note = f"its DONE file is not a marker: {marker.reason}" if isinstance(marker, Invalid) else ""
    if f".{name}.slot" in names:
        slot, _, locked = read_slot(paths.slot(name))
        if locked and slot is not None and slot.exit_code is None:
            return StageView(name, StageState.RUNNING, slot.attempt, None, note, began)
        if runner_alive and known.last == Event.ATTEMPT_STARTED and _has_ended(slot, known.attempts):
            return StageView(name, StageState.WAITING, known.attempts, None, note or NOT_JUDGED, began)
    return StageView(name, _state_at_rest(name, history), known.attempts, None, note, began)


def _has_ended(slot: Slot | None, attempt: int) -> bool:
    """Whether its keeper wrote down how this attempt ended."""
    return slot is not None and slot.attempt == attempt and slot.exit_code is not None


def _state_at_rest(name: str, history: History) -> StageState:
    """The state of a stage of which nothing runs."""
    last = history.of(name).last
    if last == Event.STAGE_FAILED and name in history.failed:
        return StageState.FAILED
    if last == Event.STAGE_RETRYING:
        return StageState.WAITING if history.open else StageState.INTERRUPTED
    if last in (Event.ATTEMPT_STARTED, Event.STAGE_INTERRUPTED):
        return StageState.INTERRUPTED
    return StageState.PENDING


def log_look(paths: RunPaths, view: RunView) -> dict[str, Any] | None:
    """The newest log of the current stage (or of the last one): path, size, age, last line. None if there is none."""
    stage = view.current or (view.stages[-1].name if view.stages else None)
    if stage is None:
        return None
    try:
        seen = look_at_log(paths.newest_log(stage))
    except OSError:
        return None
    if seen is None:
        return None
    age = max(0.0, wall() - seen.mtime_seconds)
    return {
        "path": os.path.realpath(paths.newest_log(stage)),
        "bytes": seen.size_bytes,
        "age_seconds": round(age, 1),
        "last_line": seen.last_line,
    }
