"""The runs of one box out of its answer: managed and watched ones, with what others say of them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple
from onbox.runs.room import shortest
from patrol.memory.run_memory import Memories, RunMemory
from patrol.probe import scheduled, trackers, watched
from patrol.probe.box import identity as box_identity
from patrol.probe.box import jobs as box_jobs
from patrol.probe.box import left as box_left
from patrol.probe.box import runs as box_runs
from patrol.probe.box import watch as box_watch
from patrol.probe.left_behind import lost_of
from patrol.probe.managed import run_look as managed
from patrol.snapshot import NOT_ASKED

if TYPE_CHECKING:
    from onbox.backends.base import Job
    from onbox.contract.readings import Maybe
    from onbox.model.boxes import BoxSettings, Watch
    from onbox.runs.room import RunRoom
    from onbox.series.point import Point
    from patrol.memory.run_records import RecordText
    from patrol.probe.asked_sections import AskedSections
    from patrol.probe.frames import Frames
    from patrol.snapshot import RemovedRun, RunLook


NOTHING = RunMemory()


class SeenRuns(NamedTuple):
    """The runs of a box; left_out: how many more managed ones there are. records, points: what they brought that is
    kept apart from the look, by run. removed: those of which only processes are there.
    """

    looks: Maybe[tuple[RunLook, ...]]
    left_out: int
    records: tuple[tuple[str, RecordText], ...]
    points: tuple[tuple[str, tuple[Point, ...]], ...]
    removed: tuple[RemovedRun, ...] = ()


def runs_of_box(
    box: BoxSettings,
    sections: AskedSections,
    who: box_identity.SeenIdentity,
    known: Memories,
    fresh: dict[str, RunMemory],
) -> SeenRuns:
    """Managed and watched runs, with what engines, queues and trackers say of them. fresh: their new memories.

    Where the project could not be looked at, the watched ones are there all the same.
    """
    raw = _raw_runs(sections) if box.project is not None else None
    looks: list[RunLook] = []
    if isinstance(raw, box_runs.RawRuns):
        where = managed.Box(
            who.identity, sections.asked.state_dir, who.onbox_on_path, _short_room(raw, box, sections.asked.state_dir)
        )
        looks += _managed_looks(raw, where, fresh)
    clock = who.identity.clock_seconds
    looks += [_watched_look(box, watch, at, sections, fresh, clock) for at, watch in enumerate(box.watches)]
    whole = _with_what_others_say(tuple(looks), sections, known, fresh)
    if isinstance(raw, Unseen) and not looks:
        return SeenRuns(raw, 0, (), ())
    if not isinstance(raw, box_runs.RawRuns):
        return SeenRuns(whole, 0, (), ())
    records = tuple((one.name, one.record) for one in raw.runs if one.record is not None)
    points = tuple((one.name, new) for one in raw.runs if (new := managed.new_points(one)))
    return SeenRuns(whole, raw.there_are - len(raw.runs), records, points, raw.removed)


def _short_room(raw: box_runs.RawRuns, box: BoxSettings, state_dir: str) -> RunRoom | None:
    """The place where runs write that has no room; None: each has, or nothing was told."""
    places = (state_dir, box.project or "")
    return shortest([room._replace(path=path) for path, room in zip(places, raw.rooms, strict=False)])


def _raw_runs(sections: AskedSections) -> box_runs.RawRuns | Unseen:
    part = sections.part("runs")
    raw = part if isinstance(part, Unseen) else box_runs.parse(part)
    if isinstance(raw, box_runs.RawRuns):
        if raw.left_out:
            sections.unseen["runs"] = raw.left_out
        return raw
    sections.unseen["runs"] = raw.why
    return Unseen(raw.why)


def _managed_looks(raw: box_runs.RawRuns, where: managed.Box, fresh: dict[str, RunMemory]) -> list[RunLook]:
    looks = []
    for one in raw.runs:
        look, fresh[one.name] = managed.look_at(one, fresh.get(one.name, NOTHING), where)
        looks.append(look)
    if raw.there_are == len(raw.runs):  # of runs that are gone, nothing is kept
        names = {one.name for one in raw.runs} | {one.run for one in raw.removed}  # of these it is asked again
        for name in [name for name, kept in fresh.items() if kept.manifest is not None and name not in names]:
            del fresh[name]
    return looks


def _watched_look(
    box: BoxSettings, watch: Watch, at: int, sections: AskedSections, fresh: dict[str, RunMemory], clock: float
) -> RunLook:
    """The run of the box's watch number `at`."""
    look, kept = watched.look_at(box, watch, at, sections.frames, fresh.pop(watch.name, NOTHING), clock)
    if kept != NOTHING:
        fresh[watch.name] = kept
    if watch.done_file is not None:
        sections.note(f"artifacts.{at}.done", sections.part(f"artifacts.{at}.done"))
    for label in ("log", "processes", "session", "artifacts"):
        sections.note(f"{label}.{at}", {"log": look.log, "artifacts": look.artifacts}.get(label))
    return look


