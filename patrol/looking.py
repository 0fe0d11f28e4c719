"""The looks of a tick: every box probed over its own connection, side by side, each handed on as it comes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from patrol.masters import control_path
from patrol.probe.take import take
from patrol.snapshot import BoxLook
from patrol.ssh import Target, ask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onbox.contract.boxes import BoxSettings
    from patrol.before import LogPlace
    from patrol.kept import Past
    from patrol.settings import Settings
    from patrol.snapshot import Snapshot


class Seen(NamedTuple):
    """One box. places: of its logs; None: not reached. next_try_at: the back-off that follows; None: none."""

    box: str
    snapshot: Snapshot
    places: dict[str, LogPlace] | None
    next_try_at: float | None


def target_of(settings: Settings, box: BoxSettings) -> Target:
    """Where a box is."""
    host = None if box.backend == "local" else box.host
    master = control_path(box.name, box.host, settings.ssh_command) if settings.patrol.multiplex and host else None
    return Target(box.name, host, settings.ssh_command, master)


def look_at_all(
    settings: Settings, boxes: Sequence[BoxSettings], past: Past, *, even_waiting: bool = False
) -> Iterator[Seen]:
    with ThreadPoolExecutor(settings.patrol.at_once) as pool:
        futures = [pool.submit(_look, settings, box, past) for box in boxes]
        for future in as_completed(futures):
            yield future.result()


def _look(settings: Settings, box: BoxSettings, past: Past) -> Seen:
    def ask_box(stdin: bytes, end_mark: bytes, deadline_seconds: float) -> object:
        return ask(target_of(settings, box), stdin, end_mark=end_mark, deadline_seconds=deadline_seconds)

    snapshot, places = take(box, settings, past.places.get(box.name, {}), ask_box)
    return Seen(box.name, snapshot, places if isinstance(snapshot, BoxLook) else None, None)
