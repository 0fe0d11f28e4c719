"""What a log has shown so far, folded with what is new. Pure; kept between looks as a `LogPlace`.

window: the newest whole lines, for triage and the last line. held: the beginning of a line that is not whole yet: it
joins the next look's bytes, so that a crash line that was cut in two is read as one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.logs.progress import ProgressReader
from onbox.logs.tail import last_line
from patrol.memory.run_memory import LogPlace
from patrol.snapshot import LogLook

if TYPE_CHECKING:
    from onbox.contract.progress import Progress
    from patrol.probe.box.logs import LogNews

WINDOW_BYTES = 1 << 15
HELD_BYTES = 1 << 13


def follow(place: LogPlace | None, path: str, news: LogNews, *, new_attempt: bool = False) -> LogPlace:
    """The place behind the new bytes.

    new_attempt: the run's processes are others than at the last look: lines from before it are not news of this one.
    """
    known = None if is_another(place, path, news) else place
    window, held = (b"", b"") if known is None or new_attempt else (known.window, known.held)
    reader = progress_reader(known)
    torn = news.event == "first" and news.start > 0
    for piece in (*news.rest, *news.pieces):
        text = piece[piece.find(b"\n") + 1 :] if torn else piece
        reader.feed((b"\n" if torn else b"") + text)
        window, held = _join(window, held, text, torn=torn)
        torn = news.skipped_bytes > 0  # then each further piece begins anywhere
    as_it_was = known is not None and not (news.pieces or news.rest)
    return LogPlace(
        path=path,
        cursor=news.cursor,
        window=window,
        held=held,
        progress=known.progress if known is not None and as_it_was else reader.state(),
        mtime=news.mtime,
        checksum=place.checksum if news.event == "same" and place is not None else news.checksum,
    )


def is_another(place: LogPlace | None, path: str, news: LogNews) -> bool:
    """Whether what was known of the log before does not hold for what is there now."""
    return place is None or place.path != path or news.is_fresh


def _join(window: bytes, held: bytes, text: bytes, *, torn: bool) -> tuple[bytes, bytes]:
    """The window with the new text, and what is not a whole line. `\\r` ends a line as well."""
    if torn:
        window, held = window + held + b"\n" if held else window, b""
    whole = held + text
    end = max(whole.rfind(b"\n"), whole.rfind(b"\r")) + 1
    window += whole[:end]
    if len(window) > WINDOW_BYTES:
        cut = window[-WINDOW_BYTES:]
        window = cut[cut.find(b"\n") + 1 :]
    return window, whole[end:][-HELD_BYTES:]


def progress_reader(place: LogPlace | None) -> ProgressReader:
    """The reader where it stands; a new one where its state is none (of another version, say)."""
    if place is not None and place.progress is not None:
        with suppress(KeyError, TypeError, ValueError, AttributeError):
            return ProgressReader.from_state(dict(place.progress))
    return ProgressReader()


def progress(place: LogPlace | None) -> Progress:
    return progress_reader(place).result()


def whole_text(place: LogPlace | None) -> bytes:
    """The kept lines and the one that is still growing."""
    return b"" if place is None else place.window + place.held


def look(place: LogPlace, news: LogNews, clock: float) -> LogLook:
    new = sum(map(len, news.rest)) + sum(map(len, news.pieces)) + news.skipped_bytes
    return LogLook(
        place.path,
        news.cursor,
        news.event,
        news.bytes_total,
        max(0.0, clock - news.mtime),
        new,
        news.skipped_bytes,
        last_line(whole_text(place)[-8192:]) or "",
    )
