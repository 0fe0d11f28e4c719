"""What the memory holds of each run, as subjects of rows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen
from onbox.system.clock import wall
from patrol.memory.codec import look_from_text, verdict_from_text
from patrol.report.rows import Subject
from patrol.snapshot import BoxLook

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patrol.memory.rows import LastWord, Point
    from patrol.memory.store import Memory
    from patrol.snapshot import RunLook, Snapshot

CURVE_SECONDS = 7 * 86400.0  # older losses say nothing of how it goes now


def remembered_subjects(memory: Memory, boxes: Sequence[str]) -> dict[str, list[Subject]]:
    """By box: its runs as the last tick that knew of them saw them. What cannot be read back is left out."""
    if not os.path.exists(memory.path):
        return {}
    words = [word for word in memory.last_words() if word.box in boxes]
    looks = {box: look_from_text(memory.last_look(box)) for box in dict.fromkeys(word.box for word in words)}
    found: dict[str, list[Subject]] = {}
    for word in words:
        subject = subject_of(word, looks[word.box])
        if subject is not None:
            found.setdefault(word.box, []).append(with_points(subject, memory))
    return found


def subject_of(word: LastWord, snapshot: Snapshot | None) -> Subject | None:
    """snapshot: the newest of its box. None: what was said cannot be understood."""
    verdict = verdict_from_text(word.verdict)
    if verdict is None:
        return None
    return Subject(verdict, _look_of(snapshot, word.run), snapshot, (), word.at)


def _look_of(snapshot: Snapshot | None, run: str) -> RunLook | None:
    if not isinstance(snapshot, BoxLook) or isinstance(snapshot.runs, Absent | Unseen):
        return None
    return next((look for look in snapshot.runs if look.run == run), None)


def with_points(subject: Subject, memory: Memory) -> Subject:
    """With the numbers of earlier ticks."""
    return subject._replace(points=points_of(memory, subject.verdict.box, subject.verdict.run))


def points_of(memory: Memory, box: str, run: str) -> list[Point]:
    """The numbers of a run at the ticks of the last days, oldest first."""
    if not run or not os.path.exists(memory.path):
        return []
    return [point for _, _, _, point in memory.points(box, run, wall() - CURVE_SECONDS)]
