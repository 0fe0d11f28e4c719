"""Trust on first use: what onbox.toml may run, hand out or write outside the project once somebody has accepted it.

Kept in the user's own state folder, by the file's real path and the digests of these keys; nothing in the project can
give it. Cron and scripts are never asked: what is not accepted is then as if it did not stand in the file, and said.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.cli.consent import agrees
from onbox.config.trust_keys import find_delicate, hash_of
from onbox.contract.exits import Exit
from onbox.contract.json_text import as_object, parse_object
from onbox.digest import sha256_hex
from onbox.errors import Trouble
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.redact import MASK
from onbox.system.clock import wall
from onbox.system.files import make_folders, read_file, remove_file, replace_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from onbox.config.trust_keys import Delicate

VARIABLE = "ONBOX_TRUST"  # of this process's own environment: "all", or hashes that `onbox trust --show` prints
ALL = "all"
_ENGINES = "/engines of runs"  # stands for a path in the record of what runs were handed to
SHOWN_CHARACTERS = 2000
KEYS_NAMED = 4
_RECORD_LIMIT = _FILE_LIMIT = 1 << 20
_ANYBODY_WRITES = stat.S_IWGRP | stat.S_IWOTH


class Stand(NamedTuple):
    """What stands in a file, and what of it is accepted. path: of the file. found: all of it. open: what nobody
    accepted. by: what accepted it without a record: "" or the name of the variable. at: when it was accepted last;
    None: never.
    """

    path: str
    found: tuple[Delicate, ...]
    open: tuple[Delicate, ...]
    by: str = ""
    at: float | None = None

    @property
    def hash(self) -> str:
        return hash_of(self.found)


def stand_of(path: str, data: Mapping[str, Any], environ: Mapping[str, str]) -> Stand:
    """How a parsed onbox.toml stands. One that cannot be looked up is not accepted."""
    folder = os.path.dirname(os.path.abspath(path))
    found = find_delicate(data, lambda text: leaves(folder, text), lambda text: _digest_within(folder, text))
    if not found:
        return Stand(path, (), ())
    if {ALL, hash_of(found)} & set(environ.get(VARIABLE, "").replace(",", " ").split()):
        return Stand(path, found, (), VARIABLE)
    accepted, at = _accepted(path, environ), _read(path, environ).get("at")
    return Stand(
        path,
        found,
        tuple(one for one in found if accepted.get(one.key) != one.digest),
        at=at if isinstance(at, float) else None,
    )


def accept(path: str, found: Sequence[Delicate], environ: Mapping[str, str]) -> None:
    """These keys with these values, from now on; what was accepted of others stays. Raises StateNotWritten."""
    accepted = {**_accepted(path, environ), **{one.key: one.digest for one in found}}
    record = {"schema": 1, "config": os.path.realpath(path), "accepted": accepted, "at": wall()}
    place = _record_path(path, environ)
    make_folders(os.path.dirname(place))
    replace_file(place, json.dumps(record).encode("ascii"))


def revoke(path: str, environ: Mapping[str, str]) -> bool:
    """False if nothing was accepted. Raises StateNotWritten."""
    return remove_file(_record_path(path, environ))


def accept_new(path: str, before: Mapping[str, Any], after: Mapping[str, Any], environ: Mapping[str, str]) -> None:
    """What a command of ours has written into the file on the user's word. Raises StateNotWritten."""
    earlier = {one.digest for one in stand_of(path, before, environ).found}
    new = [one for one in stand_of(path, after, environ).open if one.digest not in earlier]
    if new:
        accept(path, new, environ)


def ask(stand: Stand, uses: Collection[str], environ: Mapping[str, str]) -> Stand:
    """Ask at a terminal for what is to be used and not accepted; nobody is asked elsewhere, or for anything else."""
    wanted = tuple(one for one in stand.open if one.use in uses)
    if not wanted or not can_ask():
        return stand
    for line in lines_of(stand.path, wanted):
        print(line, file=sys.stderr)
    if not agrees("Do you trust this file so far?", unasked="onbox trust --yes"):
        return stand
    accept(stand.path, wanted, environ)
    return stand._replace(open=tuple(one for one in stand.open if one not in wanted))


