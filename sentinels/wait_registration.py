"""A wait as the rest of the machine sees it: its entry in the register, its line on the terminal, its warnings."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from onbox.system.clock import monotonic, wall
from onbox.system.files import StateNotWritten
from sentinels.judge.outcome import Outcome
from sentinels.register import WaitEntry, WaitRegister, claim, ident_of, let_go, register_folder, renew, this_waiter
from sentinels.report import progress_line, warnings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sentinels.judge.outcome import WaitFinding
    from sentinels.link.source import Source
    from sentinels.resolve_targets import TargetPlace
    from sentinels.wait import Plan, Wait

RENEW_SECONDS = 30.0
PROGRESS_SECONDS = 1.0
PARKED = frozenset({Outcome.TIMED_OUT, Outcome.UNREACHABLE})


class Duty:
    """Made before the wait begins: it claims the place, and learns what an earlier slice remembered.

    A register that cannot be written (a read-only home) does not keep anybody from waiting; it is said once.
    """

    def __init__(self, places: Sequence[TargetPlace], plan: Plan, *, fresh: bool) -> None:
        # One look ends nobody's wait.
        self.register: WaitRegister | None = None if plan.once else WaitRegister(register_folder(os.environ))
        now = wall()
        self._keys = [ident_of([place.key]) for place in places]
        ident = ident_of(place.key for place in places)
        self.entry = WaitEntry(ident, plan.texts, this_waiter(), "waiting", now, now, plan.limit_seconds, now, {}, {})
        earlier = None
        try:
            earlier = claim(self.register, self.entry) if self.register is not None else None
        except StateNotWritten as error:
            self.register = None
            _warn(f"{error}; waiting all the same, but a second wait for this will not end this one")
        if earlier is not None and not fresh:
            self.entry = self.entry._replace(armed_at=earlier.armed_at, memory=earlier.memory)
        self._next_renewal, self._next_progress = monotonic() + RENEW_SECONDS, 0.0
        self._sight: tuple[bool, ...] = ()
        self._warned: set[str] = set()
        self._on_terminal = sys.stderr.isatty()

    def recall(self, channels: Sequence[Source]) -> None:
        """Let the conditions go on where the earlier slice ended."""
        for channel in channels:
            for number, condition in channel.items.values():
                condition.recall(self.entry.memory.get(self._slot(number, condition.kind), {}))

    def watch(self, wait: Wait) -> WaitFinding:
        """Run the wait, and leave the register as it is to be left, however it ends."""
        park = False
        try:
            finding = wait.run()
            park = finding.outcome in PARKED
            return finding
        finally:
            self._clear_line()
            if self.register is not None:
                self._note(wait)
                try:
                    let_go(self.register, self.entry, park=park)
                except StateNotWritten as error:
                    _warn(str(error))

    def turn(self, wait: Wait) -> None:
        """Called by the wait at every turn: warnings at once, progress every second, the register now and then."""
        now = monotonic()
        for text in warnings(wait.conditions()):
            if text not in self._warned:
                self._warned.add(text)
                self._clear_line()
                _warn(text)
        if self._on_terminal and now >= self._next_progress:
            self._next_progress = now + PROGRESS_SECONDS
            sys.stderr.write(f"\r\x1b[K{progress_line(wait, wall(), shutil.get_terminal_size().columns - 1)}")
            sys.stderr.flush()
        sight = tuple(channel.looked for channel in wait.channels)
        if self.register is not None and (now >= self._next_renewal or sight != self._sight):
            self._sight = sight
            self._next_renewal = now + RENEW_SECONDS
            self._note(wait)
            try:
                renew(self.register, self.entry)
            except StateNotWritten:
                self._next_renewal = now + 10 * RENEW_SECONDS  # the disk is full: the wait itself needs none

    def _note(self, wait: Wait) -> None:
        contact = {channel.target.box: channel.last_heard_at for channel in wait.channels if not channel.idle}
        memory = {
            self._slot(number, condition.kind): condition.memory()
            for channel in wait.channels
            for number, condition in channel.items.values()
        }
        self.entry = self.entry._replace(written_at=wall(), last_contact=contact, memory=memory)

    def _slot(self, number: int, kind: str) -> str:
        """Where a condition's memory is kept: by its target; a later slice may name them in another order."""
        return f"{self._keys[number]}:{kind}"

    def _clear_line(self) -> None:
        if self._on_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _warn(text: str) -> None:
    print(f"sentinel: {text}", file=sys.stderr, flush=True)
