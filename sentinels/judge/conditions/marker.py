"""A target that is a marker. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import parse_object
from onbox.contract.markers import Marker, parse_marker
from onbox.model.units import format_duration
from onbox.outside import safe_line
from onbox.system.clock import parse_utc
from sentinels.box.wire import (
    CouldNotLook,
    FileSeen,
    Message,
    NotThere,
)
from sentinels.judge.conditions.base import Arming, WaitCondition
from sentinels.judge.outcome import Outcome, WaitFinding
from sentinels.judge.run_rows import why_failed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sentinels.targets import Target

CLOCK_GRAIN_SECONDS = 0.02  # a file's times lag behind the clock by up to a tick of the kernel


class MarkerCondition(WaitCondition):
    """A marker, also one that is there already, unless it is known to be of another run or command."""

    kind = "file"

    def __init__(self, target: Target, path: str, arming: Arming) -> None:
        super().__init__(target, path, arming)
        self.old = ""  # stamp of the marker that does not count
        self.known_absent = False

    def words(self, armed_clock: float | None) -> tuple[str, ...]:
        return (self.kind, self.path, self.old)

    def hear(self, message: Message, clock: float, armed_clock: float) -> WaitFinding | None:
        if isinstance(message, CouldNotLook):
            self._cannot_look(message)
        elif isinstance(message, NotThere):
            self.known_absent, self.old, self.claim = True, "", None
            self.tell("not there yet")
        elif isinstance(message, FileSeen):
            return self._judge(message, clock, armed_clock)
        return None

    def _judge(self, seen: FileSeen, clock: float, armed_clock: float) -> WaitFinding | None:
        if seen.stamp == self.old:
            return None
        marker = parse_marker(seen.content)
        why_old = self._why_old(seen, marker, clock, armed_clock)
        if why_old:
            self.old = seen.stamp
            self.tell(why_old, warn=True)
            return None
        data: Mapping[str, Any] = marker.data if isinstance(marker, Marker) else {}
        since = parse_utc(str(data.get("ended_at", ""))) or seen.changed_at
        if self.target.fails:
            why = why_failed(data) or first_line(seen.content)
            say = f"fail marker {self.path}" + (f": {why}" if why else "")
            return self._found(Outcome.FAILED, say, since, marker=self.path, **failure_facts(data))
        found = self._found(Outcome.LANDED, f"marker {self.path}", since, marker=self.path, run_id=data.get("run_id"))
        return self._landed(found)

    def _why_old(self, seen: FileSeen, marker: object, clock: float, armed_clock: float) -> str:
        """Why this marker does not count; "" when it does."""
        if isinstance(marker, Marker) and seen.contract:
            wanted_id, wanted_print = contract_of(seen.contract)
            if wanted_id is not None and marker.run_id != wanted_id:
                return f"the marker there is of an older run ({marker.run_id}; the run is {wanted_id})"
            if wanted_print is not None and marker.fingerprint != wanted_print:
                return f"the marker there is of another command ({marker.fingerprint}, not {wanted_print})"
        changed = seen.changed_at
        older = self._older_than_process(changed)
        if older:
            return f"the marker there {older}"
        if not self.arming.new_only or self.known_absent or self.old:
            return ""
        if changed is not None and armed_clock - CLOCK_GRAIN_SECONDS <= changed <= clock + 2.0:
            return ""
        age = "" if changed is None else f", {format_duration(max(0.0, armed_clock - changed))} old"
        return f"there was one before this wait{age}; a new one is waited for (--new-only)"

    def memory(self) -> dict[str, Any]:
        return {"old": self.old, "known_absent": self.known_absent}

    def recall(self, memory: Mapping[str, Any]) -> None:
        self.old, self.known_absent = str(memory.get("old", "")), bool(memory.get("known_absent"))


def contract_of(text: bytes) -> tuple[str | None, str | None]:
    """(run id, fingerprint) that a marker must have, from run.json's head and its stage's line; None: not told."""
    head, _, line = text.partition(b"\n")
    opening = head.rpartition(b', "stages": [')[0]
    chain = parse_object(opening + b"}") or {}
    stage = parse_object(line.strip().removesuffix(b",")) or {}
    fingerprint = stage.get("fingerprint") if line.strip() else chain.get("chain_fingerprint")
    run_id = chain.get("run_id")
    return (None if run_id is None else str(run_id)), (None if fingerprint is None else str(fingerprint))


def failure_facts(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a FAILED marker adds to the JSON."""
    keys = ("run_id", "stage", "attempt", "exit_code", "failure_class", "remedy", "signature", "proof", "log")
    return {
        key: safe_line(value) if isinstance(value := data.get(key), str) else value
        for key in keys
        if data.get(key) is not None
    }


def first_line(content: bytes) -> str:
    text = content.decode("utf-8", "replace").strip()
    return safe_line(text.partition("\n")[0], 200)
