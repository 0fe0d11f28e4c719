"""The patrol's own messages on their way: what people know, the outbox, and the deliverer that empties it.

The folder `notices` in the patrol's own is laid out as a run's, so that the deliverer of the box works on it as it is.
What is decided goes into one file first, in one step: what people know after it, and the messages. Then the messages go
into the outbox. A tick that is killed in between leaves both to the next one, which puts in what is not there yet: each
message has its number, so none is lost and none is told twice. Where the disk is full, they are sent at once instead.
"""

from __future__ import annotations

import hashlib
import os
from functools import partial
from typing import TYPE_CHECKING

from onbox.config.trust_keys import hash_of
from onbox.contract.notify_targets import notify_to_dict
from onbox.contract.paths import RunPaths
from onbox.contract.runfile import render_runfile
from onbox.model.units import counted
from onbox.notify.mask import without_secrets
from onbox.notify.queue.enqueue import start_deliverer
from onbox.notify.queue.outbox import Message, Name, Outbox
from onbox.notify.targets import read_standing
from onbox.outside import safe_line
from onbox.system.clock import monotonic, pause, utc_text
from onbox.system.files import StateNotWritten, read_file, replace_file
from onbox.trust import not_accepted
from patrol.tell import directly
from patrol.tell.book import Book, Shelf
from patrol.tell.news import daily_news, find_news, for_target, wants
from patrol.tell.words import notice_of, withheld_notice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from onbox.contract.notices import Notice
    from onbox.contract.notify_targets import NotifyTarget
    from patrol.config.settings import Settings
    from patrol.judge import BoxJudged
    from patrol.tell.news import News

    Draft: TypeAlias = Callable[[str, str], Notice | None]  # target and id of the message; None: it is not told

FOLDER = "notices"
TERMS_LIMIT_BYTES = 1 << 20
WAIT_SECONDS = 10.0  # a tick by a timer waits so long for its messages; the deliverer goes on without it
WAIT_OF_PERSON_SECONDS = 3.0
LOOK_SECONDS = 0.05


def speak(
    settings: Settings, judged: Sequence[BoxJudged], environ: Mapping[str, str], now: float, *, unattended: bool
) -> list[str]:
    """Tell people what is new, and see that it is delivered; trouble, if there was any."""
    desk = _Desk(settings, judged, environ, now, unattended=unattended)
    if not desk.targets and not os.path.isdir(desk.paths.outbox):
        return []
    try:
        return desk.by_outbox()
    except (OSError, StateNotWritten) as error:
        return desk.from_memory(error)


class _Desk:
    """What one tick tells, and where it goes."""

    def __init__(
        self,
        settings: Settings,
        judged: Sequence[BoxJudged],
        environ: Mapping[str, str],
        now: float,
        *,
        unattended: bool,
    ) -> None:
        self.settings, self.judged, self.environ, self.now = settings, judged, environ, now
        self.unattended = unattended
        self.targets = tuple(target for target in settings.config.notify.targets if wants(target))
        self.paths = paths_of(settings)
        self.outbox, self.shelf = Outbox(self.paths), Shelf(self.paths)

    def by_outbox(self) -> list[str]:
        """Raises OSError, StateNotWritten."""
        self.outbox.make()
        _write_terms(self.settings, self.paths)
        book, troubles = self.shelf.read()
        for message in self._outside(book):
            self.outbox.put(message)
        fresh = self._next(book)
        if fresh != book:
            fresh = self.shelf.save(fresh)
            for message in self._outside(fresh):
                self.outbox.put(message)
        waiting = bool(self.outbox.pending())
        if waiting:
            start_deliverer(self.paths, self.environ)
            _wait(self.outbox, WAIT_SECONDS if self.unattended else WAIT_OF_PERSON_SECONDS)
        return troubles + _not_delivered(self.outbox, fresh)

    def from_memory(self, why: Exception) -> list[str]:
        """Send what cannot be put into the outbox at once. What is told is kept in room that was taken before, so that
        no tick tells it again; where there is none, nothing is sent, for each tick would.
        """
        try:
            book, troubles = self.shelf.read()
            fresh = self._next(book)
            carried = tuple(message for message in self._outside(book) if message not in fresh.messages)
            fresh = fresh._replace(messages=(*carried, *fresh.messages))
            waiting, told = self._outside(fresh), 0
            if fresh != book or waiting:
                fresh = self.shelf.save_in_spare(fresh)
            for message, outcome, reason in directly.send(waiting, self.environ, self.settings.folder):
                if outcome == "waits":
                    troubles.append(f"{message.name.target} is not told yet ({safe_line(reason)}); it is tried again")
                    continue
                told += outcome == "delivered"
                fresh = self.shelf.save_in_spare(fresh._replace(sent=fresh.sent | {message.name.text}))
        except (OSError, StateNotWritten) as error:
            return [f"people could not be told, the next tick tries again: {error}"]
        sent = f"; {counted(told, 'message')} went out straight from memory" if told else ""
        return [*troubles, f"the outbox cannot be written: {why}{sent}"]

    def _outside(self, book: Book) -> list[Message]:
        """Its messages that are not in the outbox, and were not dealt with."""
        paths = self.paths
        there = {name for folder in (paths.outbox, paths.sent, paths.dead) for name in self.outbox.names(folder)}
        return [one for one in book.messages if one.name not in there and one.name.text not in book.sent]

    def _next(self, book: Book) -> Book:
        """The book after this tick. The daily message, and that keys are not accepted, are told by ticks of a timer: a
        person is there and reads it.
        """
        if not self.targets:
            return book
        settings, judged, now = self.settings, self.judged, self.now
        whole = {box.box.name for box in judged} >= {box.name for box in settings.config.boxes}
        terms = settings.patrol
        found, known = find_news(judged, book.known, now, whole=whole, per_day=terms.alerts_per_day)
        if self.unattended and whole and terms.digest_minute is not None:
            daily, known = daily_news(judged, known, now, terms.digest_minute)
            found += [daily] if daily is not None else []
        host = os.uname().nodename
        drafts: list[Draft] = [partial(_draft, news, settings.folder, host, now) for news in found]
        if self.unattended:
            withheld = hash_of(settings.withheld) if settings.withheld else ""
            if withheld and withheld != known.withheld:
                drafts.append(partial(_draft_withheld, settings, host, now))
            known = known._replace(withheld=withheld)
        if not drafts:
            return book._replace(known=known)
        messages = _messages(settings, drafts, self.targets, book.number, now)
        return book._replace(known=known, number=book.number + len(drafts), messages=messages, sent=frozenset())


