"""What observations mean for one target: a condition hears them in order and says once how its wait ended. Pure.

A condition remembers what is needed to go on after a lost link, or in a later slice of the same wait: `words` are the
item's words for the program on the box, `memory` and `recall` its JSON-able memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from sentinels.judge.note import Noted
from sentinels.judge.outcome import Outcome, WaitFinding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sentinels.box.wire import (
        CouldNotLook,
        Message,
    )
    from sentinels.judge.conditions.process import ProcessCondition
    from sentinels.targets import Target


ALIKE_SECONDS = 1.0  # a shell tells times in whole seconds: what is so much older than a process is surely older


class Arming(NamedTuple):
    """What a wait was begun with. new_only: what was there before does not count."""

    new_only: bool = False
    stall_after_seconds: float | None = None


class WaitCondition(Noted, ABC):
    """One target. beside: the processes on the same box that belong to it: what is older than one that lives is of an
    older run.

    is_claim: what is seen is only claimed: the patrol's table decides whether it counts, or has refused it.
    """

    kind = ""
    beside: Sequence[ProcessCondition] = ()

    def __init__(self, target: Target, path: str, arming: Arming) -> None:
        self.target, self.path, self.arming = target, path, arming
        self.quiet_seconds: float | None = None
        self.is_claim = False
        self.claim: WaitFinding | None = None
        self.is_refused = False

    @abstractmethod
    def words(self, armed_clock: float | None) -> tuple[str, ...]:
        """KIND A B C D E F for the program on the box, as far as needed. armed_clock: of the arming, by its clock."""

    @abstractmethod
    def hear(self, message: Message, clock: float, armed_clock: float) -> WaitFinding | None:
        """One observation, with the box's clock now and at the arming. A finding ends this target's wait."""

    def memory(self) -> dict[str, Any]:
        return {}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on from what an earlier slice of the same wait remembered."""

    def _older_than_process(self, changed_at: float | None) -> str:
        """The living process that began after this was written, in words; "" for none."""
        for process in self.beside:
            began = process.began_at
            if changed_at is not None and began is not None and changed_at < began - ALIKE_SECONDS:
                return f"is older than process {process.path}, which is alive: waiting for a new one"
        return ""

    def _landed(self, finding: WaitFinding) -> WaitFinding | None:
        if not self.is_claim:
            return finding
        self.claim, self.is_refused = finding, False
        return None

    def _found(self, outcome: Outcome, say: str, since: float | None = None, **detail: Any) -> WaitFinding:
        kept = {key: value for key, value in detail.items() if value is not None}
        return WaitFinding(outcome, self.target.text, safe_line(say, 1000), since, kept)

    def _cannot_look(self, message: CouldNotLook) -> None:
        self.tell(f"cannot be looked at: {safe_line(message.why, 200)}", warn=True)
