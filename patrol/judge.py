"""From the looks of a tick to what is said and what is kept of each box and run. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen, observed
from onbox.contract.states import RunState
from onbox.named_tuple import NamedTuple
from patrol.config.run_entry import is_asked_for, origin_of
from patrol.cost import cost_of
from patrol.decide.box_scene import gpu_percent, share
from patrol.decide.decide import decide_box, decide_run, decide_unreachable_run
from patrol.decide.remote_command import way_to
from patrol.decide.time_left import with_time_left
from patrol.memory import codec
from patrol.memory.history import Before, BoxBefore
from patrol.memory.rows import BoxNote, RunNote, TickPoint
from patrol.memory.run_records import record_to_text
from patrol.memory.update_history import acknowledgement, fold, fold_box
from patrol.report.lines import line
from patrol.report.machine_formats import ReportEntry
from patrol.snapshot import BoxLook

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onbox.model.boxes import BoxSettings
    from onbox.series.point import Point as SeriesPoint
    from patrol.decide.policy import Policy
    from patrol.memory.rows import Past
    from patrol.memory.run_memory import Memories
    from patrol.memory.transfers import Home
    from patrol.snapshot import RunLook, Snapshot
    from patrol.verdict import Verdict

FORGET_UNREACHED_SECONDS = 30 * 86400.0  # a run of a box that does not answer is spoken of for so long
FORGET_VANISHED_SECONDS = 86400.0  # one whose box answers and has it no more
STOP_RULES = ("stop-point", "stopped-at-point")
UNPROVEN_RULE = "ended-unproven"
SPOKEN_OF_LIMIT = 32  # of runs that were not seen: a box that has others at every look is not told of for ever
VANISHED = "vanished"
ENDED = (RunState.DONE, RunState.FAILED, RunState.STOPPED)


class Judged(NamedTuple):
    """One run, or with run "" a box that has none to speak of. look: None where nothing was seen of it."""

    verdict: Verdict
    look: RunLook | None
    before: Before
    after: Before
    line: str


class BoxJudged(NamedTuple):
    """Everything of one box in one tick. runs: at least one entry, so that no box is ever silent. left: runs of earlier
    ticks that onbox.toml asks for no more.
    """

    box: BoxSettings
    snapshot: Snapshot
    before: BoxBefore
    after: BoxBefore
    runs: tuple[Judged, ...]
    memories: Memories | None
    left: tuple[str, ...] = ()

    def entries(self) -> list[ReportEntry]:
        return [ReportEntry(run.verdict, run.look, self.snapshot) for run in self.runs]


class Frame(NamedTuple):
    """What does not change within a tick. now: local time. homes: runs whose files are here, by box and run."""

    past: Past
    policy: Policy
    ssh_command: tuple[str, ...]
    now: float
    homes: Mapping[tuple[str, str], Home] = MappingProxyType({})


def judge(box: BoxSettings, snapshot: Snapshot, memories: Memories | None, frame: Frame) -> BoxJudged:
    """What is to be said of a box and its runs, and remembered. memories: None: it was not reached."""
    before = frame.past.boxes.get(box.name, BoxBefore())
    snapshot = _with_times_left(snapshot, frame)
    after = fold_box(before, snapshot, frame.now)
    looks = _looks(snapshot)
    runs = [_judge_seen(box, snapshot, look, before, frame) for look in looks if isinstance(snapshot, BoxLook)]
    seen = {look.run for look in looks}
    left = _left(box, frame.past, seen)
    known = _known_runs(box.name, snapshot, frame, seen | set(left))
    runs += [_judge_unseen(box, snapshot, run, before, frame) for run in known]
    if not runs:
        alone = _judge_box(box, snapshot, before, frame)
        after = after._replace(rule=alone.verdict.finding.rule, since=alone.verdict.since)
        runs = [alone]
    return BoxJudged(box, snapshot, before, after, tuple(runs), memories, left)


def _with_times_left(snapshot: Snapshot, frame: Frame) -> Snapshot:
    if not isinstance(snapshot, BoxLook) or isinstance(snapshot.runs, Absent | Unseen):
        return snapshot
    past, box = frame.past.runs, snapshot.box
    looks = (with_time_left(look, past.get((box, look.run), Before()), frame.now) for look in snapshot.runs)
    return snapshot._replace(runs=tuple(looks))


def _left(box: BoxSettings, past: Past, seen: set[str]) -> tuple[str, ...]:
    """Runs that somebody took out of onbox.toml: that they are not seen says nothing of them."""
    mine = ((run, before) for (name, run), before in past.runs.items() if name == box.name)
    return tuple(run for run, before in mine if run and run not in seen and not is_asked_for(box, before))


def _looks(snapshot: Snapshot) -> tuple[RunLook, ...]:
    if not isinstance(snapshot, BoxLook) or isinstance(snapshot.runs, Absent | Unseen):
        return ()
    return snapshot.runs


def _known_runs(box: str, snapshot: Snapshot, frame: Frame, seen: set[str]) -> list[str]:
    """Runs of earlier ticks that are not dealt with yet (seen) and are not forgotten."""
    if isinstance(snapshot, BoxLook) and snapshot.runs_left_out:
        return []  # which of them are only left out is not known
    reached = isinstance(snapshot, BoxLook) and not isinstance(snapshot.runs, Unseen)
    limit = FORGET_VANISHED_SECONDS if reached else FORGET_UNREACHED_SECONDS
    spoken_of = sorted(
        (-before.last_seen_at, run)
        for (name, run), before in frame.past.runs.items()
        if name == box
        and run
        and run not in seen
        and before.last_seen_at is not None
        and frame.now - before.last_seen_at <= limit
        and not (reached and _is_settled(before))
    )
    return sorted(run for _, run in spoken_of[:SPOKEN_OF_LIMIT])


def _is_settled(before: Before) -> bool:
    """Whether a person acknowledged its end, or that it is gone. A word on a living run is not a word on its loss."""
    if before.acknowledged is None:
        return False
    ended = before.known_state in [state.value for state in ENDED]
    return ended or before.acknowledged == acknowledgement(before.run_id, VANISHED)


def ended_at(box: BoxLook, run: RunLook) -> float | None:
    """When a run ended, by the box's own clock; None: not known. One that onbox did not start records no end: it is
    told from another end by its log's last change.
    """
    identity, age = observed(box.identity), observed(run.ended_age_seconds)
    if not run.managed and age is None and (log := observed(run.log)) is not None:
        age = log.written_age_seconds
    return None if identity is None or age is None else identity.clock_seconds - age


def _judge_seen(box: BoxSettings, snapshot: BoxLook, look: RunLook, box_before: BoxBefore, frame: Frame) -> Judged:
    before = frame.past.runs.get((box.name, look.run), Before())
    way = way_to(box, frame.ssh_command)
    home = frame.homes.get((box.name, look.run))
    if home is not None and home.is_of(observed(look.run_id) or "", ended_at(snapshot, look)):
        look = look._replace(home=home)
    verdict = decide_run(look, snapshot, before, box_before, frame.now, frame.policy, way=way)
    after = fold(before, look, verdict, frame.now, snapshot)._replace(origin=origin_of(box, look))
    return Judged(verdict, look, before, after, line(verdict, look, frame.now, cost_of(snapshot, frame.now)))


def _judge_unseen(box: BoxSettings, snapshot: Snapshot, run: str, box_before: BoxBefore, frame: Frame) -> Judged:
    before = frame.past.runs[box.name, run]
    way = way_to(box, frame.ssh_command)
    verdict = decide_unreachable_run(snapshot, run, before, box_before, frame.now, frame.policy, way=way)
    after = fold(before, None, verdict, frame.now)
    return Judged(verdict, None, before, after, line(verdict, None, frame.now))


def _judge_box(box: BoxSettings, snapshot: Snapshot, before: BoxBefore, frame: Frame) -> Judged:
    verdict = decide_box(snapshot, before, frame.now, frame.policy, way=way_to(box, frame.ssh_command))
    shown = line(verdict, None, frame.now)
    mine = frame.past.runs.get((box.name, ""), Before())
    after = mine._replace(rule=verdict.finding.rule, since=verdict.since)
    return Judged(verdict, None, Before(rule=before.rule), after, shown)


# -- what follows from all of it


def all_over(boxes: Sequence[BoxJudged]) -> bool:
    """Whether every run of every box was seen, and has ended and was acknowledged, or is at the stopping point that a
    person set and that is told: then nobody needs a patrol.
    """
    runs = [run for box in boxes for run in box.runs]
    return bool(runs) and all(run.look is not None and _is_over(run.verdict, run.look) for run in runs)


def _is_over(verdict: Verdict, look: RunLook) -> bool:
    """A job that nobody here can start again is also over when it was killed, or when nothing proves its success."""
    if verdict.finding.rule in STOP_RULES:
        return True
    ended = verdict.state in ENDED or verdict.finding.rule == UNPROVEN_RULE
    died = verdict.state is RunState.INTERRUPTED and not (look.managed or look.can_resubmit)
    return verdict.acknowledged and (ended or died)


def may_act(judged: BoxJudged) -> bool:
    """Whether a resume is worth thinking of: then the box is reported after that."""
    return judged.box.recover == "resume" and any(run.verdict.may_resume for run in judged.runs)


def undelivered(judged: BoxJudged) -> dict[str, str]:
    """Run directory by run, of every run that has notifications waiting."""
    looks = (run.look for run in judged.runs if run.look is not None and run.look.managed)
    return {look.run: look.place for look in looks if (observed(look.undelivered) or 0) > 0}


def box_note(judged: BoxJudged) -> BoxNote:
    snapshot = judged.snapshot
    records: tuple[tuple[str, str], ...] = ()
    series: tuple[tuple[str, tuple[SeriesPoint, ...]], ...] = ()
    if isinstance(snapshot, BoxLook):
        series = snapshot.series
        records = tuple((run, record_to_text(record)) for run, record in snapshot.records)
        snapshot = snapshot._replace(records=(), series=())
    look = codec.look_to_text(snapshot)
    return BoxNote(judged.box.name, snapshot.at, judged.after, look, judged.memories, judged.left, records, series)


def run_note(run: Judged, snapshot: Snapshot, now: float) -> RunNote:
    verdict = run.verdict
    flag = verdict.flag
    return RunNote(
        box=verdict.box,
        run=verdict.run,
        at=now,
        before=run.after,
        line=run.line,
        verdict=codec.verdict_to_text(verdict),
        state=verdict.state.value,
        severity=int(verdict.severity),
        rule=verdict.finding.rule,
        say=verdict.finding.say,
        rule_before=run.before.rule,
        flag=flag.rule if flag else "",
        flag_says=flag.say if flag else "",
        flag_before=run.before.flag,
        point=point_of(run.look, snapshot),
    )


def point_of(look: RunLook | None, snapshot: Snapshot) -> TickPoint | None:
    """The numbers for plots; None where the run was not seen."""
    if look is None or not isinstance(snapshot, BoxLook):
        return None
    progress, memory = observed(look.progress), observed(snapshot.memory)
    loss = progress.loss if progress else None
    disks = observed(snapshot.disks) or ()
    return TickPoint(
        current=progress.current if progress else None,
        loss=float(loss) if isinstance(loss, int | float) else None,
        memory_percent=_whole(share(observed(memory.held_bytes), observed(memory.limit_bytes)) if memory else None),
        disk_percent=_used(share(disk.bytes_free, disk.bytes_total) for disk in disks),
        inodes_percent=_used(share(observed(disk.inodes_free), observed(disk.inodes_total)) for disk in disks),
        gpu_percent=_whole(gpu_percent(snapshot)),
    )


def _used(free: Iterable[float | None]) -> int | None:
    return max((int(100.0 - one) for one in free if one is not None), default=None)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
