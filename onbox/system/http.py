"""The one door to HTTP: every exchange is bounded in time and size, checks certificates, and follows nobody.

No redirects (who may follow one, looks at it himself), no password out of ~/.netrc, nothing unpacked, no text of an
exception (it may hold the URL, and that a secret). A name of this machine must lead to this machine, whatever it
resolves to, and a token goes in the open to this machine only. Time limits of single reads never fire on a slow drip,
so `ask` ends the connection itself when the whole is over; a caller of `converse` has its own end (see
`onbox.notify.send.send_once`).

`requests` is imported on use: only short-lived commands ask, never the runner.
"""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ANSWER_LIMIT_BYTES = 8 << 20
LOOPBACK = ("localhost", "127.0.0.1", "::1")
CONNECT_SHARE = 0.5  # of the whole time
PIECE_BYTES = 16384


class Question(NamedTuple):
    """What to ask. body: sent as JSON; None: nothing is sent. headers: may hold a token, and are never shown."""

    method: str
    url: str
    body: Mapping[str, Any] | None = None
    headers: tuple[tuple[str, str], ...] = ()


class Reply(NamedTuple):
    """An answer of whatever status, its body as text (cut at 8 MiB)."""

    status: int
    text: str


class NoReply(NamedTuple):
    """No answer. why: in words of our own. kind: what stood in the way, a word of `KINDS`."""

    why: str
    kind: str = "failed"


def ask(question: Question, timeout_seconds: float) -> Reply | NoReply:
    """Put the question; the whole exchange takes little more than `timeout_seconds`, whatever the other side does."""
    refused = _may_not_be_asked(question)
    if refused is not None:
        return refused
    import requests  # noqa: F401, PLC0415 - 150 ms, which are not the other side's

    body = None if question.body is None else json.dumps(question.body).encode("ascii")
    kind = {} if body is None else {"Content-Type": "application/json"}
    request = Request(question.method, question.url, {**kind, **dict(question.headers)}, body)
    line = OpenLine()
    found: list[Response | NoReply] = []
    begun = threading.Event()

    def work() -> None:
        try:
            found.append(converse(request, timeout_seconds, ANSWER_LIMIT_BYTES, line, lambda *_: begun.set()))
        except Exception as error:  # noqa: BLE001 - whatever a library raises may hold the URL: only its type is told
            found.append(explain(error, timeout_seconds))

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(timeout_seconds)
    if not found:
        line.end()
        what = "no whole answer" if begun.is_set() else "no answer"
        return NoReply(f"{what} within {timeout_seconds:g} s", "late")
    (answer,) = found
    if isinstance(answer, NoReply):
        return answer
    if not answer.whole and len(answer.body) < ANSWER_LIMIT_BYTES:
        return NoReply("the connection was closed in the middle of the answer", "closed")
    return Reply(answer.status, answer.body.decode("utf-8", "replace"))


