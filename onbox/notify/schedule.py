"""When to try again, and when never: status codes, Retry-After, back-off, rate limits. Pure."""

from __future__ import annotations

import calendar
import time
from typing import TYPE_CHECKING

from onbox.contract.json_text import parse_object
from onbox.named_tuple import NamedTuple
from onbox.notify.types import Delivery, HttpAnswer, NoHttpAnswer, Rate, TryOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.notify_targets import DeliveryPace

RETRY_AFTER_LIMIT_SECONDS = 86400.0  # a longer wish is taken for a day
UNCLEAR_TRIES = 3
RATE_MARGIN_SECONDS = 0.2  # clocks differ


class StatusRow(NamedTuple):
    """One row of the table of status codes: first match wins."""

    first: int
    last: int
    outcome: TryOutcome
    meaning: str


# RFC 9110 chapter 15 and RFC 6585; what is worth another try follows Standard Webhooks ("delivery").
STATUS_TABLE: tuple[StatusRow, ...] = (
    StatusRow(200, 299, TryOutcome.DELIVERED, "accepted"),
    StatusRow(300, 399, TryOutcome.NEVER, "redirected, which is not followed"),
    StatusRow(408, 408, TryOutcome.LATER, "the receiver timed out"),
    StatusRow(410, 410, TryOutcome.NEVER, "gone: the receiver wants no more messages"),
    StatusRow(421, 421, TryOutcome.LATER, "misdirected"),
    StatusRow(425, 425, TryOutcome.LATER, "too early"),
    StatusRow(429, 429, TryOutcome.LATER, "too many messages"),
    StatusRow(400, 499, TryOutcome.NEVER, "refused"),
    StatusRow(500, 599, TryOutcome.LATER, "the receiver is in trouble"),
    StatusRow(0, 999, TryOutcome.LATER, "no status that means anything"),
)


def judge_status(answer: HttpAnswer, now: float) -> Delivery:
    """What the status alone says."""
    row = next(row for row in STATUS_TABLE if row.first <= answer.status <= row.last)
    retry = parse_retry_after(answer.retry_after, now) if row.outcome is TryOutcome.LATER else None
    return Delivery(row.outcome, f"HTTP {answer.status}: {row.meaning}", answer.status, retry)


Codes = dict[int, tuple[TryOutcome, str, "float | None"]]  # what a code means, and how long to leave the channel alone


def judge_code(answer: HttpAnswer, now: float, names: tuple[str, ...], codes: Codes) -> Delivery:
    """For channels that answer 200 with a number of their own in the body: 0 is success, and nothing else is.

    names: the fields that may hold it. A code that is not in the table is a refusal.
    """
    verdict = judge_status(answer, now)
    data = parse_object(answer.body) or {}
    code = next((data[name] for name in names if name in data), None)
    if not isinstance(code, int) or isinstance(code, bool):
        if verdict.outcome is TryOutcome.DELIVERED:
            reason = f"HTTP {answer.status}, but no `{names[0]}` in the answer"
            return verdict._replace(outcome=TryOutcome.UNCLEAR, reason=reason)
        return verdict
    if code == 0:
        return verdict
    outcome, meaning, rest = codes.get(code, (TryOutcome.NEVER, "refused", None))
    retry = rest if rest is not None else verdict.retry_after_seconds
    return Delivery(outcome, f"HTTP {answer.status}, {names[0]} {code}: {meaning}", answer.status, retry)


def judge_silence(silence: NoHttpAnswer) -> Delivery:
    """What no answer means."""
    return Delivery(TryOutcome.NEVER if silence.permanent else TryOutcome.LATER, silence.why)


def parse_retry_after(text: str | None, now: float) -> float | None:
    """Retry-After (RFC 9110, 10.2.3) in seconds from `now`, both forms, at most a day; None if it says nothing.

    A date in the past means now.
    """
    if text is None:
        return None
    plain = text.strip()
    if plain.isascii() and plain.replace(".", "", 1).isdigit():
        seconds = float(plain[:20])
    else:
        try:
            seconds = calendar.timegm(time.strptime(plain, "%a, %d %b %Y %H:%M:%S GMT")) - now
        except (ValueError, OverflowError):
            return None
    return min(max(0.0, seconds), RETRY_AFTER_LIMIT_SECONDS)


def next_try(pace: DeliveryPace, tries: int, retry_after_seconds: float | None, chance: float) -> float:
    """Seconds until the next try after `tries` in vain. chance: a random number between 0 and 1.

    What the channel asked for counts as it stands; else it doubles up to the limit, and half of it is left to chance,
    so that many boxes do not come back in step.
    """
    if retry_after_seconds is not None:
        return retry_after_seconds
    whole = min(pace.backoff_limit_seconds, pace.backoff_seconds * 2.0 ** min(tries - 1, 30))
    return whole * (0.5 + 0.5 * chance)


def rate_allows(rate: Rate | None, recent: Sequence[float], now: float) -> float:
    """When the next message may go, after those sent at `recent` (seconds since the epoch, in order)."""
    if rate is None or len(recent) < rate.messages:
        return now
    return max(now, recent[-rate.messages] + rate.seconds + RATE_MARGIN_SECONDS)


def remember(rate: Rate | None, recent: Sequence[float], now: float) -> tuple[float, ...]:
    """`recent` with one more, no longer than the rate needs."""
    return () if rate is None else (*recent, now)[-rate.messages :]
