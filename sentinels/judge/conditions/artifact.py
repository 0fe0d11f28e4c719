"""A target that is a file which a stage writes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.model.units import format_duration, format_size
from onbox.outside import safe_line
from sentinels.box.wire import (
    ArtifactSeen,
    CouldNotLook,
    Message,
    Remember,
)
from sentinels.judge.conditions.base import Arming, WaitCondition
from sentinels.judge.outcome import Outcome, WaitFinding

if TYPE_CHECKING:
    from sentinels.targets import Target


class ArtifactCondition(WaitCondition):
    """A file of a pattern that is big enough and no longer grows; the newest, where there are several."""

    kind = "artifact"

    def __init__(self, target: Target, path: str, arming: Arming) -> None:
        super().__init__(target, path, arming)
        self.known = ""

    def words(self, armed_clock: float | None) -> tuple[str, ...]:
        since = "0"
        if self.arming.new_only:
            since = "now" if armed_clock is None else f"{armed_clock:.3f}"
        stable = f"{self.target.stable_seconds:g}"
        return (self.kind, self.path, str(self.target.min_bytes), stable, f"{since};{self.known}")

    def hear(self, message: Message, clock: float, armed_clock: float) -> WaitFinding | None:
        if isinstance(message, Remember):
            self.known = message.known
        elif isinstance(message, CouldNotLook):
            self._cannot_look(message)
        elif isinstance(message, ArtifactSeen) and message.ready:
            older = self._older_than_process(message.changed_at)
            if older:
                self.tell(f"the newest file there {older}", warn=True)
                return None
            path = safe_line(message.path)
            stable = format_duration(self.target.stable_seconds)
            say = f"artifact {path}, {format_size(message.size)}, unchanged for {stable}"
            since = min(message.changed_at, clock) or clock
            return self._found(Outcome.LANDED, say, since, artifact=path, bytes=message.size)
        elif isinstance(message, ArtifactSeen):
            self.tell(f"{message.files} file(s) match, {message.growing} not finished")
        return None
