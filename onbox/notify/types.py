"""What every format is made of: what goes out, what came back, and what that means. Pure."""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.notices import Notice


class Outgoing(NamedTuple):
    """One request. It holds secrets: never printed. scheme says how it travels: http(s), smtp(s), apprise+…"""

    url: str
    headers: dict[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"Outgoing({len(self.body)} bytes)"


class Unusable(Exception):
    """A URL that nothing may be sent to. Says why, and nothing of its path."""


class HttpAnswer(NamedTuple):
    """What the other side said. retry_after: the header as it stands, None if there was none. whole: False if the body
    was cut off, by its size or by the link: the status line stands all the same.
    """

    status: int
    body: bytes = b""
    retry_after: str | None = None
    whole: bool = True


class NoHttpAnswer(NamedTuple):
    """No status line came back. permanent: trying again cannot help (a redirect to another host, say). Whether the
    message arrived is not known, unless `permanent`.
    """

    why: str
    permanent: bool = False


class TryOutcome(Enum):
    """What became of one try."""

    DELIVERED = "delivered"
    LATER = "will be tried again"
    NEVER = "refused for good"
    UNCLEAR = "accepted, but the answer is not the channel's"  # tried again, but not often: it may have arrived


class Delivery(NamedTuple):
    """The meaning of one try. retry_after_seconds: what the channel asked for; None if it did not."""

    outcome: TryOutcome
    reason: str
    status: int | None = None
    retry_after_seconds: float | None = None


class FormatInput(NamedTuple):
    """What a format is given. url and secret are the target's; now: seconds since the epoch."""

    notice: Notice
    url: str
    secret: str | None
    now: float


class Rate(NamedTuple):
    """At most so many messages in `seconds`."""

    messages: int
    seconds: float


class Format(NamedTuple):
    """One channel. hosts: its URLs are known by these (a leading dot: and all below). limit_bytes: of a message, body
    and all. success: when a message counts as delivered, in words. source: where all that is from. setup: what a person
    does to get the URL.
    """

    name: str
    title: str
    hosts: tuple[str, ...]
    build: Callable[[FormatInput], Outgoing]
    judge: Callable[[HttpAnswer, float], Delivery]
    rate: Rate | None
    limit: str
    success: str
    signing: str
    source: str
    setup: str


JSON_HEADERS = {"Content-Type": "application/json; charset=utf-8"}


def render_json(data: object) -> bytes:
    """ASCII, so that no cut splits a character and no server has to guess."""
    return json.dumps(data).encode("ascii")
