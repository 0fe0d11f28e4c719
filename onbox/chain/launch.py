"""From a definition to a live runner: one runner per run, whoever calls, however often.

Steps: 1. take the lock, or find who has it; 2. see what earlier runs left, and refuse what would be a wrong skip;
3. freeze the definition into run.json; 4. start the detached runner, which inherits the lock.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.chain.environment import run_dir_assignment
from onbox.chain.holder import Holder, clear_holder, read_holder
from onbox.chain.inspect_stage import look_at_stage
from onbox.chain.owned import refuse_foreign_run
from onbox.chain.plan import Action, plan_stage
from onbox.chain.process_main import start_runner
from onbox.chain.replay import History, replay
from onbox.chain.slots import read_marker, read_slot
from onbox.chain.status_file import read_status
from onbox.contract.differences import Difference, Side, find_differences
from onbox.contract.events import Event, parse_events, render_event
from onbox.contract.markers import Invalid, Marker, render_marker
from onbox.contract.paths import CHAIN
from onbox.contract.runfile import FrozenStage, RunHead, parse_head, parse_stages, render_runfile
from onbox.outside import safe_line
from onbox.system.clock import pause, utc_text, wall
from onbox.system.files import make_folders, remove_file, replace_file
from onbox.system.journal import Journal, read_lines
from onbox.system.lock import try_lock
from onbox.system.process import Identity, boot_id, find_tree, high, high_pipe, is_alive

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from onbox.chain.plan import Evidence
    from onbox.contract.manifest import Stage
    from onbox.contract.paths import RunPaths

    Announce = Callable[[tuple[Difference, ...]], None]

HOLDER_PATIENCE_SECONDS = 10.0
HOLDER_LOOK_SECONDS = 0.02


class Definition(NamedTuple):
    """What is to be run: the head of run.json without the fields that only the launch knows, and the stages."""

    paths: RunPaths
    head: Mapping[str, Any]
    stages: Sequence[tuple[Stage, str]]
    chain_fingerprint: str


class Wishes(NamedTuple):
    """The user's word on earlier results: stages whose DONE is accepted though the command changed, or run again."""

    accept_done: Collection[str] = ()
    redo: Collection[str] = ()


class Taken(NamedTuple):
    """The lock is ours: free to start."""

    lock_fd: int


class Launched(NamedTuple):
    """A runner was started: its pid, and a pipe that tells when it journaled something and when it ended."""

    pid: int
    bell_fd: int


class AlreadyDone(NamedTuple):
    """Every stage is done and so is the chain: there is nothing to start."""

    stage_count: int


class Conflict(NamedTuple):
    """A stage that must not be skipped and must not be run without a word.

    marker: its DONE marker, None if that is invalid or missing. reason: what is wrong with the marker. after: the
    stage before it that will run, so that this DONE would be older than its input.
    """

    frozen: FrozenStage
    action: Action
    marker: Marker | None
    reason: str
    after: str | None = None


class Conflicts(Exception):
    """Stages that need the user's word before the chain may go on."""

    def __init__(self, found: list[Conflict]) -> None:
        self.found = found
        super().__init__(f"{len(found)} stages need a decision")


class StillAlive(Exception):
    """The state directory is new, yet processes of a run in this very place are alive: it was removed under them."""

    def __init__(self, pids: list[int]) -> None:
        self.pids = pids
        super().__init__(f"pids {pids}")


class OtherStageAlive(Exception):
    """A stage that is not part of the chain to start is alive, left by a runner that is gone."""

    def __init__(self, stage: str) -> None:
        self.stage = stage
        super().__init__(f"stage {stage}")


class HolderUnknown(Exception):
    """The lock is held and nobody says by whom."""


def take_lock(paths: RunPaths) -> Taken | Holder:
    """The run's lock, or who has it. Raises HolderUnknown, LockUnsupported, StateNotWritten; Trouble where others could
    have written what the run says.
    """
    make_folders(paths.root, paths.markers, paths.logs)
    refuse_foreign_run(paths)
    if not os.path.exists(paths.lock):
        _refuse_removed_lock(paths)
    waited = 0.0
    while waited < HOLDER_PATIENCE_SECONDS:
        fd = try_lock(paths.lock)
        if fd is not None:
            clear_holder(fd)
            return Taken(fd)
        holder = read_holder(paths.lock)
        if holder is not None and (holder.host != os.uname().nodename or is_alive(holder.identity)):
            return holder
        # A runner that just took the lock is about to sign it (the signature of one that died may still be there), or
        # a reader probes it for an instant. Neither tells when it is through, so look again.
        pause(HOLDER_LOOK_SECONDS)
        waited += HOLDER_LOOK_SECONDS
    raise HolderUnknown(paths.lock)


def _refuse_removed_lock(paths: RunPaths) -> None:
    """No lock file, yet the last status names a live runner: somebody removed the file under it."""
    status = read_status(paths) or {}
    runner = status.get("runner") or {}
    if runner.get("boot_id") != boot_id() or runner.get("host") != os.uname().nodename:
        return
    if is_alive(Identity(int(runner.get("pid", 0)), int(runner.get("start_ticks", 0)))):
        raise StillAlive([int(runner["pid"])])


def read_head(paths: RunPaths) -> RunHead | None:
    """The head of the frozen definition; None if there is none. Raises OSError, ValueError."""
    try:
        with open(paths.manifest, "rb") as file:
            return parse_head(file.readline())
    except FileNotFoundError:
        return None


