"""One message through apprise, in the process that calls it (see `exchange.py`)."""

from __future__ import annotations

import json
import logging
import warnings
from typing import TYPE_CHECKING

from onbox.notify.formats.exotic import PREFIX
from onbox.notify.types import HttpAnswer, NoHttpAnswer, Unusable

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.notify.types import Outgoing


def send_by_apprise(
    outgoing: Outgoing, _seconds: float, _heard: Callable[[int, str | None], None]
) -> HttpAnswer | NoHttpAnswer:
    """Raises Unusable, ImportError."""
    warnings.simplefilter("ignore")  # nobody reads them here
    import apprise  # noqa: PLC0415 - an extra

    logging.disable(logging.CRITICAL)  # its messages may hold the URL
    words = json.loads(outgoing.body)
    service = apprise.Apprise()
    if not service.add(outgoing.url[len(PREFIX) :]):
        raise Unusable("apprise does not know such a URL")
    return HttpAnswer(200 if service.notify(body=words["body"], title=words["title"]) else 500)
