"""One box: a held connection at a time, whose program looks at all of the wait's items there.

It believes nothing but words from the box: a connection that stops beating is dropped, whatever ssh says; a login that
hangs is overtaken by another one. Nor is a box waited for that floods us: who sends more than observations need is
dropped, and tried again later and later. Never blocks; the wait's loop calls `read` and `tick`.
"""

from __future__ import annotations

import os
import random
import sys
from typing import TYPE_CHECKING

from onbox.model.units import format_duration
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.clock import monotonic, wall
from patrol.ssh.client import NO_MASTER, Connection, NoAnswer, SshTarget, script_with_values
from patrol.ssh.unreachable_reasons import BY_KEY
from sentinels.box.send_lookout import script, values_of
from sentinels.box.wire import Beat, EndedLine, Hello, Splitter, parse_line
from sentinels.link.schedule import LinkPace, pause_before_try, race_after

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sentinels.judge.conditions.base import WaitCondition
    from sentinels.judge.outcome import WaitFinding

CONNECT_SECONDS = 15
LOCAL = "here"  # the name of this machine as a box
FREE_BYTES = 8 << 20  # of one connection; what lies in a run directory is told in far less
BYTES_PER_SECOND = 1 << 20  # beyond them
READS_PER_TURN = 4  # of up to 64 KiB
WORST_PAUSE_SECONDS = 60.0  # of a box that floods, or at whose words we fail
ENGINE_VARIABLE = "SENTINEL_ENGINE"  # any, python or sh: which program looks on the box


class LinkAttempt:
    """A connection on its way to a hello, or the live one."""

    def __init__(self, connection: Connection, now: float, *, plain: bool) -> None:
        self.connection, self.began, self.plain = connection, now, plain
        self.splitter = Splitter()
        self.hello: Hello | None = None
        self.heard_at = self.next_ping = now
        self.bytes_total = 0


class Contact(NamedTuple):
    """How it stands with a box, for progress, register and the end. Local times; None: never.

    reason: a key of `patrol.ssh.unreachable_reasons.REASONS` for the newest trouble, detail its proving words.
    """

    in_sight: bool
    last_heard_at: float | None
    reason: str
    detail: str
    connections: int
    drops: int


