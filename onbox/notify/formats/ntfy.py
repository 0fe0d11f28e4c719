"""ntfy topics, published as JSON.

Source: docs.ntfy.sh/publish "Publish as JSON" (the POST goes to the server, the topic is in the body; 200 with the
message's `id`), "Limitations" (4096 bytes, then it becomes an attachment; 429), "Access tokens" (Bearer).
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from onbox.contract.json_text import parse_object
from onbox.notify.message_text import clip_bytes, text, title
from onbox.notify.schedule import judge_status
from onbox.notify.types import (
    JSON_HEADERS,
    Delivery,
    Format,
    FormatInput,
    HttpAnswer,
    Outgoing,
    TryOutcome,
    Unusable,
    render_json,
)

LIMIT_BYTES = 3800
TITLE_LIMIT_BYTES = 250


def build(ask: FormatInput) -> Outgoing:
    parts = urlsplit(ask.url)
    folder, _, topic = parts.path.rstrip("/").rpartition("/")
    if not topic:
        raise Unusable("it names no topic: https://ntfy.sh/<topic>")
    data: dict[str, Any] = {
        "topic": topic,
        "title": clip_bytes(title(ask.notice), TITLE_LIMIT_BYTES),
        "message": text(ask.notice, LIMIT_BYTES, with_title=False),
        "priority": 4 if ask.notice.is_bad else 3,
        "tags": ["x" if ask.notice.is_bad else "white_check_mark"],
    }
    headers = dict(JSON_HEADERS)
    if ask.secret is not None:
        headers["Authorization"] = f"Bearer {ask.secret}"
    return Outgoing(parts._replace(path=f"{folder}/", query="", fragment="").geturl(), headers, render_json(data))


def judge(answer: HttpAnswer, now: float) -> Delivery:
    verdict = judge_status(answer, now)
    if verdict.outcome is TryOutcome.DELIVERED and "id" not in (parse_object(answer.body) or {}):
        return verdict._replace(outcome=TryOutcome.UNCLEAR, reason=f"HTTP {answer.status}, but no `id` in the answer")
    return verdict


FORMAT = Format(
    name="ntfy",
    title="ntfy",
    hosts=("ntfy.sh",),
    build=build,
    judge=judge,
    rate=None,
    limit="4096 bytes",
    success="200 and the message's `id`",
    signing="the topic, and an access token as `secret` (Bearer)",
    source="docs.ntfy.sh/publish",
    setup='choose a topic that nobody guesses: `https://ntfy.sh/<topic>`; own server: `format = "ntfy"`',
)
