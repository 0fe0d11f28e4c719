"""A target that is a run. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.model.engines import ON_BOX
from onbox.model.units import format_duration
from onbox.system.clock import parse_utc
from sentinels.box.engine_sh import ASK
from sentinels.box.wire import (
    EngineSeen,
    Message,
    Quiet,
    RunSeen,
)
from sentinels.judge.conditions.base import Arming, WaitCondition
from sentinels.judge.conditions.marker import failure_facts
from sentinels.judge.engine_state import EngineWord, word_of
from sentinels.judge.outcome import Outcome, WaitFinding
from sentinels.judge.run_facts import facts_of
from sentinels.judge.run_rows import JudgedRun, RunTerms, judge_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sentinels.targets import Target

WORTH_TELLING_SECONDS = 600.0  # of silence of a run that has no limit for it


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
        self.also_there: tuple[str, ...] = ()  # watched jobs of the box, by their names
        self.is_recalled = False  # bound by an earlier slice, and not looked at since

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
        found = facts_of(parts)
        known = tuple(dict.fromkeys((*found.neighbours, *self.also_there)))
        # What was seen stays true while nothing new is told.
        facts = found._replace(clock=clock, word=self.word, neighbours=known)
        self._bind_anew(facts.run_id)
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

    def _bind_anew(self, run_id: str | None) -> None:
        """An earlier wait may have been for a run that was deleted since: this one is for the run that it finds."""
        if self.is_recalled and run_id is not None:
            self.bound, self.is_recalled = run_id, False

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
        self.is_recalled = self.bound is not None
