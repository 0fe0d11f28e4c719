"""What is known of each transfer, in a file outside of any session: what, from where, to where, since when, how far.
Who takes over reads it, and a transfer that died is told with the command that goes on.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from onbox.contract.json_text import as_number, as_whole, parse_object
from onbox.local.locks import take
from onbox.model.units import format_duration, format_size
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.files import make_folders, read_file, replace_file
from onbox.system.lock import LockUnsupported, is_locked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from filelock import FileLock

FOLDER = "transfers"
SCHEMA = 1
WHATS = ("pull", "push")


class Home(NamedTuple):
    """A finished run whose files are all here. verified: each was loaded once. ended_at: when it had ended, by the
    box's own clock; None: not known.
    """

    run_id: str
    folder: str
    verified: bool
    ended_at: float | None = None

    def is_of(self, run_id: str, ended_at: float | None) -> bool:
        """Whether it is this very end of this run: one that ran once more has another."""
        return run_id == self.run_id and is_same_end(self.ended_at, ended_at)


def is_same_end(first: float | None, second: float | None) -> bool:
    """Two times of the box's own clock, which was read as whole seconds."""
    return first is None or second is None or abs(first - second) < 1.0


class Transfer(NamedTuple):
    """One transfer. run: "" for a push. source, destination: as people read them. began_at, last_byte_at, done_at:
    seconds since the epoch; done_at None: not at its end. of_done_run: the run was done then; ended_at: when
    it had ended, by the box's clock. is_complete: at its end everything was there and nothing had changed.
    results_total: how many of its files are more than its log and its records; None: that was not counted then.
    command: what goes on with it, for a shell in the project's directory here.
    """

    what: str
    box: str
    run: str
    source: str
    destination: str
    began_at: float
    command: str
    last_byte_at: float | None = None
    done_at: float | None = None
    bytes_done: int = 0
    bytes_total: int = 0
    files_total: int = 0
    run_id: str = ""
    is_complete: bool = False
    of_done_run: bool = False
    ended_at: float | None = None
    verified_at: float | None = None
    verified_run_id: str = ""
    results_total: int | None = None

    @property
    def home(self) -> Home | None:
        """What a pull that came to its end says of the run; None: nothing."""
        if self.what != "pull" or not (self.is_complete and self.of_done_run):
            return None
        is_verified = self.verified_at is not None and self.verified_run_id == self.run_id
        return Home(self.run_id, self.destination, is_verified, self.ended_at)

    @property
    def key(self) -> str:
        return f"{self.what}.{self.box}" + (f".{self.run}" if self.run else "")


class Register:
    """The transfers of one project. state: the patrol's own folder."""

    def __init__(self, state: str) -> None:
        self.folder = os.path.join(state, FOLDER)

    def write(self, one: Transfer, *, durable: bool = False) -> None:
        """Raises StateNotWritten."""
        make_folders(self.folder)
        text = json.dumps({"schema": SCHEMA, **one._asdict()}).encode("ascii") + b"\n"
        replace_file(os.path.join(self.folder, f"{one.key}.json"), text, durable=durable)

    def lock(self, key: str) -> FileLock | None:
        """The lock of a transfer; None: it runs. Raises LockUnsupported, StateNotWritten."""
        make_folders(self.folder)
        return take(os.path.join(self.folder, f"{key}.lock"))

    def runs(self, one: Transfer) -> bool | None:
        """Whether a process works at it now; None: that cannot be seen here."""
        try:
            return bool(is_locked(os.path.join(self.folder, f"{one.key}.lock")))
        except (LockUnsupported, OSError):
            return None

    def read(self, what: str, box: str, run: str = "") -> Transfer | None:
        return self._read(f"{Transfer(what, box, run, '', '', 0.0, '').key}.json")

    def all(self) -> list[Transfer]:
        """Every transfer, by name."""
        try:
            names = sorted(os.listdir(self.folder))
        except OSError:
            return []
        found = (self._read(name) for name in names if name.endswith(".json"))
        return [one for one in found if one is not None]

    def homes(self) -> dict[tuple[str, str], Home]:
        """What is home, by box and run."""
        return {(one.box, one.run): home for one in self.all() if (home := one.home) is not None}

    def remove(self, one: Transfer) -> None:
        for ending in ("json", "lock"):
            try:
                os.unlink(os.path.join(self.folder, f"{one.key}.{ending}"))
            except OSError:
                continue

    def _read(self, name: str) -> Transfer | None:
        try:
            return transfer_of(parse_object(read_file(os.path.join(self.folder, name), 1 << 16)) or {})
        except OSError:
            return None


def transfer_of(data: Mapping[str, object]) -> Transfer | None:
    """None for what another version wrote, or nobody. Pure."""
    texts = ("what", "box", "run", "source", "destination", "command")
    if not all(isinstance(data.get(name), str) for name in texts) or data["what"] not in WHATS:
        return None
    return Transfer(
        what=str(data["what"]),
        box=str(data["box"]),
        run=str(data["run"]),
        source=str(data["source"]),
        destination=str(data["destination"]),
        began_at=as_number(data.get("began_at")) or 0.0,
        command=str(data["command"]),
        last_byte_at=as_number(data.get("last_byte_at")),
        done_at=as_number(data.get("done_at")),
        bytes_done=as_whole(data.get("bytes_done")) or 0,
        bytes_total=as_whole(data.get("bytes_total")) or 0,
        files_total=as_whole(data.get("files_total")) or 0,
        run_id=str(data.get("run_id") or ""),
        is_complete=data.get("is_complete") is True,
        of_done_run=data.get("of_done_run") is True,
        ended_at=as_number(data.get("ended_at")),
        verified_at=as_number(data.get("verified_at")),
        verified_run_id=str(data.get("verified_run_id") or ""),
        results_total=as_whole(data.get("results_total")),
    )


def transfer_line(one: Transfer, now: float, *, runs: bool | None) -> str:
    """`pull gpu1/digits → pulled/gpu1/digits: 3.1 GB of 4.4 GB, last byte 2m05s ago; nobody works at it: patrol pull
    …`. Pure.
    """
    name = f"{one.what} {one.box}" + (f"/{one.run}" if one.run else "")
    size = f"{format_size(one.bytes_done)} of {format_size(one.bytes_total)}"
    if one.done_at is not None:
        end = "whole" if one.is_complete else "not everything came"
        said = f"{size}, ended {format_duration(max(0.0, now - one.done_at))} ago, {end}"
        said += "" if one.is_complete else f": {one.command}"
    else:
        last = (
            "no byte yet"
            if one.last_byte_at is None
            else (f"last byte {format_duration(max(0.0, now - one.last_byte_at))} ago")
        )
        state = {True: "at work", None: "whether it runs cannot be seen here"}.get(runs, "")
        said = (
            f"{size}, {last}, {state}"
            if state
            else f"{size}, {last}; it stopped before its end, continue: {one.command}"
        )
    return safe_line(f"{name} → {one.destination}: {said}", 400)