def _with_what_others_say(
    runs: tuple[RunLook, ...], sections: AskedSections, known: Memories, fresh: dict[str, RunMemory]
) -> tuple[RunLook, ...]:
    """The word of engines and queues, what finished runs left, trackers."""
    engine = sections.asked.engine
    queue: Any = NOT_ASKED
    if sections.was_asked("queue"):
        queue = sections.read("queue", lambda part: box_watch.parse_queue(part, engine))
    jobs = sections.read("jobs", box_jobs.parse) if sections.was_asked("jobs") else NOT_ASKED
    runs = tuple(
        _with_engine(run, jobs, engine, fresh) if run.managed else _with_queue(run, queue, engine) for run in runs
    )
    if sections.was_asked("left"):
        runs = _with_left(runs, sections.read("left", box_left.parse), fresh)
    return _with_trackers(runs, trackers.wanted(known.runs), sections.frames, fresh)


def _with_engine(run: RunLook, jobs: Maybe[box_jobs.RawJobs], engine: str, fresh: dict[str, RunMemory]) -> RunLook:
    kept = fresh.get(run.run, NOTHING)
    end = kept.journal.facts.end if kept.journal is not None else None
    return scheduled.with_engine(run, jobs, engine, kept.engine, str((end or {}).get("at", "")))


def _with_queue(run: RunLook, queue: Maybe[dict[str, Job]], engine: str) -> RunLook:
    if isinstance(queue, dict):
        job = queue.get(run.run)
        word = Absent("no job of that name in the queue") if job is None else scheduled.by_name(engine, job)
        return run._replace(scheduler=word)
    return run if queue is NOT_ASKED else run._replace(scheduler=queue)


def _with_left(
    runs: tuple[RunLook, ...], left: Maybe[dict[str, box_left.LeftFiles]], fresh: dict[str, RunMemory]
) -> tuple[RunLook, ...]:
    """Finished runs with what they left; their small results come once."""
    found = []
    for run in runs:
        kept = fresh.get(run.run)
        if run.managed and kept is not None and kept.manifest is not None and isinstance(run.done, str):
            own = left.get(run.run, Unseen("the box did not tell of its files")) if isinstance(left, dict) else left
            if isinstance(own, Absent | Unseen):
                run = run._replace(lost=own)  # noqa: PLW2901 - the same run, with more of it
            else:
                run = run._replace(lost=lost_of(own, kept.manifest.promises), results=own.results)  # noqa: PLW2901
                fresh[run.run] = kept._replace(results_of=kept.manifest.run_id)
        found.append(run)
    return tuple(found)


def _with_trackers(
    runs: tuple[RunLook, ...], asked: tuple[trackers.Wanted, ...], frames: Frames, fresh: dict[str, RunMemory]
) -> tuple[RunLook, ...]:
    found = []
    for run in runs:
        kept = fresh.get(run.run)
        if kept is not None:
            looks, kept = trackers.looks_at(run.run, kept, asked, frames.part)
            fresh[run.run], run = kept, run._replace(trackers=looks)  # noqa: PLW2901 - the same run, with more of it
        found.append(run)
    return tuple(found)
