"""Notices of a run whose runner is gone: what it would have put into the outbox is put there now."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.state.frozen_run import read_head
from onbox.notify.queue.enqueue import Courier

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths


def catch_up_notices(paths: RunPaths) -> None:
    """No runner lives that would put it into the outbox."""
    head = read_head(paths)
    if head is not None and head.data.get("notify"):
        courier = Courier(paths, head, dict(os.environ))
        courier.catch_up()
        courier.kick()
