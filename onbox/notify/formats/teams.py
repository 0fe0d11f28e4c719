"""Microsoft Teams, through a workflow ("When a Teams webhook request is received"); the retired connectors too.

Source: learn.microsoft.com "Create incoming webhooks with Workflows" (202 when the request was taken) and "Create and
send messages" (28 kB, four requests a second; a connector answers 200 with the body `1`, and 200 with a text that
begins "Webhook message delivery failed" when Teams itself refused).
"""

from __future__ import annotations

from typing import Any

from onbox.notify.message_text import text, title
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

LIMIT_BYTES = 8000
FAILED = b"Webhook message delivery failed"


def build(ask: FormatInput) -> Outgoing:
    lines = text(ask.notice, LIMIT_BYTES, with_title=False).split("\n")
    blocks: list[dict[str, Any]] = [_block(title(ask.notice), weight="Bolder", size="Medium")]
    blocks += [_block(line) for line in lines if line]
    card = {
        "type": "AdaptiveCard",
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "version": "1.4",
        "body": blocks,
    }
    content = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return Outgoing(ask.url, JSON_HEADERS, render_json({"type": "message", "attachments": [content]}))


def _block(line: str, **style: str) -> dict[str, Any]:
    return {"type": "TextBlock", "text": escape(line), "wrap": True, "spacing": "None", **style}


def escape(line: str) -> str:
    """A TextBlock takes some Markdown: without it a link in a log line could be dressed up."""
    return "".join(f"\\{c}" if c in "\\*_[]#`" else c for c in line)


def judge(answer: HttpAnswer, now: float) -> Delivery:
    verdict = judge_status(answer, now)
    if verdict.outcome is not TryOutcome.DELIVERED:
        return verdict
    body = answer.body.strip()
    if FAILED in body:
        later = b"429" in body or b" 5" in body
        why = f"HTTP {answer.status}, but Teams refused it" + (": too many messages" if b"429" in body else "")
        return verdict._replace(outcome=TryOutcome.LATER if later else TryOutcome.NEVER, reason=why)
    if answer.status == 202 or body == b"1":
        return verdict
    return verdict._replace(outcome=TryOutcome.UNCLEAR, reason=f"HTTP {answer.status}, neither 202 nor the body `1`")


FORMAT = Format(
    name="teams",
    title="Microsoft Teams",
    hosts=(".logic.azure.com", ".webhook.office.com", ".api.powerplatform.com"),
    build=build,
    judge=judge,
    rate=Rate(4, 1.0),
    limit="28 kB",
    success="202 (workflow), or 200 and the body `1` (connector)",
    signing="the URL is the secret",
    source="learn.microsoft.com, incoming webhooks with Workflows",
    setup="channel → Workflows → Post to a channel when a webhook request is received",
)