def paths_of(settings: Settings) -> RunPaths:
    return notices_in(settings.state)


def notices_in(state: str) -> RunPaths:
    return RunPaths(os.path.join(state, FOLDER))


def _draft(news: News, folder: str, host: str, now: float, target: str, id_: str) -> Notice | None:
    mine = for_target(news, target)
    return None if mine is None else notice_of(mine, id_, folder=folder, host=host, now=now)


def _draft_withheld(settings: Settings, host: str, now: float, _target: str, id_: str) -> Notice:
    where = settings.config_path or settings.folder
    return withheld_notice(id_, not_accepted(where, settings.withheld), folder=settings.folder, host=host, now=now)


def _messages(
    settings: Settings, drafts: Sequence[Draft], targets: Sequence[NotifyTarget], number: int, now: float
) -> tuple[Message, ...]:
    origin = hashlib.sha256(os.fsencode(settings.state)).hexdigest()[:12]
    messages = []
    for place, draft in enumerate(drafts, number + 1):
        id_ = f"msg_patrol_{origin}_{int(now)}_{place}"
        for target in targets:
            if (notice := draft(target.name, id_)) is not None:
                plain = target._replace(attach_log_bytes=0)  # a log lies on the box
                messages.append(Message(Name(place, target.name), utc_text(now), plain, without_secrets(notice)))
    return tuple(messages)


def _write_terms(settings: Settings, paths: RunPaths) -> None:
    """For the deliverer: where the targets are now, and where their files lie."""
    head = {
        "run": "patrol",
        "run_id": "patrol",
        "project": settings.folder,
        "chain_fingerprint": "",
        "stage_count": 0,
        "notify": notify_to_dict(settings.config.notify),
    }
    text = render_runfile(head, ())
    if read_file(paths.manifest, TERMS_LIMIT_BYTES) != text:
        replace_file(paths.manifest, text)


def _wait(outbox: Outbox, seconds: float) -> None:
    end = monotonic() + seconds
    while outbox.pending() and monotonic() < end:
        pause(LOOK_SECONDS)


def _not_delivered(outbox: Outbox, book: Book) -> list[str]:
    """What waits, and what a target has refused for good, with the last reason of each target."""
    said = []
    waiting = outbox.pending()
    for target in dict.fromkeys(name.target for name in waiting):
        count = sum(name.target == target for name in waiting)
        reason = safe_line(read_standing(outbox.paths, target).reason or "no answer yet")
        said.append(f"{target} is not told yet of {count} message(s) ({reason}); it is tried again")
    mine = {message.name for message in book.messages}
    for name in outbox.names(outbox.paths.dead):
        if name in mine:
            message = outbox.read(name, outbox.paths.dead)
            end = message.end if isinstance(message, Message) else None
            reason = safe_line(str((end or {}).get("reason") or "why is not known"))
            said.append(f"{name.target} was not told of a message, and will not be ({reason}): onbox notify test")
    return said
