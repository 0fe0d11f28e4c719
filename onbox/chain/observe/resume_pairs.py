"""The losses of a resumed attempt beside those that the attempt before had at the same steps."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.logs.cut_end import whole_part
from onbox.series.detectors.course import LossPair
from onbox.system.files import open_plain, read_tail

if TYPE_CHECKING:
    from onbox.logs.pairs import Counters

OLD_BYTES = 256 << 10  # of the end of the log before: what is gone through again lies there
NEW_BYTES = 128 << 10  # of the new one, at each look
PAIRS_MAX = 50


class ResumePairs:
    """Grows with the new attempt's log until both logs have shown enough steps. Costs nothing after that."""

    def __init__(self, old_log: str, new_log: str) -> None:
        self._old_log, self._new_log = old_log, new_log
        self._old: dict[Counters, float] | None = None
        self._numbers: frozenset[bytes] = frozenset()
        self._offset = 0
        self.pairs: tuple[LossPair, ...] = ()

    def look(self) -> None:
        """Read on. What cannot be read is not compared."""
        from onbox.logs.pairs import losses_by_step, numbers_of  # noqa: PLC0415 - after a resume only

        try:
            if self._old is None:
                old = whole_part(read_tail(self._old_log, OLD_BYTES) or b"")  # killed, it may have written half a loss
                self._old = dict(losses_by_step(old))
                self._numbers = numbers_of(self._old.keys())
            new = b"" if self.is_over else self._new_bytes()
        except OSError:
            return
        for counters, loss in losses_by_step(new, self._numbers):
            if counters in self._old:
                self.pairs = (*self.pairs, LossPair(max(counters), self._old[counters], loss))

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be compared."""
        return len(self.pairs) >= PAIRS_MAX or (self._old is not None and not self._old)

    def _new_bytes(self) -> bytes:
        """Whole lines behind those that were read."""
        with open_plain(self._new_log) as file:
            data = os.pread(file.fileno(), NEW_BYTES, self._offset)
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        self._offset += end or (len(data) if len(data) == NEW_BYTES else 0)
        return data[:end]
