"""One look at one box: ask, take the answer apart, and say what was seen."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.contract.readings import Absent, Unseen, observed
from onbox.outside import safe_line
from patrol.memory.run_memory import BoxMemory, Memories
from patrol.probe.asked_sections import AskedSections
from patrol.probe.box import gpus as box_gpus
from patrol.probe.box import identity as box_identity
from patrol.probe.box import kernel as box_kernel
from patrol.probe.box import resources as box_resources
from patrol.probe.box import results as box_results
from patrol.probe.box import watch as box_watch
from patrol.probe.frames import CUT, LATE, end_mark, split
from patrol.probe.local_files import count_files
from patrol.probe.plan import plan
from patrol.probe.runs_of_box import runs_of_box
from patrol.probe.script import build
from patrol.snapshot import BoxLook, FileCount, Unreachable
from patrol.ssh.client import Answer, script_with_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.readings import Maybe
    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings
    from patrol.probe.frames import Frames
    from patrol.probe.plan import Ask
    from patrol.snapshot import BoxIdentity, DiskLook, Snapshot
    from patrol.ssh.client import NoAnswer


BOX_SHARE = 0.6  # of the deadline: the rest is for login and link
LEAST_SECONDS = 4


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
    look = _with_results(box, frames, look)
    return look._replace(at=now, taken_seconds=answer.seconds, billing=box.billing, counts=counts), fresh


def read(
    box: BoxSettings, asked: Ask, frames: Frames, known: Memories, middle: float, error_seconds: float = 0.0
) -> tuple[BoxLook, Memories]:
    """What the sections say. Pure. middle: local time in the middle of the look, which is known with that error."""
    sections = AskedSections(asked, frames)
    who = sections.read("identity", lambda part: box_identity.parse(part, middle, error_seconds))
    if isinstance(who, Unseen):
        return BoxLook(box.name, middle, who, who, sections_unseen=tuple(sections.unseen.items())), known
    identity: BoxIdentity = who.identity
    fresh = dict(known.runs)
    runs = runs_of_box(box, sections, who, known, fresh)
    resources = _memory(frames)
    if isinstance(resources, Unseen):
        sections.unseen["memory"] = resources.why
    faults, about = _kernel_faults(sections, _about_the_box(known.box, identity), observed(identity.uptime_seconds))
    disks = [sections.read(one, box_resources.parse_disks) for one in ("disk", "run_disk") if sections.was_asked(one)]
    gpus = sections.read("gpus", box_gpus.parse)
    return BoxLook(
        box=box.name,
        at=middle,
        identity=identity,
        runs=runs.looks,
        memory=resources if isinstance(resources, Unseen) else resources.memory,
        pressure=resources if isinstance(resources, Unseen) else resources.pressure,
        disks=_disks(disks),
        gpus=gpus,
        kernel_faults=faults,
        sections_unseen=tuple(sections.unseen.items()),
        onbox_on_path=who.onbox_on_path,
        runs_left_out=runs.left_out,
        removed=runs.removed,
        records=runs.records,
        series=runs.points,
    ), Memories(about, fresh)


def _kernel_faults(sections: AskedSections, about: BoxMemory, uptime: float | None) -> tuple[Any, BoxMemory]:
    """Those that the kernel's log has since it was read last, and how far it is read now."""
    faults = sections.read("kernel", lambda part: box_kernel.parse(part, about.kernel_seconds, uptime))
    if isinstance(faults, Absent | Unseen):
        return faults, about
    times = [at for fault in faults if isinstance(at := fault.uptime_seconds, float)]
    return faults, about._replace(kernel_seconds=max([about.kernel_seconds or 0.0, uptime or 0.0, *times]))


def _with_results(box: BoxSettings, frames: Frames, look: BoxLook) -> BoxLook:
    """Each run with its stop time and with what the box's result files say."""
    runs = look.runs
    if isinstance(runs, Absent | Unseen):
        return look
    stops = {watch.name: watch.stop_at for watch in box.watches if watch.stop_at is not None}
    part = frames.part("results") if box.results else CUT
    results = () if isinstance(part, Unseen) else box_results.parse(part)
    return look._replace(
        runs=tuple(
            run._replace(
                stop_at=stops.get(run.run, box.stop_at),
                results=tuple(dict.fromkeys((*run.results, *results))),
            )
            for run in runs
        )
    )


def _memory(frames: Frames) -> box_resources.Looked | Unseen:
    """What the section told before it was late (its look at the runs' locks may hang) is as good as any."""
    part = frames.parts.get("memory")
    looked = CUT if part is None else box_resources.parse_memory(part)
    return LATE if isinstance(looked, Unseen) and part is not None and part.code is None else looked


def _about_the_box(known: BoxMemory, identity: BoxIdentity) -> BoxMemory:
    """After a reboot the kernel's log begins anew."""
    boot_id = observed(identity.boot_id)
    return known if known.boot_id == boot_id else BoxMemory(boot_id)


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
