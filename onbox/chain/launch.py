"""From a definition to a live runner: one runner per run, whoever calls, however often.

With the run's lock in hand (`lock/run_lock.py`): 1. see what earlier runs left, and refuse what would be a wrong skip;
2. freeze the definition into run.json; 3. start the detached runner, which inherits the lock.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from onbox.chain.command.environment import run_dir_assignment
from onbox.chain.gates.success_gate import signal_of
from onbox.chain.lock.claims import one_start_at_a_time, refuse_claimed
from onbox.chain.lock.run_lock import StillAlive
from onbox.chain.runner.runner_process import start_runner
from onbox.chain.state.earlier_results import Conflicts, ResultsPlace, ResultWishes, all_done, carry_out, find_conflicts
from onbox.chain.state.frozen_run import read_head, read_stages
from onbox.chain.state.replay import History, replay
from onbox.chain.state.slots import read_marker, read_slot
from onbox.contract.differences import Difference, Side, find_differences
from onbox.contract.events import Event, parse_events, render_event
from onbox.contract.markers import Marker
from onbox.contract.paths import CHAIN
from onbox.contract.runfile import FrozenStage, is_apart, render_runfile
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.clock import utc_text, wall
from onbox.system.files import replace_file
from onbox.system.journal import Journal, read_lines
from onbox.system.process import find_tree, high, high_pipe

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from onbox.chain.lock.run_lock import Taken
    from onbox.contract.paths import RunPaths
    from onbox.model.manifest import Stage

    Announce = Callable[[tuple[Difference, ...]], None]


class Definition(NamedTuple):
    """What is to be run: the head of run.json without the fields that only the launch knows, and the stages. forgets:
    why it must not take the place of the frozen one, with the ways on; "": it may.
    """

    paths: RunPaths
    head: Mapping[str, Any]
    stages: Sequence[tuple[Stage, str]]
    chain_fingerprint: str
    forgets: str = ""

    @property
    def names(self) -> list[str]:
        """Of the stages, in order."""
        return [stage.name for stage, _ in self.stages]

    @property
    def place(self) -> ResultsPlace:
        """Where its results lie. Jobs of some engines have another disk."""
        backend = self.head.get("backend")
        apart = isinstance(backend, dict) and is_apart(backend)
        return ResultsPlace(self.paths, None if apart else str(self.head["project"]), str(self.head["run_id"]))


class Launched(NamedTuple):
    """A runner was started: its pid, and a pipe that tells when it journaled something and when it ended."""

    pid: int
    bell_fd: int


class AlreadyDone(NamedTuple):
    """Every stage is done and so is the chain: there is nothing to start."""

    stage_count: int


class OtherStageAlive(Exception):
    """A stage that is not part of the chain to start is alive, left by a runner that is gone."""

    def __init__(self, stage: str) -> None:
        self.stage = stage
        super().__init__(f"stage {stage}")


class Forgets(Exception):
    """The run would be another, shorter one, and a stage of it that is not done would be forgotten."""


def launch(
    definition: Definition, wishes: ResultWishes, lock: Taken, announce: Announce | None = None
) -> Launched | AlreadyDone:
    """Start a runner for the definition, with the lock already held. announce: hears what differs from the launch
    before, ahead of anything that starts. Raises Conflicts, StateNotWritten, OSError.
    """
    if is_all_done(definition) and not wishes.accept_done and not wishes.redo:
        os.close(lock.lock_fd)
        return AlreadyDone(len(definition.stages))
    prepare(definition, wishes, announce)
    listening, bell = high_pipe()
    lock_fd = high(lock.lock_fd)
    try:
        pid = start_runner(definition.paths.root, lock_fd, bell)
    finally:
        os.close(lock_fd)
        os.close(bell)
    return Launched(pid, listening)


def prepare(definition: Definition, wishes: ResultWishes, announce: Announce | None = None) -> None:
    """Everything before the runner: wishes, conflicts, differences, freezing. Raises Conflicts, StillAlive,
    StateNotWritten.
    """
    paths = definition.paths
    if definition.forgets:
        raise Forgets(definition.forgets)
    if not os.path.exists(paths.journal):
        survivors = [entry.identity.pid for entry in find_tree(None, run_dir_assignment(paths.root))]
        if survivors:
            raise StillAlive(survivors)
    history = replay(parse_events(read_lines(paths.journal)))
    frozen = [
        FrozenStage(stage, fingerprint, position)
        for position, (stage, fingerprint) in enumerate(definition.stages, start=1)
    ]
    _refuse_other_live_stages(paths, {stage.name for stage, _ in definition.stages})
    place = definition.place
    conflicts = find_conflicts(place, frozen, history, wishes)
    if conflicts:
        raise Conflicts(conflicts)
    head = _head_with_changes(definition, history)
    if announce is not None and head.get("changed"):
        announce(tuple(Difference(*one) for one in head["changed"]["differences"]))
    text = render_runfile(head, definition.stages)
    with _unclaimed(place, frozen, wishes):
        if "backend" not in definition.head:  # of an engine's node this machine may see a log late
            _note_wordless_end(paths, history)
        carry_out(place, frozen, wishes, history)
        replace_file(paths.manifest, text)


def _note_wordless_end(paths: RunPaths, history: History) -> None:
    """An attempt that failed while no runner watched, and left no word (on a full disk neither could write): why is not
    to be learned from it any more. Whoever asks for the run wants another attempt, not the judgement "unknown".
    """
    name = history.facts.stage or ""
    known = history.of(name)
    if not history.open or known.last != Event.ATTEMPT_STARTED or known.ended is not None:
        return
    slot, _, locked = read_slot(paths.slot(name))
    if locked or slot is None or slot.attempt != known.attempts or not slot.exit_code:
        return
    with suppress(FileNotFoundError):
        if os.stat(paths.log(name, known.attempts)).st_size:
            return
    about = {"at": utc_text(wall()), "stage": name, "attempt": known.attempts}
    ended = {"event": Event.ATTEMPT_ENDED, "exit_code": slot.exit_code, "signal": signal_of(slot.exit_code)}
    reason = f"it ended with exit code {slot.exit_code} while no runner watched, and its log is empty"
    records = [about | ended | {"cause": "exit"}, about | {"event": Event.STAGE_INTERRUPTED, "reason": reason}]
    journal = Journal(paths.journal)
    try:
        journal.append(b"".join(map(render_event, records)))
    finally:
        journal.close()
    for record in records:
        history.apply(record)


@contextmanager
def _unclaimed(place: ResultsPlace, stages: Sequence[FrozenStage], wishes: ResultWishes) -> Iterator[None]:
    """Raises Claimed where another live run writes what one of the stages that will run is judged by; within this no
    other run gets so far.
    """
    if place.project is None or not any(one.stage.artifacts for one in stages):
        yield
        return
    to_run = [one.stage for one in stages if one.stage.name in wishes.redo or not _is_done(place.paths, one)]
    with one_start_at_a_time(place.paths):
        refuse_claimed(place.paths, place.project, to_run)
        yield


def _is_done(paths: RunPaths, frozen: FrozenStage) -> bool:
    marker = read_marker(paths.done(frozen.stage.name))
    return isinstance(marker, Marker) and marker.fingerprint == frozen.fingerprint


def _head_with_changes(definition: Definition, history: History) -> dict[str, Any]:
    """The head to freeze, with what differs from the launch before: `{launch, differences}`. Only where there is one
    before is the code looked at ahead of the start.
    """
    head = {key: value for key, value in definition.head.items() if key != "changed"}
    try:
        old = read_head(definition.paths)
        old_stages = [frozen.stage for frozen in read_stages(definition.paths)] if old is not None else []
    except (OSError, ValueError):
        return head  # a damaged run.json is replaced, and nothing can be compared with it
    if old is None or not history.launches:
        return head
    from onbox.chain.command.code_identity import look_at_git  # noqa: PLC0415 - subprocess, before the first stage

    head["git"] = look_at_git(str(head["project"]))
    found = find_differences(Side(old.data, old_stages), Side(head, [stage for stage, _ in definition.stages]))
    if found:
        differences = [[safe_line(text, 300) for text in one] for one in found]
        head["changed"] = {"launch": history.launches + 1, "differences": differences}
    return head


def differences_from_frozen(definition: Definition) -> tuple[Difference, ...]:
    """In what the stages differ from those that are frozen; () where these cannot be read. Redacted, one line each."""
    try:
        frozen = [one.stage for one in read_stages(definition.paths)]
    except (OSError, ValueError):
        return ()
    found = find_differences(Side({}, frozen), Side({}, [stage for stage, _ in definition.stages]))
    return tuple(Difference(*(safe_line(text, 300) for text in one)) for one in found)


def _refuse_other_live_stages(paths: RunPaths, names: Collection[str]) -> None:
    for entry in os.listdir(paths.markers):
        name = entry[1:].removesuffix(".slot")
        if not entry.startswith(".") or not entry.endswith(".slot") or name == CHAIN or name in names:
            continue
        slot, _, locked = read_slot(paths.slot(name))
        if locked and slot is not None and slot.exit_code is None:
            raise OtherStageAlive(name)


def is_all_done(definition: Definition) -> bool:
    """Whether there is nothing to start: the chain has ended well, and what it left is there."""
    return all_done(definition.place, definition.stages, definition.chain_fingerprint)
