"""Which runs at experiment trackers are looked at, and what a look makes of them. Pure.

A tracker is known from the run's journal, or from the log of a run that onbox did not start; then, and only then, the
next look reads its files. What is kept between two looks lies in the place's `reader`, under `trackers`, by stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.contract.readings import Absent, Maybe, Unseen, observed
from onbox.contract.tracker import Intent, TrackerIdentity, identity_from_record
from onbox.outside import safe_line
from onbox.runs.journal import trackers_by_stage
from patrol.probe import box_tracker
from patrol.probe.journal import place_of
from patrol.probe.script import Call
from patrol.snapshot import NOT_ASKED, TrackerLook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onbox.runs.journal import JournalFacts
    from onbox.trackers.reading import TrackerRun
    from patrol.before import LogPlace
    from patrol.probe.box_tracker import RawWandb
    from patrol.probe.frames import Part
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


def wanted(places: Mapping[str, LogPlace]) -> tuple[Wanted, ...]:
    """Those whose files are read at this look, by what earlier looks left."""
    found = [one for name, place in places.items() if name for one in _wanted_of(name, place.reader)]
    return tuple(found[:LOOKS_LIMIT])


def calls(places: Mapping[str, LogPlace]) -> list[Call]:
    """The sections that read them."""
    return [Call(f"tracker.{at}", _values(one, places)) for at, one in enumerate(wanted(places))]


def _values(one: Wanted, places: Mapping[str, LogPlace]) -> tuple[str, ...]:
    reader = places[one.run].reader
    place = one.identity.place or ""
    if one.identity.tracker == "trackio":
        python = reader.get("manifest", {}).get("python")
        return box_tracker.trackio_values(place, one.identity.name or "", python if isinstance(python, str) else "")
    kept = _kept(reader, one.stage, one.identity)
    return box_tracker.wandb_values(place, int(kept.get("start", 0)), str(kept.get("file", "0.0.0")))


def _wanted_of(run: str, reader: Mapping[str, Any]) -> Iterator[Wanted]:
    for stage, identity in known(reader):
        if identity.place is None or identity.tracker not in READ:
            continue
        kept = _kept(reader, stage, identity)
        if is_of_this_attempt(reader, stage, identity) if is_open(reader, stage) else _may_change(kept, identity):
            yield Wanted(run, stage, identity)


def _may_change(kept: Mapping[str, Any], identity: TrackerIdentity) -> bool:
    """Whether the files of an ended stage's run may tell more: soon after the end, or that an offline run was sent."""
    if kept.get("synced") is False and "/offline-run-" in (identity.place or ""):
        return True
    return not kept.get("state") and kept.get("after_end", 0) < LOOKS_AFTER_END


def known(reader: Mapping[str, Any]) -> list[tuple[str, TrackerIdentity]]:
    """Every run at a tracker that the journal, or a watched log, has told of, by stage."""
    facts = _journal(reader)
    if facts is not None:
        records = trackers_by_stage(facts).items()
        return [(stage, found) for stage, record in records if (found := identity_from_record(record)) is not None]
    progress = reader.get("progress")
    links = progress.get("links") if isinstance(progress, dict) else None
    if not isinstance(links, dict) or not links.get("tracker"):
        return []
    from onbox.trackers.identity import identity_of  # noqa: PLC0415 - only where a log tells of a tracker

    found = identity_of(links)
    return [] if found is None else [("", found)]


def is_open(reader: Mapping[str, Any], stage: str) -> bool:
    """Whether the stage is at work, as far as the journal tells; a watched run's end is not known here."""
    facts = _journal(reader)
    return facts is None or (facts.is_open and facts.stage == stage)


def _journal(reader: Mapping[str, Any]) -> JournalFacts | None:
    """What the run's journal has told; None for a run that onbox did not start."""
    read = place_of(reader.get("journal"))
    return None if read is None else read.facts


def is_of_this_attempt(reader: Mapping[str, Any], stage: str, identity: TrackerIdentity) -> bool:
    facts = _journal(reader)
    if facts is None or facts.stage != stage:
        return True
    return identity.attempt in (None, facts.attempt)


def _kept(reader: Mapping[str, Any], stage: str, identity: TrackerIdentity) -> dict[str, Any]:
    """What was kept of this very run of the tracker; {} for another one."""
    kept = reader.get("trackers")
    one = kept.get(stage) if isinstance(kept, dict) else None
    return dict(one) if isinstance(one, dict) and one.get("key") == _key(identity) else {}


def _key(identity: TrackerIdentity) -> str:
    return " ".join(str(part) for part in (*identity.key, identity.place))


