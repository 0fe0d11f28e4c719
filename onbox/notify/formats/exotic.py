"""Everything else: `apprise+<URL of apprise>`, through the extra `onbox[apprise]`.

Source: github.com/caronc/apprise. Its result is believed as it stands, which for some services means "HTTP 200";
those of which it is known to be wrong (measured: DingTalk, Feishu, Lark, WeCom) have formats of their own here.
"""

from __future__ import annotations

from onbox.notify.message_text import text, title
from onbox.notify.types import Delivery, Format, FormatInput, HttpAnswer, Outgoing, TryOutcome, Unusable, render_json

LIMIT_BYTES = 3000
PREFIX = "apprise+"
OWN = {"dingtalk": "dingtalk", "feishu": "feishu", "lark": "lark", "wecombot": "wecom"}


def build(ask: FormatInput) -> Outgoing:
    scheme = ask.url[len(PREFIX) :].partition(":")[0].lower()
    if scheme in OWN:
        raise Unusable(f'apprise takes a refusal of this service for success: use format = "{OWN[scheme]}"')
    words = {"title": title(ask.notice), "body": text(ask.notice, LIMIT_BYTES, with_title=False)}
    return Outgoing(ask.url, {}, render_json(words))


def judge(answer: HttpAnswer, _now: float) -> Delivery:
    if answer.status == 200:
        return Delivery(TryOutcome.DELIVERED, "apprise says that it was sent")
    return Delivery(TryOutcome.LATER, "apprise says that it was not sent")


FORMAT = Format(
    name="apprise",
    title="all that apprise knows",
    hosts=(),
    build=build,
    judge=judge,
    rate=None,
    limit="3 kB",
    success="what apprise says",
    signing="as apprise's URL says",
    source="github.com/caronc/apprise",
    setup="`pip install '.[apprise]'` in onbox's checkout; the URL is `apprise+` and apprise's own",
)
