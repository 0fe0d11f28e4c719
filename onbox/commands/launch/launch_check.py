"""The launch check of a detached chain: watched until its first line of output, or until it fails at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.state.slots import read_slot
from onbox.contract.events import Event
from onbox.outside import safe_line
from onbox.system.clock import monotonic
from onbox.system.files import open_plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.chain.viewer.viewer import Viewer
    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths

START_SECONDS = 60.0  # a runner on a slow disk may take so long to start the first stage
LOOK_SECONDS = 0.1
AFTER_SECONDS = 5.0  # between the end of a stage and what follows it
TOLD_AFTER_SECONDS = 1.0
LEAST_LEFT_SECONDS = 2.0  # a wait that is as good as over needs no word
LINE_BYTES = 4096
SHOWN = 200


class LaunchCheck:
    """What is seen of a chain's beginning. result: the chain's exit code, if it has ended; None: it goes on. said: the
    first line of its first stage; "" if it said none in time.
    """

    def __init__(self, viewer: Viewer, paths: RunPaths) -> None:
        self._viewer, self._paths = viewer, paths
        self._stage = self._log = ""
        self._done = False
        self.result: int | None = None
        self.said = ""

    def begin(self) -> None:
        """Until a stage is started, adopted, or waits for something."""
        self.result = self._viewer.follow(until=self._is_start, limit_seconds=START_SECONDS)

    def watch(self, seconds: float, tell: Callable[[str], None]) -> None:
        """Until the stage said something and lives, it or the chain has ended, or so much time has passed. tell: says
        what is waited for, once that takes long.
        """
        began = monotonic()
        deadline, told = began + max(0.0, seconds), seconds < TOLD_AFTER_SECONDS + LEAST_LEFT_SECONDS
        while self.result is None and self._log and (left := deadline - monotonic()) > 0:
            if not self._done:
                self.result = self._viewer.follow(until=self._is_done, limit_seconds=min(LOOK_SECONDS, left))
            self.said = _first_line(self._log)
            if self.result is None and self._done:  # was it the last one? Then the chain ends at once
                self.result = self._viewer.follow(until=self._is_start, limit_seconds=AFTER_SECONDS)
                return
            if self.result is None and self.said and self._lives():
                return
            if not told and monotonic() - began > TOLD_AFTER_SECONDS:
                told = True
                tell(f"stage {self._stage} runs; its first line is waited for, at most {seconds:.0f} s")

    def _is_start(self, record: Record) -> bool:
        event, stage = record["event"], str(record.get("stage"))
        if event in (Event.ATTEMPT_STARTED, Event.ATTEMPT_ADOPTED):
            self._done = False
            self._stage, self._log = stage, self._paths.log(stage, int(record.get("attempt") or 0))
        self._is_done(record)
        return event in (Event.ATTEMPT_STARTED, Event.ATTEMPT_ADOPTED, Event.STAGE_WAITING)

    def _is_done(self, record: Record) -> bool:
        if record["event"] == Event.STAGE_DONE and str(record.get("stage")) == self._stage:
            self._done = True
        return self._done

    def _lives(self) -> bool:
        """Whether its command runs at this moment; one that crashed is examined before the chain ends."""
        slot, _, locked = read_slot(self._paths.slot(self._stage))
        return locked and slot is not None and slot.exit_code is None


def _first_line(log: str) -> str:
    """The first line with anything in it, safe to show; "" while there is none."""
    try:
        with open_plain(log) as file:
            text = file.read(LINE_BYTES)
    except OSError:
        return ""
    lines = text.decode("utf-8", "replace").replace("\r", "\n").split("\n")
    return next((shown for line in lines if (shown := safe_line(line.strip(), SHOWN))), "")


def will_appear(paths: RunPaths, names: list[str]) -> str:
    """Which markers tell how it went, once it has: none of them is there yet."""
    shown = [f"{name}_DONE" for name in (names if len(names) <= 6 else [*names[:3], "…", names[-1]])]
    said = ", ".join(one.replace("…_DONE", "…") for one in [*shown, os.path.basename(paths.done("CHAIN"))])
    return f"in {paths.markers} will appear: {said}; or CHAIN_FAILED"
