"""Whether a full disk has cost a file that the run claims all the same. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.regex import lazy
from onbox.triage.reading.faults import tells_a_way_on
from onbox.triage.reading.record import WEAK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.triage.reading.record import Fault, SeenLine
    from onbox.triage.weighing.scene import Scene

CLAIMED_WITHIN = 2  # lines
_FILE = lazy(r"[\w-]{1,80}\.[A-Za-z]\w{0,8}\b")
_NO_SPACE = lazy(r"\b(?:No space left on device|Disk quota exceeded)\b")
# How a tool of the shell tells that it could not write: it goes on without a word, or ends, and never writes anew.
_OF_A_TOOL = lazy(
    r"(?:\S{1,120}: line \d{1,7}: |(?:ba|da|z)?sh: \d{1,7}: )?(?!(?:error|warn(?:ing)?|info|fatal|debug|note)\b)"
    r"[a-z][\w.+-]{0,19}(?:\[\d{1,9}\])?: [^;]{0,400}(?:No space left on device|Disk quota exceeded)"
    r"(?: \(\d{1,3}\))?\W{0,2}$"
)
_PATH = lazy(r"(?<![\w.])/[^\s'\":,;]{1,400}")
_AGAIN = lazy(
    r"(?i)\b(?:again|anew|retry|2nd|second|(?:try|attempt|run|pass) #?[2-9])\b"
    r"|\b(?:try|attempt) (?P<at>\d{1,4}) ?/ ?(?!(?P=at)\b)\d"  # and more are left
)


def could_not_write(fault: Fault, scene: Scene) -> bool:
    """Whether the disk was full, and what was to be written is not there, whatever is claimed: right before the end, or
    where a tool of the shell says so, wherever that stands. Somebody who tells of a way on has written elsewhere.
    """
    if not _NO_SPACE.search(fault.text) or fault.severity <= WEAK or fault.handled:
        return False
    below = [line.text for line in scene.record.tail if line.number > fault.number]
    if any(tells_a_way_on(text) or _AGAIN.search(text) for text in below):
        return False
    if not scene.attempt.signs_after(fault) and _is_right_before(fault, below):
        return True
    return has_lost_a_file(fault, scene.record.tail)


def _is_right_before(fault: Fault, below: list[str]) -> bool:
    claimed = _FILE.findall(below[-1]) if below else []
    if not set(claimed).isdisjoint(_FILE.findall(fault.text)):
        return True  # the very file
    return not claimed and len(below) <= CLAIMED_WITHIN  # another file may be there


def has_lost_a_file(fault: Fault, tail: Sequence[SeenLine]) -> bool:
    """Whether a tool of the shell could not write, and nothing below it tells of another try or another disk."""
    below = [line.text for line in tail if line.number > fault.number]
    if not _OF_A_TOOL.match(fault.text) or any(tells_a_way_on(text) or _AGAIN.search(text) for text in below):
        return False
    full, claimed = _PATH.findall(fault.text), _PATH.findall(below[-1]) if below else []
    return not full or not claimed or any(_may_share_a_disk(one, other) for one in full for other in claimed)


def _may_share_a_disk(path: str, other: str) -> bool:
    directory = path.rpartition("/")[0]
    return other.startswith(directory) or directory.startswith(other.rstrip("/"))
