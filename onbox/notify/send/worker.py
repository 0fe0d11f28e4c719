"""One target's messages, in order, until none is left or due. Runs in a process of its own: a target that hangs delays
no other.
"""

from __future__ import annotations

import random
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from onbox.named_tuple import NamedTuple
from onbox.notify.queue.coalesce import HoldUntil, Send, next_step
from onbox.notify.queue.delivery_lock import nobody_asks
from onbox.notify.queue.outbox import KEPT_PENDING, DamagedMessage, Message, Outbox
from onbox.notify.schedule import (
    UNCLEAR_TRIES,
    judge_silence,
    next_try,
    rate_allows,
    remember,
)
from onbox.notify.send.send_once import exchange, preload
from onbox.notify.shown_url import mask_url
from onbox.notify.signing import BadSecret
from onbox.notify.table import format_of
from onbox.notify.targets import NotSet, Resolved, TargetStanding, read_standing, resolve_target, write_standing
from onbox.notify.types import Delivery, FormatInput, HttpAnswer, NoHttpAnswer, TryOutcome, Unusable
from onbox.outside import safe_line, safe_text
from onbox.system.clock import parse_utc, pause, utc_text, wall
from onbox.system.files import StateNotWritten, read_tail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onbox.contract.notices import Notice
    from onbox.contract.notify_targets import DeliveryPace, NotifyTarget
    from onbox.contract.paths import RunPaths
    from onbox.notify.types import Outgoing

LOOK_SECONDS = 0.2
REASON_LIMIT = 300
TRIM_EVERY = 50


class Left(IntEnum):
    """How a worker leaves its queue; the exit code of its process."""

    EMPTY = 0
    BEYOND = 2  # what waits is not due before the deliverer's end
    PARKED = 3  # what waits cannot be delivered from here: a variable that is not set, say


def try_once(
    notice: Notice,
    resolved: Resolved,
    seconds: float,
    send: Callable[[Outgoing, float], HttpAnswer | NoHttpAnswer] = exchange,
) -> Delivery:
    """Send one notice to one target, once. Raises Unusable, BadSecret."""
    channel = format_of(resolved.url, resolved.target.format)
    notice = with_log_tail(notice, resolved.target)
    outgoing = channel.build(FormatInput(notice, resolved.url, resolved.secret, wall()))
    answer = send(outgoing, seconds)
    verdict = judge_silence(answer) if isinstance(answer, NoHttpAnswer) else channel.judge(answer, wall())
    return verdict._replace(reason=hide(verdict.reason, resolved))


def hide(text: str, resolved: Resolved) -> str:
    """A reason may quote the other side, and that may quote what it was sent: no part of URL or secret may stay."""
    for word in (resolved.url, resolved.secret, *resolved.url.replace("?", "/").replace("&", "/").split("/")[3:]):
        if word and len(word) >= 6:
            text = text.replace(word, "***")
    return safe_line(text, REASON_LIMIT)


def with_log_tail(notice: Notice, target: NotifyTarget) -> Notice:
    """The notice with the end of its log, if the target wants it and there is one; whole lines, without secrets."""
    if not target.attach_log_bytes or not notice.log or notice.attempt is None:
        return notice
    try:
        tail = read_tail(notice.log, target.attach_log_bytes)
    except OSError:
        return notice
    text = (tail or b"").decode("utf-8", "replace")
    whole = text.partition("\n")[2] if tail and len(tail) >= target.attach_log_bytes else text
    return notice._replace(log_tail=safe_text(whole).strip() or None)


class WorkerTerms(NamedTuple):
    """What a worker works under. folder: where relative `file:` references begin. end: when to leave off, in seconds
    since the epoch. at_once: the first try does not wait for the back-off of earlier ones (a person asked).
    """

    pace: DeliveryPace
    environ: Mapping[str, str]
    folder: str
    end: float
    at_once: bool = False
    asked_to_end: Callable[[], bool] = nobody_asks


