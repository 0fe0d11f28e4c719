"""Every file of a manifest: is it there, has it the bytes that came, can it be loaded."""

from __future__ import annotations

import errno
import fnmatch
import os
import shlex
import stat
import subprocess
from typing import TYPE_CHECKING

from onbox.model.units import format_size
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.files import lines_of, open_plain
from patrol.transfer.manifest import parse
from patrol.transfer.names import MANIFEST, Refused, checked
from patrol.transfer.staging import digest_of
from patrol.verify.kinds import kind_of, load
from patrol.verify.loaded import Broken, NotLoaded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from patrol.transfer.manifest import HomeManifest, ManifestEntry

    Commands: TypeAlias = Sequence[tuple[str, str]]

COMMAND_SECONDS = 3600.0
SAID_LIMIT = 300


class Result(NamedTuple):
    """One file. problem: why it does not count; "": it does. loaded: what was seen of it; "": its checksum alone is
    known, and why says why. came: it has the bytes with which it came.
    """

    path: str
    problem: str = ""
    loaded: str = ""
    why: str = ""
    came: bool = True


def check_all(folder: str, manifest: HomeManifest, commands: Commands) -> Iterator[Result]:
    """One result for each file, in the manifest's order. commands: by pattern, the user's own loaders."""
    for entry in manifest.entries:
        yield check(folder, entry, commands)


def check(folder: str, entry: ManifestEntry, commands: Commands) -> Result:
    """What there is to say of one file. Symbolic links are not followed."""
    try:
        name = checked(entry.path)
        problem = _compare(folder, name, entry)
    except Refused as refused:
        return Result(entry.path, str(refused), came=False)
    except OSError as error:
        why = "it is not there" if error.errno == errno.ENOENT else error.strerror or str(error)
        return Result(entry.path, why, came=False)
    if problem:
        return Result(entry.path, problem, came=False)
    command = next((words for pattern, words in commands if _fits(name, pattern)), None)
    path = os.path.join(folder, name)
    return _load_by(command, path, entry) if command is not None else _load(path, entry)


def _compare(folder: str, name: str, entry: ManifestEntry) -> str:
    """Why it is not the file that came; "": it is."""
    above = folder
    for part in name.split("/")[:-1]:
        above = os.path.join(above, part)
        if os.path.islink(above):
            return "a symbolic link stands in its path"
    fd = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return "it is not a plain file"
        if found.st_size != entry.size:
            return f"it has {format_size(found.st_size)}, and {format_size(entry.size)} came"
        return "" if digest_of(fd) == entry.sha256 else "its checksum is not the one with which it came"
    finally:
        os.close(fd)


def _fits(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name.rpartition("/")[2], pattern)


def _load(path: str, entry: ManifestEntry) -> Result:
    kind = kind_of(entry.path)
    if kind is None:
        return Result(entry.path, why="no loader for its format")
    if entry.growing:
        return Result(entry.path, why="it was still written when it came")
    try:
        return Result(entry.path, loaded=f"{kind.name}: {load(kind, path)}")
    except Broken as broken:
        return Result(entry.path, f"as {kind.name} it cannot be loaded: {safe_line(broken, SAID_LIMIT)}")
    except NotLoaded as reason:
        return Result(entry.path, why=str(reason))
    except Exception as error:  # noqa: BLE001 - what lies in a file of somebody else must not end the look at the others
        return Result(entry.path, f"as {kind.name} it cannot be loaded: {type(error).__name__}")


def _load_by(command: str, path: str, entry: ManifestEntry) -> Result:
    """By the user's own command, which gets the file's path as its last word."""
    try:
        done = subprocess.run(
            [*shlex.split(command), path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Result(entry.path, f"`{command}` did not end within {COMMAND_SECONDS:g} s")
    except (OSError, ValueError) as error:
        return Result(entry.path, f"`{command}` could not be started: {error}")
    said = safe_line(done.stdout.decode("utf-8", "replace").strip()[-SAID_LIMIT:])
    if done.returncode != 0:
        return Result(entry.path, f"`{command}` ended with code {done.returncode}: {said}")
    return Result(entry.path, loaded=said or f"`{command}` took it")


def read_manifest(folder: str) -> HomeManifest:
    """Raises OSError, NotOne."""
    with open_plain(os.path.join(folder, MANIFEST)) as file:
        return parse(lines_of(file))
