"""The wait: one loop over all boxes, their connections, the clock and the signals. It always ends, and says why.

Order of a turn: what came in is judged, what is due is done, then the next event is waited for. Nothing in it blocks:
connections are read without waiting, and their ends are forced.
"""

from __future__ import annotations

import os
import selectors
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.model.units import format_duration
from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic, wall
from sentinels.judge.outcome import Outcome, WaitFinding, combine
from sentinels.link.channel import LOCAL, last_contact
from sentinels.supersede import SUPERSEDE_SIGNAL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType

    from sentinels.judge.conditions.base import WaitCondition
    from sentinels.judge.jobs import JobCondition
    from sentinels.link.source import Source

LONGEST_TURN_SECONDS = 5.0
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Signalled(Exception):
    """A signal ended the wait. number: which."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(signal.Signals(number).name)


class WaitSignals:
    """Signals as something to wait for: a descriptor that becomes readable, and the number that came. A SIGHUP that the
    caller ignores (nohup) stays ignored.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self.fd, self._writing = os.pipe()
        for end in (self.fd, self._writing):
            os.set_blocking(end, False)
        self._old_fd = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        self._old = {
            number: signal.signal(number, self._note)
            for number in (*ENDING_SIGNALS, SUPERSEDE_SIGNAL)
            if signal.getsignal(number) is not signal.SIG_IGN
        }

    def _note(self, number: int, _: FrameType | None) -> None:
        if self.number is None or self.number == SUPERSEDE_SIGNAL:
            self.number = number

    def close(self) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_fd)
        for end in (self.fd, self._writing):
            os.close(end)


class Plan(NamedTuple):
    """One wait. total: how many targets decide its end. limit_seconds: of the whole wait.

    watchers: numbers of targets that only speak against (fail markers, processes): they never land.
    """

    texts: tuple[str, ...]
    limit_seconds: float
    want_any: bool = False
    once: bool = False  # one look at everything is all
    watchers: frozenset[int] = frozenset()


def _is_younger(end: WaitFinding, failed: WaitFinding) -> bool:
    """Whether what was waited for landed after the failure: of two that were there already the younger one tells."""
    landed = end.outcome is Outcome.LANDED
    return landed and end.since is not None and failed.since is not None and end.since > failed.since


