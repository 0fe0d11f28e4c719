"""The outbox: one file per notice and target, until it is delivered (`sent/`) or given up (`dead/`).

A file's name is `<journal offset>-<target>.json`, so that names sort in the order of what happened and the newest one
tells up to where the journal has been put in. Only whole files are seen under their names: written beside, flushed,
renamed, folder flushed. The order at the end of a message: its record in sent/ or dead/, then the removal here; a file
that lies in both places has been dealt with.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import parse_json
from onbox.contract.notices import Notice, notice_from_dict, notice_to_dict
from onbox.contract.notify_targets import NotifyTarget, target_from_dict, target_to_dict
from onbox.named_tuple import NamedTuple
from onbox.system.clock import wall
from onbox.system.files import StateNotWritten, make_folders, read_file, remove_file, replace_file, sync_folder

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths

SCHEMA = 1
FILE_LIMIT_BYTES = 1 << 18
ROOM_BYTES = 1 << 16
LEFTOVER_SECONDS = 3600.0  # no write takes so long
KEPT_SENT, KEPT_DEAD, KEPT_PENDING = 200, 200, 1000  # files per target
SUFFIX = ".json"


class Name(NamedTuple):
    """A file of the outbox. offset: where the notice's line begins in the journal."""

    offset: int
    target: str

    @property
    def text(self) -> str:
        return f"{self.offset:014d}-{self.target}{SUFFIX}"


class Message(NamedTuple):
    """A notice on its way to one target. end: how it ended (`at`, `reason`, `status`, `tries`, `told_as`), or None."""

    name: Name
    enqueued_at: str
    target: NotifyTarget
    notice: Notice
    end: dict[str, Any] | None = None


class DamagedMessage(NamedTuple):
    """A file of the outbox that is not a message."""

    name: Name
    why: str


def parse_name(text: str) -> Name | None:
    """The meaning of a file name; None for writes under way and for whatever else lies there."""
    offset, _, target = text.removesuffix(SUFFIX).partition("-")
    return Name(int(offset), target) if text.endswith(SUFFIX) and offset.isdigit() and target else None


def render_message(message: Message) -> bytes:
    """The content of a file of the outbox."""
    data = {
        "schema": SCHEMA,
        "id": message.notice.id,
        "enqueued_at": message.enqueued_at,
        "target": target_to_dict(message.target),
        "notice": notice_to_dict(message.notice),
    }
    if message.end is not None:
        data["end"] = message.end
    return json.dumps(data).encode("ascii") + b"\n"


def parse_message(name: Name, text: bytes) -> Message | DamagedMessage:
    """The inverse of `render_message`."""
    try:
        data = parse_json(text)
        notice, target = notice_from_dict(data["notice"]), target_from_dict(data["target"])
        end = data.get("end")
        return Message(name, str(data.get("enqueued_at", "")), target, notice, end if isinstance(end, dict) else None)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        return DamagedMessage(name, f"not a message ({type(error).__name__})")


class Outbox:
    """The three folders of one run. Every writer may die at any step."""

    def __init__(self, paths: RunPaths) -> None:
        self.paths = paths

    def make(self) -> None:
        """Raises StateNotWritten."""
        make_folders(self.paths.outbox, self.paths.sent, self.paths.dead)

    def take_room(self) -> None:
        """Take some room while there is any: what is to be told of a full disk must find a place on it."""
        if not os.path.exists(self._room):
            with suppress(StateNotWritten):
                replace_file(self._room, b" " * ROOM_BYTES)

    @property
    def _room(self) -> str:
        return f"{self.paths.outbox}/.room"

    def put(self, message: Message) -> None:
        """Write one message durably, on a full disk in the room that was taken. Raises StateNotWritten."""
        path, text = f"{self.paths.outbox}/{message.name.text}", render_message(message)
        try:
            replace_file(path, text)
        except StateNotWritten:
            if not remove_file(self._room):
                raise
            replace_file(path, text)

    def names(self, folder: str) -> list[Name]:
        """What lies in one of the three folders, in order; [] if there is no such folder."""
        try:
            found = os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(name for name in map(parse_name, found) if name is not None)

    def pending(self, target: str | None = None) -> list[Name]:
        """What is not dealt with yet, in order. target: of this one only."""
        waiting = [name for name in self.names(self.paths.outbox) if target in (None, name.target)]
        if not waiting:
            return []
        over = {*self.names(self.paths.sent), *self.names(self.paths.dead)}
        for name in over.intersection(waiting):
            remove_file(self._path(self.paths.outbox, name))  # who wrote its end died before this
        return [name for name in waiting if name not in over]

    def read(self, name: Name, folder: str | None = None) -> Message | DamagedMessage | None:
        """One message; None if it is gone. Raises OSError."""
        text = read_file(self._path(folder or self.paths.outbox, name), FILE_LIMIT_BYTES)
        return None if text is None else parse_message(name, text)

    def finish(self, message: Message, folder: str, end: dict[str, Any]) -> None:
        """Move a message to sent/ or dead/ with how it ended; without the latter where there is no room to write it.

        Raises StateNotWritten when not even the move is possible.
        """
        path = self._path(self.paths.outbox, message.name)
        try:
            replace_file(self._path(folder, message.name), render_message(message._replace(end=end)))
        except StateNotWritten:
            self.set_aside(message.name, folder)
            return
        remove_file(path)

    def set_aside(self, name: Name, folder: str) -> None:
        """Move a file as it is. Raises StateNotWritten."""
        try:
            os.rename(self._path(self.paths.outbox, name), self._path(folder, name))
            sync_folder(folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StateNotWritten(self._path(folder, name), error) from error

    def revive(self, name: Name) -> None:
        """Put a dead message back. Raises StateNotWritten."""
        try:
            os.rename(self._path(self.paths.dead, name), self._path(self.paths.outbox, name))
            sync_folder(self.paths.outbox)
        except OSError as error:
            raise StateNotWritten(self._path(self.paths.outbox, name), error) from error

    def floor(self, target: str) -> int | None:
        """The journal offset of the newest notice that was ever put in for a target; None if there is none."""
        folders = (self.paths.outbox, self.paths.sent, self.paths.dead)
        return max(
            (name.offset for folder in folders for name in self.names(folder) if name.target == target), default=None
        )

    def trim(self) -> None:
        """Keep sent/ and dead/ within their counts, per target, the newest ones, and remove what writers left half done
        when they died. Raises StateNotWritten.
        """
        for folder in (self.paths.outbox, self.paths.sent, self.paths.dead):
            _remove_leftovers(folder)
        for folder, kept in ((self.paths.sent, KEPT_SENT), (self.paths.dead, KEPT_DEAD)):
            counts: dict[str, int] = {}
            for name in reversed(self.names(folder)):
                counts[name.target] = counts.get(name.target, 0) + 1
                if counts[name.target] > kept:
                    remove_file(self._path(folder, name))

    def _path(self, folder: str, name: Name) -> str:
        return f"{folder}/{name.text}"


def _remove_leftovers(folder: str) -> None:
    with os.scandir(folder) as entries:
        old = [one.path for one in entries if ".tmp" in one.name and _age_seconds(one) > LEFTOVER_SECONDS]
    for path in old:
        remove_file(path)


def _age_seconds(entry: os.DirEntry[str]) -> float:
    """0 for one that is gone already."""
    try:
        return wall() - entry.stat(follow_symlinks=False).st_mtime
    except FileNotFoundError:
        return 0.0
