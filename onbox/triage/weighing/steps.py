"""Whether a step of a script died with a traceback, and the script took the next step without a word. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.outcome import Outcome
from onbox.regex import lazy
from onbox.triage.reading.faults import tells_a_way_on
from onbox.triage.reading.outcome import closing_outcome

if TYPE_CHECKING:
    from onbox.triage.reading.record import Fault
    from onbox.triage.weighing.scene import Scene

# A heading is marked as such, or numbers its step: `>>> compress`, `== 03:10 step 2 train`, `[2/4] train`.
_HEADING = lazy(r"([^\w\s\[('\"]{2,8}) (?=\w)|(\[)\d{1,3} ?/ ?\d{1,3}\] |(?i:(step|stage|phase|part)) \d{1,3}\b")
_NUMBERS_A_STEP = lazy(r"(?i)\b(?:step|stage|phase|part) \d{1,3}\b|^\[\d{1,3} ?/ ?\d{1,3}\] ")
_WORD = lazy(r"[A-Za-z_]{2,}")
# Who says any of it knows what happened.
_KNOWS = lazy(
    r"(?i)\b(?:attempt|try|tries|retry\w*|again|re-?start\w*|resum\w*|rerun|fix\w*|fail\w*|errors?|exit\w*|crash\w*|died"
    r"|dead|rc|code|status|fall\w*|skip\w*|without|dropp?\w*|left out|ignor\w*|continu\w*|go(?:es|ing) on"
    r"|could not|cannot|unable)\b"
)


def ended_its_step(fault: Fault, scene: Scene) -> bool:
    """Whether an exception that nobody caught stands right above the heading of another step: the step it belongs to
    was not done, whatever the script says at its end. Pieces of one loop have headings of the same words.
    """
    if not fault.ended_program or fault.trace is None or scene.exited_zero:
        return False
    if scene.attempt.success is None and closing_outcome(scene.record) is not Outcome.MADE:
        return False  # it may stop yet
    tail = scene.record.tail
    below = next((line.text for line in tail if line.number > fault.number), "")
    mark = _mark(below)
    if not mark or _KNOWS.search(below) or tells_a_way_on(below):
        return False
    before = (line.text for line in reversed(tail) if line.number < fault.trace.number)
    above = next((text for text in before if _mark(text) == mark), "")
    return bool(above) and not _KNOWS.search(above) and _are_two_steps(above, below)


def _mark(text: str) -> str:
    found = _HEADING.match(text)
    return next((part for part in found.groups() if part), "").lower() if found else ""


def _are_two_steps(above: str, below: str) -> bool:
    one, other = set(_WORD.findall(above)), set(_WORD.findall(below))
    if not one or not other or one == other:
        return False
    return bool(_NUMBERS_A_STEP.search(above) and _NUMBERS_A_STEP.search(below)) or one.isdisjoint(other)
