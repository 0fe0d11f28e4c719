"""Whether a stage fails in the same way again, as the run's journal tells: so every reader knows it, also one that was
not there before. Pure.

The fold is a dict of plain values, small whatever the journal's length, so that it can be kept between looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event
from onbox.contract.json_text import as_whole
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.contract.events import Record

KEPT = 16  # newest ends
STEPS_SHOWN = 5

# Ends within this share of the step are at the same one: a log shows only every so-manieth step, and what was buffered
# when the process died is lost, so the last step that is seen lies a little before the true one. [detect] same_step
# says another distance, in steps.
SAME_STEP_SHARE = 0.005

# Somebody else ended the run: how often that happens says nothing about the run.
FROM_OUTSIDE = frozenset({"preempted", "time_limit", "user_interrupt"})
COMMANDS_KEPT = 64
SIGNATURE_LIMIT = 300


class AttemptEnd(NamedTuple):
    """How one attempt ended badly. signature: "" where its log does not tell. step: the last one seen; None: none."""

    stage: str
    attempt: int | None
    failure_class: str = ""
    signature: str = ""
    step: float | None = None


class Repeated(NamedTuple):
    """How often the newest end came, itself included (1: once only; 0: no bad end).

    step: at which step, where only that is the same; None: the error itself is the same. steps: of all of them then,
    the oldest first.
    """

    times: int
    step: float | None = None
    steps: tuple[float, ...] = ()

    def __str__(self) -> str:
        if self.step is None:
            return f"the same failure {self.times} times"
        if len(set(self.steps)) < 2:
            return f"{self.times} ends at the same step ({self.step:.12g})"
        apart, shown = max(self.steps) - min(self.steps), ", ".join(f"{one:.12g}" for one in self.steps[-STEPS_SHOWN:])
        return f"{self.times} ends within {apart:.12g} steps of each other ({shown})"


NOTHING: Mapping[str, Any] = {"ends": [], "commands": {}}


def take_in(known: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    """The fold with one more record of the journal. Done, redone, or given another command, a stage begins anew."""
    event, stage = record["event"], record.get("stage")
    if not isinstance(stage, str):
        return known
    stage = stage[:80]
    if event in (Event.STAGE_DONE, Event.STAGE_REDO):
        return _forget(known, stage)
    if event == Event.ATTEMPT_STARTED:
        command = str(record.get("fingerprint") or "")[:80]
        before = known["commands"].get(stage)
        kept = _forget(known, stage) if before not in (None, command) else known
        if before == command:
            return known
        commands = {**dict([*kept["commands"].items()][1 - COMMANDS_KEPT :]), stage: command}
        return {**kept, "commands": commands}
    # An interruption tells how far it came only where nobody asked for it.
    if event == Event.STAGE_FAILED or (event == Event.STAGE_INTERRUPTED and isinstance(record.get("progress"), dict)):
        end = _end_of(stage, record)
        others = [one for one in known["ends"] if one[:2] != [end.stage, end.attempt]]
        return {**known, "ends": [*others, list(end)][-KEPT:]}
    return known


def _forget(known: Mapping[str, Any], stage: str) -> Mapping[str, Any]:
    if stage not in known["commands"] and not any(one[0] == stage for one in known["ends"]):
        return known
    commands = {name: command for name, command in known["commands"].items() if name != stage}
    return {"ends": [one for one in known["ends"] if one[0] != stage], "commands": commands}


def _end_of(stage: str, record: Record) -> AttemptEnd:
    progress = record.get("progress")
    step = progress.get("current") if isinstance(progress, dict) else None
    return AttemptEnd(
        stage,
        as_whole(record.get("attempt")),
        str(record.get("failure_class") or "")[:80],
        str(record.get("signature") or "")[:SIGNATURE_LIMIT],
        float(step) if isinstance(step, int | float) and not isinstance(step, bool) and abs(step) < 1e15 else None,
    )


def ends_of(known: Mapping[str, Any]) -> tuple[AttemptEnd, ...]:
    """The bad ends in the fold, oldest first."""
    return tuple(AttemptEnd(*one) for one in known["ends"])


def repeated(ends: Sequence[AttemptEnd], same_step: float | None = None) -> Repeated:
    """How often the newest of these ends came. same_step: ends so many steps apart are at one; None: a share."""
    if not ends or ends[-1].failure_class in FROM_OUTSIDE:
        return Repeated(0)
    newest = ends[-1]
    alike = sum(1 for end in ends if end.stage == newest.stage and _same_error(end, newest))
    of_stage = [end for end in ends if end.stage == newest.stage]
    at_step = [end for end in of_stage if end is newest or _same_step(end, newest, same_step)]
    if len(at_step) > max(alike, 1):
        return Repeated(len(at_step), newest.step, tuple(end.step for end in at_step if end.step is not None))
    return Repeated(max(alike, 1))


def _same_error(end: AttemptEnd, newest: AttemptEnd) -> bool:
    tells = newest.signature not in (
        "",
        "unknown",
    )  # a class that is not known, without a line, tells nothing to compare
    return tells and end.signature == newest.signature


def _same_step(end: AttemptEnd, newest: AttemptEnd, within: float | None) -> bool:
    """Step 0 tells nothing: whatever fails at the start ends there."""
    if end.step is None or newest.step is None or end.failure_class in FROM_OUTSIDE:
        return False
    most = SAME_STEP_SHARE * newest.step if within is None else within
    return newest.step > 0 and end.step > 0 and abs(end.step - newest.step) <= most
