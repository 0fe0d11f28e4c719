"""The sections of an answer, as far as they were asked for; and which of them could not be read, and why. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.readings import Unseen

if TYPE_CHECKING:
    from collections.abc import Callable

    from patrol.probe.frames import Frames, SectionPart
    from patrol.probe.plan import Ask


class AskedSections:
    """unseen: by label, why it could not be read."""

    def __init__(self, asked: Ask, frames: Frames) -> None:
        self.asked, self.frames = asked, frames
        self.unseen = {
            call.label: part.why
            for call in asked.calls
            if self.was_asked(call.label) and isinstance(part := frames.part(call.label), Unseen)
        }

    def was_asked(self, label: str) -> bool:
        """Whether it belongs to this look; a spare section does where the box began it."""
        return any(call.label == label and (not call.spare or label in self.frames.begun) for call in self.asked.calls)

    def part(self, label: str) -> SectionPart | Unseen:
        return self.frames.part(label)

    def read(self, label: str, parse: Callable[[SectionPart], Any]) -> Any:
        """What it says; Unseen, and noted so, where it cannot be told."""
        part = self.frames.part(label)
        value = part if isinstance(part, Unseen) else parse(part)
        if isinstance(value, Unseen):
            self.unseen[label] = value.why
        return value

    def note(self, label: str, value: object) -> None:
        """Keep why it was not seen, if it was not; the first reason stands."""
        if isinstance(value, Unseen):
            self.unseen.setdefault(label, value.why)
