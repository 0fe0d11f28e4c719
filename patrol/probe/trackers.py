"""Which runs at experiment trackers are looked at, and what a look makes of them. Pure.

A tracker is known from the run's journal, or from the log of a run that onbox did not start; then, and only then, the
next look reads its files. What is kept between two looks is a `TrackerMemory` for each stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.readings import Absent, Maybe, Unseen, observed
from onbox.model.tracker import Intent, TrackerIdentity, identity_from_record
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.runs.kept_facts import trackers_by_stage
from onbox.trackers import trackio_db
from onbox.trackers.identity import Case, find_drift, identity_of
from onbox.trackers.wandb_file import block_before, fold_wandb
from patrol.memory.run_memory import RunMemory, TrackerMemory
from patrol.probe.box import tracker as box_tracker
from patrol.probe.log_memory import progress_reader
from patrol.probe.script import SectionCall
from patrol.snapshot import NOT_ASKED, TrackerLook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onbox.trackers.reading import TrackerRun
    from patrol.probe.box.tracker import RawWandb
    from patrol.probe.frames import SectionPart
    from patrol.snapshot import BoxLook, RunLook

LOOKS_LIMIT = 4  # of one box at one tick
LOOKS_AFTER_END = 4  # that which sees it, and three: the last points may be written after the process ended
STAGES_LIMIT = 8
READ = ("wandb", "trackio")


class Wanted(NamedTuple):
    """A run at a tracker that is looked at. stage: "" for a run that onbox did not start."""

    run: str
    stage: str
    identity: TrackerIdentity


def wanted(runs: Mapping[str, RunMemory]) -> tuple[Wanted, ...]:
    """Those whose files are read at this look, by what earlier looks left."""
    found = [one for name, run in runs.items() for one in _wanted_of(name, run)]
    return tuple(found[:LOOKS_LIMIT])


def calls(runs: Mapping[str, RunMemory]) -> list[SectionCall]:
    """The sections that read them."""
    return [SectionCall(f"tracker.{at}", _values(one, runs[one.run])) for at, one in enumerate(wanted(runs))]


def _values(one: Wanted, run: RunMemory) -> tuple[str, ...]:
    place = one.identity.place or ""
    if one.identity.tracker == "trackio":
        python = run.manifest.python if run.manifest is not None else ""
        return box_tracker.trackio_values(place, one.identity.name or "", python)
    kept = _kept(run, one.stage, one.identity)
    return box_tracker.wandb_values(place, kept.start, kept.file)


def _wanted_of(name: str, run: RunMemory) -> Iterator[Wanted]:
    for stage, identity in known(run):
        if identity.place is None or identity.tracker not in READ:
            continue
        kept = _kept(run, stage, identity)
        if is_of_this_attempt(run, stage, identity) if is_open(run, stage) else _may_change(kept, identity):
            yield Wanted(name, stage, identity)


def _may_change(kept: TrackerMemory, identity: TrackerIdentity) -> bool:
    """Whether the files of an ended stage's run may tell more: soon after the end, or that an offline run was sent."""
    if kept.synced is False and "/offline-run-" in (identity.place or ""):
        return True
    return not (kept.run is not None and kept.run.state) and kept.after_end < LOOKS_AFTER_END


def known(run: RunMemory) -> list[tuple[str, TrackerIdentity]]:
    """Every run at a tracker that the journal, or a watched log, has told of, by stage."""
    if run.journal is not None:
        records = trackers_by_stage(run.journal.facts).items()
        return [(stage, found) for stage, record in records if (found := identity_from_record(record)) is not None]
    links = progress_reader(run.log).links()
    if not links.get("tracker"):
        return []
    found = identity_of(links)
    return [] if found is None else [("", found)]


def is_open(run: RunMemory, stage: str) -> bool:
    """Whether the stage is at work, as far as the journal tells; a watched run's end is not known here."""
    return run.journal is None or (run.journal.facts.is_open and run.journal.facts.stage == stage)


def may_tell_more(run: RunMemory, stage: str) -> bool:
    """Whether the tracker's server can say something new: while the stage is at work, and a few looks longer."""
    kept = run.trackers.get(stage)
    return is_open(run, stage) or kept is None or kept.after_end < LOOKS_AFTER_END


def is_of_this_attempt(run: RunMemory, stage: str, identity: TrackerIdentity) -> bool:
    if run.journal is None or run.journal.facts.stage != stage:
        return True
    return identity.attempt in (None, run.journal.facts.attempt)


def _kept(run: RunMemory, stage: str, identity: TrackerIdentity) -> TrackerMemory:
    """What was kept of this very run of the tracker; nothing of another one."""
    key = _key(identity)
    kept = run.trackers.get(stage)
    return kept if kept is not None and kept.key == key else TrackerMemory(key)


def _key(identity: TrackerIdentity) -> str:
    return " ".join(str(part) for part in (*identity.key, identity.place))


