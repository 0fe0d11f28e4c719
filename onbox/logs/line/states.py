"""A scheduler's count of its tasks by their states: how many are done. Pure."""

from __future__ import annotations

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

_HEAD = lazy(r"(?i)^\W*(?:number of )?(trial|task|job)s?(?: status)?:\s*(?:(\d{1,18})(?:/(\d{1,18}))?\s*\()?")
_OPEN = ("PENDING", "RUNNING", "PAUSED", "QUEUED", "WAITING")
_DONE = ("TERMINATED", "COMPLETED", "SUCCEEDED", "DONE", "FINISHED", "ERROR", "FAILED")
_STATE = lazy(rf"(?:(\d{{1,18}}) |'?)({'|'.join((*_OPEN, *_DONE))})(?![A-Z])(?:'?: (\d{{1,18}}))?")


class States(NamedTuple):
    """done: of the tasks, whatever their fate. total: how many there are to be; None where that is not told. left: how
    many are told not to be done.
    """

    unit: str
    done: int
    total: int | None
    left: int


def read_states(text: str) -> States | None:
    """`Number of trials: 4/10 (1 RUNNING, 3 TERMINATED)`: 3 of 10; None for any other line."""
    head = _HEAD.match(text)
    found = _STATE.findall(text, head.end()) if head else []
    counts = [(state, int(before or after)) for before, state, after in found if before or after]
    if head is None or not counts:
        return None
    done = sum(count for state, count in counts if state in _DONE)
    left = sum(count for state, count in counts if state in _OPEN)
    return States(head[1].lower(), done, int(head[3]) if head[3] else None, left)
