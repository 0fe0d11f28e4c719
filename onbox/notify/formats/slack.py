"""Slack incoming webhooks.

Source: docs.slack.dev "Sending messages using incoming webhooks" (200 and the body `ok`; errors are plain words under
4xx), "Rate limits" (one a second, 429 with Retry-After), "Formatting message text" (escape &, <, >).
"""

from __future__ import annotations

from onbox.notify.message_text import clip_bytes, text
from onbox.notify.schedule import judge_status
from onbox.notify.types import (
    JSON_HEADERS,
    Delivery,
    Format,
    FormatInput,
    HttpAnswer,
    Outgoing,
    Rate,
    TryOutcome,
    render_json,
)

LIMIT_BYTES = 3000  # of a chat message that people read; Slack cuts at 40 000 characters


def build(ask: FormatInput) -> Outgoing:
    body = render_json({"text": escape(text(ask.notice, LIMIT_BYTES)), "unfurl_links": False})
    return Outgoing(ask.url, JSON_HEADERS, body)


def escape(plain: str) -> str:
    """Without it `<!channel>` in a log line would call everybody."""
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def judge(answer: HttpAnswer, now: float) -> Delivery:
    verdict = judge_status(answer, now)
    said = clip_bytes(answer.body.decode("utf-8", "replace").strip(), 80)
    if verdict.outcome is TryOutcome.DELIVERED and said != "ok":
        return verdict._replace(outcome=TryOutcome.UNCLEAR, reason=f"HTTP {answer.status}, but the body is not `ok`")
    if verdict.outcome is TryOutcome.NEVER and said:
        return verdict._replace(reason=f"{verdict.reason} ({said})")
    return verdict


FORMAT = Format(
    name="slack",
    title="Slack",
    hosts=("hooks.slack.com", "hooks.slack-gov.com"),
    build=build,
    judge=judge,
    rate=Rate(1, 1.0),
    limit="3 kB",
    success="200 and the body `ok`",
    signing="the URL is the secret",
    source="docs.slack.dev, incoming webhooks and rate limits",
    setup="Slack app → Incoming Webhooks → Add New Webhook to Workspace",
)
