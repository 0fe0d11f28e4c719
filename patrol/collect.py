"""The looks of a tick: every box probed over its own connection, side by side, each handed on as it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.model.engines import CLUSTERS
from onbox.model.tracker import Intent
from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic, wall
from patrol.config.ssh_target import target_of
from patrol.defects import note_defect
from patrol.memory.run_codec import memories_of
from patrol.probe.take import take
from patrol.probe.trackers import with_intent
from patrol.snapshot import BoxLook, Unreachable
from patrol.ssh.client import CONNECT_SECONDS, ask
from patrol.ssh.run_parallel import Limits, Visit, find_gates, visit_all
from patrol.tracker_server import server_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings
    from patrol.memory.history import BoxBefore
    from patrol.memory.rows import Past
    from patrol.memory.run_memory import Memories
    from patrol.snapshot import Snapshot
    from patrol.ssh.client import Answer, NoAnswer
    from patrol.tracker_server import Server


KNOCK_SECONDS = 2  # a few round trips of the longest way round the world
MUTE = frozenset({"timeout", "banner", "no_route"})


class SeenBox(NamedTuple):
    """One box. memories: of it and its runs; None: it was not reached, they stay as they were."""

    box: BoxSettings
    snapshot: Snapshot
    memories: Memories | None


def look_at_all(settings: Settings, boxes: Sequence[BoxSettings], past: Past) -> Iterator[SeenBox]:
    """Every box once, as each comes; also one that did not answer the last times: it costs its connect timeout, beside
    the others.
    """
    now = wall()
    tried = []
    for box in boxes:
        if why := settings.not_trusted(box):
            yield SeenBox(box, Unreachable(box.name, now, "untrusted", why), None)
        else:
            tried.append(box)
    limits = Limits(settings.patrol.at_once, settings.patrol.per_host, settings.patrol.deadline_seconds)
    by_ssh = [box for box in tried if not box.is_cluster]
    found = find_gates([target_of(settings, box) for box in by_ssh], limits)
    gates = {box: found[target] for box in by_ssh if (target := target_of(settings, box)) in found}
    visits = visit_all(
        tried,
        lambda box: _look(settings, box, past),
        limits,
        gates=gates,
        deadline_of=lambda box: box.deadline_seconds or settings.patrol.deadline_seconds,
    )
    for visit in visits:
        yield _seen(visit, settings.state)


def _look(settings: Settings, box: BoxSettings, past: Past) -> SeenBox:
    if box.is_cluster:
        from patrol.engines.look import look_at_cluster  # noqa: PLC0415 - only where there is one

        snapshot, memories = look_at_cluster(box, settings, _recall(past, box), wall())
        return SeenBox(box, snapshot, memories if isinstance(snapshot, BoxLook) else None)
    began = monotonic()
    target = target_of(settings, box)
    connect_seconds = _connect_seconds(past.boxes.get(box.name))
    began_at = wall()

    def ask_box(stdin: bytes, end_mark: bytes, deadline_seconds: float) -> Answer | NoAnswer:
        return ask(target, stdin, end_mark=end_mark, deadline_seconds=deadline_seconds, connect_seconds=connect_seconds)

    known = _recall(past, box)
    server = _tracker_server(settings, known)
    snapshot, memories = take(box, settings, known, ask_box, began_at)
    if any(run.engine in CLUSTERS for run in memories.runs.values()):
        from patrol.engines.look import ask_for_runs  # noqa: PLC0415 - only where a run is with one

        left = (box.deadline_seconds or settings.patrol.deadline_seconds) - (monotonic() - began)
        snapshot, memories = ask_for_runs(box, settings, snapshot, memories, left)
    if not isinstance(snapshot, BoxLook):
        return SeenBox(box, snapshot, None)
    if server is not None:
        snapshot, memories = server.add_to(snapshot, memories)
    if settings.config.tracker != Intent():
        snapshot = with_intent(snapshot, settings.config.tracker)
    return SeenBox(box, snapshot, memories)


def _recall(past: Past, box: BoxSettings) -> Memories:
    return memories_of(past.memories.get(box.name, {}))


def _tracker_server(settings: Settings, known: Memories) -> Server | None:
    """The tracker's server with this box's questions put; None where it is not to be asked."""
    if settings.config.tracker.key is None:
        return None

    server = server_for(settings.config.tracker, settings.folder)
    server.ask(known.runs)
    return server


def _connect_seconds(before: BoxBefore | None) -> int:
    """How long a box may take to say its first word: briefly where it said none the last time."""
    return KNOCK_SECONDS if before is not None and before.failures and before.last_reason in MUTE else CONNECT_SECONDS


def _seen(visit: Visit[BoxSettings, SeenBox], state: str) -> SeenBox:
    if visit.result is not None:
        return visit.result
    if visit.error is not None:
        return seen_defect(visit.item, visit.error, state)
    words = f"the look did not end within {visit.seconds:.0f} s and was left behind"
    return SeenBox(visit.item, Unreachable(visit.item.name, wall(), "late", words), None)


def seen_defect(box: BoxSettings, error: BaseException, state: str) -> SeenBox:
    """A box at which the patrol itself failed: nothing is known of it by this tick, and the others go on."""
    return SeenBox(box, Unreachable(box.name, wall(), "defect", note_defect(state, box.name, error)), None)
