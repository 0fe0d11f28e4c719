"""Feishu and Lark custom bots.

Source: open.feishu.cn "Custom bot usage guide" (200 and `code` 0; 100 a minute and 5 a second; 20 KB; 11232 is a limit
of frequency; signature in the body), codes 9499, 19001, 19002, 19021, 19022, 19024 of the same page.
"""

from __future__ import annotations

from typing import Any

from onbox.notify.message_text import text
from onbox.notify.schedule import Codes, judge_code
from onbox.notify.signing import feishu_sign
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

CODES: Codes = {
    9499: (TryOutcome.LATER, "too many messages, or the system is busy", None),
    11232: (TryOutcome.LATER, "too many messages", None),
    11233: (TryOutcome.LATER, "too many messages", None),
    19001: (TryOutcome.NEVER, "the token of the URL is wrong", None),
    19002: (TryOutcome.NEVER, "the message is not understood", None),
    19021: (TryOutcome.NEVER, "the signature is wrong, or the clock is off by an hour", None),
    19022: (TryOutcome.NEVER, "this address is not on the bot's list", None),
    19024: (TryOutcome.NEVER, "the bot's keyword is not in the message", None),
}


def build(ask: FormatInput) -> Outgoing:
    data: dict[str, Any] = {"msg_type": "text", "content": {"text": escape(text(ask.notice, LIMIT_BYTES))}}
    if ask.secret is not None:
        stamp = int(ask.now)
        data = {"timestamp": str(stamp), "sign": feishu_sign(stamp, ask.secret), **data}
    return Outgoing(ask.url, JSON_HEADERS, render_json(data))


def escape(plain: str) -> str:
    """Without it `<at user_id="all">` in a log line would call everybody."""
    return plain.replace("<at", "< at").replace("</at", "< /at")


def judge(answer: HttpAnswer, now: float) -> Delivery:
    # StatusCode is that of the first version
    return judge_code(answer, now, ("code", "StatusCode"), CODES)


FORMAT = Format(
    name="feishu",
    title="Feishu",
    hosts=("open.feishu.cn",),
    build=build,
    judge=judge,
    rate=Rate(5, 3.0),  # within 100 a minute as well
    limit="20 kB",
    success="200 and `code` 0",
    signing="`sign` in the body: base64(HMAC-SHA256(key = time and secret))",
    source="open.feishu.cn, custom bot usage guide",
    setup="group settings → Bots → Add Bot → Custom Bot; security: signature verification, its secret as `secret`",
)
LARK = FORMAT._replace(name="lark", title="Lark", hosts=("open.larksuite.com", "open.larkoffice.com"))
