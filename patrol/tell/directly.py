"""Messages sent straight from memory, where no outbox can be written: one try each, the rest at the next tick."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.notify.send.worker import try_once
from onbox.notify.signing import BadSecret
from onbox.notify.targets import NotSet, resolve_target
from onbox.notify.types import TryOutcome, Unusable
from onbox.system.clock import monotonic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onbox.notify.queue.outbox import Message

ALL_SECONDS = 60.0  # of one tick
TRY_SECONDS = 20.0


def send(
    messages: Sequence[Message],
    environ: Mapping[str, str],
    folder: str,
    clock: Callable[[], float] = monotonic,
) -> Iterator[tuple[Message, str, str]]:
    """Each message that was dealt with or tried: it, what became of it (delivered, refused, waits) and why."""
    end = clock() + ALL_SECONDS
    for message in messages:
        if clock() >= end:
            return
        try:
            verdict = try_once(message.notice, resolve_target(message.target, environ, folder), TRY_SECONDS)
        except (NotSet, Unusable, BadSecret, OSError) as problem:
            yield message, "waits", str(problem)
            continue
        yield message, _WORDS.get(verdict.outcome, "waits"), verdict.reason


_WORDS = {TryOutcome.DELIVERED: "delivered", TryOutcome.NEVER: "refused"}
