"""Put the page and its JSON beside the configuration, whole or not at all; one writer at a time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from handbook.page.notes import keep_notes
from handbook.page.render import render
from handbook.page.render_json import render_json
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.local.locks import take
from onbox.named_tuple import NamedTuple
from onbox.redact import redact
from onbox.system.files import make_folders, read_file, replace_file

if TYPE_CHECKING:
    from filelock import FileLock

    from handbook.page.facts import HandbookFacts

PAGE = "HANDBOOK.md"
DATA = "handbook.json"
LOCK = "handbook.lock"
NOTES_MASKED = "what looked like a secret in the page's notes was masked there"
READABLE = 0o644  # a page in the project, for whoever may read that
LOCK_SECONDS = 10.0


class Published(NamedTuple):
    """page: its path. set_aside: where an earlier page went whose notes could not be told apart; "": nowhere. masked:
    what looked like a secret in the notes does not stand there any more.
    """

    page: str
    set_aside: str
    masked: bool = False


def publish(facts: HandbookFacts, folder: str, state: str) -> Published:
    """Write both files. state: the folder of the lock. Raises StateNotWritten, Trouble where another writer hangs."""
    make_folders(state)
    lock = wait_for_lock(os.path.join(state, LOCK))
    try:
        page = os.path.join(folder, PAGE)
        refuse_link(page, os.path.join(folder, DATA))
        old = read_file(page)
        text = None if old is None else old.decode("utf-8", "surrogateescape")
        kept = keep_notes(text)
        aside = ""
        if kept.damaged and old is not None:
            aside = _set_aside(page, old)
        notes = redact(kept.notes)
        replace_if_changed(page, render(facts, notes).encode("utf-8", "surrogateescape"))
        replace_if_changed(os.path.join(folder, DATA), render_json(facts).encode("ascii"))
        return Published(page, aside, notes != kept.notes)
    finally:
        lock.release()


def refuse_link(*paths: str) -> None:
    """What a cloned project, or another user of the folder, may have put there: it would lead to another file. Raises
    Trouble.
    """
    for path in paths:
        if os.path.islink(path):
            text = f"{path} is a symbolic link: nothing is written through one. Put a file or folder in its place"
            raise Trouble(Exit.STATE_NOT_WRITTEN, text)


def _set_aside(page: str, old: bytes) -> str:
    """Keep a page whose marked lines are gone under the first free name."""
    for number in range(1, 100):
        path = f"{page}.old.{number}"
        if not os.path.exists(path):
            replace_file(path, old)
            return path
    raise Trouble(
        Exit.STATE_NOT_WRITTEN, f"{page}: its marked lines are damaged, and there are a hundred old pages already"
    )


def replace_if_changed(path: str, data: bytes) -> None:
    """Same bytes: leave the file and its time as they are, so that nothing that watches it is woken."""
    try:
        same = read_file(path) == data
    except OSError:
        same = False
    if not same:
        replace_file(path, data, mode=READABLE)


def wait_for_lock(path: str) -> FileLock:
    """The lock, to be released. Raises Trouble after a while: who holds it hangs."""
    lock = take(path, patience_seconds=LOCK_SECONDS)
    if lock is None:
        raise Trouble(Exit.ANOTHER_RUNNER, f"another writer holds {path} for more than {LOCK_SECONDS:.0f} s")
    return lock