class Wait:
    """Run it once. on_turn: called a few times a minute and at every change, with this wait: progress, register."""

    def __init__(
        self,
        plan: Plan,
        channels: Sequence[Source],
        signals: WaitSignals,
        on_turn: Callable[[Wait], None] | None = None,
    ) -> None:
        self.plan, self.channels, self.signals, self.on_turn = plan, channels, signals, on_turn
        self.began_at = self.armed_at = wall()
        self.findings: dict[int, WaitFinding] = {}
        self._selector = selectors.DefaultSelector()
        self._watched: dict[int, Any] = {}

    def run(self) -> WaitFinding:
        """Wait to the end. Raises Signalled."""
        self._selector.register(self.signals.fd, selectors.EVENT_READ)
        deadline = monotonic() + self.plan.limit_seconds
        try:
            return self._loop(self.signals, deadline)
        finally:
            for channel in self.channels:
                channel.close()
            self._selector.close()

    def _loop(self, signals: WaitSignals, deadline: float) -> WaitFinding:
        while True:
            if signals.number == SUPERSEDE_SIGNAL:
                return WaitFinding(
                    Outcome.SUPERSEDED, ", ".join(self.plan.texts), "a newer wait for the same target took over", wall()
                )
            if signals.number is not None:
                raise Signalled(signals.number)
            now = monotonic()
            if now >= deadline:
                return self._out_of_time()
            end = self._turn(now)
            if end is not None:
                return end
            self._sleep(deadline)

    def _turn(self, now: float) -> WaitFinding | None:
        for channel in self.channels:
            for attempt in channel.connections_open():
                for number, finding in channel.read(attempt):
                    self.findings.setdefault(number, finding)
            if not self._is_finished(channel):
                channel.tick(now)
        end = self._end()
        if end is None and self.plan.once and all(channel.looked for channel in self.channels):
            return self._out_of_time()
        if end is None and self.on_turn is not None:
            self.on_turn(self)
        return end

    def _is_finished(self, channel: Source) -> bool:
        """Whether nothing more is to be learned from this box; then its connection is ended."""
        if not self._done(channel):
            return False
        channel.close()
        return True

    def _end(self) -> WaitFinding | None:
        for channel in self.channels:
            if channel.lasting and not self._done(channel):
                unreachable = self._unreachable(channel)
                if not self.plan.want_any or self.plan.watchers & self._numbers(channel):
                    return unreachable
                self._give_up(channel, unreachable)  # another box may still land
        if self.plan.watchers and any(one.contact.in_sight and not one.looked for one in self._open_channels()):
            return None  # of a marker and a fail marker that are both there the younger tells: see both first
        against = [self.findings[at] for at in sorted(self.plan.watchers & self.findings.keys())]
        failed = next((one for one in against if one.outcome is Outcome.FAILED), None)
        wanted = {at: one for at, one in self.findings.items() if at not in self.plan.watchers}
        end = combine(wanted, len(self.plan.texts) - len(self.plan.watchers), want_any=self.plan.want_any)
        if failed is not None and not (end is not None and _is_younger(end, failed)):
            return failed
        if end is not None or not against:
            return end
        # "No marker landed" is a word about all boxes: none of it while one is out of sight.
        return against[0] if all(channel.contact.in_sight for channel in self._open_channels()) else None

    def _give_up(self, channel: Source, unreachable: WaitFinding) -> None:
        """Nothing more will come from this box; its targets are told as unreachable, the others are waited for."""
        for number, condition in channel.items.values():
            if number not in channel.finished:
                self.findings.setdefault(number, unreachable._replace(target=condition.target.text))
                condition.tell(f"cannot be looked at: {channel.why_unreachable()}", warn=True)
        channel.finished.update(self._numbers(channel))

    def _sleep(self, deadline: float) -> None:
        """Until something comes in or is due."""
        self._watch_connections()
        now = monotonic()
        due = min([deadline, now + LONGEST_TURN_SECONDS, *(c.due_at(now) for c in self.channels if not self._done(c))])
        self._selector.select(max(0.0, due - now))

    def _done(self, channel: Source) -> bool:
        return self._numbers(channel) <= channel.finished

    @staticmethod
    def _numbers(channel: Source) -> set[int]:
        return {number for number, _ in channel.items.values()}

    def _watch_connections(self) -> None:
        """Let the selector know of new connections and forget ended ones."""
        wanted = {a.connection.fd: a.connection for c in self.channels for a in c.connections_open()}
        for fd, connection in list(self._watched.items()):
            if wanted.get(fd) is not connection:
                with suppress(KeyError, ValueError, OSError):  # its descriptor was closed, or is another one's by now
                    self._selector.unregister(fd)
                del self._watched[fd]
        for fd, connection in wanted.items():
            if fd not in self._watched:
                self._selector.register(fd, selectors.EVENT_READ)
                self._watched[fd] = connection

    # -- ends without a finding

    def _open_channels(self) -> list[Source]:
        return [channel for channel in self.channels if not self._done(channel)]

    def _out_of_time(self) -> WaitFinding:
        for channel in self._open_channels():
            if not channel.contact.in_sight:
                return self._unreachable(channel)
        texts = [
            text for at, text in enumerate(self.plan.texts) if at not in self.findings and at not in self.plan.watchers
        ]
        notes = dict.fromkeys(condition.note for condition in self.conditions() if condition.note)
        seen = f"; last seen: {'; '.join(notes)}" if notes else ""
        within = "now" if self.plan.once else f"within {format_duration(self.plan.limit_seconds)}"
        say = f"nothing {within}{seen}"
        return WaitFinding(Outcome.TIMED_OUT, ", ".join(texts), say)

    def _unreachable(self, channel: Source) -> WaitFinding:
        texts = [
            condition.target.text for number, condition in channel.items.values() if number not in channel.finished
        ]
        contact = channel.contact
        where = "this machine's own look" if channel.target.box == LOCAL else channel.target.box
        why = channel.why_unreachable() or "its login has not answered so far"
        say = f"{where}: {why}; {last_contact(contact, wall())}; of the run nothing is known"
        detail: Mapping[str, Any] = {"box": channel.target.box, "reason": contact.reason or "late_login"}
        return WaitFinding(Outcome.UNREACHABLE, ", ".join(dict.fromkeys(texts)), say, contact.last_heard_at, detail)

    def conditions(self) -> list[WaitCondition | JobCondition]:
        return [condition for channel in self.channels for _, condition in channel.items.values()]
