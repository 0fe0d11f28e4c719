"""A folder that stands in for the patrol's own while that cannot be written: a disk that is read-only, or that was full
before any room could be taken on it.

It lies in memory or among the temporary files, so each tick knows what the one before it saw and told. What was told
comes home with the first tick that can write there again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from typing import TYPE_CHECKING

from onbox.local.locks import take
from onbox.notify.queue.outbox import Outbox
from onbox.system.files import StateNotWritten, read_file, replace_file
from onbox.system.ownership import make_own_folder
from patrol.tell.book import KNOWN_FILE, SPARE_FILE, Shelf
from patrol.tell.messages import FOLDER, notices_in

if TYPE_CHECKING:
    from filelock import FileLock

PLACES = ("/dev/shm", "/tmp")  # in a folder of it that others cannot write
LOCK = "tick.lock"
MEMORY = "memory.db"
LIMIT_BYTES = 64 << 20


def take_room(state: str) -> None:
    """Room for what people know, where that was not taken yet. Raises StateNotWritten: nothing could be kept there."""
    paths = notices_in(state)
    Outbox(paths).make()
    Shelf(paths).spare.reserve()


def begin(state: str) -> tuple[str, FileLock | None]:
    """The folder to work in instead of `state`, with what can be read there, and its lock; None: another tick has it.
    Raises StateNotWritten: there is none.
    """
    trouble = StateNotWritten(state, FileNotFoundError(errno.ENOENT, "no place"))
    for folder in _folders(state):
        try:
            make_own_folder(os.path.dirname(folder))
            make_own_folder(folder)
            lock = take(os.path.join(folder, LOCK))
            if lock is not None:
                _copy_what_is_known(state, folder)
                take_room(folder)
        except StateNotWritten as error:
            trouble = error
            continue
        return folder, lock
    raise trouble


def come_home(state: str) -> bool:
    """Bring what was told meanwhile into `state`; False: another tick is at work there. Raises StateNotWritten."""
    for folder in filter(os.path.isdir, _folders(state)):
        lock = take(os.path.join(folder, LOCK))
        if lock is None:
            return False
        try:
            _bring(folder, state)
            shutil.rmtree(folder)
        except OSError as error:
            raise StateNotWritten(folder, error) from error
        finally:
            lock.release()
    return True


def _folders(state: str) -> list[str]:
    name = f"{os.path.basename(state)}-{hashlib.sha256(os.fsencode(state)).hexdigest()[:12]}"
    return [f"{place}/onbox-{os.geteuid()}/{name}" for place in PLACES if os.path.isdir(place)]


def _copy_what_is_known(state: str, folder: str) -> None:
    for name in (MEMORY, f"{FOLDER}/{KNOWN_FILE}", f"{FOLDER}/{SPARE_FILE}"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            continue
        try:
            text = read_file(os.path.join(state, name), LIMIT_BYTES)
        except OSError:
            continue  # as where there is none: this tick is the first that knows anything
        if text is not None:
            make_own_folder(os.path.dirname(path))
            replace_file(path, text)


def _bring(folder: str, state: str) -> None:
    """Messages first, as they lie: what was sent there is not put into the outbox here."""
    there, here = notices_in(folder), notices_in(state)
    (told, _), (known, _) = Shelf(there).read(), Shelf(here).read()
    if told.saved <= known.saved:
        return
    Outbox(here).make()
    for source, target in ((there.sent, here.sent), (there.dead, here.dead), (there.outbox, here.outbox)):
        for name in Outbox(there).names(source):
            text = read_file(f"{source}/{name.text}", LIMIT_BYTES)
            if text is not None:
                replace_file(f"{target}/{name.text}", text)
    Shelf(here).save(told)
