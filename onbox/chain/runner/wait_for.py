"""What a stage waits for before it starts (a file, a line in a log, the end of a process), and the waits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.command.environment import attempt_assignment
from onbox.contract.states import RunState, StageState
from onbox.logs.tail import find_last_in_log, line_before
from onbox.model.units import format_duration
from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic, wall
from onbox.system.process import ProcessEntry, boot_id, end_tree, find_tree, look_up, wait_for_ends

if TYPE_CHECKING:
    from onbox.chain.runner.context import Context
    from onbox.contract.runfile import FrozenStage
    from onbox.model.manifest import WaitFor

OVERLAP_BYTES = 65536
LOOK_SECONDS = 0.5  # between two looks for a file that may be on another machine's disk
SURVIVOR_SECONDS = 3600.0  # so often the table of processes is looked through anew


class AskedToStop(Exception):
    """Somebody asked to stop meanwhile."""


class Never(NamedTuple):
    """It will not appear any more, and why: the path last, because a long one is cut where little room is."""

    why: str


class Awaited:
    """One thing that is waited for. `look` is asked again and again: it may appear on another machine's disk."""

    def __init__(self, wait: WaitFor, folder: str) -> None:
        self.wait = wait
        self.path = os.path.join(folder, wait.file or wait.log or "")
        self.searched_bytes = 0
        self.began_at = wall()
        self._gone_looks = 0

    def __str__(self) -> str:
        if self.wait.file is not None:
            return f"the file {self.path}"
        return str(self.wait) if self.wait.log is None else f"/{self.wait.regex}/ in {self.path}"

    def look(self) -> bool | Never:
        """Whether it has appeared. Raises TooLong."""
        gone = self._is_gone()  # before the log is read: what it wrote last is in it then
        if self.wait.pid is not None and self.wait.file is None and self.wait.log is None:
            return self._ended() if gone else False
        found = os.path.exists(self.path) if self.wait.log is None else self._search()
        if found:
            return found
        if gone:
            return Never(f"did not appear, and process {self.wait.pid} has gone: {self}")
        quiet = self._quiet_seconds()
        if self.wait.stall_after_seconds is not None and quiet >= self.wait.stall_after_seconds:
            return Never(f"did not appear, and nothing was written for {format_duration(quiet)}: {self}")
        return False

    def _is_gone(self) -> bool:
        """Whether its producer has: seen twice, so that what was written for it by others is there, too."""
        if self.wait.pid is None or is_process(self.wait.pid, self.wait.process):
            self._gone_looks = 0
            return False
        self._gone_looks += 1
        return self._gone_looks > 1

    def _ended(self) -> bool | Never:
        """Of a process that was ended together with its machine nobody knows whether it was ready."""
        boot = (self.wait.process or "").partition(":")[2]
        if boot and boot != boot_id():
            return Never(f"the machine was rebooted: whether process {self.wait.pid} had finished is not known")
        return True

    def _search(self) -> bool | Never:
        """Of a log only the new bytes are read (and 64 KiB before them, for cut matches); of a success and a failure in
        them the last one tells how it stands.
        """
        try:
            size = os.path.getsize(self.path)
        except OSError:
            return False
        if size < self.searched_bytes:
            self.searched_bytes = 0  # rotated or cut: a new file
        if size == self.searched_bytes:
            return False
        start = max(0, self.searched_bytes - OVERLAP_BYTES)
        fails = self.wait.fail_regex
        try:
            came = find_last_in_log(self.path, self.wait.regex or "", start)
            failed = None if fails is None else find_last_in_log(self.path, fails, start)
            if failed is not None and (came is None or failed > came):
                return Never(f"a line tells of failure: {line_before(self.path, failed)} (in {self.path})")
        except OSError:  # a folder, or not ours to read: that may still change
            return False
        self.searched_bytes = size
        return came is not None

    def _quiet_seconds(self) -> float:
        try:
            written_at = os.stat(self.path).st_mtime
        except OSError:
            written_at = 0.0
        return max(0.0, wall() - max(written_at, self.began_at))


def is_process(pid: int, process: str | None) -> bool:
    """Whether this pid still is the process that was frozen as "START_TICKS:BOOT_ID" ("": there was none)."""
    entry = look_up(pid)
    return entry is not None and not entry.is_zombie and process == name_of_process(entry)


def name_of_process(entry: ProcessEntry) -> str:
    """What tells this process from a later one of the same pid, also after a reboot."""
    return f"{entry.identity.start_ticks}:{boot_id()}"


class Patience:
    """The waits of one stage: each one is shown in status.json, with heartbeats, and ends when somebody asks to stop.

    attempts: how many the stage has had.
    """

    def __init__(self, ctx: Context, frozen: FrozenStage) -> None:
        self._ctx, self._frozen = ctx, frozen

    def pause(self, seconds: float, what: str, attempts: int) -> bool:
        """Let the time go by; False if somebody asked to stop. what: is waited for, in words."""
        self._show(what, attempts)
        return self._sleep(monotonic() + seconds)

    def wait_for(self, awaited: Awaited, timeout_seconds: float, attempts: int) -> Never | None:
        """None once it has appeared. Raises AskedToStop where somebody asked to stop, TooLong."""
        limit = monotonic() + timeout_seconds
        at_most = format_duration(timeout_seconds)
        self._show(f"{awaited}, at most {at_most}", attempts)
        while monotonic() < limit:
            if not self._sleep(min(limit, monotonic() + LOOK_SECONDS)):
                raise AskedToStop
            found = awaited.look()
            if found:
                return found if isinstance(found, Never) else None
        return Never(f"did not appear within {at_most}: {awaited}")

    def outwait_survivors(self, attempts: int) -> bool:
        """Wait for processes of the newest attempt that let go of the lock (they closed all they inherited) but still
        live. False if somebody asked to stop: then they are ended.
        """
        assignment = attempt_assignment(self._ctx.head.run_id, self._frozen.stage.name, attempts)
        signals = self._ctx.signals
        while tree := find_tree(None, assignment):
            if signals.stops:
                end_tree(None, assignment, self._ctx.head.settings.grace_seconds)
                return False
            self._show("processes of the interrupted attempt that are still alive", attempts)
            identities = [entry.identity for entry in tree]
            wait_for_ends(identities, SURVIVOR_SECONDS, wake_fd=signals.wake_fd, urged=lambda: signals.stops > 0)
        return True

    def _sleep(self, deadline: float) -> bool:
        beat = self._ctx.head.settings.sample_every_seconds
        while (now := monotonic()) < deadline:
            if self._ctx.signals.stops:
                return False
            self._ctx.signals.wait(min(deadline, now + beat))
            if deadline - now > beat:
                self._ctx.recorder.refresh()
        return not self._ctx.signals.stops

    def _show(self, what: str, attempts: int) -> None:
        self._ctx.recorder.show(
            state=RunState.RUNNING.value,
            stage=self._frozen.stage.name,
            stage_state=StageState.WAITING.value,
            position=self._frozen.position,
            attempt=attempts,
            waiting_for=what,
        )
