"""One cell as a chain: its directory, its frozen definition, its runner (a fork of the sweep's), and how it ended."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.chain.command.environment import runner_environment
from onbox.chain.lock.lock_owner import clear_holder, read_holder
from onbox.chain.runner.runner_process import LOCK_FD, run_chain
from onbox.chain.state.slots import read_marker, read_slot
from onbox.contract.events import Event
from onbox.contract.exits import Exit
from onbox.contract.fingerprint import chain_fingerprint, stage_fingerprint
from onbox.contract.json_text import as_number
from onbox.contract.markers import Marker
from onbox.contract.paths import CHAIN, RunPaths
from onbox.contract.runfile import parse_head, render_runfile
from onbox.logs.tail import look_at_log
from onbox.named_tuple import NamedTuple
from onbox.sweep.cells.template import stage_of_cell
from onbox.sweep.state.board import UNKNOWN, cells_folder
from onbox.system.clock import parse_utc, utc_text, wall
from onbox.system.files import LINE_LIMIT_BYTES, StateNotWritten, make_folders, open_plain, replace_file
from onbox.system.lock import try_lock
from onbox.system.process import Identity, close_others, high, look_up
from onbox.triage.signature import signature

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onbox.contract.runfile import RunHead
    from onbox.model.manifest import Stage
    from onbox.model.sweep import Cell

# Of the sweep's head, what belongs to each of its cells, too. Not whom to tell: a sweep tells of itself alone.
_TAKEN_OVER = (
    "project",
    "settings",
    "config",
    "host",
    "boot_id",
    "kernel",
    "onbox",
    "python",
    "environment",
    "progress",
    "triage",
    "git",
    "code_changed",
)

STOPS = (signal.SIGTERM, signal.SIGINT)


class Ready(NamedTuple):
    """The cell's lock is ours, and its definition is frozen."""

    paths: RunPaths
    lock_fd: int


class CellBusy(NamedTuple):
    """A runner of the cell lives. who: None where it has not said yet who it is."""

    paths: RunPaths
    who: Identity | None


class End(NamedTuple):
    """How a cell's chain stands once its runner has gone. outcome: done, failed, refused (by a gate of its own) or
    unfinished; seconds: how long it took, all its launches together; warnings: beside its DONE; the rest: of a failure.
    """

    outcome: str
    failure_class: str = ""
    signature: str = ""
    stage: str = ""
    reason: str = ""
    proof: str = ""
    remedy: str = ""
    seconds: float | None = None
    warnings: tuple[str, ...] = ()


def cell_paths(sweep: RunPaths, name: str) -> RunPaths:
    return RunPaths(f"{cells_folder(sweep)}/{name}")


def stages_of(template: Sequence[Stage], sweep: str, cell: Cell) -> list[tuple[Stage, str]]:
    """The cell's stages with their fingerprints."""
    stages = [stage_of_cell(stage, sweep, cell) for stage in template]
    return [(stage, stage_fingerprint(stage)) for stage in stages]


def fingerprint_of(stages: Sequence[tuple[Stage, str]]) -> str:
    return chain_fingerprint((stage.name, print_) for stage, print_ in stages)


def make_ready(sweep: RunPaths, head: RunHead, template: Sequence[Stage], cell: Cell) -> Ready | CellBusy:
    """Take the cell's lock and freeze its definition. Raises StateNotWritten, LockUnsupported."""
    paths = cell_paths(sweep, cell.name)
    make_folders(paths.root, paths.markers, paths.logs)
    lock_fd = try_lock(paths.lock)
    if lock_fd is None:
        holder = read_holder(paths.lock)
        return CellBusy(paths, holder.identity if holder is not None else None)
    try:
        clear_holder(lock_fd)
        _freeze(paths, head, stages_of(template, head.run, cell), cell)
    except (StateNotWritten, OSError):
        os.close(lock_fd)
        raise
    return Ready(paths, high(lock_fd))


def _freeze(paths: RunPaths, head: RunHead, stages: Sequence[tuple[Stage, str]], cell: Cell) -> None:
    """Not flushed: it is made anew from the sweep's own definition where the power fails."""
    fingerprint = fingerprint_of(stages)
    if frozen_fingerprint(paths) == fingerprint:
        return
    taken_over = {key: head.data[key] for key in _TAKEN_OVER if key in head.data}
    own = {
        "run": cell.name,
        "run_id": run_id_of(head, cell.number),
        "chain_fingerprint": fingerprint,
        "stage_count": len(stages),
        "frozen_at": utc_text(wall()),
        "cell_of": head.run,
        "values": dict(cell.values),
    }
    replace_file(paths.manifest, render_runfile({**taken_over, **own}, stages), durable=False)


def run_id_of(head: RunHead, number: int) -> str:
    return f"{head.run_id}-{number}"


