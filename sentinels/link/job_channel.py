"""One engine that is asked now and then, as `Channel` is one box that speaks: the wait's loop takes both alike.

Ray and Iris push nothing, so their jobs are polled: a word is heard at most one interval and one question after it
became so. A question runs in a thread of its own, and the loop never waits for it.
"""

from __future__ import annotations

import os
import random
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.backends.base import Job
from onbox.backends.cluster import ClusterLook, NoLook, look
from onbox.backends.cluster_reasons import BY_KEY
from onbox.outside import safe_line
from onbox.system.clock import wall
from sentinels.judge.jobs import HandedCondition, JobCondition
from sentinels.link.channel import Contact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from patrol.ssh.client import SshTarget
    from sentinels.judge.jobs import Asked
    from sentinels.judge.outcome import WaitFinding
    from sentinels.link.channel import Channel

POLL_SECONDS = 10.0
LOOK_SECONDS = 8.0  # all questions of one look
JITTER = 0.1  # many waits for one cluster do not knock together


class Asking:
    """One look under way. `connection` and `fd`: what the loop's selector watches; readable when it has ended."""

    def __init__(self, ask: Callable[[], Any]) -> None:
        self.fd, self._writing = os.pipe()
        os.set_blocking(self.fd, False)
        self.found: Any = None
        self.connection = self
        threading.Thread(target=self._run, args=(ask,), daemon=True).start()

    def _run(self, ask: Callable[[], Any]) -> None:
        try:
            self.found = ask()
        except Exception as error:  # noqa: BLE001 - said as could not look; the wait goes on
            self.found = NoLook("engine_error", f"a defect in the look: {type(error).__name__}: {error}")
        finally:
            with suppress(OSError):  # the wait has ended meanwhile
                os.write(self._writing, b"\n")
            os.close(self._writing)

    def close(self) -> None:
        os.close(self.fd)


class JobChannel:
    """The jobs of one engine. main: the channel to the run's own records, where there is one: then this one only adds
    the engine's word, and whether it is in sight decides nothing. once: one look is all.
    """

    def __init__(
        self,
        target: SshTarget,
        items: Sequence[tuple[int, JobCondition]],
        every_seconds: float = POLL_SECONDS,
        *,
        main: Channel | None = None,
        once: bool = False,
    ) -> None:
        self.target, self.every_seconds, self.main, self.once = target, every_seconds, main, once
        self.items = {str(at): item for at, item in enumerate(items)}
        self.finished: set[int] = set()
        self.asking: Asking | None = None
        self._asked_for: tuple[str, Asked] | None = None
        self._turn = 0
        self.next_at = 0.0
        self.last_heard_at: float | None = None
        self.reason = self.detail = ""
        self.looks = self.drops = 0
        self._heard: set[str] = set()

    # -- what the loop calls, as on a Channel

    def connections_open(self) -> list[Asking]:
        return [] if self.asking is None else [self.asking]

    def read(self, attempt: Asking) -> list[tuple[int, WaitFinding]]:
        if attempt.found is None or self._asked_for is None:
            return []
        found, (ident, _) = attempt.found, self._asked_for
        attempt.close()
        self.asking = None
        number, condition = self.items[ident]
        self._note(found, ident)
        finding = condition.hear(found, wall()) if number not in self.finished else None
        if finding is None:
            return []
        self.finished.add(number)
        return [(number, finding)]

    def tick(self, now: float) -> None:
        if self.asking is not None or now < self.next_at:
            return
        chosen = self._next_item()
        if chosen is None:
            self.next_at = now + (1.0 if self.main is not None and not self.looked else self.every_seconds)
            return
        ident, condition, asked = chosen
        self._asked_for = (ident, asked)
        self.asking = Asking(lambda: ask_one(asked, brief=not condition.wants_log))
        self.looks += 1
        self.next_at = now + self._pause()

    def due_at(self, now: float) -> float:
        return now + 1e6 if self.asking is not None else max(now, self.next_at)

    def close(self) -> None:
        if self.asking is not None:
            self.asking.close()
            self.asking = None

    @property
    def idle(self) -> bool:
        """Whether it goes with a run of which no engine was ever asked."""
        return self.main is not None and not self.looks

    @property
    def looked(self) -> bool:
        """Every item at least once; of a run that is with no engine there is nothing to look at."""
        if self.main is not None and not self.main.looked:
            return False
        waiting = (ident for ident, (_, condition) in self.items.items() if ident not in self._heard)
        return all(self.items[ident][1].wants() is None for ident in waiting)

    @property
    def lasting(self) -> bool:
        """Whether waiting cannot help: a token that was refused before anything was ever heard; or one look is all."""
        if self.main is not None or self.last_heard_at is not None:
            return False
        known = BY_KEY.get(self.reason)
        return (self.once and bool(self.reason)) or (known is not None and known.lasting)

    @property
    def contact(self) -> Contact:
        in_sight = self.main is not None or (self.last_heard_at is not None and not self.reason)
        return Contact(in_sight, self.last_heard_at, self.reason, self.detail, self.looks, self.drops)

    def why_unreachable(self) -> str:
        known = BY_KEY.get(self.reason)
        return f"{known.says} ({self.detail}); {known.remedy}" if known is not None else self.detail

    # -- inside

    def _next_item(self) -> tuple[str, JobCondition, Asked] | None:
        """The conditions take turns."""
        idents = list(self.items)
        for step in range(len(idents)):
            ident = idents[(self._turn + step) % len(idents)]
            number, condition = self.items[ident]
            asked = condition.wants() if number not in self.finished else None
            if asked is not None:
                self._turn = (self._turn + step + 1) % len(idents)
                return ident, condition, asked
        return None

    def _pause(self) -> float:
        """So that every job is asked for once in an interval; at once where one has not been heard of yet."""
        if len(self._heard) + 1 < len(self.items):
            return 0.0
        spread = 1.0 + random.uniform(-JITTER, JITTER)  # noqa: S311 - no secret
        return max(1.0, self.every_seconds * spread / len(self.items))

    def _note(self, found: ClusterLook | NoLook, ident: str) -> None:
        self._heard.add(ident)
        if isinstance(found, NoLook):
            self.drops += not self.reason
            self.reason, self.detail = found.reason, safe_line(found.detail, 300)
        else:
            self.last_heard_at, self.reason, self.detail = wall(), "", ""


def ask_one(asked: Asked, *, brief: bool) -> ClusterLook | NoLook:
    """The engine's word on one job; of one that ended badly also its log, which tells why."""
    found = look(asked.endpoint, (asked.job_id,), LOOK_SECONDS, brief=brief)
    if not brief or isinstance(found, NoLook):
        return found
    word = found.jobs[asked.job_id].word
    if not isinstance(word, Job) or word.is_live or word.state.value == "succeeded":
        return found
    more = look(asked.endpoint, (asked.job_id,), LOOK_SECONDS)
    return found if isinstance(more, NoLook) else more


__all__ = ["Asking", "HandedCondition", "JobChannel", "ask_one"]
