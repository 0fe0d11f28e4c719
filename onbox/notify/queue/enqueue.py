"""The runner's part: put notices of what was journaled into the outbox, and see that a deliverer runs.

The journal is the source: a notice is made from the line that tells the event, and the newest file of the outbox says
up to which line that has been done. So a runner that dies between the journal's flush and the outbox loses nothing:
whoever comes next goes on from there, and makes the same ids. Nothing here waits for the network or raises: a chain
does not fail for want of a message.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.contract.events import parse_events
from onbox.contract.notices import notice_from, notice_id, word_of
from onbox.contract.notify_targets import notify_from_dict
from onbox.contract.paths import SWEEP
from onbox.notify.mask import without_secrets
from onbox.notify.queue.outbox import Message, Name, Outbox
from onbox.notify.targets import next_due
from onbox.runs.next_step import step_after
from onbox.runs.signs import signs_of_failure
from onbox.system.clock import utc_text, wall
from onbox.system.files import StateNotWritten, lines_of, open_plain
from onbox.system.lock import LockUnsupported, is_locked
from onbox.system.process import Files, look_up, start_detached, wait_for_ends
from onbox.system.self_exec import child_words
from onbox.triage.full_disk import folder_to_look_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onbox.contract.events import Record
    from onbox.contract.notices import Notice
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import RunHead

_CALL = "from onbox.notify.send import deliver as m; sys.exit(m.main(sys.argv[1:]))"
SWEEP_STAGE = b'"stage":"%b"' % SWEEP.encode()
RUN_VARIABLES = ("ONBOX_RUN_DIR", "ONBOX_ATTEMPT_ID", "ONBOX_SETS")


def deliverer_words(root: str) -> tuple[str, ...]:
    """The argv of a deliverer; the run directory is all that it is told. It needs site-packages, for `requests`."""
    return child_words(_CALL, root)


def start_deliverer(paths: RunPaths, environ: Mapping[str, str]) -> int:
    """Start a detached deliverer; its pid. Raises OSError. It finds out by itself that another one is at work."""
    env = {
        key: value for key, value in environ.items() if key not in RUN_VARIABLES and not key.startswith("ONBOX_SET_")
    }
    return start_detached(deliverer_words(paths.root), env, Files(output=f"{paths.outbox}/.log"))


def command_after(notice: Notice) -> str | None:
    """What to type next on the box, wherever that shell stands; None where nothing is to be typed."""
    step = step_after(notice.event, signs_of_failure(notice.failure_class or ""))
    if step is None:
        return None
    line = step.act.line(notice.run, place=folder_to_look_at(notice.proof))
    return f"cd {shlex.quote(notice.project)} && {line}"


class Courier:
    """Notices of one run. trouble: why the outbox could not be written when it was last tried; None if it could."""

    def __init__(
        self,
        paths: RunPaths,
        head: RunHead,
        environ: Mapping[str, str],
        *,
        start: Callable[[RunPaths, Mapping[str, str]], int] = start_deliverer,
    ) -> None:
        self.paths, self.head, self.environ, self._start = paths, head, environ, start
        self.targets = notify_from_dict(head.data.get("notify")).targets
        self.outbox = Outbox(paths)
        self.trouble: str | None = None
        self._floors: dict[str, int] | None = None  # per target: the newest line that was put in
        self._read_to = 0  # all lines before this one have been put in
        self._pid: int | None = None

    def enqueue(self, records: Iterable[Record]) -> None:
        """Put in what is in the journal and not yet in the outbox. Called when `records` are durable there, before
        anybody is told of them.
        """
        if not self.targets or (self._floors is not None and not self.trouble and not any(map(self._wanted, records))):
            return
        self.catch_up()
        self.kick()

    def _wanted(self, record: Record) -> bool:
        word = word_of(record)
        return any(word in target.on for target in self.targets)

    def catch_up(self) -> None:
        """Put in every line of the journal that is not in the outbox yet. What fails is tried again the next time."""
        try:
            self.outbox.make()
            self.outbox.take_room()
            for offset, line, record in self._news():
                self._put(offset, line, record)
                self._read_to = offset + len(line)
            self.trouble = None
        except StateNotWritten as error:
            self.trouble = f"{error}; {error.way_on}"
        except OSError as error:
            self.trouble = f"{error.filename or self.paths.outbox}: {error.strerror or error}"

    def _news(self) -> Iterable[tuple[int, bytes, Record]]:
        if self._floors is None:
            self._floors, self._read_to = self._look_back()
        with open_plain(self.paths.journal) as file:
            offset = file.seek(self._read_to)
            for line in lines_of(file):
                for record in parse_events([line]):
                    if isinstance(record, dict):
                        yield offset, line, record
                offset += len(line)

    def _look_back(self) -> tuple[dict[str, int], int]:
        """Per target the newest line that is dealt with, and from where to read. A target that was not told of earlier
        launches begins with the first one that knows it.
        """
        begins: dict[str, int | None] = {target.name: None for target in self.targets}
        at = 0
        with open_plain(self.paths.journal) as file:
            for line in lines_of(file):
                if b'"event":"chain_started"' in line:
                    known = _targets_of(line)
                    begins = {
                        name: (at if old is None else old) if name in known else None for name, old in begins.items()
                    }
                at += len(line)
        floors = {}
        for name, begin in begins.items():
            newest = self.outbox.floor(name)
            fits = newest is not None and newest < at  # else the journal is not the one of these files
            floors[name] = max(newest if newest is not None and fits else -1, at - 1 if begin is None else begin - 1)
        return floors, max(0, min(floors.values(), default=0))

    def _put(self, offset: int, line: bytes, record: Record) -> None:
        assert self._floors is not None
        id_ = notice_id(self.head.run_id, offset, line)
        notice = notice_from(record, self.head, id_=id_, root=self.paths.root)
        if notice is None:
            return
        safe = without_secrets(notice._replace(next_command=command_after(notice)))
        told_of_stage = notice.event == "chain_failed" and self._stage_failed_before(offset)
        for target in self.targets:
            if told_of_stage and "stage_failed" in target.on:
                continue  # it says all that the chain's end says, and more: one message for one failure
            if offset > self._floors[target.name] and word_of(record) in target.on:
                self.outbox.put(Message(Name(offset, target.name), utc_text(wall()), target, safe))
                self._floors[target.name] = offset

    def _stage_failed_before(self, offset: int) -> bool:
        """Whether the launch that ends at `offset` failed in a stage. One that is tried again has not failed yet."""
        failed, at = False, 0
        with open_plain(self.paths.journal) as file:
            for line in lines_of(file):
                if at >= offset:
                    break
                if b'"event":"chain_started"' in line:
                    failed = False
                elif b'"event":"stage_failed"' in line and SWEEP_STAGE not in line:
                    failed = True  # that of a sweep is never told: its end is
                at += len(line)
        return failed

    # -- the deliverer

    def kick(self) -> None:
        """Start a deliverer if there is something to deliver and none is at work. Never waits."""
        self._reap()
        if self._pid is not None or not self.outbox.names(self.paths.outbox):
            return
        try:
            if is_locked(f"{self.paths.outbox}/.lock"):
                return  # it looks again after it let go
            self._pid = self._start(self.paths, self.environ)
        except (OSError, LockUnsupported) as error:
            self.trouble = f"the deliverer cannot be started: {error}"

    def beat(self) -> dict[str, Any]:
        """At every heartbeat: try again what failed, start a deliverer if something is due. For status.json."""
        if not self.targets:
            return {}
        if self.trouble:
            self.catch_up()
        waiting = len(self.outbox.names(self.paths.outbox))
        due = next_due(self.paths) if waiting else None
        if waiting and (due is None or wall() >= due):
            self.kick()
        self._reap()
        return {"undelivered": waiting, "notify_trouble": self.trouble}

    def wait(self, seconds: float) -> None:
        """Give a deliverer that was just started so long: for a process with which the whole container ends."""
        self._reap()
        entry = look_up(self._pid) if self._pid is not None else None
        if entry is not None:
            wait_for_ends([entry.identity], seconds)
        self._reap()

    def _reap(self) -> None:
        if self._pid is None:
            return
        with suppress(ChildProcessError):
            if os.waitpid(self._pid, os.WNOHANG)[0] == 0:
                return
        self._pid = None


def _targets_of(line: bytes) -> set[str]:
    """The names of the targets that a launch was begun with, from its `chain_started`."""
    for record in parse_events([line]):
        if isinstance(record, dict) and isinstance(record.get("notify"), list):
            return set(record["notify"])
    return set()
