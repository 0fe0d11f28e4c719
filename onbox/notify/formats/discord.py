"""Discord webhooks.

Source: docs.discord.com "Webhook resource, execute webhook" (204; with `wait=true` 200 and the message),
"Rate limits" (limits must not be hard-coded; 429 with Retry-After and `retry_after`, in seconds since API v8,
discord-api-docs#4722). `content` holds 2000 characters.
"""

from __future__ import annotations

from onbox.contract.json_text import parse_object
from onbox.notify.message_text import text
from onbox.notify.schedule import RETRY_AFTER_LIMIT_SECONDS, judge_status
from onbox.notify.types import (
    JSON_HEADERS,
    Delivery,
    Format,
    FormatInput,
    HttpAnswer,
    Outgoing,
    TryOutcome,
    render_json,
)

LIMIT = 2000  # characters; so many bytes are never more


def build(ask: FormatInput) -> Outgoing:
    body = render_json({"content": text(ask.notice, LIMIT), "allowed_mentions": {"parse": []}})
    return Outgoing(ask.url, JSON_HEADERS, body)


def judge(answer: HttpAnswer, now: float) -> Delivery:
    verdict = judge_status(answer, now)
    data = parse_object(answer.body) or {}
    if verdict.outcome is TryOutcome.DELIVERED and answer.status != 204 and "id" not in data:
        return verdict._replace(outcome=TryOutcome.UNCLEAR, reason=f"HTTP {answer.status}, but not 204 and no message")
    wish = data.get("retry_after")
    if verdict.outcome is TryOutcome.LATER and isinstance(wish, int | float) and wish >= 0:
        asked = max(float(wish), verdict.retry_after_seconds or 0.0)
        return verdict._replace(retry_after_seconds=min(asked, RETRY_AFTER_LIMIT_SECONDS))
    if verdict.outcome is TryOutcome.NEVER and data.get("code"):
        return verdict._replace(reason=f"{verdict.reason} (code {data['code']})")
    return verdict


FORMAT = Format(
    name="discord",
    title="Discord",
    hosts=("discord.com", "discordapp.com", "ptb.discord.com", "canary.discord.com"),
    build=build,
    judge=judge,
    rate=None,
    limit="2000 characters",
    success="204, or 200 with the message's `id`",
    signing="the URL is the secret",
    source="docs.discord.com, execute webhook and rate limits",
    setup="channel settings → Integrations → Webhooks → Copy Webhook URL",
)
