"""handbook.json: the same facts for programs, and back. Pure; fields are only ever added within a schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from handbook.page.facts import SCHEMA
from handbook.page.handover import owner_of, restarts
from handbook.page.recovery import PRECONDITION, advise, by_need
from handbook.page.render import first_command
from onbox.contract.readings import Unseen, plain
from onbox.system.clock import utc_text

if TYPE_CHECKING:
    from handbook.page.facts import HandbookFacts, RunFacts


NOT_WRITTEN = Unseen("`handbook resume` looks for them")


def as_data(facts: HandbookFacts) -> dict[str, Any]:
    """Everything, JSON-ready. Times as in all records, null where there is none."""
    return {
        "schema": SCHEMA,
        "title": facts.title,
        "as_of": _time(facts.as_of),
        "good_until": _time(facts.good_until),
        "old": facts.old or None,
        "here": facts.here,
        "folder": facts.folder,
        "first_command": first_command(facts),
        "troubles": list(facts.troubles),
        "runs": [run_data(facts, run) for run in by_need(facts)],
        "boxes": [{**plain(box), "reached_at": _time(box.reached_at)} for box in facts.boxes],
        "watch": {
            **plain(facts.watch._replace(waiters=NOT_WRITTEN)),
            "last_tick_at": _time(facts.watch.last_tick_at),
            "next_due_at": _time(facts.watch.next_due_at),
        },
    }


def run_data(facts: HandbookFacts, run: RunFacts) -> dict[str, Any]:
    """One run: what it is, and what to type."""
    advice = advise(run, here=facts.here)
    data = {name: value for name, value in run._asdict().items() if name not in ("way", "look", "onbox", "signs")}
    commands = {
        "next_command": advice.first or None,
        "step": advice.step.name,
        "then": advice.then,
        "never": advice.step.never,
        "with_a_persons_word": [{"what": what, "command": command} for what, command in advice.asked],
        "resume_command": advice.resume or None,
        "resume_precondition": PRECONDITION if advice.resume else None,
        "dry_run_command": advice.dry_run or None,
        "stop_command": advice.stop or None,
        "prune_command": advice.prune or None,
    }
    times = {name: _time(getattr(run, name)) for name in ("since", "seen_at", "records_at")}
    record = {
        "by_hand": run.record.by_hand,
        **{name: _time(getattr(run.record, name)) for name in ("last_at", "due_at", "sealed_at")},
    }
    owner = owner_of(facts, run)
    return {
        **plain(data),
        **times,
        **commands,
        "record": record,
        "owner": owner.name or None,
        "owner_since": _time(owner.since),
        "restarts": restarts(run),
        "further": [{"rule": rule, "says": says} for rule, says in run.further],
    }


def render_json(facts: HandbookFacts) -> str:
    return json.dumps(as_data(facts), indent=1, sort_keys=True) + "\n"


def _time(at: float | None) -> str | None:
    return None if at is None else utc_text(at)