class Channel:
    """One box's conditions and its connection. items: id on the wire -> (number of the target, condition)."""

    def __init__(
        self, target: SshTarget, items: Sequence[tuple[int, WaitCondition]], pace: LinkPace, armed_at: float
    ) -> None:
        self.target, self.pace, self.armed_at = target, pace, armed_at
        self.items = {str(at): item for at, item in enumerate(items)}
        self.finished: set[int] = set()
        self.live: LinkAttempt | None = None
        self.attempts: list[LinkAttempt] = []
        self.failures = self.connections = self.drops = self.spoilt = 0
        self.next_try_at = 0.0
        self.last_heard_at: float | None = None  # wall clock
        self.lost_at: float = monotonic()
        self.login_seconds: float | None = None
        self.reason, self.detail = "", ""
        self.clock_ahead: float | None = None  # the box's clock less ours
        self.looked = False  # all items at least once
        self.engine = os.environ.get(ENGINE_VARIABLE, "any")
        self.lasting = self.idle = False
        self._closed_in_sight = False

    # -- what the loop calls

    def connections_open(self) -> list[LinkAttempt]:
        return [*([self.live] if self.live else []), *self.attempts]

    def read(self, attempt: LinkAttempt) -> list[tuple[int, WaitFinding]]:
        """Take what came on one connection; what it ended, by number of target. Of what comes too fast only a part: the
        other boxes, the clock and the signals have their turn.
        """
        found: list[tuple[int, WaitFinding]] = []
        for _ in range(READS_PER_TURN):
            if attempt not in self.connections_open():  # its own words have ended it
                return found
            data = attempt.connection.read()
            if data is None:
                self._ended(attempt)
                return found
            if not data:
                return found
            attempt.bytes_total += len(data)
            if attempt.bytes_total > FREE_BYTES + BYTES_PER_SECOND * (monotonic() - attempt.began):
                self._spoil(attempt, "flood", f"{attempt.bytes_total >> 20} MiB came")
                return found
            try:
                for line in attempt.splitter.feed(data):
                    found += self._line(attempt, line)
            except Exception as error:  # noqa: BLE001 - at one box's words: the wait for the others goes on
                self._spoil(attempt, "defect", f"{type(error).__name__}: {safe_line(str(error), 200)}")
        return found

    def tick(self, now: float) -> None:
        """Do what is due: drop what is silent, begin what is needed, tell the box that we are there."""
        for attempt in list(self.attempts):
            if now - attempt.began >= self.pace.patience:
                self._failed(attempt, "late_login", f"no answer within {self.pace.patience:.0f} s")
        live = self.live
        if live is not None and now - live.heard_at >= self.pace.silence:
            self._lose("late", f"no heartbeat for {now - live.heard_at:.0f} s")
        elif live is not None and now >= live.next_ping:
            live.next_ping = now + self.pace.ping
            live.connection.say(b"\n")
        if self._wants_attempt(now):
            self._begin(now)

    def due_at(self, now: float) -> float:
        """When `tick` has something to do next."""
        times = [attempt.began + self.pace.patience for attempt in self.attempts]
        if self.live is not None:
            times += [self.live.heard_at + self.pace.silence, self.live.next_ping]
            if not self.attempts:
                times.append(max(self.live.began + self.pace.renew, self.next_try_at))
        elif self.attempts:
            times.append(self.attempts[-1].began + self._race_after(now))
        else:
            times.append(self.next_try_at)
        return max(now, min(times))

    def close(self) -> None:
        """End every connection, without ado; the programs on the box end with them. How it stood is kept."""
        self._closed_in_sight = self.contact.in_sight
        for attempt in self.connections_open():
            attempt.connection.kill()
            attempt.connection.close()
        self.live, self.attempts = None, []

    @property
    def contact(self) -> Contact:
        fresh = self.last_heard_at is not None and (
            self.live is not None or self._closed_in_sight or (self.pace.short_poll is not None and not self.failures)
        )
        return Contact(fresh, self.last_heard_at, self.reason, self.detail, self.connections, self.drops)

    def why_unreachable(self) -> str:
        """The trouble in words, with what to do about it; "" where there is none."""
        known = BY_KEY.get(self.reason)
        if known is None:
            return self.detail
        detail = f" ({self.detail})" if self.detail else ""
        return f"{known.says}{detail}; {known.remedy_for(self.target.host or 'this machine')}"

    # -- beginning

    def _wants_attempt(self, now: float) -> bool:
        if self.live is not None:
            return not self.attempts and now >= max(self.live.began + self.pace.renew, self.next_try_at)
        if not self.attempts:
            return now >= self.next_try_at
        return now - self.attempts[-1].began >= self._race_after(now)

    def _race_after(self, now: float) -> float:
        return race_after(self.pace, self.login_seconds, now - self.lost_at)

    def _begin(self, now: float) -> None:
        while len(self.attempts) > 1:  # the first is given its time, the second is begun anew
            self.attempts.pop().connection.close()
        # A master of the user's own may be needed to log in; one that is half dead must not take us with it.
        plain = self.failures % 2 == 0 and not self.attempts
        target = self.target if plain else self.target._replace(control_path=NO_MASTER)
        stdin = script_with_values(script(), self._values(), line=True)
        try:
            connection = Connection(target, stdin, connect_seconds=CONNECT_SECONDS, line=True)
        except OSError as error:
            self._note_failure("client", f"cannot start {target.ssh_command[0]!r}: {error.strerror}", lasting=True)
            return
        self.connections += 1
        self.attempts.append(LinkAttempt(connection, now, plain=plain))

    def _values(self) -> list[str]:
        armed = None if self.clock_ahead is None else self.armed_at + self.clock_ahead
        words = [
            (kind, ident, *rest)
            for ident, (number, condition) in self.items.items()
            if number not in self.finished
            for kind, *rest in [condition.words(armed)]
        ]
        python = sys.executable if self.target.host is None else ""
        return values_of(words, self.pace, engine=self.engine, python=python)

    # -- hearing

    def _line(self, attempt: LinkAttempt, line: bytes) -> list[tuple[int, WaitFinding]]:
        message = parse_line(line)
        if message is None or (attempt is not self.live and not isinstance(message, Hello)):
            return []
        attempt.heard_at, self.last_heard_at = monotonic(), wall()
        if isinstance(message, Hello):
            self._welcome(attempt, message)
            return []
        if isinstance(message, Beat):
            self.looked, self.failures = True, 0
            return []
        if isinstance(message, EndedLine):
            self._lose("", "", held=True)
            return []
        number, condition = self.items.get(message.item, (-1, None))
        if condition is None or number in self.finished:
            return []
        ahead = self.clock_ahead or 0.0
        finding = condition.hear(message, wall() + ahead, self.armed_at + ahead)
        if finding is None:
            return []
        self.finished.add(number)
        return [(number, finding)]

    def _welcome(self, attempt: LinkAttempt, hello: Hello) -> None:
        """The box speaks: this connection is the one, all others are ended."""
        if attempt in self.attempts:
            self.attempts.remove(attempt)
        for other in self.connections_open():
            other.connection.close()
        self.live, self.attempts = attempt, []
        attempt.hello = hello
        self.login_seconds = monotonic() - attempt.began
        self.clock_ahead = hello.clock - wall()
        self.reason = self.detail = ""

    # -- losing

    def _ended(self, attempt: LinkAttempt) -> None:
        end = attempt.connection.end()
        if attempt is self.live:
            self._lose(*self._why(end))
        elif attempt in self.attempts:
            if isinstance(
                end, int
            ):  # the login works, and what was sent did not run: a restricted shell, a sick python
                self.engine = "sh" if self.engine == "any" else "any"
            self._failed(attempt, *self._why(end))

    @staticmethod
    def _why(end: NoAnswer | int) -> tuple[str, str]:
        if isinstance(end, NoAnswer):
            return end.reason, safe_line(end.detail, 300)
        return "shell", f"the remote shell ended with exit code {end}"

    def _lose(self, reason: str, detail: str, *, held: bool = False) -> None:
        """The live connection is over. held: it said so itself, its time was up."""
        assert self.live is not None
        self.live.connection.close()
        self.live, self.lost_at = None, monotonic()
        self.lasting = self.pace.once and not self.looked
        if held:
            self.next_try_at = self.lost_at + (self.pace.short_poll or 0.0)
            return
        self.drops += 1
        self.reason, self.detail = ("cut" if reason == "shell" else reason), detail
        self.next_try_at = self.lost_at

    def _failed(self, attempt: LinkAttempt, reason: str, detail: str) -> None:
        attempt.connection.close()
        self.attempts.remove(attempt)
        lasting = reason in BY_KEY and BY_KEY[reason].lasting and attempt.plain
        self._note_failure(reason, detail, lasting=lasting)

    def _spoil(self, attempt: LinkAttempt, reason: str, detail: str) -> None:
        """This connection is not listened to any more, and the next one is not hurried."""
        self.spoilt += 1
        if attempt is self.live:
            self._lose(reason, detail)
        elif attempt in self.attempts:
            self._failed(attempt, reason, detail)
        pause = min(WORST_PAUSE_SECONDS, 2.0**self.spoilt)
        self.next_try_at = max(self.next_try_at, monotonic() + pause)

    def _note_failure(self, reason: str, detail: str, *, lasting: bool) -> None:
        self.failures += 1
        self.reason, self.detail = reason, detail
        # Before the first contact it will not get better by waiting; later it may be a home directory that hangs.
        self.lasting = lasting and self.last_heard_at is None and (reason != "shell" or self.failures > 2)
        self.lasting = self.lasting or (self.pace.once and not self.attempts)
        now = monotonic()
        if not self.attempts:
            pause = pause_before_try(self.failures, now - self.lost_at, random.random())  # noqa: S311 - jitter
            self.next_try_at = now + pause


def last_contact(contact: Contact, now: float) -> str:
    """When the box was heard last, for people."""
    if contact.last_heard_at is None:
        return "it was never reached"
    return f"last heard {format_duration(max(0.0, now - contact.last_heard_at))} ago"
