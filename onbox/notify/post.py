"""One HTTP exchange, bounded in time and size, in the process that calls it (see `exchange.py`).

`requests` brings proxies and certificates from the environment as it does everywhere. Nothing of a URL gets into a
text: `requests` and urllib3 put the whole of it into their exceptions, so these are translated, never shown.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from onbox.notify.wire import Answer, NoAnswer, Unusable
from onbox.system.http import no_netrc

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.notify.wire import Outgoing

BODY_LIMIT_BYTES = 65536
REDIRECT_LIMIT = 3
REPOSTED = (301, 302, 307, 308)  # 303 asks for a GET: the message would be lost
CONNECT_SHARE = 0.5  # of the whole time


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
        raise Unusable("it is no URL") from error
    if parts.scheme not in ("http", "https"):
        raise Unusable("only https:// is allowed here (and http:// to this machine itself)")
    if not host:
        raise Unusable("it names no host")
    loopback = parts.scheme == "http"
    if loopback and host != "localhost" and not is_loopback(host):
        raise Unusable("http:// would show it to everybody on the way: use https://")
    return Route(parts.scheme, host, port or (80 if loopback else 443), loopback)


def is_loopback(address: str) -> bool:
    """Whether an address (not a name) is this machine itself."""
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


def post(outgoing: Outgoing, seconds: float, heard: Callable[[int, str | None], None]) -> Answer | NoAnswer:
    """POST it and read the answer. heard: called with status and Retry-After as soon as these are there.

    The limits for connect and for each read are this function's; the limit for the whole is its process's life.
    Redirects to the same scheme, host and port are followed by sending the POST again, at most 3 times.
    """
    url = outgoing.url
    route = route_of(url)
    for _ in range(REDIRECT_LIMIT + 1):
        answer, location = _once(url, route, outgoing, seconds, heard)
        if isinstance(answer, NoAnswer) or answer.status not in REPOSTED or location is None:
            return answer
        url = urljoin(url, location)
        try:
            if route_of(url) != route:
                return NoAnswer(f"HTTP {answer.status}: redirected to another place, which is refused", permanent=True)
        except Unusable:
            return NoAnswer(f"HTTP {answer.status}: redirected to where nothing may be sent", permanent=True)
    return NoAnswer(f"redirected more than {REDIRECT_LIMIT} times", permanent=True)


def _once(
    url: str, route: Route, outgoing: Outgoing, seconds: float, heard: Callable[[int, str | None], None]
) -> tuple[Answer | NoAnswer, str | None]:
    import requests  # noqa: PLC0415 - 150 ms, and only here

    session = requests.Session()
    session.trust_env = not route.loopback  # no proxy between a process and its own machine
    if route.loopback:
        session.mount("http://", loopback_adapter())
    try:
        response = session.post(
            url,
            data=outgoing.body,
            headers={"User-Agent": "onbox", "Accept-Encoding": "identity", **outgoing.headers},
            timeout=(seconds * CONNECT_SHARE, seconds),
            allow_redirects=False,
            stream=True,
            auth=no_netrc,
        )
    except (requests.RequestException, OSError, ValueError) as error:
        return NoAnswer(explain(error, seconds)), None
    retry_after = response.headers.get("Retry-After")
    heard(response.status_code, retry_after)
    body, whole = _read_body(response)
    response.close()
    return Answer(response.status_code, body, retry_after, whole), response.headers.get("Location")


def _read_body(response: Any) -> tuple[bytes, bool]:
    """At most 64 KiB, and whether that was all."""
    import requests  # noqa: PLC0415 - loaded by now

    body = b""
    try:
        for part in response.iter_content(4096):
            body += part
            if len(body) > BODY_LIMIT_BYTES:
                return body[:BODY_LIMIT_BYTES], False
    except (requests.RequestException, OSError, ValueError):
        return body, False
    return body, True


def loopback_adapter() -> Any:
    """An adapter whose connections are closed before a byte is sent unless they lead to this machine: the address that
    was connected to counts, not the name.
    """
    from requests.adapters import HTTPAdapter  # noqa: PLC0415 - loaded with requests
    from urllib3.connection import HTTPConnection  # noqa: PLC0415
    from urllib3.connectionpool import HTTPConnectionPool  # noqa: PLC0415

    class LoopbackConnection(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            if not is_loopback(self.sock.getpeername()[0]):
                self.close()
                raise OSError("not this machine")

    class LoopbackPool(HTTPConnectionPool):
        ConnectionCls = LoopbackConnection

    adapter = HTTPAdapter(max_retries=0)
    adapter.poolmanager.pool_classes_by_scheme = {"http": LoopbackPool}
    return adapter


def explain(error: BaseException, seconds: float) -> str:
    """What went wrong, from the types and numbers of an exception and its causes, never from its text."""
    names: list[str] = []
    chain: list[BaseException] = [error]
    while chain and len(names) < 12:
        one = chain.pop()
        names.append(type(one).__name__)
        if isinstance(one, ssl.SSLCertVerificationError):
            return f"TLS: the certificate was not accepted ({one.verify_message or 'not verified'})"
        if isinstance(one, ConnectionRefusedError):
            return "connection refused"
        if isinstance(one, ConnectionResetError | BrokenPipeError):
            return "the connection was reset"
        reached = [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
        chain += [inner for inner in reached if isinstance(inner, BaseException) and inner is not one]
    return next((text for name, text in _NAMES if name in names), _by_number(error, names)).format(seconds=seconds)


_NAMES = (
    ("NameResolutionError", "the host's name cannot be resolved"),
    ("gaierror", "the host's name cannot be resolved"),
    ("ProxyError", "the proxy did not let it through"),
    ("ConnectTimeout", "no connection in time"),
    ("ConnectTimeoutError", "no connection in time"),
    ("ReadTimeout", "no answer within {seconds:g} s"),
    ("ReadTimeoutError", "no answer within {seconds:g} s"),
    ("SSLError", "TLS failed"),
    ("RemoteDisconnected", "the connection was closed without an answer"),
    ("BadStatusLine", "the answer is not HTTP"),
    ("InvalidURL", "it is no URL"),
    ("InvalidHeader", "it cannot be put into a header"),
)


def _by_number(error: BaseException, names: list[str]) -> str:
    number = error.errno if isinstance(error, OSError) else None
    return os.strerror(number) if number else f"the exchange failed ({names[-1]})"
