"""What the wait's loop needs of whatever it listens to: a box that speaks, or an engine that is asked now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from patrol.ssh.client import SshTarget
    from sentinels.judge.outcome import WaitFinding
    from sentinels.link.channel import Contact


class Source(Protocol):
    """As `Channel` and `JobChannel` are. items: id to (number of the target, its condition). What is open has a
    `connection` with an `fd` to watch.
    """

    finished: set[int]

    @property
    def target(self) -> SshTarget: ...

    @property
    def items(self) -> Mapping[str, tuple[int, Any]]: ...

    @property
    def idle(self) -> bool:
        """Whether there is nothing to be said of it: it has nothing to ask."""
        ...

    @property
    def looked(self) -> bool: ...

    @property
    def lasting(self) -> bool: ...

    @property
    def last_heard_at(self) -> float | None: ...

    @property
    def contact(self) -> Contact: ...

    def connections_open(self) -> list[Any]: ...

    def read(self, attempt: Any) -> list[tuple[int, WaitFinding]]: ...

    def tick(self, now: float) -> None: ...

    def due_at(self, now: float) -> float: ...

    def close(self) -> None: ...

    def why_unreachable(self) -> str: ...
