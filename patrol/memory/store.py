"""What the patrol remembers between ticks: one SQLite file, written once per tick in one transaction.

A file that is damaged or not ours is set aside, said so, and a new one is begun: the memory is a help, the looks are
the truth.
"""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING

from patrol.memory.rows import Flip, LastWord, Past, PastTick, PatrolAct, TickPoint
from patrol.memory.sqlite import series
from patrol.memory.sqlite.memory_file import MemoryFile, in_transaction
from patrol.memory.sqlite.write_tick import change_run, forget_run, insert_act, keep_tick, recall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onbox.series.point import Point as SeriesPoint
    from patrol.memory.history import Before
    from patrol.memory.rows import TickNote


FILE = "memory.db"


class Memory(MemoryFile):
    """The store in `folder`. Every method raises MemoryTrouble, StateNotWritten."""

    def __init__(self, folder: str) -> None:
        super().__init__(os.path.join(folder, FILE))

    # -- a tick's own

    def recall(self) -> Past:
        """Everything of the earlier ticks that the next one needs. What cannot be understood is left out."""
        return self.with_file(recall)

    def remember(self, tick: TickNote) -> None:
        """Keep one tick, all of it or nothing, and drop what is too old or too much."""
        self.with_file(lambda db: keep_tick(db, tick))

    def note_act(self, act: PatrolAct) -> None:
        """Keep what is about to be done (or was done), durably, at once."""
        self.with_file(lambda db: in_transaction(db, lambda: insert_act(db, act)))

    def change_run(self, box: str, run: str, change: Callable[[Before], Before], act: PatrolAct) -> bool:
        """Change what is known of a run by a person's word; False if the run is not known."""
        return self.with_file(lambda db: in_transaction(db, lambda: change_run(db, (box, run), change, act)))

    # -- for reading commands

    def forget(self, box: str, run: str | None = None) -> int:
        """Everything of a run, or of a box with all its runs, but what was done to it; how many runs it was of."""
        return self.with_file(lambda db: in_transaction(db, lambda: forget_run(db, box, run)))

    def last_words(self) -> list[LastWord]:
        query = "SELECT box, run, at, line, verdict FROM runs ORDER BY box, run"
        return self.with_file(lambda db: [LastWord(*row) for row in db.execute(query)])

    def ticks(self, limit: int) -> list[PastTick]:
        """The newest ones, newest first."""
        query = "SELECT began_at, ended_at, exit_code, boxes, runs, note FROM ticks ORDER BY id DESC LIMIT ?"
        return self.with_file(lambda db: [PastTick(*row) for row in db.execute(query, (limit,))])

    def flips(self, limit: int, box: str | None = None, run: str | None = None) -> list[Flip]:
        """The newest changes, newest first; of one box or run only."""
        query = (
            "SELECT at, box, run, rule_before, rule, severity, state, say FROM flips"
            " WHERE (?1 IS NULL OR box = ?1) AND (?2 IS NULL OR run = ?2) ORDER BY id DESC LIMIT ?3"
        )
        return self.with_file(lambda db: [Flip(*row) for row in db.execute(query, (box, run, limit))])

    def acts(self, limit: int, kind: str | None = None) -> list[PatrolAct]:
        """What was done, newest first."""
        query = (
            "SELECT at, box, run, kind, subject, outcome, detail FROM acts WHERE (?1 IS NULL OR kind = ?1)"
            " ORDER BY id DESC LIMIT ?2"
        )
        return self.with_file(lambda db: [PatrolAct(*row) for row in db.execute(query, (kind, limit))])

    def subjects(self, kind: str) -> dict[str, str]:
        """Of all acts of a kind: the outcome of the newest one, by subject."""
        query = "SELECT subject, outcome FROM acts WHERE kind = ? ORDER BY id"
        return self.with_file(lambda db: dict(db.execute(query, (kind,)).fetchall()))

    def points(self, box: str, run: str, since: float = 0.0) -> list[tuple[int, str, int, TickPoint]]:
        """`(at, rule, severity, point)` of every tick that saw the run, oldest first."""
        query = (
            "SELECT p.at, r.name, p.severity, p.current, p.loss, p.memory, p.disk, p.inodes, p.gpu FROM points p"
            " JOIN runs ON runs.key = p.run JOIN rules r ON r.key = p.rule"
            " WHERE runs.box = ? AND runs.run = ? AND p.at >= ? ORDER BY p.at"
        )
        return self.with_file(
            lambda db: [(row[0], row[1], row[2], TickPoint(*row[3:])) for row in db.execute(query, (box, run, since))]
        )

    def last_look(self, box: str) -> str | None:
        """The newest look at a box, as JSON; None if there is none."""
        query = "SELECT look FROM looks WHERE box = ? ORDER BY at DESC LIMIT 1"
        found = self.with_file(lambda db: db.execute(query, (box,)).fetchone())
        return zlib.decompress(found[0]).decode("utf-8", "replace") if found else None

    def looks(self, box: str) -> Iterator[str]:
        """All kept looks at a box, newest first, as JSON."""
        query = "SELECT look FROM looks WHERE box = ? ORDER BY at DESC"
        found = self.with_file(lambda db: db.execute(query, (box,)).fetchall())
        return (zlib.decompress(packed).decode("utf-8", "replace") for (packed,) in found)

    def series(self, box: str, run: str, since: float = 0.0) -> list[SeriesPoint]:
        """The points of a run's own series, as the looks brought them, oldest first, at most 1,500 of the whole run.

        since: seconds since 1970; only points after it.
        """
        return self.with_file(lambda db: series.read(db, box, run, since))

    def records(self) -> dict[tuple[str, str], tuple[float, str]]:
        """Each run's own records as a look brought them last, as JSON, and when; by box and run."""
        query = "SELECT box, run, at, record FROM records"
        found = self.with_file(lambda db: db.execute(query).fetchall())
        return {(box, run): (at, zlib.decompress(packed).decode()) for box, run, at, packed in found}
