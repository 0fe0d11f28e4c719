"""Healthchecks pings: the end of a chain, or of the stage that ends it, is a success or a failure; all else is a line
in the log of the check.

Source: healthchecks.io/docs/http_api (200 and `OK`; by UUID it answers 200 with `OK (not found)` and
`OK (rate limited)`, too, which is neither; five a minute; body of 100 kB).
"""

from __future__ import annotations

from urllib.parse import urlsplit

from onbox.notify.message_text import text
from onbox.notify.schedule import judge_status
from onbox.notify.types import Delivery, Format, FormatInput, HttpAnswer, Outgoing, Rate, TryOutcome

LIMIT_BYTES = 9000

_FAILURES = ("stage_failed", "chain_failed", "gate_refused", "interrupted", "patrol_trouble")
_ENDPOINTS = {"chain_done": "", "patrol_recovered": "", "patrol_done": "", **dict.fromkeys(_FAILURES, "/fail")}


def build(ask: FormatInput) -> Outgoing:
    parts = urlsplit(ask.url)
    path = parts.path.rstrip("/") + _ENDPOINTS.get(ask.notice.event, "/log")
    body = text(ask.notice, LIMIT_BYTES).encode("utf-8", "replace")
    return Outgoing(parts._replace(path=path).geturl(), {"Content-Type": "text/plain; charset=utf-8"}, body)


def judge(answer: HttpAnswer, now: float) -> Delivery:
    verdict = judge_status(answer, now)
    said = answer.body.strip()
    if verdict.outcome is not TryOutcome.DELIVERED or said == b"OK":
        return verdict
    if b"not found" in said:
        return verdict._replace(outcome=TryOutcome.NEVER, reason=f"HTTP {answer.status}, but there is no such check")
    if b"rate limited" in said:
        reason = f"HTTP {answer.status}, but more than five pings a minute"
        return Delivery(TryOutcome.LATER, reason, answer.status, 60.0)
    return verdict._replace(outcome=TryOutcome.UNCLEAR, reason=f"HTTP {answer.status}, but the body is not `OK`")


FORMAT = Format(
    name="healthchecks",
    title="Healthchecks",
    hosts=("hc-ping.com",),
    build=build,
    judge=judge,
    rate=Rate(5, 60.0),
    limit="9 kB",
    success="200 and the body `OK`",
    signing="the URL is the secret",
    source="healthchecks.io/docs/http_api",
    setup=(
        "the check's ping URL; the end of a chain is a success; "
        "stage_failed, chain_failed, gate_refused, interrupted, patrol_trouble fail"
    ),
)
