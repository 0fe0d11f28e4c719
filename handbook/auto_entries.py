"""What enters the logbook by itself: transitions and launches from a run's journal, flips from the patrol's memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from handbook.box.cache import load
from handbook.box.records import read
from handbook.box.run_facts import difference_line
from handbook.log.entry import LogEntry, make_entry
from handbook.log.git_sync import keep_in_git
from handbook.log.logbook import LogbookFile
from handbook.page.markdown import box_name, box_words, joined, md, prose
from handbook.page.phrases import safe
from onbox.chain.viewer.event_text import parts
from onbox.config.tables.record import Contract
from onbox.contract.events import Event
from onbox.contract.readings import observed
from onbox.errors import Trouble
from onbox.fence import fence_name
from onbox.system.clock import parse_utc
from onbox.system.files import StateNotWritten
from patrol.memory.rows import MemoryTrouble
from patrol.memory.store import Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from handbook.box.records import RunRecord
    from handbook.gather import HandbookPlace
    from handbook.page.facts import HandbookFacts, RunFacts
    from patrol.config.settings import Settings
    from patrol.memory.rows import Flip

FLIPS_TAKEN = 500
NOT_STATED = "not stated"


def enter_what_happened(place: HandbookPlace, facts: HandbookFacts) -> list[str]:
    """Append to every run's logbook what it does not hold yet. What went wrong, in words."""
    settings = place.settings
    store = load(settings.state)
    flips, said = _flips(settings.state)
    for run in facts.runs:
        if not run.run:
            continue
        kept = store.runs.get((run.box, run.run))
        record = read(kept.raw) if kept is not None and kept.raw is not None else None
        new = [*_of_journal(run, record), *_of_flips(run, flips)]
        if not new:
            continue
        try:
            head = contract_of(run, facts, settings.config.contract)
            ordered = [entry for _, entry in sorted(new, key=lambda one: one[0])]
            written = LogbookFile(settings.folder, run.run, settings.state).append(ordered, head)
        except (StateNotWritten, Trouble, OSError) as error:
            said.append(f"logbook of {run.run}: {error}")
            continue
        said += _keep(settings, run.run) if written.entries else []
        if written.torn:
            said.append(f"logbook of {run.run}: an append had been cut off; its bytes are in {written.torn}")
    return said


def _keep(settings: Settings, run: str) -> list[str]:
    """Into git, where the configuration says so; what was in the way."""
    way = settings.config.logbook.git
    if way == "never":
        return []
    book = LogbookFile(settings.folder, run, settings.state)
    kept = keep_in_git(book.path, run, os.environ, push=way == "push")
    return [f"logbook of {run}, git: {kept.trouble}"] if kept.trouble else []


def _flips(state: str) -> tuple[Sequence[Flip], list[str]]:
    memory = Memory(state)
    if not os.path.exists(memory.path):
        return [], []
    try:
        return memory.flips(FLIPS_TAKEN), []
    except (MemoryTrouble, StateNotWritten) as error:
        return [], [f"the patrol's changes could not be read, so the logbooks lack them: {error}"]


def contract_of(run: RunFacts, facts: HandbookFacts, contract: Contract | None = None) -> list[tuple[str, str]]:
    """The head of a run's record: what is known when it begins, [contract] first; a person adds the rest as
    decisions.
    """
    box = next((box for box in facts.boxes if box.name == run.box), None)
    identity = observed(run.identity)
    stated = contract or Contract()
    return [
        ("DRI", safe(stated.dri) or (box.owner if box and box.owner else NOT_STATED)),
        ("Goal", safe(stated.goal) or NOT_STATED),
        ("Stop and escalation criteria", safe(stated.stop) or "those of the handbook's section `Ask first`"),
        ("Issue", safe(stated.issue) or NOT_STATED),
        (
            "Tracker",
            safe(stated.tracker) or (box_name(identity.tracker) if identity and identity.tracker else "") or NOT_STATED,
        ),
        ("Output root", safe(stated.output_root) or NOT_STATED),
        ("Final step", str(stated.final_step or NOT_STATED)),
        ("Initialized from", safe(stated.initialize_from) or NOT_STATED),
        ("Checkpoints", safe("; ".join(filter(None, (stated.retention, stated.rollback)))) or NOT_STATED),
        ("Runtime", safe(stated.runtime) or NOT_STATED),
        ("Watched by", safe(stated.babysitter) or NOT_STATED),
        ("Box and project", joined(" ", [box_name(run.box), box_name(run.project)])),
        ("Run directory", box_name(run.place) or NOT_STATED),
        ("Run id", box_name(run.run_id) or NOT_STATED),
        ("Code at the first sight", box_words(identity.code) if identity else NOT_STATED),
    ]


def _of_flips(run: RunFacts, flips: Iterable[Flip]) -> list[tuple[float, LogEntry]]:
    return [
        (
            flip.at,
            make_entry(
                "flip",
                prose(safe(f"{flip.rule_before or 'first seen'} → {flip.rule} ({flip.state})")),
                at=flip.at,
                run=run.name,
                actor="patrol",
                source=f"flip {run.name} {flip.at:.3f}",
                status=prose(safe(flip.say)),
            ),
        )
        for flip in flips
        if (flip.box, flip.run) == (run.box, run.run)
    ]


_LEFT_OUT = (Event.NOTICES_HELD, Event.NOTICES_WRITTEN, Event.ATTEMPT_ENDED)


def _of_journal(run: RunFacts, record: RunRecord | None) -> list[tuple[float, LogEntry]]:
    if record is None or record.head is None:
        return []
    found = []
    for one in (*record.launches, *record.events):
        at = parse_utc(str(one.get("at", ""))[:40])
        if at is not None and one["event"] not in _LEFT_OUT:
            found.append((at, entry_of(run, one, at, record.head.run_id)))
    return found


def entry_of(run: RunFacts, record: Mapping[str, Any], at: float, run_id: str) -> LogEntry:
    """A record of the journal as an entry. The box wrote it: its words stand in a fence."""
    launched = record["event"] == Event.CHAIN_STARTED
    number = record.get("launch") if launched else record.get("attempt")
    changed = record.get("changed")
    lines = [difference_line(*map(str, one)) for one in changed or () if isinstance(one, list) and len(one) == 3]
    code = next((one.code for one in run.launches if launched and one.number == number), "")
    return make_entry(
        "launch" if launched else "transition",
        _title(record),
        at=at,
        run=run.name,
        actor="onbox",
        attempt=number if isinstance(number, int) and 0 <= number < 10**9 else 0,
        text="\n".join(md("differs from the launch before: {}", box_words(line)) for line in lines),
        source=_source(record, run_id),
        evidence=md("code {}", box_words(code)) if code else "",
        status=box_words(record.get("remedy") or ""),
    )


def _title(record: Mapping[str, Any]) -> str:
    told = parts(dict(record))
    if told is None:
        return box_name(record["event"])
    name, state, text = told
    return " ".join(filter(None, (box_name(name), state, box_words(text))))


def _source(record: Mapping[str, Any], run_id: str) -> str:
    """By which an entry is made once: the same for the same record, for ever."""
    words = [run_id, record.get("at"), record["event"], record.get("stage") or ""]
    return prose(safe(" ".join(["journal", *(fence_name(word) for word in words if word)]), 200))
