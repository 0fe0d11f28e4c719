"""One look at one box: ask, take the answer apart, and say what was seen."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.contract.readings import Absent, Unseen, observed
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from patrol.memory.run_memory import BoxMemory, Memories, RunMemory
from patrol.probe import scheduled, trackers, watched
from patrol.probe.box import gpus as box_gpus
from patrol.probe.box import identity as box_identity
from patrol.probe.box import jobs as box_jobs
from patrol.probe.box import kernel as box_kernel
from patrol.probe.box import left as box_left
from patrol.probe.box import resources as box_resources
from patrol.probe.box import results as box_results
from patrol.probe.box import runs as box_runs
from patrol.probe.box import watch as box_watch
from patrol.probe.frames import CUT, LATE, end_mark, split
from patrol.probe.left_behind import lost_of
from patrol.probe.local_files import count_files
from patrol.probe.managed import run_look as managed
from patrol.probe.plan import plan
from patrol.probe.script import build
from patrol.snapshot import NOT_ASKED, BoxLook, FileCount, Unreachable
from patrol.ssh.client import Answer, script_with_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onbox.backends.base import Job
    from onbox.contract.readings import Maybe
    from onbox.model.boxes import BoxSettings
    from onbox.series.point import Point
    from patrol.config.settings import Settings
    from patrol.memory.run_records import RecordText
    from patrol.probe.frames import Frames, SectionPart
    from patrol.probe.plan import Ask
    from patrol.snapshot import BoxIdentity, DiskLook, RunLook, Snapshot
    from patrol.ssh.client import NoAnswer

BOX_SHARE = 0.6  # of the deadline: the rest is for login and link
LEAST_SECONDS = 4
_NOTHING = RunMemory()


def take(
    box: BoxSettings,
    settings: Settings,
    known: Memories,
    ask: Callable[[bytes, bytes, float], Answer | NoAnswer],
    now: float,
) -> tuple[Snapshot, Memories]:
    """Look once. known: what earlier looks left; the new memories replace them, also those of runs that were not seen
    this time. ask: stdin, end mark and deadline in seconds to an answer. now: local time at the start.
    """
    deadline = box.deadline_seconds or settings.patrol.deadline_seconds
    asked = plan(box, settings.state_dir_of(box), known, settings.silent_seconds)
    nonce = os.urandom(5).hex()
    script, values = build(asked.calls, nonce, max(LEAST_SECONDS, int(deadline * BOX_SHARE)))
    answer = ask(script_with_values(script, values), end_mark(nonce), deadline)
    if not isinstance(answer, Answer):
        return Unreachable(box.name, now, answer.reason, safe_line(answer.detail)), known
    middle = now + (answer.login_seconds + answer.seconds) / 2
    frames = split(answer.output + b"\n" + end_mark(nonce) + b"\n", nonce)
    look, fresh = read(box, asked, frames, known, middle, answer.seconds / 2)
    counts = _counts(box, settings, frames)
    runs = look.runs
    if not isinstance(runs, Absent | Unseen):
        stops = {watch.name: watch.stop_at for watch in box.watches if watch.stop_at is not None}
        part = frames.part("results") if box.results else CUT
        results = () if isinstance(part, Unseen) else box_results.parse(part)
        runs = tuple(
            run._replace(
                stop_at=stops.get(run.run, box.stop_at),
                results=tuple(dict.fromkeys((*run.results, *results))),
            )
            for run in runs
        )
        look = look._replace(runs=runs)
    return look._replace(at=now, taken_seconds=answer.seconds, billing=box.billing, counts=counts), fresh


def read(
    box: BoxSettings, asked: Ask, frames: Frames, known: Memories, middle: float, error_seconds: float = 0.0
) -> tuple[BoxLook, Memories]:
    """What the sections say. Pure. middle: local time in the middle of the look, which is known with that error."""
    unseen = {
        call.label: part.why
        for call in asked.calls
        if _was_asked(asked, frames, call.label) and isinstance(part := frames.part(call.label), Unseen)
    }

    def seen(label: str, parse: Callable[[SectionPart], Any]) -> Any:
        part = frames.part(label)
        value = part if isinstance(part, Unseen) else parse(part)
        if isinstance(value, Unseen):
            unseen[label] = value.why
        return value

    who = seen("identity", lambda part: box_identity.parse(part, middle, error_seconds))
    if isinstance(who, Unseen):
        return BoxLook(box.name, middle, who, who, sections_unseen=tuple(unseen.items())), known
    identity: BoxIdentity = who.identity
    fresh = dict(known.runs)
    about = _about_the_box(known.box, identity)
    queue: Any = NOT_ASKED
    if _was_asked(asked, frames, "queue"):
        queue = seen("queue", lambda part: box_watch.parse_queue(part, asked.engine))
    jobs = seen("jobs", box_jobs.parse) if _was_asked(asked, frames, "jobs") else NOT_ASKED
    apart = KeptApart({}, {})
    runs, left_out = _runs(box, asked, frames, fresh, who, unseen, apart)
    if not isinstance(runs, Absent | Unseen):
        runs = tuple(
            _with_engine(run, jobs, asked.engine, fresh) if run.managed else _with_queue(run, queue, asked.engine)
            for run in runs
        )
        if _was_asked(asked, frames, "left"):
            runs = _with_left(runs, seen("left", box_left.parse), fresh)
        runs = _with_trackers(runs, trackers.wanted(known.runs), frames, fresh)
    resources = _memory(frames)
    if isinstance(resources, Unseen):
        unseen["memory"] = resources.why
    faults = seen(
        "kernel", lambda part: box_kernel.parse(part, about.kernel_seconds, observed(identity.uptime_seconds))
    )
    if not isinstance(faults, Absent | Unseen):
        times = [at for fault in faults if isinstance(at := fault.uptime_seconds, float)]
        read_up_to = max([about.kernel_seconds or 0.0, observed(identity.uptime_seconds) or 0.0, *times])
        about = about._replace(kernel_seconds=read_up_to)
    return BoxLook(
        box=box.name,
        at=middle,
        identity=identity,
        runs=runs,
        memory=resources if isinstance(resources, Unseen) else resources.memory,
        pressure=resources if isinstance(resources, Unseen) else resources.pressure,
        disks=_disks(
            [
                seen(label, box_resources.parse_disks)
                for label in ("disk", "run_disk")
                if _was_asked(asked, frames, label)
            ]
        ),
        gpus=seen("gpus", box_gpus.parse),
        kernel_faults=faults,
        sections_unseen=tuple(unseen.items()),
        onbox_on_path=who.onbox_on_path,
        runs_left_out=left_out,
        records=tuple(apart.records.items()),
        series=tuple(apart.points.items()),
    ), Memories(about, fresh)


def _memory(frames: Frames) -> box_resources.Looked | Unseen:
    """What the section told before it was late (its look at the runs' locks may hang) is as good as any."""
    part = frames.parts.get("memory")
    looked = CUT if part is None else box_resources.parse_memory(part)
    return LATE if isinstance(looked, Unseen) and part is not None and part.code is None else looked


def _was_asked(asked: Ask, frames: Frames, label: str) -> bool:
    """Whether it belongs to this look; a spare section does where the box began it."""
    return any(call.label == label and (not call.spare or label in frames.begun) for call in asked.calls)


def _about_the_box(known: BoxMemory, identity: BoxIdentity) -> BoxMemory:
    """After a reboot the kernel's log begins anew."""
    boot_id = observed(identity.boot_id)
    return known if known.boot_id == boot_id else BoxMemory(boot_id)


class KeptApart(NamedTuple):
    """What runs brought that is kept apart from the look: their records, and new points of their series."""

    records: dict[str, RecordText]
    points: dict[str, tuple[Point, ...]]

    def take(self, runs: Sequence[box_runs.RawRun]) -> None:
        self.records.update({one.name: one.record for one in runs if one.record is not None})
        self.points.update({one.name: new for one in runs if (new := managed.new_points(one))})


def _runs(
    box: BoxSettings,
    asked: Ask,
    frames: Frames,
    fresh: dict[str, RunMemory],
    who: box_identity.SeenIdentity,
    unseen: dict[str, str],
    apart: KeptApart,
) -> tuple[Maybe[tuple[RunLook, ...]], int]:
    """Managed and watched runs, and how many more managed ones there are.

    Where the project could not be looked at, the watched ones are there all the same.
    """
    looks: list[RunLook] = []
    why: Unseen | None = None
    left_out = 0
    if box.project is not None:
        part = frames.part("runs")
        raw = part if isinstance(part, Unseen) else box_runs.parse(part)
        if isinstance(raw, box_runs.RawRuns):
            where = managed.Box(who.identity, asked.state_dir, who.onbox_on_path)
            if raw.left_out:
                unseen["runs"] = raw.left_out
            apart.take(raw.runs)
            names = set()
            for one in raw.runs:
                look, fresh[one.name] = managed.look_at(one, fresh.get(one.name, _NOTHING), where)
                looks.append(look)
                names.add(one.name)
            if raw.there_are == len(raw.runs):  # of runs that are gone, nothing is kept
                for name in [name for name, kept in fresh.items() if kept.manifest is not None and name not in names]:
                    del fresh[name]
            else:
                left_out = raw.there_are - len(raw.runs)
        else:
            why = raw if isinstance(raw, Unseen) else Unseen(raw.why)
            unseen["runs"] = why.why
    for at, watch in enumerate(box.watches):
        kept = fresh.pop(watch.name, _NOTHING)
        look, kept = watched.look_at(box, watch, at, frames, kept, who.identity.clock_seconds)
        looks.append(look)
        if kept != _NOTHING:
            fresh[watch.name] = kept
        if watch.done_file is not None:
            _note(unseen, f"artifacts.{at}.done", frames.part(f"artifacts.{at}.done"))
        for label in ("log", "processes", "session", "artifacts"):
            _note(unseen, f"{label}.{at}", {"log": look.log, "artifacts": look.artifacts}.get(label))
    return why if why is not None and not looks else tuple(looks), left_out


def _note(unseen: dict[str, str], label: str, value: object) -> None:
    if isinstance(value, Unseen):
        unseen.setdefault(label, value.why)


def _with_engine(run: RunLook, jobs: Maybe[box_jobs.RawJobs], engine: str, fresh: dict[str, RunMemory]) -> RunLook:
    kept = fresh.get(run.run, _NOTHING)
    end = kept.journal.facts.end if kept.journal is not None else None
    return scheduled.with_engine(run, jobs, engine, kept.engine, str((end or {}).get("at", "")))


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


def _with_queue(run: RunLook, queue: Maybe[dict[str, Job]], engine: str) -> RunLook:
    if isinstance(queue, dict):
        job = queue.get(run.run)
        word = Absent("no job of that name in the queue") if job is None else scheduled.by_name(engine, job)
        return run._replace(scheduler=word)
    return run if queue is NOT_ASKED else run._replace(scheduler=queue)


def _disks(found: list[Maybe[tuple[DiskLook, ...]]]) -> Maybe[tuple[DiskLook, ...]]:
    """Those of the run first. A file system that hangs costs its own numbers only."""
    disks: dict[str, DiskLook] = {}
    for part in reversed(found):
        if not isinstance(part, Absent | Unseen):
            disks |= {disk.mount: disk for disk in part if disk.mount not in disks}
    return tuple(disks.values()) if disks else next((part for part in found if isinstance(part, Absent | Unseen)), CUT)


def _counts(box: BoxSettings, settings: Settings, frames: Frames) -> tuple[FileCount, ...]:
    counts = []
    for at, count in enumerate(box.counts):
        part = frames.part(f"count.{at}")
        there, there_bytes = (part, part) if isinstance(part, Unseen) else box_watch.parse_count(part)
        here, here_bytes = count_files(os.path.join(settings.folder, count.local))
        counts.append(FileCount(count.remote, count.local, there, here, there_bytes, here_bytes))
    return tuple(counts)
