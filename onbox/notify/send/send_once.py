"""One try, in a process of its own with a limit on its life: whatever hangs (a name server, TLS, headers that come a
byte at a time) ends with it. Time limits per read never fire on a slow drip.

The child tells through a pipe: first the status as soon as it is there, then the rest. The kernel ends it (SIGALRM with
its default action), so nothing in it can swallow the end.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
from base64 import b64decode, b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.notify.send.by_apprise import send_by_apprise
from onbox.notify.send.http_send import post
from onbox.notify.send.mail import send_mail
from onbox.notify.types import HttpAnswer, NoHttpAnswer, Unusable
from onbox.system.http import explain

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.notify.types import Outgoing

PIPE_LIMIT_BYTES = 1 << 20


def exchange(outgoing: Outgoing, seconds: float) -> HttpAnswer | NoHttpAnswer:
    """Send it and get the answer, within `seconds` of wall-clock time. Raises Unusable, OSError (no process left)."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            _be_the_child(outgoing, seconds, writing)
        finally:
            os._exit(1)
    os.close(writing)
    try:
        told = _read_all(reading)
    finally:
        os.close(reading)
        _, status = os.waitpid(pid, 0)
    timed_out = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
    return parse_told(told, f"no complete answer within {seconds:g} s" if timed_out else "the try ended without a word")


def _be_the_child(outgoing: Outgoing, seconds: float, writing: int) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # who is asked to make way brings this try to its end
    signal.setitimer(signal.ITIMER_REAL, seconds)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):  # what a library prints may hold the URL
        os.dup2(null, fd)

    def tell(**words: Any) -> None:
        os.write(writing, json.dumps(words).encode("ascii") + b"\n")

    try:
        result = sender_of(outgoing.url)(outgoing, seconds, lambda status, retry: tell(status=status, retry=retry))
        if isinstance(result, HttpAnswer):
            body = b64encode(result.body).decode("ascii")
            tell(status=result.status, retry=result.retry_after, body=body, whole=result.whole)
        else:
            tell(why=result.why, permanent=result.permanent)
    except Unusable as error:
        tell(unusable=str(error))
    except ImportError as error:
        tell(unusable=f"the package {error.name} is not installed where the deliverer runs")
    except Exception as error:  # noqa: BLE001 - whatever a library raises may hold the URL: only its type is told
        tell(why=explain(error, seconds).why)


def sender_of(url: str) -> Callable[[Outgoing, float, Callable[[int, str | None], None]], HttpAnswer | NoHttpAnswer]:
    """What carries a message to such a URL."""
    scheme = url.partition(":")[0].lower()
    if scheme in ("smtp", "smtps"):
        return send_mail
    if scheme.startswith("apprise+"):
        return send_by_apprise
    return post


def preload(url: str) -> None:
    """Load here what every try needs, so that not each child does (0.15 s)."""
    if sender_of(url) is post:
        with suppress(ImportError):  # then the child tells it
            importlib.import_module("requests")


def _read_all(fd: int) -> bytes:
    parts, size = [], 0
    while size < PIPE_LIMIT_BYTES and (part := os.read(fd, 65536)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def parse_told(told: bytes, silence: str) -> HttpAnswer | NoHttpAnswer:
    """What a child said before it ended. silence: what it means when it said nothing. Raises Unusable."""
    lines = [line for line in told.split(b"\n")[:-1] if line]
    if not lines:
        return NoHttpAnswer(silence)
    data = json.loads(lines[-1])
    if "unusable" in data:
        raise Unusable(data["unusable"])
    if "status" not in data:
        return NoHttpAnswer(data["why"], bool(data.get("permanent")))
    body = b64decode(data.get("body", ""))
    return HttpAnswer(int(data["status"]), body, data.get("retry"), bool(data.get("whole", False)))