def looks_at(
    name: str, run: RunMemory, asked: tuple[Wanted, ...], part_of: Callable[[str], SectionPart | Unseen]
) -> tuple[tuple[TrackerLook, ...], RunMemory]:
    """The run's runs at trackers. run: what this look has made of the run's memory so far; it comes back with more."""
    labels = {(one.run, one.stage, one.identity.key): f"tracker.{at}" for at, one in enumerate(asked)}
    looks, kept_all = [], {}
    for stage, identity in known(run)[-STAGES_LIMIT:]:
        kept = _kept(run, stage, identity)
        label = labels.get((name, stage, identity.key))
        look = TrackerLook(stage, identity, _drift(run, stage), disk_before=kept.run)
        if not is_open(run, stage):
            kept = kept._replace(after_end=kept.after_end + 1)
            look = look._replace(server=kept.server or NOT_ASKED)
        if label is not None:
            part = part_of(label)
            answer = part if isinstance(part, Unseen) else box_tracker.parse(part)
            disk, alerts, kept = _take_in(answer, identity, kept)
            look = look._replace(disk=disk, alerts=alerts)
        elif look.disk_before is not None:
            look = look._replace(disk=look.disk_before)
        own = is_of_this_attempt(run, stage, identity)
        looks.append(look._replace(synced=kept.synced, of_this_attempt=own))
        kept_all[stage] = kept
    return tuple(looks), run._replace(trackers=kept_all) if kept_all else run


def with_server(run: RunMemory, stage: str, told: TrackerRun) -> RunMemory:
    """Keep what the server told, for the looks after the end at which it is not asked any more."""
    kept = run.trackers.get(stage)
    return run if kept is None else run._replace(trackers={**run.trackers, stage: kept._replace(server=told)})


def _take_in(
    answer: Maybe[RawWandb | str], identity: TrackerIdentity, kept: TrackerMemory
) -> tuple[Maybe[TrackerRun], tuple[Any, ...], TrackerMemory]:
    if isinstance(answer, Absent | Unseen):
        return answer, (), kept
    alerts: tuple[trackio_db.Alert, ...] = ()
    if isinstance(answer, str):
        told = trackio_db.parse_answer(answer, identity.project)
        run, alerts = told.run, tuple(map(_safe_alert, told.alerts))
    else:
        run = _grown(answer, kept.run)
        if not isinstance(run, Unseen):
            kept = kept._replace(file=answer.identity, start=block_before(answer.size), synced=answer.synced)
    if not isinstance(run, Absent | Unseen):
        run = run._replace(run_id=_safe(run.run_id), name=_safe(run.name), project=_safe(run.project))
        kept = kept._replace(run=run)
    return run, alerts, kept


def _grown(raw: RawWandb, before: TrackerRun | None) -> Maybe[TrackerRun]:
    run: Maybe[TrackerRun] = before if before is not None else Absent("nothing of it was written to the disk yet")
    if raw.start is not None:
        known_run = before if raw.start > 0 else None
        behind = raw.start
        for at, data in raw.pieces:
            new = data[max(0, behind - at) :]
            behind = max(at, behind)
            run = fold_wandb(known_run, new, behind)
            behind += len(new)
            if isinstance(run, Unseen):
                return run
            known_run = None if isinstance(run, Absent) else run
    return run


def with_intent(look: BoxLook, intent: Intent) -> BoxLook:
    """The look, its runs at trackers compared with `[tracker]` of this side: what the box could not know when they
    began (a name that only the files or the server tell), and runs that onbox did not start.
    """
    if intent._replace(api=None, key=None) == Intent() or isinstance(look.runs, Absent | Unseen):
        return look
    return look._replace(runs=tuple(_run_with_intent(run, intent) for run in look.runs))


def _run_with_intent(run: RunLook, intent: Intent) -> RunLook:
    if not run.trackers:
        return run
    looks = []
    for look in run.trackers:
        found = look.identity._replace(stage=look.stage or None)
        for seen in (observed(look.disk), observed(look.server)):
            if seen is not None:
                found = found._replace(name=seen.name or found.name, project=seen.project or found.project)
        looks.append(look._replace(drift=tuple(dict.fromkeys((*look.drift, *find_drift(Case(intent, found)))))))
    return run._replace(trackers=tuple(looks))


def _drift(run: RunMemory, stage: str) -> tuple[str, ...]:
    """As the box recorded it."""
    record = trackers_by_stage(run.journal.facts).get(stage) if run.journal is not None else None
    return tuple(record["drift"]) if record is not None else ()


def _safe(text: str | None) -> str | None:
    return None if text is None else safe_line(text, 200)


def _safe_alert(alert: Any) -> Any:
    return alert._replace(level=_safe(alert.level), title=_safe(alert.title), text=_safe(alert.text))
