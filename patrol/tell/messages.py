"""The patrol's own messages on their way: what people know, the outbox, and the deliverer that empties it.

The folder `notices` in the patrol's own is laid out as a run's, so that the deliverer of the box works on it as it is.
What is decided goes into one file first, in one step: what people know after it, and the messages. Then the messages go
into the outbox. A tick that is killed in between leaves both to the next one, which puts in what is not there yet: each
message has its number, so none is lost and none is told twice.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.config.trust_keys import hash_of
from onbox.contract.json_text import parse_json
from onbox.contract.notify_targets import notify_to_dict
from onbox.contract.paths import RunPaths
from onbox.contract.runfile import render_runfile
from onbox.notify.mask import without_secrets
from onbox.notify.queue.enqueue import start_deliverer
from onbox.notify.queue.outbox import DamagedMessage, Message, Name, Outbox, parse_message, parse_name, render_message
from onbox.notify.targets import read_standing
from onbox.outside import safe_line
from onbox.system.clock import monotonic, pause, utc_text
from onbox.system.files import StateNotWritten, read_file, replace_file
from onbox.trust import not_accepted
from patrol.tell.news import Known, Told, daily_news, find_news, for_target, wants
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

FOLDER, KNOWN_FILE = "notices", "known.json"
SCHEMA = 1
LIMIT_BYTES = 16 << 20
WAIT_SECONDS = 10.0  # a tick by a timer waits so long for its messages; the deliverer goes on without it
WAIT_OF_PERSON_SECONDS = 3.0
LOOK_SECONDS = 0.05


class Book(NamedTuple):
    """What is on disk. number: of the newest message. messages: of the newest tick that told anything."""

    known: Known = Known()
    number: int = 0
    messages: tuple[Message, ...] = ()


def speak(
    settings: Settings, judged: Sequence[BoxJudged], environ: Mapping[str, str], now: float, *, unattended: bool
) -> list[str]:
    """Tell people what is new, and see that it is delivered; trouble, if there was any."""
    targets = tuple(target for target in settings.config.notify.targets if wants(target))
    paths = paths_of(settings)
    if not targets and not os.path.isdir(paths.outbox):
        return []
    outbox = Outbox(paths)
    try:
        outbox.make()
        _write_terms(settings, paths)
        book, troubles = _read_book(paths)
        _put_in(outbox, book.messages)
        fresh = _next(settings, judged, book, targets, now, unattended=unattended) if targets else book
        if fresh != book:
            replace_file(f"{paths.root}/{KNOWN_FILE}", _render(fresh))
            _put_in(outbox, fresh.messages)
        waiting = bool(outbox.pending())
        if waiting:
            start_deliverer(paths, environ)
    except (OSError, StateNotWritten) as error:
        return [f"people could not be told, the next tick tries again: {error}"]
    if waiting:
        _wait(outbox, WAIT_SECONDS if unattended else WAIT_OF_PERSON_SECONDS)
    return troubles + _not_delivered(outbox, fresh)


def paths_of(settings: Settings) -> RunPaths:
    return RunPaths(os.path.join(settings.state, FOLDER))


def _next(
    settings: Settings,
    judged: Sequence[BoxJudged],
    book: Book,
    targets: Sequence[NotifyTarget],
    now: float,
    *,
    unattended: bool,
) -> Book:
    """The book after this tick. The daily message, and that keys are not accepted, are told by ticks of a timer: a
    person is there and reads it.
    """
    whole = {box.box.name for box in judged} >= {box.name for box in settings.config.boxes}
    terms = settings.patrol
    found, known = find_news(judged, book.known, now, whole=whole, per_day=terms.alerts_per_day)
    if unattended and whole and terms.digest_minute is not None:
        daily, known = daily_news(judged, known, now, terms.digest_minute)
        found += [daily] if daily is not None else []
    host = os.uname().nodename
    drafts: list[Draft] = [partial(_draft, news, settings.folder, host, now) for news in found]
    if unattended:
        withheld = hash_of(settings.withheld) if settings.withheld else ""
        if withheld and withheld != known.withheld:
            drafts.append(partial(_draft_withheld, settings, host, now))
        known = known._replace(withheld=withheld)
    messages = _messages(settings, drafts, targets, book.number, now)
    return Book(known, book.number + len(drafts), messages if drafts else book.messages)


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


def _put_in(outbox: Outbox, messages: Sequence[Message]) -> None:
    """Those that are not there, and were not dealt with."""
    paths = outbox.paths
    there = {name for folder in (paths.outbox, paths.sent, paths.dead) for name in outbox.names(folder)}
    for message in messages:
        if message.name not in there:
            outbox.put(message)


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
    if read_file(paths.manifest, LIMIT_BYTES) != text:
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


# -- the book


def _render(book: Book) -> bytes:
    known = book.known
    messages = {message.name.text: json.loads(render_message(message)) for message in book.messages}
    data = {
        "schema": SCHEMA,
        "number": book.number,
        "told": [[*key, *one] for key, one in known.told.items()],
        "done": known.done,
        "told_at": [[*subject, times] for subject, times in known.told_at.items()],
        "digest_at": known.digest_at,
        "withheld": known.withheld,
        "messages": messages,
    }
    return json.dumps(data).encode("ascii")


def _read_book(paths: RunPaths) -> tuple[Book, list[str]]:
    """What is on disk; where it cannot be understood, a new one that goes on behind every message that was made."""
    text = read_file(f"{paths.root}/{KNOWN_FILE}", LIMIT_BYTES)
    if text is None:
        return _new_book(paths), []
    try:
        return _parse(parse_json(text)), []
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return _new_book(paths), ["what people were told is not readable any more, so they may be told again"]


def _new_book(paths: RunPaths) -> Book:
    outbox = Outbox(paths)
    folders = (paths.outbox, paths.sent, paths.dead)
    return Book(number=max((name.offset for folder in folders for name in outbox.names(folder)), default=0))


def _parse(data: dict[str, Any]) -> Book:
    told = {
        (str(box), str(run)): Told(int(rank), tuple(map(str, rules)), str(of), *map(bool, passing[:1]))
        for box, run, rank, rules, of, *passing in data["told"]
    }
    messages = []
    for text, one in data["messages"].items():
        name = parse_name(text)
        message = parse_message(name, json.dumps(one).encode("ascii")) if name is not None else None
        if message is None or isinstance(message, DamagedMessage):
            raise ValueError(text)
        messages.append(message)
    known = Known(
        told,
        tuple(map(str, data["done"])),
        {
            (str(box), str(run), str(rule)): tuple(map(float, times))
            for box, run, rule, times in data.get("told_at", ())
        },
        float(data.get("digest_at", 0.0)),
        str(data.get("withheld", "")),
    )
    return Book(known, int(data["number"]), tuple(messages))