def looks_at(
    run: str, reader: dict[str, Any], asked: tuple[Wanted, ...], part_of: Callable[[str], Part | Unseen]
) -> tuple[TrackerLook, ...]:
    """The run's runs at trackers. reader: of its place, as this look has made it; what is kept goes into it."""
    labels = {(one.run, one.stage, one.identity.key): f"tracker.{at}" for at, one in enumerate(asked)}
    looks, kept_all = [], {}
    for stage, identity in known(reader)[-STAGES_LIMIT:]:
        kept = {**_kept(reader, stage, identity), "key": _key(identity)}
        label = labels.get((run, stage, identity.key))
        look = TrackerLook(stage, identity, _drift(reader, stage), disk_before=_run_of(kept.get("run")))
        if not is_open(reader, stage):
            kept["after_end"] = int(kept.get("after_end", 0)) + 1
            look = look._replace(server=_run_of(kept.get("server")) or NOT_ASKED)
        if label is not None:
            part = part_of(label)
            answer = part if isinstance(part, Unseen) else box_tracker.parse(part)
            disk, alerts = _take_in(answer, identity, kept, look.disk_before)
            look = look._replace(disk=disk, alerts=alerts)
        elif look.disk_before is not None:
            look = look._replace(disk=look.disk_before)
        own = is_of_this_attempt(reader, stage, identity)
        looks.append(look._replace(synced=kept.get("synced"), of_this_attempt=own))
        kept_all[stage] = kept
    if kept_all:
        reader["trackers"] = kept_all
    return tuple(looks)


def keep_server(reader: dict[str, Any], stage: str, run: TrackerRun) -> None:
    """Keep what the server told, for the looks after the end at which it is not asked any more."""
    from onbox.trackers.reading import run_to_list  # noqa: PLC0415 - only where a server was asked

    kept = reader.get("trackers")
    if isinstance(kept, dict) and isinstance(kept.get(stage), dict):
        kept[stage]["server"] = run_to_list(run)


def _run_of(kept: object) -> TrackerRun | None:
    if kept is None:
        return None
    from onbox.trackers.reading import run_from_list  # noqa: PLC0415 - only where a tracker is known

    return run_from_list(kept)


def _take_in(
    answer: Maybe[RawWandb | str], identity: TrackerIdentity, kept: dict[str, Any], before: TrackerRun | None
) -> tuple[Maybe[TrackerRun], tuple[Any, ...]]:
    from onbox.trackers import trackio_db  # noqa: PLC0415 - as above
    from onbox.trackers.reading import run_to_list  # noqa: PLC0415

    if isinstance(answer, Absent | Unseen):
        return answer, ()
    alerts: tuple[trackio_db.Alert, ...] = ()
    if isinstance(answer, str):
        told = trackio_db.parse_answer(answer, identity.project)
        run, alerts = told.run, tuple(map(_safe_alert, told.alerts))
    else:
        run = _grown(answer, kept, before)
    if not isinstance(run, Absent | Unseen):
        run = run._replace(run_id=_safe(run.run_id), name=_safe(run.name), project=_safe(run.project))
        kept.update(run=run_to_list(run), state=run.state)
    return run, alerts


def _grown(raw: RawWandb, kept: dict[str, Any], before: TrackerRun | None) -> Maybe[TrackerRun]:
    from onbox.trackers.wandb_file import block_before, fold_wandb  # noqa: PLC0415 - as above

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
    kept.update(file=raw.identity, start=block_before(raw.size), synced=raw.synced)
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
    from onbox.trackers.identity import Case, find_drift  # noqa: PLC0415 - as above

    looks = []
    for look in run.trackers:
        found = look.identity._replace(stage=look.stage or None)
        for seen in (observed(look.disk), observed(look.server)):
            if seen is not None:
                found = found._replace(name=seen.name or found.name, project=seen.project or found.project)
        looks.append(look._replace(drift=tuple(dict.fromkeys((*look.drift, *find_drift(Case(intent, found)))))))
    return run._replace(trackers=tuple(looks))


def _drift(reader: Mapping[str, Any], stage: str) -> tuple[str, ...]:
    """As the box recorded it."""
    facts = _journal(reader)
    record = trackers_by_stage(facts).get(stage) if facts is not None else None
    return tuple(record["drift"]) if record is not None else ()


def _safe(text: str | None) -> str | None:
    return None if text is None else safe_line(text, 200)


def _safe_alert(alert: Any) -> Any:
    return alert._replace(level=_safe(alert.level), title=_safe(alert.title), text=_safe(alert.text))