def read_stages(paths: RunPaths) -> Iterator[FrozenStage]:
    """The frozen stages, one at a time. Raises OSError, ValueError."""
    with open(paths.manifest, "rb") as file:
        yield from parse_stages(file, parse_head(file.readline()).stage_count)


def launch(
    definition: Definition, wishes: Wishes, lock: Taken, announce: Announce | None = None
) -> Launched | AlreadyDone:
    """Start a runner for the definition, with the lock already held. announce: hears what differs from the launch
    before, ahead of anything that starts. Raises Conflicts, StateNotWritten, OSError.
    """
    if all_done(definition) and not wishes.accept_done and not wishes.redo:
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


def prepare(definition: Definition, wishes: Wishes, announce: Announce | None = None) -> None:
    """Everything before the runner: wishes, conflicts, differences, freezing. Raises Conflicts, StillAlive,
    StateNotWritten.
    """
    paths = definition.paths
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
    conflicts = find_conflicts(paths, frozen, history, wishes)
    if conflicts:
        raise Conflicts(conflicts)
    head = _head_with_changes(definition, history)
    if announce is not None and head.get("changed"):
        announce(tuple(Difference(*one) for one in head["changed"]["differences"]))
    carry_out(paths, frozen, wishes, history)
    text = render_runfile(head, definition.stages)
    replace_file(paths.manifest, text)


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
    from onbox.chain.identity import look_at_git  # noqa: PLC0415 - only for a relaunch

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


def carry_out(paths: RunPaths, stages: Sequence[FrozenStage], wishes: Wishes, history: History) -> None:
    """Accept or drop earlier DONE markers, as the user said. Journaled before it is done."""
    chosen = [frozen for frozen in stages if frozen.stage.name in {*wishes.accept_done, *wishes.redo}]
    if not chosen:
        return
    journal = Journal(paths.journal)
    for frozen in chosen:
        name = frozen.stage.name
        event = Event.STAGE_REDO if name in wishes.redo else Event.DONE_ACCEPTED
        record = {"at": utc_text(wall()), "event": event, "stage": name, "fingerprint": frozen.fingerprint}
        if event == Event.STAGE_REDO:
            journal.append(render_event(record))
            remove_file(paths.done(name))
        else:
            marker = read_marker(paths.done(name))
            data = dict(marker.data) if isinstance(marker, Marker) else _accepted_by_hand(paths, history, name)
            data |= {"fingerprint": frozen.fingerprint, "accepted_at": record["at"]}
            journal.append(render_event(record))
            replace_file(paths.done(name), render_marker(data))
        history.apply(record)
    journal.close()


def _accepted_by_hand(paths: RunPaths, history: History, stage: str) -> dict[str, Any]:
    head = read_head(paths)
    return {"run_id": head.run_id if head else "", "stage": stage, "attempt": history.of(stage).attempts}


def find_conflicts(paths: RunPaths, stages: Sequence[FrozenStage], history: History, wishes: Wishes) -> list[Conflict]:
    """Stages whose DONE is of another command, older than a stage before it that will run, or no marker at all; and
    stages of which another command is still alive.
    """
    found = []
    to_run: str | None = None
    for frozen in stages:
        name = frozen.stage.name
        evidence = look_at_stage(paths, frozen, history, chain_open=history.open)
        action = plan_stage(evidence).action
        conflict = _conflict(frozen, evidence, action, wishes, to_run)
        if conflict is not None:
            found.append(conflict)
        elif name in wishes.redo or action not in (Action.SKIP, Action.LAND, *_SETTLED_BY_ACCEPTING):
            to_run = to_run or name
    return found


_SETTLED_BY_ACCEPTING = (Action.REFUSE_STALE, Action.REFUSE_INVALID)


def _conflict(
    frozen: FrozenStage, evidence: Evidence, action: Action, wishes: Wishes, to_run: str | None
) -> Conflict | None:
    """What is in the way of one stage, the user's word taken into account. to_run: the first stage that will run."""
    name = frozen.stage.name
    marker = evidence.marker if isinstance(evidence.marker, Marker) else None
    if action is Action.REFUSE_LIVE or (action is Action.ADOPT and name in wishes.redo):
        return Conflict(frozen, Action.REFUSE_LIVE, marker, "")
    if name in wishes.accept_done:
        return None if evidence.marker is not None else Conflict(frozen, action, None, "there is no such file")
    if name in wishes.redo:
        return None
    if action in _SETTLED_BY_ACCEPTING:
        reason = evidence.marker.reason if isinstance(evidence.marker, Invalid) else ""
        return Conflict(frozen, action, marker, reason)
    if action is Action.SKIP and to_run is not None:
        return Conflict(frozen, action, marker, "", after=to_run)
    return None


def all_done(definition: Definition) -> bool:
    """Whether the chain has ended well with exactly these commands, and every stage's marker is still there.

    CHAIN_DONE is taken away when a chain starts, so it vouches for the stages' markers: they need not be read.
    """
    paths = definition.paths
    whole = read_marker(paths.done(CHAIN))
    if not isinstance(whole, Marker) or whole.fingerprint != definition.chain_fingerprint:
        return False
    names = set(os.listdir(paths.markers))
    return all(f"{stage.name}_DONE" in names for stage, _ in definition.stages)
