"""The processes of a job that onbox did not start, known by a pattern of their command line. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.readings import Absent, Unseen
from onbox.model.units import format_duration
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from patrol.probe.box.watch import PROCESSES, parse_processes
from patrol.probe.frames import MarkBlock, SectionPart
from patrol.probe.watched import QUIET_SECONDS, works_in
from sentinels.box.wire import CouldNotLook, Message, ProcessesSeen
from sentinels.judge.conditions.base import Arming, WaitCondition
from sentinels.judge.conditions.log import ALL
from sentinels.judge.outcome import Outcome, WaitFinding
from sentinels.targets import TargetKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from patrol.probe.box.watch import FoundProcess
    from sentinels.targets import Target

GONE_PROOF_SECONDS = 8.0  # a script that starts one program after the other has none for a moment
SCRIPT = PROCESSES + "p_mark() { printf '@%s\\n' \"$*\"; }\n"


class WatchedProgram(NamedTuple):
    """pattern: of its command line, as for `pgrep -f`. project: the directory where its processes work."""

    pattern: str
    project: str


class ProgramCondition(WaitCondition):
    """It only speaks against the proof that is waited for: no process of the job is left.

    That counts once one was seen to live, by this wait or by the patrol; or if its log has been silent for long, for
    then it has begun, and is over.
    """

    kind = "procs"

    def __init__(
        self, target: Target, path: str, arming: Arming, program: WatchedProgram, proof: WaitCondition
    ) -> None:
        super().__init__(target, path, arming)
        self.program, self.proof = program, proof
        self.lived, self.at_home = False, False
        self.gone_at: float | None = None
        self._known = ""

    @property
    def may_have_ended(self) -> bool:
        """Whether there is no process of it, and this wait has seen none: the patrol may know more."""
        return self.gone_at is not None and not self.lived and not self.arming.new_only

    def take_as_begun(self, how: str) -> None:
        """It had begun before this wait did. how: that is known, in words."""
        self.lived, self._known = True, how

    @property
    def lives(self) -> bool:
        """Whether a process of it was seen at the last look."""
        return self.lived and self.gone_at is None

    def words(self, armed_clock: float | None) -> tuple[str, ...]:
        return (self.kind, self.program.pattern, SCRIPT)

    def hear(self, message: Message, clock: float, armed_clock: float) -> WaitFinding | None:
        if isinstance(message, CouldNotLook):
            self._blind(message.why)
        elif isinstance(message, ProcessesSeen):
            found = parse_processes(_part(message))
            if isinstance(found, Absent | Unseen):
                self._blind(found.why if isinstance(found, Unseen) else "no answer")
            else:
                return self._judge(self._own(found), clock)
        return None

    def _blind(self, why: str) -> None:
        self.gone_at = None
        self.tell(f"its processes cannot be looked at: {safe_line(why, 200)}", warn=True)

    def _own(self, found: tuple[FoundProcess, ...]) -> tuple[FoundProcess, ...]:
        """Those in the project's directory; others with the same command line count until one was seen there."""
        inside = tuple(one for one in found if works_in(one, self.program.project))
        self.at_home = self.at_home or bool(inside)
        return inside or (tuple(one for one in found if not one.folder) if self.at_home else found)

    def _judge(self, own: tuple[FoundProcess, ...], clock: float) -> WaitFinding | None:
        if own:
            self.lived, self.gone_at, self.proof.is_refused, self._known = True, None, False, ""
            self.tell("")
            return None
        pattern = safe_line(self.program.pattern, 100)
        self.gone_at = clock if self.gone_at is None or self.gone_at > clock else self.gone_at
        if not self.lived and not self._is_over():
            self.tell(f"no process matches /{pattern}/: it has not begun, or has just ended", warn=True)
            return None
        if clock - self.gone_at < GONE_PROOF_SECONDS or not self._proof_was_read():
            return None
        if self.proof.claim is not None and not self.proof.is_refused:
            return None  # the table is being asked whether it is done
        say = f"no process matches /{pattern}/ any more, and {self._missing()}"
        say = f"{say}; {self._known}" if self._known else say
        return self._found(Outcome.GONE, say, self.gone_at)

    def _is_over(self) -> bool:
        quiet = self.proof.quiet_seconds
        return not self.arming.new_only and quiet is not None and quiet >= QUIET_SECONDS

    def _proof_was_read(self) -> bool:
        """Whether a log that was there already has been read to its end."""
        return getattr(self.proof, "cursor", "") != ALL

    def _missing(self) -> str:
        if self.proof.claim is not None:
            return f"what is there does not prove this attempt's success ({self.proof.claim.say})"
        if self.proof.target.kind is TargetKind.MARKER:
            return f"{self.path} is not there"
        quiet = self.proof.quiet_seconds
        age = f" (written {format_duration(quiet)} ago)" if quiet is not None else ""
        return f"no line of {self.path}{age} matches /{safe_line(self.proof.target.regex, 100)}/"

    def memory(self) -> dict[str, Any]:
        return {"lived": self.lived, "at_home": self.at_home}

    def recall(self, memory: Mapping[str, Any]) -> None:
        self.lived, self.at_home = bool(memory.get("lived")), bool(memory.get("at_home"))


def _part(seen: ProcessesSeen) -> SectionPart:
    """As the patrol takes it: the processes, then their directories behind a mark."""
    pieces = (b"\n" + seen.answer).split(b"\n@")
    blocks = [piece.partition(b"\n") for piece in pieces[1:]]
    marks = tuple(MarkBlock(tuple(head.decode("utf-8", "replace").split()) or ("",), rest) for head, _, rest in blocks)
    return SectionPart(pieces[0].lstrip(b"\n"), marks, seen.code)
