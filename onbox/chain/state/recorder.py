"""What the runner tells: the journal first, then status.json, then whoever listens."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.contract.events import CHAIN_ENDS, Event, render_event
from onbox.system.clock import utc_text, wall
from onbox.system.files import StateNotWritten, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.chain.runner.handbook_hook import Renewal
    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths
    from onbox.notify.queue.enqueue import Courier
    from onbox.system.journal import Journal

STATUS_SCHEMA = 1


class Recorder:
    """The run's journal and its status. `listen` gets every record after it was journaled (the inline narration);
    `bell_fd` gets a byte then (the viewer that started this runner); None: nobody there. `courier` puts notices into
    the outbox before any of these hear of it; None: nobody is to be told. `renewal` renews this box's handbook. `beat`
    hears of every status.
    """

    def __init__(
        self,
        paths: RunPaths,
        journal: Journal,
        about: dict[str, Any],
        *,
        listen: Callable[[Record], None] | None = None,
        bell_fd: int | None = None,
        courier: Courier | None = None,
        renewal: Renewal | None = None,
    ) -> None:
        self.paths = paths
        self._journal = journal
        self._about = about
        self._listen = listen
        self._bell_fd = bell_fd
        self._courier = courier
        self._renewal = renewal
        self.beat: Callable[[dict[str, Any]], None] | None = None
        self._notices_held = False
        self._untold: list[Record] = []
        self._state: dict[str, Any] = {}

    def note(self, *records: Record, sync: bool = True) -> None:
        """Journal records, as one write; announce them once they are durable. Raises StateNotWritten.

        sync=False: the caller calls `settle` soon; until then nothing is announced.
        """
        at = utc_text(wall())
        stamped = [{"at": at, **record} for record in records]
        self._journal.append(b"".join(map(render_event, stamped)), sync=sync)
        self._untold += stamped
        if sync:
            self.announce()

    def settle(self) -> None:
        """Make what `note(sync=False)` wrote durable and announce it. Raises StateNotWritten."""
        self._journal.sync()
        self.announce()

    def announce(self) -> None:
        """Tell what was noted and not told yet. Before it is durable only where the journal is not the only proof."""
        told, self._untold = self._untold, []
        if self._courier is not None:
            self._courier.enqueue(told)
            self._tell_of_trouble(self._courier)
        if self._renewal is not None and told:
            self._renewal.happened(ended=any(record["event"] in CHAIN_ENDS for record in told))
        for record in told:
            if self._listen is not None:
                self._listen(record)
        if self._bell_fd is not None:
            try:
                os.write(self._bell_fd, b".")
            except BlockingIOError:
                pass  # the viewer has not yet heard the earlier ones; one byte is enough to wake it
            except OSError:
                self._bell_fd = None  # the viewer is gone; nobody else listens

    def _tell_of_trouble(self, courier: Courier) -> None:
        """Journal once that notices cannot be written down, and once that they can again. Never fails."""
        if bool(courier.trouble) == self._notices_held:
            return
        self._notices_held = bool(courier.trouble)
        event = Event.NOTICES_HELD if courier.trouble else Event.NOTICES_WRITTEN
        record = {"at": utc_text(wall()), "event": event, "reason": courier.trouble}
        with suppress(StateNotWritten):  # the same disk, most likely; the status says it, too
            self._journal.append(render_event(record), sync=False)

    def show(self, **state: Any) -> None:
        """Replace the status. Its file is only a view: when it cannot be written, the run goes on and the reader
        sees by its age that it is old.
        """
        self._state = state
        self.refresh()

    def refresh(self, **changes: Any) -> None:
        """Write the status again with some fields changed: the heartbeat."""
        self._state.update(changes)
        if self._courier is not None:
            self._state.update(self._courier.beat())
            self._tell_of_trouble(self._courier)
        if self._renewal is not None:
            self._renewal.beat()
        status = {"schema": STATUS_SCHEMA, "at": utc_text(wall()), **self._about, **self._state}
        with suppress(StateNotWritten):
            replace_file(self.paths.status, json.dumps(status).encode("ascii") + b"\n", durable=False)
        if self.beat is not None:
            self.beat(status)