class Worker:
    """The queue of one target."""

    def __init__(self, paths: RunPaths, target: NotifyTarget, terms: WorkerTerms) -> None:
        self.paths, self.target, self.terms = paths, target, terms
        self.outbox = Outbox(paths)
        self.standing = read_standing(paths, target.name)
        self._delivered: set[str] = set()  # names that could not even be moved: the disk is full
        self._finished = 0
        if terms.at_once:
            self.standing = self.standing._replace(not_before=0.0, last_key=())

    def run(self) -> Left:
        """Work off the queue."""
        self._give_up_old()
        while (now := wall()) < self.terms.end and not self.terms.asked_to_end():
            step = self._next(now)
            if step is None:
                return Left.EMPTY
            if isinstance(step, HoldUntil):
                if step.until > self.terms.end:
                    return Left.BEYOND
                pause(min(step.until - now, LOOK_SECONDS))
                continue
            try:
                self._try(step)
            except (NotSet, Unusable, BadSecret) as problem:
                self._keep(self.standing._replace(reason=str(problem)))
                return Left.PARKED
        return Left.BEYOND

    def _next(self, now: float) -> Send | HoldUntil | None:
        names = [name for name in self.outbox.pending(self.target.name) if name.text not in self._delivered]
        if not names:
            return None
        if self._finish_rest([name.text for name in names]):
            return HoldUntil(now)
        earliest = self.standing.not_before
        if now < earliest <= now + 86400.0 + 60.0:  # else the clock was set back
            return HoldUntil(earliest)
        return next_step(self._messages(), self.standing, now)

    def _messages(self) -> Iterator[Message]:
        for name in self.outbox.pending(self.target.name):
            message = self.outbox.read(name)
            if isinstance(message, DamagedMessage):
                self.outbox.set_aside(name, self.paths.dead)
            elif message is not None and name.text not in self._delivered:
                yield message

    def _finish_rest(self, waiting: list[str]) -> bool:
        """A group of which some are dealt with already: who did that died in between. The rest follows them."""
        group = self.standing.group
        rest = [text for text in group if text in waiting]
        if len(rest) == len(group):
            return False
        dead = {name.text for name in self.outbox.names(self.paths.dead)}
        folder = self.paths.dead if dead.intersection(group) else self.paths.sent
        for name in self.outbox.pending(self.target.name):
            if name.text in rest:
                self.outbox.set_aside(name, folder)
        self._keep(self.standing._replace(group=()))
        return True

    def _try(self, step: Send) -> None:
        resolved = resolve_target(self.target, self.terms.environ, self.terms.folder)
        channel = format_of(resolved.url, self.target.format)
        now = wall()
        allowed = rate_allows(channel.rate, self.standing.recent, now)
        self.standing = self.standing._replace(shown_url=mask_url(resolved.url), format=channel.name)
        if allowed > now:
            self._keep(self.standing._replace(not_before=allowed))
            return
        group = tuple(name.text for name in step.names)
        self._keep(self.standing._replace(group=group), durable=len(group) > 1 and group != self.standing.group)
        preload(resolved.url)
        verdict = try_once(step.notice, resolved, self.terms.pace.attempt_seconds)
        recent = remember(channel.rate, self.standing.recent, wall())
        self.standing = self.standing._replace(recent=recent, status=verdict.status, reason=verdict.reason)
        self._note(step, verdict)

    def _note(self, step: Send, verdict: Delivery) -> None:
        tries = self.standing.tries + 1
        unclear = verdict.outcome is TryOutcome.UNCLEAR
        if verdict.outcome is TryOutcome.DELIVERED:
            self._finish(step, self.paths.sent, verdict, tries)
        elif verdict.outcome is TryOutcome.NEVER or (unclear and tries >= UNCLEAR_TRIES):
            self._finish(step, self.paths.dead, verdict, tries)
        else:
            delay = next_try(self.terms.pace, tries, verdict.retry_after_seconds, random.random())  # noqa: S311 - jitter
            self._keep(self.standing._replace(tries=tries, not_before=wall() + delay))

    def _finish(self, step: Send, folder: str, verdict: Delivery, tries: int) -> None:
        end: dict[str, Any] = {
            "at": utc_text(wall()),
            "reason": verdict.reason,
            "status": verdict.status,
            "tries": tries,
            "told_as": step.notice.id,
        }
        for member in step.members:
            try:
                self.outbox.finish(member, folder, end)
            except StateNotWritten:
                self._delivered.add(member.name.text)
        self._finished += len(step.members)
        if self._finished % TRIM_EVERY < len(step.members):
            self.outbox.trim()
        key = step.notice.key
        repeats = self.standing.repeats + 1 if key == self.standing.last_key else 1
        fresh = TargetStanding(
            shown_url=self.standing.shown_url, format=self.standing.format, recent=self.standing.recent
        )
        self._keep(fresh._replace(last_key=key, last_sent=wall(), repeats=repeats))  # the answer was of this message

    def _keep(self, standing: TargetStanding, *, durable: bool = False) -> None:
        self.standing = standing
        write_standing(self.paths, self.target.name, standing, durable=durable)

    def _give_up_old(self) -> None:
        """What is too old, or too many, goes to dead/ with the reason."""
        names = self.outbox.pending(self.target.name)
        excess = len(names) - KEPT_PENDING
        for place, name in enumerate(names):
            message = self.outbox.read(name)
            if not isinstance(message, Message):
                continue
            age = wall() - (parse_utc(message.enqueued_at) or wall())
            if place >= excess and age <= self.terms.pace.give_up_seconds:
                return
            why = f"more than {KEPT_PENDING} were waiting" if place < excess else f"not delivered within {age:.0f} s"
            last = f"; the last try: {self.standing.reason}" if self.standing.reason else ""
            self.outbox.finish(message, self.paths.dead, {"at": utc_text(wall()), "reason": why + last, "tries": None})
