"""Read the records of boxes' runs, over the same links as the patrol. The only part of a handbook that asks a box."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from handbook.box.records import BoxRecords, ask_stdin, end_mark, parse
from patrol.config.ssh_target import target_of
from patrol.ssh.client import NoAnswer, ask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings

RECORDS_SECONDS = 60.0
AT_ONCE = 8
LIMIT_BYTES = 8 << 20  # runs beyond it are asked for at the next time


def fetch_all(settings: Settings, wanted: Mapping[str, Mapping[str, str]]) -> dict[str, BoxRecords]:
    """The records of the wanted runs, by box, boxes side by side. One that does not answer has a trouble. wanted: of
    each box the runs, each with the interpreter that started it, or "".
    """
    boxes = [box for box in settings.config.boxes if wanted.get(box.name) and box.project is not None]
    if not boxes:
        return {}
    with ThreadPoolExecutor(min(AT_ONCE, len(boxes))) as pool:
        answers = pool.map(lambda box: fetch(settings, box, wanted[box.name]), boxes)
        return {box.name: answer for box, answer in zip(boxes, answers, strict=True)}


def fetch(settings: Settings, box: BoxSettings, runs: Mapping[str, str]) -> BoxRecords:
    """The records of some runs of one box."""
    if why := settings.not_trusted(box):
        return BoxRecords({}, why)
    mark = f"<<<{secrets.token_hex(16)}>>>"
    try:
        stdin = ask_stdin(box.project or ".", settings.state_dir_of(box), mark, runs)
    except ValueError as error:
        return BoxRecords({}, str(error))
    answer = ask(
        target_of(settings, box),
        stdin,
        end_mark=end_mark(mark),
        deadline_seconds=RECORDS_SECONDS,
        limit_bytes=LIMIT_BYTES,
    )
    if not isinstance(answer, NoAnswer):
        return parse(answer.output, mark, runs)
    if len(answer.output) < LIMIT_BYTES:
        return BoxRecords({}, f"{answer.reason}: {answer.detail}")
    found = parse(answer.output, mark, runs, cut=True)
    were_read = f"the records of {len(found.runs)} of {len(runs)} runs were read"
    return found._replace(trouble=f"more than {LIMIT_BYTES >> 20} MiB came; {were_read}")
