"""The dead-man's ping: told to a watcher elsewhere after every tick that worked, so that silence is noticed there.

It speaks of the tick, not of the runs: a run that failed and was reported is a tick that worked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.notify.send.send_once import exchange
from onbox.notify.shown_url import mask_url
from onbox.notify.targets import NotSet, look_up_reference
from onbox.notify.types import NoHttpAnswer, Outgoing, Unusable

if TYPE_CHECKING:
    from collections.abc import Mapping

PING_SECONDS = 10.0


def ping(reference: str, environ: Mapping[str, str], folder: str, body: str) -> str | None:
    """POST the body to the URL behind the reference; None when it was taken, else why not, without the URL."""
    try:
        url = look_up_reference(reference, environ, folder)
    except NotSet as error:
        return f"the ping was not sent: {error}"
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    try:
        answer = exchange(Outgoing(url, headers, body.encode("utf-8", "replace")[:9000]), PING_SECONDS)
    except (Unusable, OSError) as error:
        return f"the ping to {mask_url(url)} was not sent: {error}"
    if isinstance(answer, NoHttpAnswer):
        return f"the ping to {mask_url(url)} failed: {answer.why}"
    if not 200 <= answer.status < 300:
        return f"the ping to {mask_url(url)} was answered with HTTP {answer.status}"
    said = answer.body[:200]
    if said.startswith(b"OK (") or b"not found" in said:  # healthchecks.io says 200 for a check that is not there
        return f"the ping to {mask_url(url)} was answered with {said[:40].decode('ascii', 'replace')!r}"
    return None