def frozen_fingerprint(paths: RunPaths) -> str | None:
    """Of the chain that is frozen there; None: none, or none that can be read."""
    try:
        with open_plain(paths.manifest) as file:
            return parse_head(file.readline(LINE_LIMIT_BYTES)).chain_fingerprint
    except (OSError, ValueError):
        return None


def has_live_stage(paths: RunPaths) -> bool:
    """Whether a command of the cell runs, with or without a runner."""
    try:
        names = [name for name in os.listdir(paths.markers) if name.endswith(".slot")]
    except OSError:
        return False
    for name in names:
        slot, _, locked = read_slot(f"{paths.markers}/{name}")
        if locked and slot is not None and slot.exit_code is None and slot.stage != CHAIN:
            return True
    return False


# -- its runner


def preload() -> None:
    """Do once what the runner of every cell would do for itself before its command starts."""
    parse_utc(utc_text(wall()))  # compiles the pattern of its own


def begin(
    ready: Ready,
    environ: Mapping[str, str],
    words: tuple[str, ...],
    afterwards: Callable[[], None],
    kept: Sequence[int] = (),
) -> int:
    """Start the cell's runner; its pid. It is a fork of this process, which has all of its code already: a new
    interpreter would take longer than all the rest of a hand-off.

    environ: added to its environment. words: with which a keeper calls for help once this runner is dead. afterwards:
    called there once the chain has ended. kept: descriptors that stay open in it. Raises OSError.
    """
    # A stop that comes before the fork has put the sweep's handlers away would be heard by them, and so by nobody.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        pid = os.fork()
    except OSError:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        raise
    if pid:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return pid
    code = int(Exit.INTERNAL)
    try:
        _become_a_runner(ready, environ, kept)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        code = run_chain(ready.paths, LOCK_FD, words=words)
        afterwards()
    finally:
        os._exit(code)


def _become_a_runner(ready: Ready, environ: Mapping[str, str], kept: Sequence[int]) -> None:
    """A session of its own, its own log, none of the sweep's descriptors (its lock above all), no signal handler."""
    os.setsid()
    log = os.open(ready.paths.runner_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.dup2(ready.lock_fd, LOCK_FD, inheritable=False)
    signal.set_wakeup_fd(-1)
    for number in (*STOPS, signal.SIGUSR1, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    close_others(3, keep=(LOCK_FD, *kept))
    known = runner_environment(os.environ)
    os.environ.clear()
    os.environ.update({**known, **environ})
    with suppress(OSError), open("/proc/self/comm", "w", encoding="utf-8", errors="replace") as file:
        file.write(f"onbox:{os.path.basename(ready.paths.root)}"[:15])


def identity_of(pid: int) -> Identity:
    entry = look_up(pid)
    return entry.identity if entry else Identity(pid, 0)


# -- how it ended


def end_of(paths: RunPaths, run_id: str, fingerprint: str) -> End:
    """What its markers say."""
    done = read_marker(paths.done(CHAIN))
    if isinstance(done, Marker) and _is_of(done, run_id, fingerprint):
        told = done.data.get("warnings")
        warnings = tuple(map(str, told)) if isinstance(told, list) else ()
        return End("done", seconds=as_number(done.data.get("duration_seconds")), warnings=warnings)
    failed = read_marker(paths.failed(CHAIN))
    if not isinstance(failed, Marker) or not _is_of(failed, run_id, fingerprint):
        return End("unfinished")
    data = failed.data
    if data.get("outcome") == Event.GATE_REFUSED:
        return End("refused", stage=str(data.get("stopped_at") or ""), reason=str(data.get("reason") or ""))
    stage = str(data.get("stopped_at") or "")
    return _failure(data, stage, read_marker(paths.failed(stage)) if stage else None)


def _is_of(marker: object, run_id: str, fingerprint: str) -> bool:
    return isinstance(marker, Marker) and marker.run_id == run_id and marker.fingerprint == fingerprint


def _failure(data: Mapping[str, Any], stage: str, marker: object) -> End:
    own = marker.data if isinstance(marker, Marker) else {}
    failure_class = str(own.get("failure_class") or data.get("failure_class") or UNKNOWN)
    reason = str(data.get("reason") or own.get("reason") or "")
    said = str(own.get("proof") or own.get("last_line") or reason)
    known = own.get("signature")
    return End(
        "failed",
        failure_class,
        str(known) if known and known != UNKNOWN else signature(failure_class, said),
        stage,
        reason,
        str(own.get("proof") or ""),
        str(own.get("remedy") or ""),
        as_number(data.get("duration_seconds")),
    )


def last_words(paths: RunPaths) -> str:
    """The last line of the cell's runner.log: why its runner ended without an end of the chain."""
    try:
        seen = look_at_log(paths.runner_log)
    except OSError as error:
        return f"{paths.runner_log} cannot be read ({error.strerror})"
    return (seen.last_line or "") if seen is not None else ""
