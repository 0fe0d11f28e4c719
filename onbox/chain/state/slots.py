"""Slots and markers on the disk: reserve, read, land. Needs no new space between a stage's start and its marker."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.chain.command.keeper import SLOT_FD
from onbox.contract.markers import (
    SLOT_BYTES,
    Invalid,
    Marker,
    Slot,
    fits,
    parse_marker,
    parse_slot,
    render_marker,
    render_slot,
)
from onbox.system.files import (
    StateNotWritten,
    open_own,
    pwrite_all,
    read_file,
    remove_file,
    replace_file,
    sync_folder,
)
from onbox.system.lock import is_locked, lock_new_file
from onbox.system.process import high, holder_of, is_alive
from onbox.triage.short_stack import own_frame, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.paths import RunPaths
    from onbox.system.process import Identity


TRACEBACK_LINES = (32, 24, 16, 12, 8, 4)  # of one that is too long for a marker


def reserve_slot(paths: RunPaths, run_id: str, stage: str, attempt: int) -> int:
    """Make the slot of a new attempt, with all its space, and lock it: its descriptor, for the keeper to inherit.

    A slot of an earlier attempt is removed: the caller has seen that nobody holds it. Raises StateNotWritten.
    """
    path, head = paths.slot(stage), render_slot(run_id, stage, attempt)
    remove_file(path)
    fd = -1
    try:
        fd = open_own(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        pwrite_all(fd, head + b" " * (SLOT_BYTES - len(head)), 0)
        fd = high(fd)
        os.lseek(fd, len(head), os.SEEK_SET)
    except OSError as error:
        if fd >= 0:
            os.close(fd)
        raise StateNotWritten(path, error) from error
    lock_new_file(fd, path)
    return fd


def read_slot(path: str) -> tuple[Slot | None, bool, bool]:
    """(what the slot says, whether there is a slot file, whether a live process holds it)."""
    locked = is_locked(path)  # first: what its holder wrote before it let go is then read
    text = None if locked is None else read_file(path, SLOT_BYTES)
    if text is None:
        return None, False, False
    return parse_slot(text), True, bool(locked)


def find_keeper(slot: Slot, path: str) -> Identity | None:
    """The live keeper of the attempt in the slot at `path`; None if it is gone (or its pid is now another's)."""
    keeper = None if slot.keeper_pid is None else holder_of(slot.keeper_pid, SLOT_FD, path)
    return keeper if keeper is not None and is_alive(keeper) else None


def read_marker(path: str) -> Marker | Invalid | None:
    """The marker at `path`; None if there is none."""
    try:
        text = read_file(path, 1 << 20)
    except OSError as error:
        return Invalid(f"it cannot be read ({error.strerror})")
    return None if text is None else parse_marker(text)


def land_marker(slot: str, marker: str, data: Mapping[str, Any]) -> None:
    """Turn the slot into the marker: overwrite in place, flush, rename, flush the folder. Raises StateNotWritten.

    Where there is no slot (removed by hand, or the reservation itself failed) the marker is written anew.
    """
    text = render_marker(_with_less_traceback(data))
    try:
        fd = open_own(slot, os.O_WRONLY)
    except FileNotFoundError:
        replace_file(marker, text)
        return
    except OSError as error:
        raise StateNotWritten(slot, error) from error
    try:
        pwrite_all(fd, text, 0)
        os.ftruncate(fd, len(text))
        os.fsync(fd)
        os.rename(slot, marker)
        sync_folder(os.path.dirname(marker))
    except OSError as error:
        raise StateNotWritten(marker, error) from error
    finally:
        os.close(fd)


def _with_less_traceback(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """As much of a traceback as there is room for in the marker: some of it tells more than a word that it was long."""
    whole = data.get("traceback")
    if not whole:
        return data
    own = own_frame(whole, str(data.get("where") or ""))
    for most in TRACEBACK_LINES:
        if fits(data):
            break
        data = {**data, "traceback": list(shortened(whole, most, own))}
    return data
