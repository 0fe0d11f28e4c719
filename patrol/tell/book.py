"""What people know, and the messages of it that may not be in the outbox yet: one file, replaced in one step.

On a full disk it goes into room that was taken before. Of the two, the one that was written last holds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import parse_json
from onbox.named_tuple import NamedTuple
from onbox.notify.queue.outbox import DamagedMessage, Message, Outbox, parse_message, parse_name, render_message
from onbox.system.files import read_file, replace_file
from patrol.tell.news import Known, KnownNews
from patrol.tell.spare import Spare

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.paths import RunPaths

KNOWN_FILE, SPARE_FILE = "known.json", "known.spare"
SCHEMA = 1
LIMIT_BYTES = 16 << 20


class Book(NamedTuple):
    """What is on disk. number: of the newest message. messages: of the newest tick that told anything, and before that
    those that could not be put in the outbox. sent: the names of those that were dealt with without it. saved: how
    often it was written.
    """

    known: Known = Known()
    number: int = 0
    messages: tuple[Message, ...] = ()
    sent: frozenset[str] = frozenset()
    saved: int = 0


class Shelf:
    """Where the book lies."""

    def __init__(self, paths: RunPaths) -> None:
        self.paths = paths
        self.spare = Spare(f"{paths.root}/{SPARE_FILE}")

    def save(self, book: Book) -> Book:
        """Raises StateNotWritten."""
        return self._save(book, lambda text: replace_file(f"{self.paths.root}/{KNOWN_FILE}", text))

    def save_in_spare(self, book: Book) -> Book:
        """Without new room. Raises StateNotWritten."""
        return self._save(book, self.spare.write)

    def _save(self, book: Book, write: Callable[[bytes], None]) -> Book:
        book = book._replace(saved=book.saved + 1)
        write(_render(book))
        return book

    def read(self) -> tuple[Book, list[str]]:
        """What is on disk, and trouble. Where it cannot be understood, a new one that goes on behind every message that
        was made. Raises OSError.
        """
        texts = (read_file(f"{self.paths.root}/{KNOWN_FILE}", LIMIT_BYTES), self.spare.read())
        books, damaged = [], False
        for text in texts:
            try:
                books += [_parse(parse_json(text))] if text is not None else []
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                damaged = True
        if books:
            return max(books, key=lambda one: one.saved), []
        words = ["what people were told is not readable any more, so they may be told again"]
        return self._new(), words if damaged else []

    def _new(self) -> Book:
        outbox = Outbox(self.paths)
        folders = (self.paths.outbox, self.paths.sent, self.paths.dead)
        return Book(number=max((name.offset for folder in folders for name in outbox.names(folder)), default=0))


def _render(book: Book) -> bytes:
    known = book.known
    messages = {message.name.text: json.loads(render_message(message)) for message in book.messages}
    data = {
        "schema": SCHEMA,
        "number": book.number,
        "saved": book.saved,
        "told": [[*key, *one] for key, one in known.told.items()],
        "done": known.done,
        "told_at": [[*subject, times] for subject, times in known.told_at.items()],
        "digest_at": known.digest_at,
        "withheld": known.withheld,
        "messages": messages,
        "sent": sorted(book.sent),
    }
    return json.dumps(data).encode("ascii")


def _parse(data: dict[str, Any]) -> Book:
    told = {
        (str(box), str(run)): KnownNews(int(rank), tuple(map(str, rules)), str(of), *map(bool, passing[:1]))
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
    sent = frozenset(map(str, data.get("sent", ())))
    return Book(known, int(data["number"]), tuple(messages), sent, int(data.get("saved", 0)))
