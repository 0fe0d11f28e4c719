"""What a wait says: one line or one JSON object at its end, one line of progress on a terminal meanwhile. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.model.screen import clip
from onbox.model.units import format_duration
from onbox.outside import safe_line
from onbox.system.clock import utc_text
from sentinels.judge.outcome import Outcome
from sentinels.link.channel import last_contact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sentinels.judge.note import Noted
    from sentinels.judge.outcome import WaitFinding
    from sentinels.link.source import Source
    from sentinels.wait import Wait

SCHEMA = 1
PROGRESS_LIMIT = 160
LOOK_YOURSELF = "; that proves nothing: look yourself (handbook resume)"


def final_line(finding: WaitFinding, waited_seconds: float) -> str:
    """`landed gpu1:digits: CHAIN_DONE … (since 2026-11-21T05:10:24Z, waited 4m05s)`."""
    look = LOOK_YOURSELF if finding.outcome in (Outcome.TIMED_OUT, Outcome.UNREACHABLE) else ""
    since = f"since {utc_text(finding.since)}, " if finding.since is not None else ""
    waited = f"waited {format_duration(waited_seconds)}"
    return f"{finding.outcome.value} {safe_line(finding.target)}: {finding.say}{look} ({since}{waited})"


def final_json(finding: WaitFinding, wait: Wait, now: float) -> dict[str, Any]:
    """The result as JSON-ready data: what the line says, every target's own end, and how it stood with each box."""
    return {
        "schema": SCHEMA,
        **finding_json(finding),
        "armed_at": utc_text(wait.armed_at),
        "waited_seconds": round(now - wait.began_at, 3),
        "targets": [
            {"target": text, **(finding_json(wait.findings[at]) if at in wait.findings else {"outcome": None})}
            for at, text in enumerate(wait.plan.texts)
        ],
        "boxes": [box_json(channel) for channel in wait.channels if not channel.idle],
    }


def finding_json(finding: WaitFinding) -> dict[str, Any]:
    """One end as JSON-ready data."""
    return {
        "outcome": finding.outcome.value,
        "exit_code": int(finding.code),
        "target": finding.target,
        "say": finding.say,
        "since": None if finding.since is None else utc_text(finding.since),
        "detail": dict(finding.detail),
    }


def box_json(channel: Source) -> dict[str, Any]:
    """How it stood with a box."""
    contact = channel.contact
    return {
        "box": channel.target.box,
        "in_sight": contact.in_sight,
        "last_contact": None if contact.last_heard_at is None else utc_text(contact.last_heard_at),
        "connections": contact.connections,
        "drops": contact.drops,
        "trouble": contact.reason or None,
        "detail": contact.detail or None,
    }


def progress_line(wait: Wait, now: float, width: int = PROGRESS_LIMIT) -> str:
    """What is known now, for a terminal: one line of at most so many columns, as only such a line can be renewed."""
    parts: list[str] = []
    for channel in wait.channels:
        contact = channel.contact
        notes = [condition.note for _, condition in channel.items.values() if condition.note]
        if not contact.in_sight and contact.connections:
            notes = [
                f"{channel.target.box} not in sight ({contact.reason or 'connecting'}), {last_contact(contact, now)}"
            ]
        parts += dict.fromkeys(notes)
    left = format_duration(max(0.0, wait.began_at + wait.plan.limit_seconds - now))
    text = safe_line(" · ".join(parts) or "connecting")
    return clip(f"waiting {format_duration(now - wait.began_at)} (limit in {left}) · {text}", width)


def warnings(conditions: Sequence[Noted]) -> list[str]:
    """Notes that a person must see at once, though it is not a terminal: why the wait may last longer than expected."""
    return [f"{safe_line(one.target.text)}: {one.note}" for one in conditions if one.warns]
