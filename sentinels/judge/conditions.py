"""What observations mean for one target: a condition hears them in order and says once how its wait ended. Pure.

A condition remembers what is needed to go on after a lost link, or in a later slice of the same wait: `words` are the
item's words for the program on the box, `memory` and `recall` its JSON-able memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import parse_object
from onbox.contract.markers import Marker, parse_marker
from onbox.model.engines import ON_BOX
from onbox.model.units import format_duration, format_size
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.clock import parse_utc
from sentinels.box.engine_sh import ASK
from sentinels.box.wire import (
    ArtifactSeen,
    CouldNotLook,
    EngineSeen,
    FileSeen,
    LineSeen,
    Message,
    NotThere,
    PidSeen,
    Quiet,
    Remember,
    RunSeen,
)
from sentinels.judge.engine_state import EngineWord, word_of
from sentinels.judge.note import Noted
from sentinels.judge.outcome import Outcome, WaitFinding
from sentinels.judge.run_facts import PROOF_SECONDS, JudgedRun, RunTerms, facts_of, judge_run, why_failed
from sentinels.targets import Target, TargetKind, ere_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CLOCK_GRAIN_SECONDS = 0.02  # a file's times lag behind the clock by up to a tick of the kernel
WORTH_TELLING_SECONDS = 600.0  # of silence of a run that has no limit for it
ALIKE_SECONDS = 1.0  # a shell tells times in whole seconds: what is so much older than a process is surely older
ALL = "all"  # a log's cursor: what is there already counts
BLIND_SECONDS = 3.0  # of a log, before the first look; so long a login is nothing unusual


class Arming(NamedTuple):
    """What a wait was begun with. new_only: what was there before does not count."""

    new_only: bool = False
    stall_after_seconds: float | None = None


class WaitCondition(Noted, ABC):
    """One target. beside: the processes on the same box that belong to it: what is older than one that lives is of an
    older run.
    """

    kind = ""
    beside: Sequence[ProcessCondition] = ()

    def __init__(self, target: Target, path: str, arming: Arming) -> None:
        self.target, self.path, self.arming = target, path, arming
        self.quiet_seconds: float | None = None

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
                return f"is older than process {process.path}, which lives: a new one is waited for"
        return ""

    def _found(self, outcome: Outcome, say: str, since: float | None = None, **detail: Any) -> WaitFinding:
        kept = {key: value for key, value in detail.items() if value is not None}
        return WaitFinding(outcome, self.target.text, safe_line(say, 1000), since, kept)

    def _cannot_look(self, message: CouldNotLook) -> None:
        self.tell(f"cannot be looked at: {safe_line(message.why, 200)}", warn=True)


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
            self.known_absent, self.old = True, ""
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
        return self._found(Outcome.LANDED, f"marker {self.path}", since, marker=self.path, run_id=data.get("run_id"))

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
        return self._found(outcome, f"{word} in {self.path}: {line}", since, log=self.path, line=line)

    def _blind(self, waited_seconds: float, quiet_seconds: float) -> str:
        """What is to be said of lines that came before the first look: old and new ones look alike."""
        if self.looked_before or not quiet_seconds < waited_seconds or waited_seconds < BLIND_SECONDS:
            return ""
        return (
            f"lines of the first {format_duration(waited_seconds)} do not count, the box was not in sight (--new-only)"
        )

    def memory(self) -> dict[str, Any]:
        return {"cursor": self.cursor}

    def recall(self, memory: Mapping[str, Any]) -> None:
        self.cursor = str(memory.get("cursor") or self.cursor)
        self.looked_before = self.looked_before or bool(self.cursor)


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


class RunCondition(WaitCondition):
    """A run: its CHAIN_DONE, or its failure, stop, stall or death. `companion`: it only tells what speaks against a
    stage's marker, which is waited for by a condition of its own.
    """

    kind = "run"

    def __init__(self, target: Target, path: str, arming: Arming, *, companion: bool = False) -> None:
        super().__init__(target, path, arming)
        self.companion = companion
        self.bound: str | None = None
        self.suspect: tuple[str, float] | None = None
        self.quiet: float | None = None
        self.parts: Mapping[str, bytes] | None = None
        self.word: EngineWord | None = None
        self.lived = False  # seen alive by this very wait

    def words(self, armed_clock: float | None) -> tuple[str, ...]:
        return (self.kind, self.path, ASK, ",".join(ON_BOX))

    def hear(self, message: Message, clock: float, armed_clock: float) -> WaitFinding | None:
        if isinstance(message, Quiet):
            self.quiet = message.seconds
        elif isinstance(message, EngineSeen):
            self.word = word_of(message.answer, message.clock)
        elif isinstance(message, RunSeen):
            self.parts = message.parts
        if self.parts is None:
            return None
        return self._judge(self.parts, clock)

    def _judge(self, parts: Mapping[str, bytes], clock: float) -> WaitFinding | None:
        facts = facts_of(parts)._replace(
            clock=clock, word=self.word
        )  # what was seen stays true while nothing new is told
        judged = judge_run(facts, RunTerms(self.bound, self.arming.stall_after_seconds, self.quiet))
        self.bound = self.bound or facts.run_id
        alive = "alive" in (facts.runner, facts.stage)
        note = "" if self.companion and facts.run_id is None else judged.say
        if alive and judged.outcome is None and (self.quiet or 0.0) >= WORTH_TELLING_SECONDS:
            note += f"; nothing was written for {format_duration(self.quiet or 0.0)} (--stall-after would end this)"
        self.tell(note, warn=judged.warn and bool(note))
        self.lived = self.lived or alive
        if judged.outcome is None or (self.companion and judged.outcome is Outcome.LANDED):
            self.suspect = None
            return None
        if judged.proof_seconds is not None and not self._proved(judged, clock, judged.proof_seconds):
            return None
        facts_for_json = {**failure_facts(facts.failed), "run_id": facts.run_id, "rule": judged.row}
        if judged.outcome is not Outcome.FAILED:
            facts_for_json = {"run_id": facts.run_id, "rule": judged.row}
        if judged.failure_class is not None:
            facts_for_json["failure_class"] = judged.failure_class
        # When it went, nobody wrote down: first seen to have gone, or else the last word of its own.
        since = self.suspect[1] if judged.outcome is Outcome.GONE and self.lived and self.suspect else None
        return self._found(judged.outcome, judged.say, since or parse_utc(judged.at), **facts_for_json)

    def _proved(self, judged: JudgedRun, clock: float, proof_seconds: float) -> bool:
        """Whether the same was seen before, long enough ago."""
        seen_at = clock if judged.seen_at is None else judged.seen_at
        if self.suspect is None or self.suspect[0] != judged.row or self.suspect[1] > seen_at:
            self.suspect = (judged.row, seen_at)
        return seen_at - self.suspect[1] >= proof_seconds

    def memory(self) -> dict[str, Any]:
        return {"bound": self.bound}

    def recall(self, memory: Mapping[str, Any]) -> None:
        bound = memory.get("bound")
        self.bound = None if bound is None else str(bound)


def with_processes(items: Sequence[tuple[int, WaitCondition]]) -> list[tuple[int, WaitCondition]]:
    """All on one box, its processes first: what is older than one that lives is known to be so when it is seen."""
    processes = [(number, one) for number, one in items if isinstance(one, ProcessCondition)]
    others = [(number, one) for number, one in items if not isinstance(one, ProcessCondition)]
    for _, condition in others:
        condition.beside = [one for _, one in processes]
    return [*processes, *others]


CONDITIONS: Mapping[TargetKind, type[WaitCondition]] = {
    TargetKind.MARKER: MarkerCondition,
    TargetKind.RUN: RunCondition,
    TargetKind.LOG: LogCondition,
    TargetKind.ARTIFACT: ArtifactCondition,
    TargetKind.PROCESS: ProcessCondition,
}


def make_conditions(target: Target, path: str, arming: Arming) -> list[WaitCondition]:
    """The conditions of a target at its full path: one, or for a stage's marker in a run directory also its run."""
    made = [CONDITIONS[target.kind](target, path, arming)]
    folder, _, name = path.rpartition("/")
    if target.kind is TargetKind.MARKER and not target.fails and name.endswith("_DONE") and folder.endswith("/markers"):
        made.append(RunCondition(target, folder.removesuffix("/markers"), arming, companion=True))
    return made
