"""How far a run is, read from its log's bytes as they come. Open this file first: bytes, lines, counters, choice.

Fast on lines that show nothing: only those with a trace are looked at (see `line/traces.py`). Of bars that overwrite each
other, the last one is read.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from onbox.logs.again import has_letters
from onbox.logs.alike_lines import AlikeLines
from onbox.logs.cut_end import completed, completed_or_whole, grows_like_another, whole_part
from onbox.logs.judge.choose import choose
from onbox.logs.judge.ending.closing import ClosingLines
from onbox.logs.judge.ending.last_lines import TAIL_BYTES
from onbox.logs.line.percents import read_percent
from onbox.logs.line.traces import FOLD, Traces
from onbox.logs.links import Links
from onbox.logs.model.carriers import Carried
from onbox.logs.model.segments import HEAD_LINES
from onbox.logs.shown_text import shown_texts
from onbox.logs.totals.head import beginning_of
from onbox.logs.track import Track
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from onbox.contract.progress import Progress
    from onbox.logs.alike_lines import Placed

PENDING_BYTES = 1 << 15
FIRST_READ_MAX = 1000  # a line that comes more often than that tells of no new run
FIRST_LINES = 12  # of a log, which wait for each other: they tell what carried it here
TEXT_LIMIT = 500  # of a longer line so much of its beginning and of its end is looked at
OWN_TEXT_LIMIT = 2000  # with a regular expression of the user's own, which has a limit on its time
BLOCK_BYTES = 1 << 18

_ROW = lazy(rb"(?:[a-z]\w{1,20}:)?(?:[ |\t\xe2\x94\x82]|\x1b\[[0;]{0,8}[a-z])*0")
_STAMP = lazy(rb"0000-00-00.00:00:00(?:[.,]0{1,9})?")
_KEY_DROPS = b"0123456789 #=>.-,:%|[]?\t\xe2\x96\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x94\x95\x81\xb8\xba<"


class ProgressSettings(NamedTuple):
    """regex: the user's own shape with the groups `current` and, perhaps, `max`; None: the table of shapes.
    max: the run's exact maximum, which wins over the log's; None: what the log says.
    """

    regex: str | None = None
    max: int | None = None


class LogReading(NamedTuple):
    """A value that stands beside a counter. place: of the line where it was read; it grows from line to line.
    called: what the log calls it, where that is not plain.
    """

    value: float | str
    place: int
    called: str | None = None


class LogSeen(NamedTuple):
    """All that is known of a log. beginning: its first bytes."""

    track: Track
    ending: ClosingLines
    beginning: bytes
    links: Links


def _known_again(folds: list[bytes]) -> list[bytes]:
    """Of a log's first lines those by which one knows that the program runs once more: unlike the next one, each holds
    words, but no number besides a time stamp.
    """
    texts = [fold for fold, following in pairwise(folds) if fold != following]
    return [fold for fold in texts if has_letters(fold) and b"0" not in _STAMP.sub(b"", fold)][:HEAD_LINES]


class ProgressReader:
    """Reads a log piece by piece: `feed` the new bytes, ask for the `result` at any time. The pieces may be cut
    anywhere: the result depends on the bytes only.
    """

    def __init__(self, settings: ProgressSettings | None = None) -> None:
        self.settings = settings or ProgressSettings()
        self._regex = re.compile(self.settings.regex) if self.settings.regex else None
        self._track = Track()
        self._links = Links()
        self._pending = b""
        self._carried = Carried(processes=False)
        self._tail = b""  # the log's last bytes
        self._beginning = b""  # its first ones
        self._first: list[bytes] = []  # its first lines, folded: they are read wherever they stand once more
        self._first_read = 0  # how many such lines were read that show nothing else
        self._drawing = False  # of the line that is overwritten, the first piece has been read
        self._alike = AlikeLines()
        self._traces = Traces()

    def state(self) -> dict[str, Any]:
        """Small and JSON-able: with it, `from_state` goes on where this reader is."""
        return {
            "track": self._track.state(),
            "links": self._links.state(),
            "pending": self._pending.decode("latin-1"),
            "carried": self._carried.state(),
            "tail": self._tail.decode("latin-1"),
            "beginning": self._beginning.decode("latin-1"),
            "first": [folded.decode("latin-1") for folded in self._first],
            "first_read": self._first_read,
            "drawing": self._drawing,
            **self._alike.state(),
        }

    @staticmethod
    def is_state(state: Mapping[str, Any]) -> bool:
        """Whether `from_state` can go on from it. Where it cannot, the log is read anew, from its ends."""
        return Track.is_state(state.get("track", {}))

    @classmethod
    def from_state(cls, state: dict[str, Any], settings: ProgressSettings | None = None) -> ProgressReader:
        reader = cls(settings)
        reader._track = Track.from_state(state["track"])
        reader._links = Links.from_state(state["links"])
        reader._alike.take_state(state)
        reader._pending = state["pending"].encode("latin-1")
        reader._carried = Carried(processes=False)
        reader._carried.take_state(state.get("carried", []))
        reader._tail = state.get("tail", "").encode("latin-1")
        reader._beginning = state.get("beginning", "").encode("latin-1")
        reader._first = [folded.encode("latin-1") for folded in state.get("first", [])]
        reader._first_read = state.get("first_read", 0)
        reader._drawing = state.get("drawing", False)
        return reader

    def feed(self, data: bytes) -> None:
        """Take in the next bytes of the log."""
        if b"\0" in data:  # of UTF-16, or of a disk that lost power
            data = data.replace(b"\0", b"")
        self._tail = (self._tail + data[-TAIL_BYTES:])[-TAIL_BYTES:]
        self._beginning = beginning_of(self._beginning, data)
        for at in range(0, len(data), BLOCK_BYTES):
            self._feed_block(data[at : at + BLOCK_BYTES])

    def _feed_block(self, data: bytes) -> None:
        data = self._pending + data
        if self._carried.around is None and data.count(b"\n") < FIRST_LINES and len(data) < PENDING_BYTES:
            self._pending = data
            return
        end = data.rfind(b"\n") + 1
        growing = data[end:]
        overwritten = b"\r" in growing[:-1] or b"\b" in growing
        self._lines(data[:end])
        rest = growing
        if overwritten:  # all that is overwritten already can be read, but for the last two pieces
            last = max(rest.rfind(b"\r"), rest.rfind(b"\b"))
            cut = max(rest.rfind(b"\r", 0, last), rest.rfind(b"\b", 0, last)) + 1
            self._pieces(rest[:cut], rest[cut:], ended=False)
            rest = rest[cut:]
        if len(rest) > 2 * PENDING_BYTES:
            rest = rest[:PENDING_BYTES] + rest[-PENDING_BYTES:]
        self._pending = rest

    def leap(self) -> None:
        """What is fed next stands further down in the log: nothing is known of what lies between."""
        if self._pending:
            self._lines(self._pending + b"\n")
        self._read(self._alike.left())
        self._pending = b""
        self._alike.begin_form(0, b"")
        self._track.leap()

    def forget(self, line: int, kept: Collection[str]) -> None:
        """As `Track.forget`."""
        self._track.forget(line, kept)

    @property
    def track(self) -> Track:
        """What the lines up to here have shown, without the one still growing."""
        return self._track

    def ended(self) -> ProgressReader:
        """This reader, as if the line still growing had ended."""
        return self._at_end(self.settings)

    def result(self) -> Progress:
        """What the log shows up to here, the line still growing included."""
        seen = self.seen()
        progress = choose(seen.track, self.settings.max, seen.ending, seen.beginning)
        return progress._replace(tracker_run=seen.links.run_url)

    def seen(self) -> LogSeen:
        """What `result` is chosen from."""
        end = self._at_end(self.settings)
        tail = completed_or_whole(self._tail) if grows_like_another(self._tail) else self._tail
        tail, beginning = end._bare(tail), end._bare(self._beginning)  # noqa: SLF001 - its own
        return LogSeen(end._track, ClosingLines(tail), beginning, end._links)  # noqa: SLF001 - as above

    def links(self) -> dict[str, Any]:
        """The tracker's run that the log tells of, as `Links.state`; the line still growing included."""
        # Without the user's own expression, which may search for ever: links do not depend on it.
        return self._at_end(self.settings._replace(regex=None))._links.state()  # noqa: SLF001 - as above

    def readings(self) -> dict[str, LogReading]:
        """The newest of each that the log shows: `loss`, `learning_rate`, `grad_norm`, `metric`.

        Of whole lines (or pieces of one that is drawn over): `loss 12` may become `loss 12.5`, and each is kept for ever.
        """
        track = self._at_end(self.settings._replace(regex=None), only_whole=True)._track  # noqa: SLF001 - as above
        return {name: LogReading(value, place, called) for name, (value, place, called) in track.readings.items()}

    def _at_end(self, settings: ProgressSettings, *, only_whole: bool = False) -> ProgressReader:
        """This reader, as if the line still growing had ended. only_whole: and had not begun."""
        if not self._pending and not self._alike.has_left:
            return self
        end = ProgressReader.from_state(self.state(), settings)
        first, _, pending = end._pending.rpartition(b"\n")  # noqa: SLF001 - as above
        end._lines(first and first + b"\n")  # noqa: SLF001 - as above
        end._lines((whole_part(pending) if only_whole else self._completed(pending)) + b"\n")  # noqa: SLF001 - as above
        end._read(end._alike.left())  # noqa: SLF001 - as above
        return end

    def _completed(self, pending: bytes) -> bytes:
        """As `completed`, which compares with the line before."""
        known = self._tail if len(self._tail) > len(pending) else pending
        before = len(known) - len(pending)  # bytes of lines that have been read
        return completed(known)[before:] if before >= 0 else completed(pending)

    def _lines(self, data: bytes) -> None:
        """Whole lines."""
        if not data:
            return
        data = data.replace(b"\r\n", b"\n")
        if self._carried.around != []:
            data = b"\n".join(self._carried.of_first(data.split(b"\n")))
        if b"\r" not in data and b"\b" not in data:
            self._plain(data)
            return
        plain: list[bytes] = []
        for line in data.split(b"\n")[:-1]:
            if b"\r" not in line and b"\b" not in line:
                plain.append(line)
                continue
            if plain:
                self._plain(b"\n".join(plain) + b"\n")
                plain = []
            self._pieces(line, b"", ended=True)
        if plain:
            self._plain(b"\n".join(plain) + b"\n")

    def _bare(self, data: bytes) -> bytes:
        """Lines without what carried them here."""
        return b"\n".join(self._carried.bare(data.split(b"\n"))) if self._carried.around else data

    def _pieces(self, line: bytes, following: bytes, *, ended: bool) -> None:
        """A line that was overwritten. Of a display that was drawn again and again, the first and the last are read."""
        pieces = [piece for piece in re.split(rb"[\r\x08]+", line) if piece.strip()]
        if not ended and not pieces:
            return
        keys = [piece[:48].translate(None, _KEY_DROPS) for piece in pieces]
        if not ended:
            after = re.split(rb"[\r\x08]+", following)[0]
            keys.append(after[:48].translate(None, _KEY_DROPS) if after else b"\n")
        else:
            keys.append(b"\n")
        for at, piece in enumerate(pieces):
            self._track.place += 1
            first, self._drawing = not self._drawing, True
            # The last one may have been cut before its number.
            cut_next = ended and at == len(pieces) - 2 and pieces[-1].count(b"/") < piece.count(b"/")
            if (first or cut_next or keys[at] != keys[at + 1]) and piece.strip():
                self._read(self._alike.left())
                self._track.drawn = len(pieces) > 1
                self._piece(piece)
        self._track.drawn = False
        self._drawing = not ended

    def _piece(self, piece: bytes) -> None:
        if b"0" in piece.translate(FOLD) or self._matches(piece):
            self._text(piece)

    def _plain(self, data: bytes) -> None:
        """Lines that nothing overwrites: those with a trace are read, or that match the user's own regex; of many that
        are alike, a few.
        """
        lines = data.split(b"\n")
        folds = data.translate(FOLD).split(b"\n")
        self._first = self._first or _known_again(folds[:FIRST_LINES])
        shows = self._traces.look(folds)
        for at, folded in enumerate(folds[:-1]):
            if shows[folded] or self._is_first(folded) or (self._regex and self._matches(lines[at])):
                self._track.place += 1
                due = self._alike.take(self._cut(lines[at]), self._track.place)
                if due:
                    self._read(due)
            elif self._track.table and _ROW.match(folded):
                self._read(self._alike.left())
                self._text(lines[at])

    def _is_first(self, folded: bytes) -> bool:
        """Whether it is one of the log's first lines once more, and not for the thousandth time."""
        if folded not in self._first:
            return False
        self._first_read += 1
        return self._first_read <= FIRST_READ_MAX

    def _read(self, lines: list[Placed]) -> None:
        """Read lines, each with the place that it had."""
        now = self._track.place
        for line, place in lines:
            self._track.place = place
            self._text(line)
        self._track.place = now

    def _text(self, raw: bytes) -> None:
        for text in self._shown(raw):
            self._line(text)

    def _matches(self, raw: bytes) -> bool:
        """Whether it is a line of the user's own regex."""
        return self._regex is not None and any(map(self._regex.search, self._shown(raw)))

    def _shown(self, raw: bytes) -> list[str]:
        return shown_texts(self._cut(raw))

    def _cut(self, line: bytes) -> bytes:
        limit = OWN_TEXT_LIMIT if self._regex else TEXT_LIMIT
        return line if len(line) <= 2 * limit else line[:limit] + line[-limit:]

    def _line(self, text: str) -> None:
        self._links.look(text)
        if self._regex:
            self._own(text)
        else:
            self._track.look(text, read_percent(text))

    def _own(self, text: str) -> None:
        """The user's regex names the run's counter; everything else is read as ever."""
        assert self._regex is not None
        self._track.look(text, None)
        found = self._regex.search(text)
        if found:
            self._track.take_own(found.groupdict())


def read_progress(data: bytes, settings: ProgressSettings | None = None) -> Progress:
    """The progress that a whole log shows."""
    reader = ProgressReader(settings)
    reader.feed(data)
    return reader.result()
