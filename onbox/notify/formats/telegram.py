"""Telegram bots: `https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>`.

Source: core.telegram.org/bots/api "Making requests" (`ok`; `error_code`, `parameters.retry_after` in seconds),
"sendMessage" (4096 characters; without `parse_mode` nothing is markup), bots/faq (about one a second per chat).
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

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
    Rate,
    TryOutcome,
    Unusable,
    render_json,
)

LIMIT_BYTES = 4000


def build(ask: FormatInput) -> Outgoing:
    parts = urlsplit(ask.url)
    query = parse_qs(parts.query)
    if not query.get("chat_id"):
        raise Unusable("its query says no chat_id")
    data: dict[str, Any] = {"chat_id": query["chat_id"][0], "text": text(ask.notice, LIMIT_BYTES)}
    data["link_preview_options"] = {"is_disabled": True}
    if query.get("message_thread_id"):
        data["message_thread_id"] = query["message_thread_id"][0]
    path = parts.path if parts.path.endswith("/sendMessage") else parts.path.rstrip("/") + "/sendMessage"
    return Outgoing(parts._replace(path=path, query="").geturl(), JSON_HEADERS, render_json(data))


def judge(answer: HttpAnswer, now: float) -> Delivery:
    verdict = judge_status(answer, now)
    data = parse_object(answer.body)
    if data is None or not isinstance(data.get("ok"), bool):
        if verdict.outcome is TryOutcome.DELIVERED:
            return verdict._replace(
                outcome=TryOutcome.UNCLEAR, reason=f"HTTP {answer.status}, but no `ok` in the answer"
            )
        return verdict
    if data["ok"]:
        return verdict
    code = data.get("error_code")
    status = code if isinstance(code, int) else 400 if verdict.outcome is TryOutcome.DELIVERED else answer.status
    refused = judge_status(answer._replace(status=status), now)
    wish = (data.get("parameters") or {}).get("retry_after") if isinstance(data.get("parameters"), dict) else None
    if isinstance(wish, int | float) and refused.outcome is TryOutcome.LATER:
        refused = refused._replace(retry_after_seconds=min(max(0.0, float(wish)), RETRY_AFTER_LIMIT_SECONDS))
    return refused._replace(reason=f"HTTP {answer.status}, ok is false, error_code {code}", status=answer.status)


FORMAT = Format(
    name="telegram",
    title="Telegram",
    hosts=("api.telegram.org",),
    build=build,
    judge=judge,
    rate=Rate(20, 60.0),  # of a group
    limit="4096 characters",
    success="`ok` is true",
    signing="the token in the URL",
    source="core.telegram.org/bots/api",
    setup="@BotFather → /newbot; the URL is `https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>`",
)
