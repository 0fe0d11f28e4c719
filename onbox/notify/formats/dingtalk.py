"""DingTalk custom robots.

Source: open.dingtalk.com "Custom robot access" (200 and `errcode` 0; signature in the query; 20 a minute, then blocked
for 10), "Error codes" (310000 security settings, 130101 and 410100 too many, 300001 and 400xxx token and parameters).
The query is built anew each time: DingtalkChatbot#30 grew it until the URL was too long.
"""

from __future__ import annotations

from onbox.notify.message_text import text
from onbox.notify.schedule import Codes, judge_code
from onbox.notify.signing import dingtalk_sign
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

LIMIT_BYTES = 4000
BLOCKED_SECONDS = 600.0

# errcode: what it means, and how long to leave it alone (None: the usual back-off)
CODES: Codes = {
    -1: (TryOutcome.LATER, "the system is busy", None),
    130101: (TryOutcome.LATER, "more than 20 messages a minute: blocked for 10 minutes", BLOCKED_SECONDS),
    410100: (TryOutcome.LATER, "more than 20 messages a minute: blocked for 10 minutes", BLOCKED_SECONDS),
    300001: (TryOutcome.NEVER, "the token of the URL is wrong", None),
    300005: (TryOutcome.NEVER, "the token of the URL is wrong", None),
    310000: (TryOutcome.NEVER, "keyword, signature or address do not fit the robot's security settings", None),
}


def build(ask: FormatInput) -> Outgoing:
    url = ask.url
    if ask.secret is not None:
        stamp = int(ask.now * 1000)
        joint = "&" if "?" in url else "?"
        url = f"{url}{joint}timestamp={stamp}&sign={dingtalk_sign(stamp, ask.secret)}"
    data = {"msgtype": "text", "text": {"content": text(ask.notice, LIMIT_BYTES)}, "at": {"isAtAll": False}}
    return Outgoing(url, JSON_HEADERS, render_json(data))


def judge(answer: HttpAnswer, now: float) -> Delivery:
    return judge_code(answer, now, ("errcode",), CODES)


FORMAT = Format(
    name="dingtalk",
    title="DingTalk",
    hosts=("oapi.dingtalk.com",),
    build=build,
    judge=judge,
    rate=Rate(20, 60.0),
    limit="20 kB",
    success="200 and `errcode` 0",
    signing="`timestamp` and `sign` in the query",
    source="open.dingtalk.com, custom robot access; error codes",
    setup="group settings → Robots → Custom; security: sign (加签), its `SEC…` as `secret`",
)
