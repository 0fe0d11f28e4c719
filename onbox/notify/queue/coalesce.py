"""What to send next to a target: one message, several equal ones as one, or nothing yet. Pure.

Equal bad news in a row becomes a count. What repeats what was told last is held back, longer each time, and told at
once when something else comes behind it: a flapping stage makes a few messages, not two hundred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.contract.notices import Notice
    from onbox.notify.queue.outbox import Message, Name
    from onbox.notify.targets import TargetStanding

GROUP_LIMIT = 500
HOLD_SECONDS, HOLD_LIMIT_SECONDS = 60.0, 3600.0


class Send(NamedTuple):
    """Tell `notice`, which stands for `members`."""

    notice: Notice
    members: tuple[Message, ...]

    @property
    def names(self) -> tuple[Name, ...]:
        return tuple(member.name for member in self.members)


class HoldUntil(NamedTuple):
    """Nothing before `until` (seconds since the epoch), unless something new comes in."""

    until: float


def next_step(queue: Iterable[Message], standing: TargetStanding, now: float) -> Send | HoldUntil | None:
    """queue: the target's messages in order, read as far as needed. None: nothing is waiting."""
    members: list[Message] = []
    more = False
    for message in queue:
        if standing.group and message.name.text not in standing.group:
            break
        if not standing.group and members and message.notice.key != members[0].notice.key:
            more = True
            break
        members.append(message)
        if len(members) >= GROUP_LIMIT:
            more = True
            break
    if not members:
        return None
    if not standing.group and not more and members[0].notice.key == standing.last_key:
        until = standing.last_sent + hold_seconds(standing.repeats)
        if now < until <= now + HOLD_LIMIT_SECONDS:
            return HoldUntil(until)
    return Send(merged(members), tuple(members))


def hold_seconds(repeats: int) -> float:
    """How long the same news is held back after it was told `repeats` times in a row."""
    return min(HOLD_LIMIT_SECONDS, HOLD_SECONDS * 2.0 ** min(max(0, repeats - 1), 20))


def merged(members: list[Message]) -> Notice:
    """The newest of equal notices, with their count. A group has an id of its own: who has seen one of its members
    alone must not take it for that one.
    """
    first, last = members[0].notice, members[-1].notice
    if len(members) == 1:
        return first
    return last._replace(id=f"{last.id}_x{len(members)}", times=len(members), since=first.at)
