"""A message to a webhook, in the process that calls it (see `exchange.py`): where it may go, and which redirects are
followed. The exchange itself is `onbox.system.http`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from onbox.named_tuple import NamedTuple
from onbox.notify.types import HttpAnswer, NoHttpAnswer, Unusable
from onbox.system.http import NoReply, OpenLine, Request, converse, is_public, is_this_machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.notify.types import Outgoing

BODY_LIMIT_BYTES = 65536
REDIRECT_LIMIT = 3
REPOSTED = (301, 302, 307, 308)  # 303 asks for a GET: the message would be lost


class Route(NamedTuple):
    """Where a URL leads. loopback: plain http, allowed to this machine only."""

    scheme: str
    host: str
    port: int
    loopback: bool


def route_of(url: str) -> Route:
    """Check a URL before anything is sent. Raises Unusable."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise Unusable("it is not a URL") from error
    if parts.scheme not in ("http", "https"):
        raise Unusable("only https:// is allowed here (and http:// to this machine itself)")
    if not host:
        raise Unusable("it names no host")
    loopback = parts.scheme == "http"
    if loopback and not is_this_machine(host):
        raise Unusable("http:// would show it to everybody on the way: use https://")
    return Route(parts.scheme, host, port or (80 if loopback else 443), loopback)


def post(outgoing: Outgoing, seconds: float, heard: Callable[[int, str | None], None]) -> HttpAnswer | NoHttpAnswer:
    """POST it and read the answer. heard: called with status and Retry-After as soon as these are there.

    The limits for connect and for each read are the exchange's; the limit for the whole is its process's life.
    Redirects to the same scheme, host and port are followed by sending the POST again, at most 3 times.
    """
    url = outgoing.url
    route = route_of(url)
    line = OpenLine()
    for _ in range(REDIRECT_LIMIT + 1):
        request = Request("POST", url, outgoing.headers, outgoing.body)
        found = converse(request, seconds, BODY_LIMIT_BYTES, line, heard)
        if isinstance(found, NoReply):
            return NoHttpAnswer(found.why)
        if found.status not in REPOSTED or found.location is None:
            return HttpAnswer(found.status, found.body, found.retry_after, found.whole)
        line = OpenLine(abroad=is_public(line.peer))  # the name may lead elsewhere by now
        url = urljoin(url, found.location)
        try:
            if route_of(url) != route:
                return NoHttpAnswer(
                    f"HTTP {found.status}: redirected to another place, which is refused", permanent=True
                )
        except Unusable:
            return NoHttpAnswer(f"HTTP {found.status}: redirected to where nothing may be sent", permanent=True)
    return NoHttpAnswer(f"redirected more than {REDIRECT_LIMIT} times", permanent=True)
