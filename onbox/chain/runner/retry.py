"""Whether a failed attempt is made again by itself, unchanged, and after how long. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.chain.gates.success_gate import FOUND
from onbox.triage.classes import may_repeat

if TYPE_CHECKING:
    from onbox.model.manifest import Retry

BACKOFF_LIMIT_SECONDS = 3600.0


def may_retry(retry: Retry, failure_class: str, cause: str, retries: int, rule: str = "") -> bool:
    """cause: how the attempt ended; retries: how many there have been; rule: that the class is from. What is configured
    decides only where a retry can help: neither after what onbox itself stopped on a person's behalf, nor for a class
    that never may, or that is a guess.
    """
    is_named = failure_class in retry.classes and may_repeat(failure_class, own_word=True, rule=rule)
    return is_named and cause not in FOUND and retries < retry.max


def backoff_seconds(retry: Retry, retries: int) -> float:
    """Before the next one: twice as long as before the last."""
    return min(retry.backoff_seconds * 2.0 ** min(retries, 30), BACKOFF_LIMIT_SECONDS)
