"""From the patrol's memory to what the page is made of. Looks at no box."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.contract.events import Unreadable, parse_events
from onbox.contract.readings import observed
from onbox.cron.schedule import cadence_seconds, next_due, parse_schedule
from onbox.outside import safe_text
from patrol.memory.codec import look_from_text, verdict_from_text
from patrol.memory.run_codec import memories_of
from patrol.memory.run_records import record_from_text
from patrol.memory.store import Memory
from patrol.page.model import PageHead, PageHistory, RunHistory
from patrol.snapshot import BoxLook

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.events import Record
    from onbox.model.boxes import Billing
    from patrol.config.settings import Settings
    from patrol.memory.rows import LastWord, Past, PastTick, PatrolAct
    from patrol.snapshot import RunLook, Snapshot

FLIPS, ACTS, EVENTS, LINES = 50, 20, 400, 60  # of each run
ACTS_READ = 1000
LINE_LIMIT = 400


def gather(
    settings: Settings, now: float, since: float, *, renews: bool = False, timed: bool | None = None
) -> PageHistory:
    """Of the runs of the configured boxes, of which something was said since then. renews: whether the page is written
    anew after each tick. timed: as `PageHead` has it. Raises MemoryTrouble, StateNotWritten.
    """
    memory = Memory(settings.state)
    known = {box.name for box in settings.config.boxes}
    words: list[LastWord] = []
    past: Past | None = None
    ticks: list[PastTick] = []
    if os.path.exists(memory.path):
        words = [word for word in memory.last_words() if word.at >= since and word.box in known]
        past, ticks = memory.recall(), memory.ticks(1)
    schedule = parse_schedule(settings.patrol.schedule)
    standing = PageHead(
        made_at=now,
        last_tick_at=ticks[0].began_at if ticks else None,
        next_due_at=next_due(schedule, now),
        cadence_seconds=cadence_seconds(schedule, now),
        renews=renews,
        timed=timed,
    )
    billings = {box.name: box.billing for box in settings.config.boxes}
    runs = _Reader(memory, past, since, billings).runs(words) if past is not None else ()
    place = settings.config_path or settings.folder
    return PageHistory(settings.config.run_name, place, since, standing, runs, tuple(memory.notes))


class _Reader:
    """Reads what is kept of each box once, and of each run."""

    def __init__(self, memory: Memory, past: Past, since: float, billings: Mapping[str, Billing | None]) -> None:
        self.memory, self.past, self.since, self.billings = memory, past, since, billings
        self.records = memory.records()
        self.acts: dict[tuple[str, str], list[PatrolAct]] = {}
        for act in memory.acts(ACTS_READ):
            self.acts.setdefault((act.box, act.run), []).append(act)

    def runs(self, words: list[LastWord]) -> tuple[RunHistory, ...]:
        found = []
        for box in dict.fromkeys(word.box for word in words):
            looks = self._looks(box)
            logs = memories_of(self.past.memories.get(box, {})).runs
            for word in (one for one in words if one.box == box):
                log = logs[word.run].log if word.run in logs else None
                found.append(self._run(word, looks, log.window + log.held if log is not None else b""))
        return tuple(found)

    def _looks(self, box: str) -> list[Snapshot]:
        """The newest look; where that reached nothing, the newest one that did behind it."""
        newest = look_from_text(self.memory.last_look(box))
        if newest is None or isinstance(newest, BoxLook):
            return [newest] if newest is not None else []
        reached = next(
            (look for look in map(look_from_text, self.memory.looks(box)) if isinstance(look, BoxLook)), None
        )
        return [newest, reached] if reached is not None else [newest]

    def _run(self, word: LastWord, looks: list[Snapshot], log: bytes) -> RunHistory:
        key = (word.box, word.run)
        box, look = _seen(word.run, looks)
        seen_now = box is not None and box is looks[0]
        if box is not None:
            box = box._replace(billing=self.billings.get(word.box))
        return RunHistory(
            word=word,
            verdict=verdict_from_text(word.verdict),
            look=look,
            box=box,
            seen_at=box.at if box is not None else None,
            seen_now=seen_now,
            points=tuple(self.memory.points(*key, self.since)),
            flips=tuple(self.memory.flips(FLIPS, *key)),
            acts=tuple(self.acts.get(key, [])[:ACTS]),
            events=self._events(key),
            tail=_tail(log),
            series=tuple(self.memory.series(*key, self.since)),
            before=self.past.runs.get(key),
            box_before=self.past.boxes.get(word.box),
        )

    def _events(self, key: tuple[str, str]) -> tuple[Record, ...]:
        _, text = self.records.get(key, (0.0, ""))
        record = record_from_text(text)
        if record is None:
            return ()
        lines = (record.launches + "\n" + record.events).encode("utf-8", "replace").splitlines(keepends=True)
        found = {str(one): one for one in parse_events(lines) if not isinstance(one, Unreadable)}
        return tuple(sorted(found.values(), key=lambda one: str(one.get("at", "")))[-EVENTS:])


def _seen(run: str, looks: list[Snapshot]) -> tuple[BoxLook | None, RunLook | None]:
    """The newest look at the box that saw the run; of a box alone the newest that reached it."""
    for look in looks:
        if not isinstance(look, BoxLook):
            continue
        if not run:
            return look, None
        for one in observed(look.runs) or ():
            if one.run == run:
                return look, one
    return None, None


def _tail(log: bytes) -> tuple[str, ...]:
    """As a terminal shows them: of a bar that is drawn again and again, how it was drawn last."""
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in log.decode("utf-8", "replace").split("\n")]
    shown = safe_text("\n".join([line for line in lines if line.strip()][-LINES:]))
    return tuple(line[:LINE_LIMIT] for line in shown.split("\n") if line)
