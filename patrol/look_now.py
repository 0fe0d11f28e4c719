"""One run as a tick would judge it now, for what must agree with the table. It looks, and remembers nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import observed
from onbox.contract.states import RunState
from onbox.named_tuple import NamedTuple
from onbox.system.clock import wall
from onbox.system.files import StateNotWritten
from patrol.collect import look_at_all
from patrol.judge import Frame, ended_at, judge
from patrol.memory.rows import MemoryTrouble, Past
from patrol.memory.store import Memory
from patrol.memory.transfers import Register
from patrol.snapshot import BoxLook
from patrol.tick import policy_of

if TYPE_CHECKING:
    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings
    from patrol.verdict import Verdict


PROVE_AN_END = ("ended-unproven", "crashed", "interrupted", "interrupted-again")


class RunNow(NamedTuple):
    """The table's verdict on one run, and its end by the box's clock (None: it lives, or that is not known).

    seen: False where nothing was seen of it now; then `verdict` is of an earlier look, or None. has_begun: of a job
    that onbox did not start: a look has seen its processes, or its end is proven.
    """

    seen: bool
    verdict: Verdict | None
    ended_at: float | None = None
    lives: bool = False
    has_begun: bool = False

    @property
    def is_done(self) -> bool:
        return self.seen and self.verdict is not None and self.verdict.state is RunState.DONE


def look_now(settings: Settings, box: BoxSettings, run: str) -> RunNow:
    """Raises Trouble where the rules cannot be read."""
    past = _recall(settings)
    (seen,) = look_at_all(settings, (box,), past)
    frame = Frame(past, policy_of(settings), settings.ssh_command, wall(), Register(settings.state).homes())
    judged = judge(seen.box, seen.snapshot, seen.memories, frame)
    found = next((one for one in judged.runs if one.verdict.run == run), None)
    if found is None or found.look is None or not isinstance(seen.snapshot, BoxLook):
        return RunNow(seen=False, verdict=None if found is None else found.verdict)
    lives = found.look.stage_alive is True
    memory = seen.memories.runs.get(run) if seen.memories is not None else None
    seen_to_live = bool(memory and memory.watched.processes) and observed(found.look.log) is not None
    has_begun = seen_to_live or found.verdict.finding.rule in PROVE_AN_END
    return RunNow(True, found.verdict, None if lives else ended_at(seen.snapshot, found.look), lives, has_begun)


def _recall(settings: Settings) -> Past:
    """What the ticks remember of its attempts; nothing where that cannot be read."""
    try:
        return Memory(settings.state).recall()
    except (MemoryTrouble, StateNotWritten):
        return Past({}, {}, {})