# -- what a run's own records say of its engine


def accept_engine(settings: Mapping[str, Any], environ: Mapping[str, str]) -> None:
    """Who hands a run to an engine accepts that it is asked about it later. Raises StateNotWritten."""
    found = _of_engine(settings)
    if found:
        accept(_ENGINES, [one._replace(key=one.digest) for one in found], environ)


def engine_not_accepted(settings: Mapping[str, Any], config: str | None, environ: Mapping[str, str]) -> list[str]:
    """The keys in a run's records that say where to ask and with which token, and that nobody here has accepted: the
    records may have come with a repository. settings: of the engine, as frozen. config: the file that they are of.
    """
    found = _of_engine(settings)
    if not found or {ALL, hash_of(found)} & set(environ.get(VARIABLE, "").replace(",", " ").split()):
        return []
    known = _accepted(_ENGINES, environ)
    of_config = _accepted(config, environ) if config else {}
    return [one.key for one in found if one.digest not in known and of_config.get(one.key) != one.digest]


def _of_engine(settings: Mapping[str, Any]) -> tuple[Delicate, ...]:
    return find_delicate({str(settings.get("name")): settings}, lambda _: True)


def can_ask() -> bool:
    """A question that nobody sees would look like a command that hangs: both ends must be a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def lines_of(path: str, wanted: Sequence[Delicate]) -> Iterator[str]:
    """The keys as a person is shown them: what each says, and what that does."""
    yield f"{safe_line(path)} asks for more than to be read:"
    for one in wanted:
        shown = safe_line(one.value, SHOWN_CHARACTERS)
        yield f"  {safe_line(one.key)} = {shown}"
        yield f"      {one.does}"
        if len(one.value) > SHOWN_CHARACTERS or shown.count(MASK) > one.value.count(MASK):
            yield "      not all of it is shown (it is long, or looks like a secret): read it in the file first"


def not_accepted(path: str, wanted: Sequence[Delicate]) -> str:
    """One line for who cannot be asked."""
    keys = ", ".join(safe_line(one.key) for one in wanted[:KEYS_NAMED])
    keys += f" and {len(wanted) - KEYS_NAMED} more" if len(wanted) > KEYS_NAMED else ""
    return f"{safe_line(path)}: {keys}: not accepted here yet, so not used; see and accept: onbox trust"


def require(path: str | None, withheld: Sequence[Delicate], uses: Collection[str]) -> None:
    """Raise Trouble if anything that this needs is not accepted."""
    wanted = [one for one in withheld if one.use in uses]
    if path is not None and wanted:
        raise Trouble(Exit.CONFIG, not_accepted(path, wanted))


def leaves(folder: str, text: str) -> bool:
    """Whether a path leads out of the folder, also through a symbolic link."""
    if "\0" in text:
        return True
    home = os.path.realpath(folder)
    place = os.path.realpath(os.path.join(home, os.path.expanduser(text)))
    return os.path.commonpath([home, place]) != home


def _digest_within(folder: str, text: str) -> str:
    """Of a file that came with the project; "" where there is none."""
    place = os.path.join(folder, os.path.expanduser(text))
    try:
        if not text or leaves(folder, text) or not os.path.isfile(place):
            return ""
        return sha256_hex(read_file(place, _FILE_LIMIT) or b"")
    except OSError:
        return "unreadable"


# -- the record


def _record_path(path: str, environ: Mapping[str, str]) -> str:
    home = environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    name = sha256_hex(os.fsencode(os.path.realpath(path)))[:32]
    return os.path.join(home, "onbox", "trust", f"{name}.json")


def _accepted(path: str, environ: Mapping[str, str]) -> Mapping[str, Any]:
    return as_object(_read(path, environ).get("accepted"))


def _read(path: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """The record of a file; {} where there is none, or one that somebody else may have written."""
    place = _record_path(path, environ)
    with suppress(OSError, ValueError):
        found = os.lstat(place)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & _ANYBODY_WRITES:
            record = parse_object(read_file(place, _RECORD_LIMIT)) or {}
            return record if record.get("config") == os.path.realpath(path) else {}
    return {}
