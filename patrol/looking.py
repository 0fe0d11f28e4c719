"""The looks of a tick: every box probed over its own connection, side by side, each handed on as it comes."""

from __future__ import annotations

import random
import threading
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from onbox.redact import one_line, redact
from onbox.system.clock import wall
from patrol.fleet import Limits, Visit, find_gates, next_try_at, visit_all
from patrol.masters import control_path
from patrol.probe.take import take
from patrol.snapshot import BoxLook, Unreachable
from patrol.ssh import CONNECT_SECONDS, Target, ask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onbox.contract.boxes import BoxSettings
    from patrol.before import BoxBefore, LogPlace
    from patrol.kept import Past
    from patrol.settings import Settings
    from patrol.snapshot import Snapshot
    from patrol.ssh import Answer, NoAnswer


KNOCK_SECONDS = 2  # a few round trips of the longest way round the world
MUTE = frozenset({"timeout", "banner", "no_route"})

# What the answers are read and judged with: loaded while the boxes answer, so that nobody waits for it.
_LATER = ("patrol.probe.managed", "patrol.probe.scheduled", "patrol.probe.watched", "patrol.judge")
_LATER_WITH_WATCHES = ("onbox.triage.classify",)


def _load_meanwhile(names: Sequence[str]) -> None:
    threading.Thread(target=lambda: [import_module(name) for name in names], daemon=True).start()


class Seen(NamedTuple):
    """One box. places: of its logs; None: it was not reached, they stay as they were."""

    box: BoxSettings
    snapshot: Snapshot
    places: dict[str, LogPlace] | None


def target_of(settings: Settings, box: BoxSettings) -> Target:
    """Where a box is."""
    host = None if box.backend == "local" else box.host
    master = control_path(box.name, box.host, settings.ssh_command) if settings.patrol.multiplex and host else None
    return Target(box.name, host, settings.ssh_command, master)


def look_at_all(
    settings: Settings, boxes: Sequence[BoxSettings], past: Past, *, even_waiting: bool = False
) -> Iterator[Seen]:
    """Every box once, as each comes. A box whose back-off lasts is not tried, unless even_waiting."""
    now = wall()
    tried = []
    for box in boxes:
        before = past.boxes.get(box.name)
        if before is not None and not even_waiting and (before.next_try_at or 0.0) > now:
            yield Seen(box, Unreachable(box.name, now, "waiting", _why_waiting(before)), None)
        else:
            tried.append(box)
    limits = Limits(settings.patrol.at_once, settings.patrol.per_host, settings.patrol.deadline_seconds)
    found = find_gates([target_of(settings, box) for box in tried], limits)
    gates = {box: found[target] for box in tried if (target := target_of(settings, box)) in found}
    _load_meanwhile(_LATER + _LATER_WITH_WATCHES * any(box.watches for box in tried))
    visits = visit_all(
        tried,
        lambda box: _look(settings, box, past),
        limits,
        gates=gates,
        deadline_of=lambda box: box.deadline_seconds or settings.patrol.deadline_seconds,
    )
    for visit in visits:
        yield _seen(visit)


def _why_waiting(before: BoxBefore) -> str:
    return f"not reached {before.failures} times in a row ({before.last_reason})"


def _look(settings: Settings, box: BoxSettings, past: Past) -> Seen:
    target = target_of(settings, box)
    connect_seconds = _connect_seconds(past.boxes.get(box.name))

    def ask_box(stdin: bytes, end_mark: bytes, deadline_seconds: float) -> Answer | NoAnswer:
        return ask(target, stdin, end_mark=end_mark, deadline_seconds=deadline_seconds, connect_seconds=connect_seconds)

    snapshot, places = take(box, settings, past.places.get(box.name, {}), ask_box, wall())
    return Seen(box, snapshot, places if isinstance(snapshot, BoxLook) else None)


def _connect_seconds(before: BoxBefore | None) -> int:
    """How long a box may take to say its first word: briefly where it said none the last time."""
    return KNOCK_SECONDS if before is not None and before.failures and before.last_reason in MUTE else CONNECT_SECONDS


def _seen(visit: Visit[BoxSettings, Seen]) -> Seen:
    if visit.result is not None:
        return visit.result
    if visit.overdue:
        reason, words = "late", f"the look did not end within {visit.seconds:.0f} s and was left behind"
    else:
        reason, words = "unknown", f"a defect in the patrol: {type(visit.error).__name__}: {visit.error}"
    return Seen(visit.item, Unreachable(visit.item.name, wall(), reason, redact(one_line(words))), None)


def back_off(after: BoxBefore, snapshot: Snapshot, cadence_seconds: float) -> BoxBefore:
    """The box's memory with the time before which it is not tried again."""
    if not isinstance(snapshot, Unreachable) or snapshot.reason == "waiting":
        return after
    spread = random.uniform(-1.0, 1.0)  # noqa: S311 - so that boxes do not come back all at once
    return after._replace(next_try_at=next_try_at(after.failures, snapshot.at, cadence_seconds, spread=spread))
