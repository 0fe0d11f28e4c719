"""The patrol's table as something that is asked: one look at the box, as a tick takes it, where a proof was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.backends.cluster import NoLook
from onbox.system.clock import wall
from sentinels.link.channel import Contact
from sentinels.link.job_channel import Asking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sentinels.judge.outcome import WaitFinding
    from sentinels.judge.watched import Question, WatchedCondition
    from sentinels.link.channel import Channel

AGAIN_SECONDS = 30.0  # between two looks where nothing new was seen
LEAST_SECONDS = 1.0


class TableChannel:
    """The watched jobs of one box. main: the channel to the box: whether that is in sight decides."""

    lasting = False
    reason = detail = ""

    def __init__(self, main: Channel, items: Sequence[tuple[int, WatchedCondition]]) -> None:
        self.main = main
        self.target = main.target._replace(box=f"{main.target.box} (table)")
        self.items = {str(at): item for at, item in enumerate(items)}
        self.finished: set[int] = set()
        self.asking: Asking | None = None
        self.last_heard_at: float | None = None
        self._under_way: tuple[str, Question] | None = None
        self._answered: dict[str, tuple[Question, float]] = {}
        self._looks = 0

    # -- what the loop calls, as on a Channel

    def connections_open(self) -> list[Asking]:
        return [] if self.asking is None else [self.asking]

    def read(self, attempt: Asking) -> list[tuple[int, WaitFinding]]:
        if attempt.found is None or self._under_way is None:
            return []
        (ident, question), found = self._under_way, attempt.found
        attempt.close()
        self.asking = None
        number, condition = self.items[ident]
        if isinstance(found, NoLook):
            condition.tell(f"the patrol could not look at it: {found.detail}", warn=True)
            return []
        self.last_heard_at = wall()
        finding = condition.hear(question, found)
        if finding is None:
            return []
        self.finished.add(number)
        return [(number, finding)]

    def tick(self, now: float) -> None:
        if self.asking is not None:
            return
        due = [(self._next_at(ident, question), ident, question) for ident, question in self._open()]
        at, ident, question = min(due, key=lambda one: one[0], default=(now + 1.0, "", None))
        if question is None or at > now:
            return
        self._under_way, self._answered[ident] = (ident, question), (question, now)
        self.asking = Asking(self.items[ident][1].look)
        self._looks += 1

    def due_at(self, now: float) -> float:
        if self.asking is not None:
            return now + 1e6
        return max(now, min((self._next_at(ident, question) for ident, question in self._open()), default=now + 1e6))

    def close(self) -> None:
        if self.asking is not None:
            self.asking.close()
            self.asking = None

    @property
    def idle(self) -> bool:
        return not self._looks

    @property
    def looked(self) -> bool:
        """Whether every proof that is there was asked about."""
        return self.main.looked and self.asking is None and all(ident in self._answered for ident, _ in self._open())

    @property
    def contact(self) -> Contact:
        return Contact(True, self.last_heard_at, "", "", self._looks, 0)

    def why_unreachable(self) -> str:
        return ""

    # -- inside

    def _open(self) -> list[tuple[str, Question]]:
        return [
            (ident, question)
            for ident, (number, condition) in self.items.items()
            if number not in self.finished and (question := condition.wants()) is not None
        ]

    def _next_at(self, ident: str, question: Question) -> float:
        """At once about what is new, and now and then about what is not."""
        if ident not in self._answered:
            return 0.0
        last, at = self._answered[ident]
        return at + (AGAIN_SECONDS if question == last else LEAST_SECONDS)
