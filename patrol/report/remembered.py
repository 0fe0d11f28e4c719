"""What the memory holds of each run, as subjects of rows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen
from onbox.series.point import finite
from onbox.system.clock import wall
from patrol.memory.codec import look_from_text, verdict_from_text
from patrol.report.rows import CURVE_LEAST, RowSource
from patrol.snapshot import BoxLook

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patrol.memory.rows import LastWord
    from patrol.memory.store import Memory
    from patrol.snapshot import RunLook, Snapshot

CURVE_SECONDS = 7 * 86400.0  # older losses say nothing of how it goes now


def remembered_subjects(memory: Memory, boxes: Sequence[str]) -> dict[str, list[RowSource]]:
    """By box: its runs as the last tick that knew of them saw them. What cannot be read back is left out."""
    if not os.path.exists(memory.path):
        return {}
    words = [word for word in memory.last_words() if word.box in boxes]
    looks = {box: look_from_text(memory.last_look(box)) for box in dict.fromkeys(word.box for word in words)}
    found: dict[str, list[RowSource]] = {}
    for word in words:
        subject = subject_of(word, looks[word.box])
        if subject is not None:
            found.setdefault(word.box, []).append(with_losses(subject, memory))
    return found


def subject_of(word: LastWord, snapshot: Snapshot | None) -> RowSource | None:
    """snapshot: the newest of its box. None: what was said cannot be understood."""
    verdict = verdict_from_text(word.verdict)
    if verdict is None:
        return None
    return RowSource(verdict, _look_of(snapshot, word.run), snapshot, (), word.at)


def _look_of(snapshot: Snapshot | None, run: str) -> RunLook | None:
    if not isinstance(snapshot, BoxLook) or isinstance(snapshot.runs, Absent | Unseen):
        return None
    return next((look for look in snapshot.runs if look.run == run), None)


def with_losses(subject: RowSource, memory: Memory) -> RowSource:
    """With the losses so far."""
    return subject._replace(losses=losses_of(memory, subject.verdict.box, subject.verdict.run))


def losses_of(memory: Memory, box: str, run: str) -> list[float | None]:
    """Of the last days, oldest first: those of the run's own series, in its newest stage that has any; of a run that
    keeps none, those that the ticks saw.
    """
    if not run or not os.path.exists(memory.path):
        return []
    since = wall() - CURVE_SECONDS
    read = [(point.stage, loss) for point in memory.series(box, run, since) if (loss := finite(point.loss)) is not None]
    if len(read) >= CURVE_LEAST:
        return [loss for stage, loss in read if stage == read[-1][0]]
    return [point.loss for _, _, _, point in memory.points(box, run, since)]
