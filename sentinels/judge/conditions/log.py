"""A target that is a line of a log. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import as_number, as_object
from onbox.model.units import format_duration
from onbox.outside import safe_line
from sentinels.box.wire import (
    CouldNotLook,
    LineSeen,
    Message,
    NotThere,
    Quiet,
    Remember,
)
from sentinels.judge.conditions.base import Arming, WaitCondition
from sentinels.judge.outcome import Outcome, WaitFinding
from sentinels.targets import Target, ere_of

if TYPE_CHECKING:
    from collections.abc import Mapping

ALL = "all"  # a log's cursor: what is there already counts
BLIND_SECONDS = 3.0  # of a log, before the first look; so long a login is nothing unusual


class LogCondition(WaitCondition):
    """A line of a log; of those that are there already the last one that matches tells how it stands.

    With --stall-after also that no line came for so long.
    """

    kind = "log"

    def __init__(self, target: Target, path: str, arming: Arming) -> None:
        super().__init__(target, path, arming)
        self.cursor = "" if arming.new_only else ALL
        self.looked_before = not arming.new_only  # else the first look tells where its new lines begin
        self.older = ""

    def words(self, armed_clock: float | None) -> tuple[str, ...]:
        patterns = self.target.regex, self.target.fail_regex
        return (self.kind, self.path, self.cursor, *patterns, *(ere_of(one) or "" for one in patterns))

    def hear(self, message: Message, clock: float, armed_clock: float) -> WaitFinding | None:
        if isinstance(message, CouldNotLook):
            self._cannot_look(message)
        elif isinstance(message, NotThere):
            self.looked_before = True
            self.tell("no log there yet")
        elif isinstance(message, Remember):
            self.cursor = message.known
        elif isinstance(message, LineSeen):
            return self._judge(message, clock)
        elif isinstance(message, Quiet):
            self.quiet_seconds = message.seconds
            doubt = self.older or self._blind(clock - armed_clock, message.seconds)
            self.tell(doubt or f"log written {format_duration(message.seconds)} ago", warn=bool(doubt))
            self.looked_before = True
            limit = self.arming.stall_after_seconds
            if limit is not None and message.seconds >= limit:
                say = f"nothing was written to {self.path} for {format_duration(message.seconds)}"
                return self._found(Outcome.STALLED, say, clock - message.seconds, log=self.path)
        return None

    def _judge(self, seen: LineSeen, clock: float) -> WaitFinding | None:
        line, word = safe_line(seen.line, 400), "fail line" if seen.failed else "line"
        older = self._older_than_process(seen.written_at)
        if older:
            self.older = f"the {word} there {older}"
            self.tell(self.older, warn=True)
            return None
        outcome = Outcome.FAILED if seen.failed else Outcome.LANDED
        since = min(seen.written_at, clock) or clock
        return self._landed(self._found(outcome, f"{word} in {self.path}: {line}", since, log=self.path, line=line))

    def _blind(self, waited_seconds: float, quiet_seconds: float) -> str:
        """What is to be said of lines that came before the first look: old and new ones look alike."""
        if self.looked_before or not quiet_seconds < waited_seconds or waited_seconds < BLIND_SECONDS:
            return ""
        return (
            f"lines of the first {format_duration(waited_seconds)} do not count, the box was not in sight (--new-only)"
        )

    def memory(self) -> dict[str, Any]:
        claim = None if self.claim is None else {"line": self.claim.detail["line"], "at": self.claim.since}
        return {"cursor": self.cursor, **({"claim": claim} if claim else {})}

    def recall(self, memory: Mapping[str, Any]) -> None:
        self.cursor = str(memory.get("cursor") or self.cursor)
        self.looked_before = self.looked_before or bool(self.cursor)
        claim = as_object(memory.get("claim"))
        if self.is_claim and claim:  # the lines behind the cursor are not told again
            at = as_number(claim.get("at")) or 0.0
            self._judge(LineSeen("", str(claim.get("line")), failed=False, written_at=at), at)
