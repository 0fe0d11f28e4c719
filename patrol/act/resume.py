"""The one thing that a patrol may do to a run: `onbox resume`, where `recover = "resume"` allows it.

Whether is decided here, from values (`plan_resume`); that it cannot start a second process is the box's own lock's
doing: of two resumes at once the second finds a runner and attaches or leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.exits import Exit
from onbox.contract.paths import DEFAULT_STATE_DIR
from onbox.contract.readings import observed
from onbox.model.units import counted
from onbox.named_tuple import NamedTuple
from onbox.outside import LINE_LIMIT, safe_line
from patrol.ssh.box_program import FUNCTIONS
from patrol.ssh.client import NoAnswer, script_with_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patrol.memory.rows import PatrolAct
    from patrol.snapshot import RunLook
    from patrol.ssh.client import Answer
    from patrol.verdict import Verdict

KIND = "resume"
DAY_SECONDS = 86400.0
RESUME_SECONDS = 60.0
SAID_LIMIT = 300
END_MARK = b"<<<onbox resume end>>>"

# $1: project on the box; $2: run; $3: the interpreter that started the run, or empty; $4: the state directory, below
# the project unless absolute. The program: of that interpreter, else the one on the PATH, of the project's own
# environments, of the account, or a python that has the package. Its stdin is empty; it detaches by itself.
SCRIPT = (
    FUNCTIONS
    + r"""
case $1 in
  '~'|'~/'*) cd "$HOME${1#?}";;
  *) cd "$1";;
esac || { echo "cannot enter the project"; printf '\n126\n<<<onbox resume end>>>\n'; exit; }
case $4 in
  '~'|'~/'*) state=$HOME${4#?};;
  *) state=$4;;
esac
set -- "$2" "$(onbox_here "$state/$2" "$3")"
onbox_find
if [ -n "$2" ] && onbox_knows "$2"; then onbox_python "$2" resume -d -- "$1" 2>&1; code=$?
elif [ -n "$onbox_program" ]; then "$onbox_program" resume -d -- "$1" 2>&1; code=$?
elif onbox_knows python3; then onbox_python python3 resume -d -- "$1" 2>&1; code=$?
else
  echo "no onbox where the run was started, on the PATH, in .venv or venv of the project, in ~/.local/bin, in python3"
  code=127
fi
printf '\n%s\n<<<onbox resume end>>>\n' "$code"
"""
)


class NotDone(NamedTuple):
    """Nothing is done, and why."""

    why: str


class PlannedResume(NamedTuple):
    """It may be done. signature: of the failure, "" where there is none (a reboot, say)."""

    signature: str


class ActDone(NamedTuple):
    """What came of it. outcome: resumed, running (somebody else was first), failed, unknown (no answer)."""

    outcome: str
    says: str


def plan_resume(
    verdict: Verdict, look: RunLook, past: Sequence[PatrolAct], now: float, restarts_per_day: int
) -> PlannedResume | NotDone:
    """Whether this run may be resumed now. past: all resumes that this patrol ever tried, of any run."""
    if not verdict.may_resume:
        return NotDone(f"the rule {verdict.finding.rule} does not allow it")
    if verdict.soft:
        return NotDone("it was seen too few times to be believed")
    if verdict.acknowledged or (verdict.silenced_until or 0.0) > now:
        return NotDone("a person has acknowledged or silenced it")
    if not (look.managed or look.can_resubmit):
        return NotDone("onbox did not start this run")
    if look.room is not None:
        return NotDone(look.room.words)
    own = [act for act in past if (act.box, act.run) == (verdict.box, verdict.run)]
    failure = observed(look.failure)
    signature = failure.signature if failure else ""
    if look.can_resubmit:
        signature = f"job {look.place}"  # whose end is answered once only, also by a patrol that was killed meanwhile
    if failure and failure.retry_allowed is False:
        return NotDone(f"{failure.failure_class} must not be tried again with the same configuration")
    if signature and any(act.subject == signature for act in own):
        return NotDone("it was resumed after this very failure before")
    recent = [act for act in own if now - act.at < DAY_SECONDS]
    if len(recent) >= restarts_per_day:
        return NotDone(
            f"it was resumed {counted(len(recent), 'time')} within a day, and restarts_per_day is {restarts_per_day}"
        )
    return PlannedResume(signature)


def still_agrees(first: Verdict, second: Verdict, first_look: RunLook, second_look: RunLook) -> NotDone | None:
    """Whether a second look says the same of the same run."""
    if second.finding.rule != first.finding.rule or not second.may_resume:
        return NotDone(f"a second look says {second.finding.rule}")
    if second_look.run_id != first_look.run_id:
        return NotDone("a second look found another run")
    return None


def resume_stdin(project: str, run: str, python: str | None = None, state_dir: str = DEFAULT_STATE_DIR) -> bytes:
    """What goes to the box's sh. python: as the run's records name it. Raises ValueError on a NUL."""
    return script_with_values(SCRIPT, (project, run, python or "", state_dir))


def read_resume(answer: Answer | NoAnswer) -> ActDone:
    """What the box said."""
    if isinstance(answer, NoAnswer):
        return ActDone("unknown", f"no answer ({answer.reason}: {answer.detail}); the next look tells")
    text, _, last = answer.output.decode("utf-8", "replace").strip().rpartition("\n")
    words = safe_line(text.strip()[-LINE_LIMIT:])[-SAID_LIMIT:]
    if not (last.isascii() and last.isdigit()):
        return ActDone("unknown", f"no exit code came: {words}")
    code = int(last)
    if code == Exit.DONE:
        return ActDone("resumed", words)
    if code == Exit.ANOTHER_RUNNER:
        return ActDone("running", "another runner was there first")
    return ActDone("failed", f"exit code {code}: {words}")
