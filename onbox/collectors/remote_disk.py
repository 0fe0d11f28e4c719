"""Room on file systems that may hang (network, FUSE): asked of a child per mount, so that one sick mount costs only its
own reading, and neither this process nor its locks ever get stuck in the kernel.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from onbox.collectors.disk import NOT_COUNTED, Room, look_at_room
from onbox.contract.readings import Unseen, plain
from onbox.system.child_query import ChildQuery, Silence
from onbox.system.self_exec import bare_child_words

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe

PATIENCE_SECONDS = 2.0  # a healthy server answers in milliseconds; the chain's gates wait no longer than this


def serve() -> None:
    """The child: a path (JSON) per line in, a room (JSON) per line out, until the input ends."""
    for line in sys.stdin.buffer:
        room = look_at_room(json.loads(line))
        sys.stdout.write(json.dumps(plain(room)) + "\n")
        sys.stdout.flush()


def room_from_plain(data: Any) -> Maybe[Room]:
    """The inverse of `plain(room)`. Anything else is Unseen."""
    if isinstance(data, dict) and data.keys() == {"unknown"}:
        return Unseen(str(data["unknown"]))
    if not isinstance(data, dict) or not data.keys() >= set(Room._fields):
        return Unseen("the look at it gave no room")
    counted = isinstance(data["inodes_free"], int) and isinstance(data["inodes_total"], int)
    return Room(
        int(data["bytes_free"]),
        int(data["bytes_total"]),
        int(data["bytes_used"]),
        data["inodes_free"] if counted else NOT_COUNTED,
        data["inodes_total"] if counted else NOT_COUNTED,
    )


class RemoteDisks:
    """Looks at rooms on mounts that may hang. A hung one is waited for once; later looks only see whether it answered.

    patience_seconds: how long a first look may take.
    """

    def __init__(self, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._patience_seconds = patience_seconds
        self._askers: dict[str, ChildQuery] = {}

    def look(self, path: str) -> Maybe[Room]:
        """The room of `path`; Unseen with the time it has been silent."""
        asker = self._askers.get(path)
        if asker is None:
            asker = self._askers[path] = ChildQuery(
                bare_child_words("onbox.collectors.remote_disk", "serve()"), name=f"the file system of {path}"
            )
        waiting = asker.fd is not None
        asker.ask(json.dumps(path).encode("ascii"))
        answer = asker.answer(0.0 if waiting else self._patience_seconds)
        if isinstance(answer, Silence):
            return Unseen(answer.why)
        try:
            return room_from_plain(json.loads(answer))
        except ValueError:
            return Unseen("the look at it gave no room")

    def close(self) -> None:
        for asker in self._askers.values():
            asker.close()
        self._askers.clear()


def look_once(path: str) -> Maybe[Room]:
    """A single bounded look, for commands that end soon."""
    disks = RemoteDisks()
    try:
        return disks.look(path)
    finally:
        disks.close()
