"""Which failures are tried again by themselves, and how long that waits."""

from __future__ import annotations

import pytest

from onbox.chain.runner.retry import BACKOFF_LIMIT_SECONDS, backoff_seconds, may_retry
from onbox.model.manifest import Retry
from onbox.triage.classes import NEVER

TWICE = Retry(2, ("network_blip", "hang_stall", "mine"), backoff_seconds=60.0)


@pytest.mark.parametrize(
    ("failure_class", "cause", "retries", "again"),
    [
        ("network_blip", "exit", 0, True),
        ("network_blip", "exit", 1, True),
        ("network_blip", "exit", 2, False),  # the budget is used up
        ("hang_stall", "stalled", 0, True),
        ("cuda_oom", "exit", 0, False),  # not named
        ("mine", "exit", 0, True),  # a class of the user's own [[triage]]
        ("network_blip", "diverged", 0, False),  # stopped because a detector was to stop it: a person goes on
        ("network_blip", "detected", 0, False),
    ],
)
def test_a_retry_needs_class_and_budget(failure_class: str, cause: str, retries: int, *, again: bool) -> None:
    assert may_retry(TWICE, failure_class, cause, retries) is again


@pytest.mark.parametrize("failure_class", [name for name, why in NEVER.items() if why])
def test_what_a_retry_only_repeats_is_not_tried_again_though_it_is_named(failure_class: str) -> None:
    assert not may_retry(TWICE._replace(classes=(failure_class,)), failure_class, "exit", 0)


def test_a_class_that_is_a_guess_from_words_is_not_tried_again() -> None:
    assert not may_retry(TWICE, "network_blip", "exit", 0, "reads-as")
    assert may_retry(TWICE, "network_blip", "exit", 0, "http-server")


def test_nothing_is_tried_again_unasked() -> None:
    assert not may_retry(Retry(), "network_blip", "exit", 0)


def test_each_wait_is_twice_the_last_and_at_most_an_hour() -> None:
    waits = [backoff_seconds(TWICE, retries) for retries in range(8)]
    assert waits == [60, 120, 240, 480, 960, 1920, BACKOFF_LIMIT_SECONDS, BACKOFF_LIMIT_SECONDS]
    assert backoff_seconds(TWICE, 10**6) == BACKOFF_LIMIT_SECONDS
    assert backoff_seconds(TWICE._replace(backoff_seconds=0.0), 5) == 0
