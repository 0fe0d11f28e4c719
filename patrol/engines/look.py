"""Ask engines: a cluster that is a box, or the engine of runs that another box has. The one place here that asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.backends.cluster import ClusterJob, NoLook, look
from onbox.backends.cluster_reasons import BY_KEY
from onbox.contract.readings import Absent, Unseen
from onbox.model.engines import CLUSTERS
from onbox.outside import safe_line
from onbox.system.clock import monotonic
from patrol.engines import endpoint as places_of
from patrol.engines import handed, watched
from patrol.memory.run_memory import Memories, RunMemory
from patrol.snapshot import BoxLook, Unreachable

if TYPE_CHECKING:
    from onbox.backends.cluster import ClusterLook, Endpoint
    from onbox.model.boxes import BoxSettings
    from onbox.runs.jobs import KnownJob
    from patrol.config.settings import Settings
    from patrol.snapshot import RunLook, Snapshot

CLUSTER_SECONDS = 10.0  # all questions of one look together, where the box's deadline is not shorter
NO_HOST = Absent("a cluster is not a machine")


def look_at_cluster(box: BoxSettings, settings: Settings, known: Memories, now: float) -> tuple[Snapshot, Memories]:
    """Every watched job of a cluster."""
    began = monotonic()
    endpoint = places_of.of_cluster(settings, box)
    if endpoint is None:
        how = places_of.how_to_name_it(box.backend)
        return Unreachable(
            box.name, now, "engine_down", f"no address is known; {how}, or address in [boxes.{box.name}]"
        ), known
    ids = [watched.current_job(watch, known.runs.get(watch.name)).job_id for watch in box.watches]
    seconds = min(CLUSTER_SECONDS, box.deadline_seconds or settings.patrol.deadline_seconds)
    found = look(endpoint, list(dict.fromkeys(ids)), seconds)
    if isinstance(found, NoLook):
        return Unreachable(box.name, now, found.reason, safe_line(found.detail)), known
    runs: list[RunLook] = []
    fresh: dict[str, RunMemory] = {}
    for watch, job_id in zip(box.watches, ids, strict=True):
        kept = known.runs.get(watch.name)
        run, fresh[watch.name] = watched.look_of(watch, endpoint, found.jobs[job_id], found.session, kept, now)
        runs.append(run)
    unseen = tuple((run.run, run.scheduler.why) for run in runs if isinstance(run.scheduler, Unseen))
    look_ = BoxLook(
        box.name, now, NO_HOST, tuple(runs), memory=NO_HOST, pressure=NO_HOST, disks=NO_HOST, gpus=NO_HOST,
        kernel_faults=NO_HOST, sections_unseen=unseen, taken_seconds=monotonic() - began,
    )  # fmt: skip
    return look_, Memories(known.box, fresh)


def ask_for_runs(
    box: BoxSettings, settings: Settings, snapshot: Snapshot, known: Memories, seconds: float
) -> tuple[Snapshot, Memories]:
    """The look at a box with the word of Ray or Iris on the runs there that were handed to them, and what to remember.
    known: of this look. seconds: what is left of the box's time.
    """
    if not isinstance(snapshot, BoxLook) or isinstance(snapshot.runs, Absent | Unseen):
        return snapshot, known
    asker = _Asker(box, settings, snapshot.at, seconds)
    runs: list[RunLook] = []
    fresh = dict(known.runs)
    for run in snapshot.runs:
        kept = fresh.get(run.run)
        if run.managed and kept is not None and kept.engine in CLUSTERS:
            run, fresh[run.run] = asker.with_word(run, kept)  # noqa: PLW2901 - the same run, with more of it
        runs.append(run)
    return snapshot._replace(runs=tuple(runs)), known._replace(runs=fresh)


class _Asker:
    """Asks for the runs of one box, one after the other; an engine that gave no answer is not asked again."""

    def __init__(self, box: BoxSettings, settings: Settings, now: float, seconds: float) -> None:
        self.box, self.settings, self.now = box, settings, now
        self._end = monotonic() + min(CLUSTER_SECONDS, seconds)
        self._mute: dict[Endpoint, NoLook] = {}

    def with_word(self, run: RunLook, kept: RunMemory) -> tuple[RunLook, RunMemory]:
        known = handed.known_job(kept)
        if isinstance(known, Unseen):
            started = run.runner_alive is True or run.stage_alive is True
            return run if started else run._replace(scheduler=known), kept
        known = handed.end_on_record(kept, known)
        frozen = kept.manifest.engine_settings if kept.manifest is not None else {}
        endpoint = places_of.of_run(self.settings, self.box, kept.engine, frozen)
        if endpoint is None:
            how = places_of.how_to_name_it(kept.engine)
            return run._replace(scheduler=Unseen(f"it is with {kept.engine}; {how} to have it asked")), kept
        told = self._told(endpoint, known)
        if isinstance(told, Unseen):
            return run._replace(scheduler=told), kept
        run, kept = handed.with_told(run, known, told, endpoint, kept, self.now)
        return run, kept if told is None else handed.with_end(kept, known, told.word)

    def _told(self, endpoint: Endpoint, known: KnownJob) -> ClusterJob | Unseen | None:
        if known.ended is not None or known.job_id is None:
            return None
        found: ClusterLook | NoLook = self._mute.get(endpoint) or look(
            endpoint, (known.job_id,), max(0.0, self._end - monotonic())
        )
        if isinstance(found, NoLook):
            self._mute[endpoint] = found
            return Unseen(f"{BY_KEY[found.reason].says} ({safe_line(found.detail)})")
        return found.jobs[known.job_id]
