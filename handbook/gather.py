"""Bring the facts together: what the patrol remembers, what its heartbeat and crontab say, what boxes' records hold.

No box is asked here unless `fetching` says so; then only for the records of runs of which something has changed.
"""

from __future__ import annotations

import json
import os
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING

from handbook.box.cache import KeptRun, Store, load, save
from handbook.box.fetch import fetch_all
from handbook.box.records import RawRecords, read
from handbook.box.run_facts import PatrolKept, describe
from handbook.log.reminder import record_of
from handbook.page.facts import BoxFacts, HandbookFacts, RunFacts, WatchFacts
from handbook.page.phrases import safe, safe_path
from onbox.contract.names import name_problem
from onbox.contract.readings import Absent, Maybe, Unseen, observed, plain
from onbox.cron.crontab import NoCrontab, read_crontab
from onbox.cron.crontab_text import our_lines
from onbox.cron.daemon import cron_runs
from onbox.cron.schedule import next_due, parse_schedule
from onbox.errors import Trouble
from onbox.model.units import format_duration
from onbox.named_tuple import NamedTuple
from onbox.system.files import StateNotWritten
from patrol.decide.remote_command import way_to
from patrol.memory.codec import look_from_text, verdict_from_text
from patrol.memory.history import BoxBefore
from patrol.memory.rows import MemoryTrouble, Past
from patrol.memory.run_records import record_from_text
from patrol.memory.store import Memory
from patrol.snapshot import BoxLook, Unreachable
from patrol.timer.cron_line import NONE_RUNS, tag
from patrol.timer.heartbeat import CADENCES, read_heartbeat, stand

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings
    from patrol.decide.remote_command import Way
    from patrol.memory.rows import LastWord
    from patrol.snapshot import RunLook, Snapshot


RECORDS_OLD_SECONDS = 3600.0  # results can go, and checkpoints come, without a trace in the records


class HandbookPlace(NamedTuple):
    """Which handbook this is. here: it describes this machine's own runs, through a box that is this machine."""

    settings: Settings
    title: str
    here: bool = False


class Remembered(NamedTuple):
    """What the patrol's memory holds. looks: the newest one of each box; None: there is none. records: of runs
    whose markers changed, as the look that saw it brought them, and when.
    """

    words: tuple[LastWord, ...]
    past: Past
    looks: dict[str, Snapshot | None]
    records: Mapping[tuple[str, str], tuple[float, str]] = MappingProxyType({})
    trouble: str = ""


def gather(place: HandbookPlace, now: float, *, fetching: bool = False, all_anew: bool = False) -> HandbookFacts:
    """The facts, from what is remembered. fetching: ask boxes for the records of runs that changed since they were
    read; all_anew: of all runs. Never fails for what is missing: that is told.
    """
    settings = place.settings
    remembered = _recall(settings)
    store = _take_records(_renew_looks(load(settings.state), remembered, settings), remembered)
    troubles = [remembered.trouble] if remembered.trouble else []
    if fetching:
        store, said = _renew_records(settings, store, all_anew=all_anew)
        troubles += said
    try:
        save(settings.state, store)
    except StateNotWritten as error:
        troubles.append(f"what boxes told could not be kept for the next time: {error}")
    return _facts(place, remembered, store, now, tuple(safe(one) for one in troubles))


def _recall(settings: Settings) -> Remembered:
    memory = Memory(settings.state)
    nothing = Remembered((), Past({}, {}, {}), {})
    if not os.path.exists(memory.path):
        return nothing
    try:
        looks = {box.name: look_from_text(memory.last_look(box.name)) for box in settings.config.boxes}
        words = tuple(word for word in memory.last_words() if not (word.run and name_problem(word.run)))
        return Remembered(words, memory.recall(), looks, memory.records())
    except (MemoryTrouble, StateNotWritten) as error:
        return nothing._replace(trouble=f"the patrol's memory could not be read: {error}")


def _renew_looks(store: Store, remembered: Remembered, settings: Settings) -> Store:
    """The last look that saw each run; runs that the patrol speaks of no more are dropped."""
    spoken = {(word.box, word.run) for word in remembered.words if word.run}
    boxes = {box.name for box in settings.config.boxes}
    runs = {key: one for key, one in store.runs.items() if key in spoken and key[0] in boxes}
    for box, look in remembered.looks.items():
        if isinstance(look, BoxLook):
            for one in (one for one in observed(look.runs) or () if not name_problem(one.run)):
                known = runs.get((box, one.run), KeptRun(None, None))
                runs[box, one.run] = known._replace(look=one, seen_at=look.at)
    return Store(runs)


def _take_records(store: Store, remembered: Remembered) -> Store:
    """With the records that a look brought, where they are newer than those that were read apart."""
    runs = dict(store.runs)
    for key, (at, text) in remembered.records.items():
        known, record = runs.get(key), record_from_text(text)
        if known is not None and record is not None and (known.records_at or 0.0) < at:
            runs[key] = known._replace(raw=RawRecords(*record, forecast=None), key=None, records_at=at)
    return store._replace(runs=runs)


_DEPENDS_ON = (
    "run_id", "stage", "attempt", "stages_done", "stages_total", "claimed_state", "runner_alive", "stage_alive",
    "outcome", "done", "retries",
)  # fmt: skip


