"""Whether there is room where a run would write if it went on: its records, and its stage's files."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.chain.state.frozen_run import read_stages
from onbox.collectors.disk import Room, read_disks
from onbox.collectors.remote_disk import look_once
from onbox.contract.readings import Absent, Unseen
from onbox.model.manifest import folder_of
from onbox.runs.room import RunRoom, shortest
from onbox.triage.full_disk import folder_to_look_at

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import RunHead


def find_short_room(paths: RunPaths, head: RunHead, stage: str | None) -> RunRoom | None:
    """The place without room; None: each has room, or could not be looked at. Only on the run's own host."""
    if head.data.get("host") not in (None, platform.node()):
        return None
    disks = read_disks((paths.root, _folder(paths, head, stage)), look_remote=look_once)
    if isinstance(disks, Absent | Unseen):
        return None
    return shortest([_as_run_room(disk.paths[0], disk.room) for disk in disks if isinstance(disk.room, Room)])


def _folder(paths: RunPaths, head: RunHead, stage: str | None) -> str:
    with suppress(OSError, ValueError):
        for frozen in read_stages(paths):
            if frozen.stage.name == stage:
                return folder_of(str(head.project), frozen.stage)
    return str(head.project)


def _as_run_room(path: str, room: Room) -> RunRoom:
    """What is kept for root is free to root."""
    free = room.bytes_total - room.bytes_used if os.geteuid() == 0 else room.bytes_free
    return RunRoom(path, free, room.inodes_free if isinstance(room.inodes_free, int) else None)


def place_of(room: RunRoom | None, project: str, proof: str = "") -> str:
    """Whose disk is to be looked at, for a shell in the project: "." where that is the project's own. proof: the line
    that tells of a failure; "" for none.
    """
    if room is None:
        return folder_to_look_at(proof)
    with suppress(OSError):
        if os.stat(room.path).st_dev == os.stat(project).st_dev:
            return "."
    return room.path
