"""Any receiver of JSON: the whole notice, with the headers of Standard Webhooks.

Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md (payload below 20 kB, 2xx is success,
410 disables, the id is the same at every try).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.notices import notice_from_dict, notice_to_dict
from onbox.notify.message_text import clip_bytes, text
from onbox.notify.schedule import judge_status
from onbox.notify.signing import webhook_headers
from onbox.notify.types import JSON_HEADERS, Format, FormatInput, Outgoing, render_json

if TYPE_CHECKING:
    from onbox.contract.notices import Notice

LIMIT_BYTES = 20_000
TEXT_LIMIT_BYTES = 1500
LOG_LIMIT = 4000
CLIP_BYTES = 200
# What gives way when it is too long, in this order.
_DROPPED = ("log_tail", "resources", "proof", "reason", "remedy")


def payload(notice: Notice) -> dict[str, Any]:
    """`type`, `timestamp`, `data` as the specification recommends, and `text` for a receiver that only shows it."""
    brief = text(notice._replace(log_tail=None), TEXT_LIMIT_BYTES)
    return {"type": f"onbox.{notice.event}", "timestamp": notice.at, "text": brief, "data": notice_to_dict(notice)}


def build(ask: FormatInput) -> Outgoing:
    notice = ask.notice
    body = render_json(payload(notice))
    for field in _DROPPED:
        if len(body) <= LIMIT_BYTES:
            break
        shorter: dict[str, Any] = {field: None}
        if field == "log_tail" and notice.log_tail:
            shorter[field] = notice.log_tail[-LOG_LIMIT:]
        notice = notice._replace(**shorter)
        body = render_json(payload(notice))
    if len(body) > LIMIT_BYTES:
        body = render_json(payload(notice_from_dict(_clipped(notice))))
    headers = webhook_headers(notice.id, int(ask.now), body, ask.secret)
    return Outgoing(ask.url, {**JSON_HEADERS, "Idempotency-Key": notice.id, **headers}, body)


def _clipped(notice: Notice) -> dict[str, Any]:
    """Every text cut short: names that nobody gives, but that must not make a message too long to send."""
    return {key: clip_bytes(one, CLIP_BYTES) if isinstance(one, str) else one for key, one in notice._asdict().items()}


FORMAT = Format(
    name="generic",
    title="any JSON receiver",
    hosts=(),
    build=build,
    judge=judge_status,
    rate=None,
    limit="20 kB",
    success="a status of 2xx",
    signing="Standard Webhooks v1 (`whsec_…`)",
    source="standard-webhooks/standard-webhooks, spec/standard-webhooks.md",
    setup="any https URL that takes a POST",
)
