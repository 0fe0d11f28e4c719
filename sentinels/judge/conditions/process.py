"""A target that is a process. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sentinels.box.wire import (
    CouldNotLook,
    Message,
    PidSeen,
)
from sentinels.judge.conditions.base import Arming, WaitCondition
from sentinels.judge.outcome import Outcome, WaitFinding
from sentinels.judge.run_rows import PROOF_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sentinels.targets import Target


class ProcessCondition(WaitCondition):
    """A process that must live: its end, without a marker, is told after a second look."""

    kind = "pid"

    def __init__(self, target: Target, path: str, arming: Arming) -> None:
        super().__init__(target, path, arming)
        self.stamp, self.gone_at, self.began_at = "", None, None

    gone_at: float | None
    began_at: float | None

    def words(self, armed_clock: float | None) -> tuple[str, ...]:
        return (self.kind, self.path, self.stamp)

    def hear(self, message: Message, clock: float, armed_clock: float) -> WaitFinding | None:
        if isinstance(message, CouldNotLook):
            self._cannot_look(message)
        elif isinstance(message, PidSeen) and message.stamp is not None:
            self.stamp, self.gone_at = message.stamp, None
            self.tell("lives")
            self.began_at = None if message.age_seconds is None else clock - message.age_seconds
        elif isinstance(message, PidSeen):
            self.gone_at = clock if self.gone_at is None or self.gone_at > clock else self.gone_at
            if clock - self.gone_at >= PROOF_SECONDS:
                return self._found(Outcome.GONE, f"process {self.path} has gone, and no marker landed", self.gone_at)
        return None

    def memory(self) -> dict[str, Any]:
        return {"stamp": self.stamp}

    def recall(self, memory: Mapping[str, Any]) -> None:
        self.stamp = str(memory.get("stamp", ""))
