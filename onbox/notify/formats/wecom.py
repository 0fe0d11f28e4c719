"""WeCom (WeChat Work) group robots.

Source: developer.work.weixin.qq.com "Group robot configuration" (200 and `errcode` 0; text of 2048 bytes; 20 a minute),
"Global error codes" (45009 too many calls, 93000 wrong key, 45002 too long, -1 busy).
"""

from __future__ import annotations

from onbox.notify.message_text import text
from onbox.notify.schedule import Codes, judge_code
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

LIMIT_BYTES = 2048

CODES: Codes = {
    -1: (TryOutcome.LATER, "the system is busy", None),
    45009: (TryOutcome.LATER, "more than 20 messages a minute", 60.0),
    45033: (TryOutcome.LATER, "too many at once", None),
    93000: (TryOutcome.NEVER, "the key of the URL is wrong", None),
    45002: (TryOutcome.NEVER, "the message is too long", None),
}


def build(ask: FormatInput) -> Outgoing:
    data = {"msgtype": "text", "text": {"content": text(ask.notice, LIMIT_BYTES)}}
    return Outgoing(ask.url, JSON_HEADERS, render_json(data))


def judge(answer: HttpAnswer, now: float) -> Delivery:
    return judge_code(answer, now, ("errcode",), CODES)


FORMAT = Format(
    name="wecom",
    title="WeCom",
    hosts=("qyapi.weixin.qq.com",),
    build=build,
    judge=judge,
    rate=Rate(20, 60.0),
    limit="2048 bytes",
    success="200 and `errcode` 0",
    signing="the URL is the secret",
    source="developer.work.weixin.qq.com, group robot configuration; global error codes",
    setup="group → Group Robots → Add; copy the webhook address",
)