def _key_of(look: RunLook | None) -> str:
    """What run.json, journal and markers depend on."""
    return json.dumps([plain(getattr(look, name, None)) for name in _DEPENDS_ON], sort_keys=True)


def _renew_records(settings: Settings, store: Store, *, all_anew: bool) -> tuple[Store, list[str]]:
    wanted: dict[str, dict[str, str]] = {}
    for (box, run), one in store.runs.items():
        aged = (one.seen_at or 0.0) - (one.records_at or 0.0) > RECORDS_OLD_SECONDS
        old = all_anew or aged or one.raw is None or one.key != _key_of(one.look)
        if old and one.look is not None and one.look.managed:
            wanted.setdefault(box, {})[run] = _python(one.look)
    runs, troubles = dict(store.runs), []
    for box, answer in fetch_all(settings, wanted).items():
        if answer.trouble:
            troubles.append(f"{box}: its records could not be read: {answer.trouble}")
        if not answer.runs:
            continue
        for run, raw in answer.runs.items():
            known = runs.get((box, run))
            if known is not None:
                runs[box, run] = known._replace(raw=raw, key=_key_of(known.look), records_at=known.seen_at)
    return Store(runs), troubles


# -- from all of it to the facts


def _facts(
    place: HandbookPlace, remembered: Remembered, store: Store, now: float, troubles: tuple[str, ...]
) -> HandbookFacts:
    settings = place.settings
    as_of = max((look.at for look in remembered.looks.values() if look is not None), default=None)
    watch, cadence = _watch(place, as_of, now)
    runs = []
    for box in settings.config.boxes:
        way = way_to(box, settings.ssh_command)
        found = [_run(word, way, store, remembered) for word in remembered.words if word.box == box.name]
        runs += [run._replace(record=record_of(run, settings)) for run in found]
    good_until = None if as_of is None else as_of + CADENCES * cadence
    old = "" if as_of is None or good_until is None or now <= good_until else format_duration(now - as_of)
    return HandbookFacts(
        title=safe(place.title, 80),
        folder=settings.folder,
        as_of=as_of,
        good_until=good_until,
        old=old,
        here=place.here,
        boxes=tuple(_box(box, remembered, settings) for box in settings.config.boxes),
        runs=tuple(sorted(runs, key=lambda run: run.name)),
        watch=watch,
        troubles=troubles,
        python=sys.executable if place.here else "",
    )


def _run(word: LastWord, way: Way, store: Store, remembered: Remembered) -> RunFacts:
    kept = store.runs.get((word.box, word.run), KeptRun(None, None))
    before = remembered.past.runs.get((word.box, word.run))
    seen_at = kept.seen_at if kept.seen_at is not None else (before.last_seen_at if before else None)
    if not word.run:  # of the box itself
        seen_at = remembered.past.boxes.get(word.box, BoxBefore()).last_reached_at
    told = PatrolKept(word.box, word.run, kept.look, verdict_from_text(word.verdict), seen_at)
    record = read(kept.raw) if kept.raw is not None else None
    return describe(told, way, record, kept.records_at)


def _python(look: RunLook) -> str:
    python = observed(look.python) or ""
    return python if python.startswith("/") else ""


def _box(box: BoxSettings, remembered: Remembered, settings: Settings) -> BoxFacts:
    before = remembered.past.boxes.get(box.name, BoxBefore())
    look = remembered.looks.get(box.name)
    return BoxFacts(
        name=box.name,
        host="this machine" if box.backend == "local" else safe(box.host, 120),
        project=safe_path(box.project or settings.folder),
        backend=box.backend,
        owner=safe(box.owner or "", 120),
        recover=box.recover,
        reached_at=before.last_reached_at,
        clocks=tuple(safe(one, 200) for one in box.clocks),
        trouble=safe(f"{look.reason}: {look.detail}", 200) if isinstance(look, Unreachable) else "",
    )


def _watch(place: HandbookPlace, as_of: float | None, now: float) -> tuple[WatchFacts, float]:
    settings = place.settings
    schedule = parse_schedule(settings.patrol.schedule)
    heartbeat = read_heartbeat(settings.state)
    standing = stand(heartbeat, schedule, now)
    watch = WatchFacts(
        schedule=settings.patrol.schedule,
        cron=Absent("this is the box itself; who watches it from outside is not known here")
        if place.here
        else _cron(settings),
        last_tick_at=heartbeat.began_at if heartbeat else None,
        next_due_at=None if as_of is None else next_due(schedule, as_of),
        stale=standing.stale,
        trouble=safe(heartbeat.trouble if heartbeat else ""),
    )
    return watch, standing.cadence_seconds


def _cron(settings: Settings) -> Maybe[str]:
    try:
        lines = our_lines(read_crontab(), tag(os.path.basename(settings.state)))
    except NoCrontab as trouble:
        return Absent(str(trouble))
    except Trouble as trouble:
        return Unseen(safe(str(trouble), 200))
    active = [line for line in lines if not line.lstrip().startswith("#")]
    if active and cron_runs() is False:
        return Absent(f"a line is installed, but {NONE_RUNS}")
    return safe(active[0], 1000) if active else Absent("none is installed: `patrol install`")
