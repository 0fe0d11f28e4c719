"""What can be seen of the end of an attempt that nobody recorded. Looking changes nothing."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.chain.state.read_status import read_status
from onbox.contract.events import Event
from onbox.logs.progress import ProgressReader
from onbox.runs.unseen_end import UnseenEnd, says_done
from onbox.system.clock import parse_utc
from onbox.system.files import read_tail
from onbox.system.process import boot_id

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import RunHead
    from onbox.runs.journal import JournalFacts

TAIL_BYTES = 1 << 15


def look_at_unseen_end(paths: RunPaths, head: RunHead, facts: JournalFacts) -> UnseenEnd | None:
    """Of the newest attempt, of which nothing lives. None where the journal tells how it ended, or there was none."""
    if not facts.is_open or facts.stage is None or facts.stage_event != Event.ATTEMPT_STARTED:
        return None
    log, written, text = paths.newest_log(facts.stage), None, b""
    with suppress(OSError):  # then nothing of it speaks for an end
        written, text = os.stat(log).st_mtime, read_tail(log, TAIL_BYTES) or b""
    reader = ProgressReader()
    reader.feed(text)
    status = read_status(paths) or {}
    return UnseenEnd(
        parse_utc(str(status.get("at", ""))),
        written,
        head.settings.sample_every_seconds,
        says_done(text, loop_is_over=reader.result().finished),
        facts.boot_id is not None and facts.boot_id != boot_id(),
    )
