"""What a stage waits for before it starts (a file, or a line in a log that another program writes), and the waits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.environment import attempt_assignment
from onbox.contract.states import RunState, StageState
from onbox.logs.tail import find_in_log
from onbox.system.clock import monotonic
from onbox.system.process import end_tree, find_tree, wait_for_ends

if TYPE_CHECKING:
    from onbox.chain.context import Context
    from onbox.contract.manifest import WaitFor
    from onbox.contract.runfile import FrozenStage

OVERLAP_BYTES = 65536
LOOK_SECONDS = 0.5  # between two looks for a file that may be on another machine's disk
SURVIVOR_SECONDS = 3600.0  # so often the table of processes is looked through anew


class Awaited:
    """One thing that is waited for. `is_there` is asked again and again: it may appear on another machine's disk."""

    def __init__(self, wait: WaitFor, folder: str) -> None:
        self.regex = wait.regex
        self.path = os.path.join(folder, wait.file or wait.log or "")
        self.searched_bytes = 0

    def __str__(self) -> str:
        return f"the file {self.path}" if self.regex is None else f"/{self.regex}/ in {self.path}"

    def is_there(self) -> bool:
        """Whether it has appeared. Of a log only the new bytes are read (and 64 KiB before them, for cut matches)."""
        if self.regex is None:
            return os.path.exists(self.path)
        try:
            size = os.path.getsize(self.path)
        except OSError:
            return False
        if size < self.searched_bytes:
            self.searched_bytes = 0  # rotated or cut: a new file
        if size == self.searched_bytes:
            return False
        try:
            if find_in_log(self.path, self.regex, max(0, self.searched_bytes - OVERLAP_BYTES)) is not None:
                return True
        except OSError:  # a folder, or not ours to read: that may still change
            return False
        self.searched_bytes = size
        return False


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

    def wait_for(self, awaited: Awaited, timeout_seconds: float, attempts: int) -> bool | None:
        """Whether it appeared in time; None: somebody asked to stop. Raises TooLong."""
        limit = monotonic() + timeout_seconds
        self._show(str(awaited), attempts)
        while monotonic() < limit:
            if not self._sleep(min(limit, monotonic() + LOOK_SECONDS)):
                return None
            if awaited.is_there():
                return True
        return False

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
