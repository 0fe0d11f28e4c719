"""One question over HTTP, bounded in time and size. No redirects, no password out of ~/.netrc, no text of an exception.

`requests` is imported on use: only short-lived commands ask, never the runner.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from onbox.system.clock import monotonic

if TYPE_CHECKING:
    from collections.abc import Mapping

ANSWER_LIMIT_BYTES = 8 << 20
LOOPBACK = ("localhost", "127.0.0.1", "::1")


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
    import requests  # noqa: PLC0415 - 150 ms

    deadline = monotonic() + timeout_seconds
    session = requests.Session()
    session.trust_env = urlsplit(question.url).hostname not in LOOPBACK  # no proxy to our own machine
    body = None if question.body is None else json.dumps(question.body).encode("ascii")
    kind = {} if body is None else {"Content-Type": "application/json"}
    try:
        with session.request(
            question.method,
            question.url,
            data=body,
            headers={"User-Agent": "onbox", "Accept-Encoding": "identity", **kind, **dict(question.headers)},
            timeout=(timeout_seconds / 2, timeout_seconds),
            allow_redirects=False,
            stream=True,
            auth=no_netrc,
        ) as response:
            text = b""
            for part in response.iter_content(65536):
                text += part
                if monotonic() > deadline:
                    return NoReply(f"no whole answer within {timeout_seconds:g} s", "late")
                if len(text) > ANSWER_LIMIT_BYTES:
                    break
            return Reply(response.status_code, text[:ANSWER_LIMIT_BYTES].decode("utf-8", "replace"))
    except (requests.RequestException, OSError, ValueError) as error:
        return _explain(error, timeout_seconds)
    finally:
        session.close()


def no_netrc(request: Any) -> Any:
    """Authentication that adds nothing: else `requests` takes a password for this host out of ~/.netrc."""
    return request


KINDS = ("refused", "name", "tls", "proxy", "late", "closed", "garbled", "url", "failed")
# Names of exceptions in the chain of causes, the first that is found; their texts may hold the URL.
_WORDS = (
    ("ConnectionRefusedError", "refused", "connection refused"),
    ("NameResolutionError", "name", "the host's name cannot be resolved"),
    ("gaierror", "name", "the host's name cannot be resolved"),
    ("SSLCertVerificationError", "tls", "TLS: the certificate was not accepted"),
    ("SSLError", "tls", "TLS failed"),
    ("ProxyError", "proxy", "the proxy did not let it through"),
    ("ConnectTimeout", "late", "no connection in time"),
    ("ReadTimeout", "late", "no answer within {seconds:g} s"),
    ("ReadTimeoutError", "late", "no answer within {seconds:g} s"),
    ("ConnectionResetError", "closed", "the connection was reset"),
    ("RemoteDisconnected", "closed", "the connection was closed without an answer"),
    ("IncompleteRead", "closed", "the connection was closed in the middle of the answer"),
    ("BadStatusLine", "garbled", "the answer is not HTTP"),
    ("InvalidURL", "url", "it is no URL"),
)


def _explain(error: BaseException, seconds: float) -> NoReply:
    names: set[str] = set()
    left: list[BaseException] = [error]
    while left and len(names) < 20:
        one = left.pop()
        if type(one).__name__ in names:
            continue
        names.add(type(one).__name__)
        reached = [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
        left += [inner for inner in reached if isinstance(inner, BaseException)]
    for name, kind, words in _WORDS:
        if name in names:
            return NoReply(words.format(seconds=seconds), kind)
    return NoReply(f"the exchange failed ({type(error).__name__})")
