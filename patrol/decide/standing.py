"""How a run stands, in the words of `onbox.runs.next_step`, and the step as commands for a shell here. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.states import RunState
from onbox.named_tuple import NamedTuple
from onbox.runs.acts import Act, NextStep
from onbox.runs.next_step import Standing
from onbox.runs.signs import Sign, signs_of_failure, signs_of_room
from onbox.triage.full_disk import folder_to_look_at
from patrol.decide.remote_command import here
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onbox.runs.room import RunRoom
    from patrol.decide.remote_command import Way
    from patrol.memory.transfers import Home

ELSEWHERE = "oom-elsewhere"  # a rule of the box that tells of what is not known to concern any of its runs
DOUBTS = ("done-with-warning", "fast-finish")  # rules that speak against results of a run that is done

# What a rule says of the run it names. Those of the second table do so beside another rule, too.
_OF_RULE: Mapping[str, Sign] = {
    "unreachable": Sign.NO_CONTACT,
    "runs-unseen": Sign.NO_CONTACT,
    "vanished": Sign.VANISHED,
    "removed-alive": Sign.REMOVED_ALIVE,
    "repeated-failure": Sign.REPEATED,
    "gate-refused": Sign.GATE_REFUSED,
    "gone": Sign.SEEN_ONCE,
    "stop-point": Sign.STOP_POINT,
    "pending": Sign.UNATTENDED,
}
_OF_FLAG: Mapping[str, Sign] = {
    "loss-lost": Sign.LOSS_LOST,
    "runner-gone": Sign.RUNNER_GONE,
    "notifications-stuck": Sign.NOTICES_STUCK,
    "results-missing": Sign.RESULTS_MISSING,
    **dict.fromkeys(DOUBTS, Sign.DOUBTED),
}


class Reported(NamedTuple):
    """What a verdict says of one run, as far as the next step asks.

    rule, severity: of the verdict. flags: names of the rules beside it. look: what they say to look at; "" for nothing.
    failure_class: "" where it has not failed; proof: the line that tells it. retry_allowed: the marker's own word;
    None: the class table decides.
    repeated: whether an earlier attempt ended in the same way. cells_failed, cells_skipped: of a sweep.
    rechecked: the stage at which it ended was judged again. home: what a pull brought here of it. room: where
    it has none. stage_signs: names of what a resume finds of its stage.
    """

    run: str
    managed: bool
    state: RunState
    rule: str
    severity: Severity
    flags: Iterable[str] = ()
    look: str = ""
    failure_class: str = ""
    proof: str = ""
    retry_allowed: bool | None = None
    repeated: bool = False
    cells_failed: bool = False
    cells_skipped: bool = False
    rechecked: bool = False
    home: Home | None = None
    room: RunRoom | None = None
    stage_signs: tuple[str, ...] = ()


def standing_of(told: Reported) -> Standing:
    """The state with every sign that the verdict gives."""
    signs = {sign for rule in (told.rule, *told.flags) if (sign := _OF_FLAG.get(rule)) is not None}
    if told.rule in _OF_RULE:
        signs.add(_OF_RULE[told.rule])
    if not told.run:
        signs.add(Sign.NO_RUN)
    elif not told.managed:
        signs.add(Sign.FOREIGN)
    signs |= signs_of_failure(told.failure_class, told.retry_allowed) | signs_of_room(told.room)
    signs |= {Sign[name] for name in told.stage_signs if name in Sign.__members__}
    if told.repeated and told.state in (RunState.FAILED, RunState.INTERRUPTED):
        signs.add(Sign.REPEATED)
    if told.rechecked:
        signs.add(Sign.RECHECKED)
    if told.cells_skipped:
        signs.add(Sign.CELLS_SKIPPED)
    elif told.cells_failed:
        signs.add(Sign.CELLS_FAILED)
    if told.home is not None and told.state is RunState.DONE:
        signs.add(Sign.VERIFIED if told.home.verified else Sign.PULLED)
    if told.look and told.severity is not Severity.OK:
        signs.add(Sign.ILL)
    return Standing(told.state, frozenset(signs))


def disk_to_look_at(room: RunRoom | None, proof: str = "") -> str:
    """For a shell in the project: the place without room, where it may lie on another disk. proof: the line that tells
    of a failure; "" for none.
    """
    return room.path if room is not None and room.path.startswith("/") else folder_to_look_at(proof)


class Typist(NamedTuple):
    """Turns a step into complete command lines. onbox: the words of the program on the box."""

    box: str
    run: str
    way: Way
    onbox: tuple[str, ...]

    def of_onbox(self, *words: str) -> str:
        """A command of onbox in the project's directory on the box."""
        return self.way.there((*self.onbox, *words))

    def line(self, act: Act, look: str, place: str = ".") -> str:
        """The command for an act; "" where nothing is to be typed. look: the watcher's own. place: that has no room."""
        if act is Act.LOOK:
            return look
        if act.is_local:
            return " && ".join(here(*words) for words in act.commands(self.run, box=self.box))
        return self.way.there(*act.commands(self.run, self.onbox, place=place))

    def asked(self, step: NextStep) -> tuple[tuple[str, str], ...]:
        """What is done only with a person's word: what, and the command that does it."""
        found = ((one.what, one.words(self.run)) for one in step.with_word)
        acknowledge = here("patrol", "ack", f"{self.box}/{self.run}")
        return tuple((what, self.of_onbox(*words) if words else acknowledge) for what, words in found)
