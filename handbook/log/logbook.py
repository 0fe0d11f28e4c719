"""The logbook as a file: only ever appended to, under a lock, each entry with one write and a flush.

Two writers wait for each other; kill -9 or a full disk lose at most the entry in flight: what is torn is put beside the
file (`<name>.torn`) by the next writer, never merged. A small file in the state folder remembers the newest entry, so
that entries that were cut off at the end are missed, too.
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from handbook.log.entry import Damage, Logbook, LogEntry, lacks, parse_logbook, place, render_entry, render_head
from handbook.page.publish import LOCK_SECONDS, refuse_link
from onbox.contract.exits import Exit
from onbox.contract.json_text import parse_object
from onbox.contract.names import name_problem
from onbox.errors import Trouble
from onbox.local.locks import LOOK_SECONDS
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.clock import monotonic, pause
from onbox.system.files import (
    StateNotWritten,
    make_folders,
    open_own,
    pwrite_all,
    read_all,
    read_file,
    replace_file,
    write_all,
)
from onbox.system.lock import try_lock

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = "logbook"
HEADS = "logbook-heads.json"
LIMIT_BYTES = 1 << 30
# Files that coding agents load by themselves, wherever they lie: what a box says must not stand in one.
INSTRUCTIONS = frozenset({
    "agents", "agents.override", "claude", "claude.local", "conventions", "crush", "gemini", "qwen", "skill", "warp",
})  # fmt: skip


class LogbookOnDisk(NamedTuple):
    """entries: as they stand in the file now. torn: where the end of a cut-off append went; "": there was none."""

    entries: tuple[LogEntry, ...]
    torn: str


class LogbookFile:
    """One run's logbook. state: the folder of what is remembered of it outside the project. The run's name comes from
    a box: it must be one that cannot leave the folder. Raises Trouble for another.
    """

    def __init__(self, folder: str, run: str, state: str) -> None:
        if problem := name_problem(run):
            raise Trouble(Exit.USAGE, f"no logbook is called {safe_line(run, 80)!r}: wanted {problem}")
        if run.lower() in INSTRUCTIONS:
            raise Trouble(Exit.USAGE, f"no logbook is called {run}.md: coding agents take that file for instructions")
        self.run, self.state = run, state
        self.folder = os.path.join(folder, FOLDER)
        self.name = f"{run}.md"
        self.path = os.path.join(self.folder, self.name)

    def read(self) -> Logbook:
        """What stands there; an empty one where there is no file. Raises OSError."""
        return parse_logbook(self._text())

    def _text(self) -> str:
        try:
            folder = _open_folder(self.folder)
        except FileNotFoundError:
            return ""
        try:
            return (read_file(self.name, LIMIT_BYTES, below=folder) or b"").decode("utf-8", "surrogateescape")
        finally:
            os.close(folder)

    def damages(self) -> list[Damage]:
        """Everything that is not as it was written, the end that is missing included. Raises OSError."""
        text = self._text()
        book = parse_logbook(text)
        found = list(book.damages)
        torn = len(text.encode("utf-8", "surrogateescape")) - book.whole_bytes
        if torn:
            found.append(Damage(text.count("\n") + 1, f"{torn} bytes of an append that was cut off"))
        known = self._known_head()
        if known is not None and lacks(book, known):
            found.append(Damage(text.count("\n") + 1, f"entry {known[0]} was written here and is not there any more"))
        return found

    def append(self, new: Sequence[LogEntry], contract: Sequence[tuple[str, str]] = ()) -> LogbookOnDisk:
        """Add entries; those whose source stands there already are left out. Raises StateNotWritten, Trouble, OSError.


        All of it happens below the opened folder, so that no link leads to another file.
        """
        refuse_link(self.folder, self.path)
        make_folders(self.folder)
        folder = _open_folder(self.folder)
        try:
            fd = _wait_for_lock(self.name, folder)
            try:
                if os.fstat(fd).st_nlink > 1:  # in a folder of a team somebody could have made it another name of ours
                    raise StateNotWritten(self.path, OSError(errno.EMLINK, os.strerror(errno.EMLINK)))
                return self._append(folder, fd, new, contract)
            finally:
                os.close(fd)
        finally:
            os.close(folder)

    def _append(
        self, folder: int, fd: int, new: Sequence[LogEntry], contract: Sequence[tuple[str, str]]
    ) -> LogbookOnDisk:
        text = read_all(fd, LIMIT_BYTES).decode("utf-8", "surrogateescape")
        book, torn = parse_logbook(text), ""
        size = len(text.encode("utf-8", "surrogateescape"))
        if size > book.whole_bytes:
            torn = self._put_aside(folder, fd, text, book.whole_bytes)
        if book.whole_bytes == 0:
            head = render_head(self.run, contract)
            self._write(fd, head, 0)
            os.fchmod(fd, 0o644)
            with suppress(OSError):
                os.fsync(folder)
            book = parse_logbook(head)
        elif book.entries and not text.encode("utf-8", "surrogateescape")[: book.whole_bytes].endswith(b"\n\n"):
            self._write(fd, "\n", book.whole_bytes)
            book = book._replace(whole_bytes=book.whole_bytes + 1)
        newest = self._known_head()
        known = {entry.source for entry in book.entries if entry.source}
        written = []
        for entry in new:
            if entry.source and entry.source in known:
                continue
            placed = place(entry, book, newest)
            line = render_entry(placed)
            self._write(fd, line, book.whole_bytes)
            book, newest = parse_again(book, placed, line), None
            known.add(placed.source)
            written.append(placed)
        if written:
            self._remember(book)
        return LogbookOnDisk(tuple(written), torn)

    def _put_aside(self, folder: int, fd: int, text: str, whole: int) -> str:
        torn = text.encode("utf-8", "surrogateescape")[whole:]
        aside = open_own(f"{self.name}.torn", os.O_WRONLY | os.O_CREAT | os.O_APPEND, below=folder)
        try:
            write_all(aside, torn + b"\n")
            os.fsync(aside)
        finally:
            os.close(aside)
        os.ftruncate(fd, whole)
        return f"{self.path}.torn"

    def _write(self, fd: int, text: str, offset: int) -> None:
        """One entry. On failure nothing of it stays."""
        data = text.encode("utf-8", "surrogateescape")
        try:
            pwrite_all(fd, data, offset)
            os.fsync(fd)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(fd, offset)
            raise StateNotWritten(self.path, error) from error

    # -- the newest entry, remembered outside the project

    def _known_head(self) -> tuple[int, str] | None:
        one = _load_heads(self.state).get(os.path.realpath(self.path))
        return (int(one[0]), str(one[1])) if isinstance(one, list) and len(one) == 2 else None

    def _remember(self, book: Logbook) -> None:
        heads = _load_heads(self.state)
        heads[os.path.realpath(self.path)] = [book.entries[-1].seq, book.last_hash]
        with suppress(StateNotWritten):  # a help against a cut-off end; the entries themselves are safe
            make_folders(self.state)
            replace_file(os.path.join(self.state, HEADS), json.dumps(heads).encode("ascii"), durable=False)


def _wait_for_lock(name: str, folder: int) -> int:
    """The descriptor of the file of this name in the opened folder, which holds its lock: it is written through it.
    Raises Trouble after a while: who holds it hangs.
    """
    deadline = monotonic() + LOCK_SECONDS
    while (fd := try_lock(name, below=folder)) is None:
        if monotonic() > deadline:
            raise Trouble(Exit.ANOTHER_RUNNER, f"another writer holds {name} for more than {LOCK_SECONDS:.0f} s")
        pause(LOOK_SECONDS)  # the kernel has no event for a lock with a bound on the wait
    return fd


def _open_folder(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def parse_again(book: Logbook, placed: LogEntry, text: str) -> Logbook:
    """The logbook with one entry more."""
    own = text.rstrip("\n").rpartition(" ")[2].rstrip("`")
    return book._replace(
        entries=(*book.entries, placed),
        whole_bytes=book.whole_bytes + len(text.encode("utf-8", "surrogateescape")),
        last_hash=own,
        hashes=(*book.hashes, own),
    )


def _load_heads(state: str) -> dict[str, object]:
    try:
        return parse_object(read_file(os.path.join(state, HEADS))) or {}
    except OSError:
        return {}


def find_books(folder: str, state: str) -> list[LogbookFile]:
    """Every logbook of a project, by name."""
    place_ = os.path.join(folder, FOLDER)
    try:
        names = sorted(os.listdir(place_))
    except (FileNotFoundError, NotADirectoryError):
        names = []
    known = [name.removesuffix(".md") for name in names if name.endswith(".md")]
    prefix = os.path.realpath(place_) + os.sep
    lost = [path[len(prefix) :].removesuffix(".md") for path in _load_heads(state) if path.startswith(prefix)]
    names = sorted({*known, *lost})
    return [
        LogbookFile(folder, name, state)
        for name in names
        if not name_problem(name) and name.lower() not in INSTRUCTIONS
    ]