def _may_not_be_asked(question: Question) -> NoReply | None:
    try:
        parts = urlsplit(question.url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return NoReply("it is not a URL", "url")
    if parts.scheme not in ("http", "https") or not host:
        return NoReply("it is not a URL of http:// or https://", "url")
    has_token = any(name.lower() == "authorization" for name, _ in question.headers)
    if has_token and parts.scheme == "http" and not is_this_machine(host):
        return NoReply("http:// would show the token to everybody on the way: use https://, or a tunnel", "url")
    return None


# -- one exchange


class Request(NamedTuple):
    """What goes out. It holds secrets: never printed."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None

    def __repr__(self) -> str:
        return f"Request({self.method})"


class Response(NamedTuple):
    """What came. whole: False where the body was cut off, by its size or by the link."""

    status: int
    body: bytes = b""
    whole: bool = True
    retry_after: str | None = None
    location: str | None = None


class OpenLine:
    """The connection of an exchange, so that somebody else can end it. here: it must lead to this machine. abroad: it
    must not lead into a private network. peer: the address that it leads to.
    """

    def __init__(self, *, here: bool = False, abroad: bool = False) -> None:
        self.here, self.abroad, self.peer = here, abroad, ""
        self._lock = threading.Lock()
        self._ended = False
        self._socket: socket.socket | None = None

    def take(self, connected: socket.socket) -> None:
        """Raises OSError for one that leads elsewhere, or that comes too late; then it is closed."""
        self.peer = connected.getpeername()[0]
        if (self.here and not is_loopback(self.peer)) or (self.abroad and not is_public(self.peer)):
            connected.close()
            raise OSError("not this machine" if self.here else "not the network that it was in before")
        with self._lock:
            if self._ended:
                connected.close()
                raise OSError("it is over")
            self._close()
            self._socket = connected.dup()  # TLS takes the descriptor itself away

    def end(self) -> None:
        """Whoever reads or writes on it gets an error at once."""
        with self._lock:
            self._ended = True
            if self._socket is not None:
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)
            self._close()

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def converse(
    request: Request,
    seconds: float,
    limit_bytes: int,
    line: OpenLine | None = None,
    heard: Callable[[int, str | None], None] = lambda status, retry_after: None,
) -> Response | NoReply:
    """One request and its answer. seconds: of connecting and of each read; the whole is the caller's to end, by `line`.
    heard: called with status and Retry-After as soon as these are there.
    """
    from http.client import HTTPException  # noqa: PLC0415 - 40 ms, and only here

    import requests  # noqa: PLC0415 - 150 ms, and only here
    from urllib3.exceptions import HTTPError  # noqa: PLC0415 - loaded with it

    errors = (requests.RequestException, HTTPError, HTTPException, OSError, ValueError)
    here = is_this_machine((urlsplit(request.url).hostname or "").lower())
    line = line or OpenLine()
    line.here = line.here or here
    with requests.Session() as session:
        session.trust_env = not here  # no proxy between a process and its own machine
        adapter = adapter_on(line)
        session.mount("http://", adapter)
        session.mount("https://", adapter)
        try:
            response = session.request(
                request.method,
                request.url,
                data=request.body,
                headers={"User-Agent": "onbox", "Accept-Encoding": "identity", **request.headers},
                timeout=(seconds * CONNECT_SHARE, seconds),
                allow_redirects=False,
                stream=True,
                auth=no_netrc,
            )
        except errors as error:
            line.end()
            return explain(error, seconds)
        retry_after = response.headers.get("Retry-After")
        heard(response.status_code, retry_after)
        body, whole = _read_body(response, limit_bytes, errors)
        line.end()
        return Response(response.status_code, body, whole, retry_after, response.headers.get("Location"))


def _read_body(response: Any, limit_bytes: int, errors: tuple[type[Exception], ...]) -> tuple[bytes, bool]:
    """As much as there may be, as it came (nothing was asked for in a packed form), and whether that was all."""
    body = bytearray()
    try:
        for part in response.raw.stream(PIECE_BYTES, decode_content=False):
            body += part
            if len(body) > limit_bytes:
                return bytes(body[:limit_bytes]), False
    except errors:
        return bytes(body), False
    return bytes(body), True


def no_netrc(request: Any) -> Any:
    """Authentication that adds nothing: else `requests` takes a password for this host out of ~/.netrc."""
    return request


def adapter_on(line: OpenLine) -> Any:
    """An adapter for requests all of whose connections `line` takes, before a byte is sent: the address that was
    connected to counts, not the name.
    """
    from requests.adapters import HTTPAdapter  # noqa: PLC0415 - loaded with requests
    from urllib3.connection import HTTPConnection, HTTPSConnection  # noqa: PLC0415
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool  # noqa: PLC0415

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            connected = super()._new_conn()
            line.take(connected)
            return connected

    class Tls(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            connected = super()._new_conn()
            line.take(connected)
            return connected

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = Tls

    class Adapter(HTTPAdapter):
        def proxy_manager_for(self, *words: Any, **more: Any) -> Any:
            manager = super().proxy_manager_for(*words, **more)
            manager.pool_classes_by_scheme = pools
            return manager

    pools = {"http": PlainPool, "https": TlsPool}
    adapter = Adapter(max_retries=0)
    adapter.poolmanager.pool_classes_by_scheme = pools
    return adapter


def is_this_machine(host: str) -> bool:
    """Whether a host of a URL is meant to be this machine itself."""
    return host == "localhost" or is_loopback(host)


def is_loopback(address: str) -> bool:
    """Whether an address (not a name) is this machine itself."""
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


def is_public(address: str) -> bool:
    """Whether an address (not a name) is one of the internet at large."""
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_global
    except ValueError:
        return False


# -- what went wrong, in words of our own

KINDS = ("refused", "name", "tls", "proxy", "late", "closed", "garbled", "url", "failed")
# Names of exceptions in the chain of causes, the first row that is found; their texts may hold the URL.
_WORDS = (
    ("ConnectionRefusedError", "refused", "connection refused"),
    ("NameResolutionError", "name", "the host's name cannot be resolved"),
    ("gaierror", "name", "the host's name cannot be resolved"),
    ("SSLCertVerificationError", "tls", "TLS: the certificate was not accepted"),
    ("ConnectionResetError", "closed", "the connection was reset"),
    ("BrokenPipeError", "closed", "the connection was reset"),
    ("ProxyError", "proxy", "the proxy did not let it through"),
    ("ConnectTimeout", "late", "no connection in time"),
    ("ConnectTimeoutError", "late", "no connection in time"),
    ("ReadTimeout", "late", "no answer within {seconds:g} s"),
    ("ReadTimeoutError", "late", "no answer within {seconds:g} s"),
    ("SSLError", "tls", "TLS failed"),
    ("RemoteDisconnected", "closed", "the connection was closed without an answer"),
    ("IncompleteRead", "closed", "the connection was closed in the middle of the answer"),
    ("BadStatusLine", "garbled", "the answer is not HTTP"),
    ("LineTooLong", "garbled", "the answer is not HTTP"),
    ("InvalidURL", "url", "it is not a URL"),
    ("InvalidHeader", "url", "it cannot be put into a header"),
)


def explain(error: BaseException, seconds: float) -> NoReply:
    """What went wrong, from the types and numbers of an exception and its causes, never from its text."""
    causes = _causes(error)
    names = {type(one).__name__ for one in causes}
    for name, kind, words in _WORDS:
        if name in names:
            refused = next((one for one in causes if type(one).__name__ == "SSLCertVerificationError"), None)
            why = getattr(refused, "verify_message", None) or "not verified"
            more = f" ({why})" if refused is not None and kind == "tls" else ""
            return NoReply(words.format(seconds=seconds) + more, kind)
    number = error.errno if isinstance(error, OSError) else None
    return NoReply(os.strerror(number) if number else f"the exchange failed ({type(causes[-1]).__name__})")


def _causes(error: BaseException) -> list[BaseException]:
    """The error, and all that led to it, at most twenty."""
    seen: list[BaseException] = []
    left: list[BaseException] = [error]
    while left and len(seen) < 20:
        one = left.pop()
        if any(one is other for other in seen):
            continue
        seen.append(one)
        reached = [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
        left += [inner for inner in reached if isinstance(inner, BaseException)]
    return seen
