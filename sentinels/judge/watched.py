"""A job that onbox did not start: whether its proof counts, the patrol's own table says, as it does at a tick. Pure.

A log that is appended to, or a file that an earlier attempt left, shows a proof while the job runs once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from sentinels.judge.note import Noted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from patrol.look_now import RunNow
    from sentinels.judge.conditions.base import WaitCondition
    from sentinels.judge.conditions.program import ProgramCondition
    from sentinels.judge.outcome import WaitFinding
    from sentinels.targets import Target


class Question(NamedTuple):
    """What is asked about: the proof that was seen, and since when no process is left. claim None: no process was seen
    either, and the question is whether there was one.
    """

    claim: WaitFinding | None
    gone_at: float | None


class WatchedCondition(Noted):
    """It lands where a proof was seen and the table says done. proof: that waits for the line or the file. program: its
    processes; None: none are declared, and the table alone knows.
    """

    kind = "table"

    def __init__(
        self, target: Target, proof: WaitCondition, program: ProgramCondition | None, look: Callable[[], RunNow]
    ) -> None:
        self.target, self.proof, self.program, self.look = target, proof, program, look

    def wants(self) -> Question | None:
        """What to ask for; None: nothing is in doubt, or a process of the job lives, which the table calls running."""
        claim, program = self.proof.claim, self.program
        if claim is None:
            return Question(None, None) if program is not None and program.may_have_ended else None
        if program is not None and program.lives:
            return None
        return Question(claim, None if program is None else program.gone_at)

    def hear(self, question: Question, found: RunNow) -> WaitFinding | None:
        if not found.seen or found.verdict is None:
            self.tell("the patrol could not look at it", warn=True)
            return None
        verdict = f"{found.verdict.state.value}: {found.verdict.finding.say}"
        if question.claim is None:
            if self.program is not None and found.has_begun and not found.lives:
                self.program.take_as_begun(f"the patrol says {verdict}")
            return None
        if found.is_done:
            return question.claim
        self.proof.is_refused = self.wants() == question and not found.lives
        self.tell(safe_line(f"{question.claim.say}, and the patrol says {verdict}", 400), warn=True)
        return None

    def memory(self) -> dict[str, Any]:
        return {}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Its proof and its processes are remembered by their own conditions."""
