"""What waits, what was delivered and what was given up, for `onbox notify list` and `onbox status`. Changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.notify_targets import notify_from_dict
from onbox.contract.runfile import parse_head
from onbox.notify.message_text import title
from onbox.notify.queue.outbox import DamagedMessage, Message, Name, Outbox
from onbox.notify.targets import read_standing
from onbox.outside import safe_line
from onbox.system.files import LINE_LIMIT_BYTES, open_plain

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths


def survey(paths: RunPaths, *, details: int = 0) -> dict[str, Any]:
    """Counts per target with the masked URL and the last try's reason, and the newest `details` messages of each kind.

    The masked URL is what the last deliverer wrote down; None before the first try.
    """
    outbox = Outbox(paths)
    sent, dead = outbox.names(paths.sent), outbox.names(paths.dead)
    over = {*sent, *dead}
    pending = [name for name in outbox.names(paths.outbox) if name not in over]
    configured = _configured(paths)
    names = list(dict.fromkeys([*configured, *(name.target for name in (*pending, *dead, *sent))]))
    seen: dict[str, Any] = {
        "pending_total": len(pending),
        "sent_total": len(sent),
        "dead_total": len(dead),
        "targets": [_row(outbox, name, configured, (pending, sent, dead)) for name in names],
    }
    if details:
        for kind, folder, found in (
            ("pending", paths.outbox, pending[:details]),
            ("sent", paths.sent, sent[-details:]),
            ("dead", paths.dead, dead[-details:]),
        ):
            seen[kind] = [_message(outbox, name, folder) for name in found]
    return seen


def _configured(paths: RunPaths) -> dict[str, str]:
    """The targets of the frozen definition: name and reference."""
    try:
        with open_plain(paths.manifest) as file:
            notify = notify_from_dict(parse_head(file.readline(LINE_LIMIT_BYTES)).data.get("notify"))
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {target.name: target.url for target in notify.targets}


def _row(
    outbox: Outbox, target: str, configured: dict[str, str], kinds: tuple[list[Name], list[Name], list[Name]]
) -> dict[str, Any]:
    standing = read_standing(outbox.paths, target)
    pending, sent, dead = ([name for name in kind if name.target == target] for kind in kinds)
    oldest = _read(outbox, pending[0], outbox.paths.outbox) if pending else None
    newest_dead = _read(outbox, dead[-1], outbox.paths.dead) if dead else None
    return {
        "target": target,
        "reference": configured.get(target),
        "url": standing.shown_url,
        "format": standing.format,
        "pending": len(pending),
        "sent": len(sent),
        "dead": len(dead),
        "tries": standing.tries,
        "reason": standing.reason,
        "next_try_at": standing.not_before if pending and standing.tries else None,
        "oldest_pending_at": oldest.enqueued_at if isinstance(oldest, Message) else None,
        "dead_reason": (newest_dead.end or {}).get("reason") if isinstance(newest_dead, Message) else None,
    }


def _read(outbox: Outbox, name: Name, folder: str) -> Message | DamagedMessage | None:
    try:
        return outbox.read(name, folder)
    except OSError as error:
        return DamagedMessage(name, error.strerror or "cannot be read")


def _message(outbox: Outbox, name: Name, folder: str) -> dict[str, Any]:
    found = _read(outbox, name, folder)
    if not isinstance(found, Message):
        why = found.why if found else "gone meanwhile"
        return {"target": name.target, "id": None, "at": None, "title": "(damaged)", "reason": why, "end": None}
    end = found.end or {}
    return {
        "target": name.target,
        "id": found.notice.id,
        "at": found.notice.at,
        "event": found.notice.event,
        "title": safe_line(title(found.notice)),
        "reason": end.get("reason"),
        "end": found.end,
    }


def summary(seen: dict[str, Any]) -> str | None:
    """One line for `onbox status`; None when all is delivered."""
    parts = [
        f"{row['pending']} to {row['target']} ({row['reason'] or 'not tried yet'})"
        for row in seen["targets"]
        if row["pending"]
    ]
    text = f"not delivered yet: {', '.join(parts)}" if parts else ""
    if seen["dead_total"]:
        text += (" · " if text else "") + f"{seen['dead_total']} given up (onbox notify list)"
    return safe_line(text) or None
