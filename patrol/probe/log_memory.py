"""What a log has shown so far, folded with what is new. Pure; kept between looks as a `LogPlace`.

window: the newest whole lines, for triage and the last line. held: the beginning of a line that is not whole yet: it
joins the next look's bytes, so that a crash line that was cut in two is read as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.logs.progress import ProgressReader
from onbox.logs.tail import last_line
from patrol.before import LogPlace
from patrol.snapshot import LogLook

if TYPE_CHECKING:
    from onbox.contract.progress import Progress
    from patrol.probe.box_logs import News

WINDOW_BYTES = 1 << 15
HELD_BYTES = 1 << 13


def follow(place: LogPlace | None, path: str, news: News, *, new_attempt: bool = False) -> LogPlace:
    """The place behind the new bytes. Facts that others keep in `reader` stay.

    new_attempt: the run's processes are others than at the last look: lines from before it are no news of this one.
    """
    reader: dict[str, Any] = dict(place.reader) if place is not None else {}
    fresh = place is None or place.path != path or news.is_fresh
    window, held = (b"", b"") if fresh or place is None else (text_of(reader), place.held)
    if new_attempt:
        window, held = b"", b""
    progress = progress_of({} if fresh else reader)
    torn = news.event == "first" and news.start > 0
    for piece in (*news.rest, *news.pieces):
        text = piece[piece.find(b"\n") + 1 :] if torn else piece
        progress.feed((b"\n" if torn else b"") + text)
        window, held = _join(window, held, text, torn=torn)
        torn = news.skipped_bytes > 0  # then each further piece begins anywhere
    if news.pieces or news.rest or fresh or new_attempt:
        reader.update(progress=progress.state(), window=window.decode("latin-1"))
    reader.update(mtime=news.mtime)
    if news.event != "same":
        reader.update(checksum=news.checksum)
    at = news.cursor
    if fresh or new_attempt:
        reader.pop("done", None)
    return LogPlace(path, (at.device, at.inode, at.offset, at.before), reader, held)


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


def text_of(reader: dict[str, Any]) -> bytes:
    """The kept lines; empty where none are kept, or something else stands there."""
    text = reader.get("window", "")
    return text.encode("latin-1", "replace") if isinstance(text, str) else b""


def progress_of(reader: dict[str, Any]) -> ProgressReader:
    """The reader where it stands; a new one where its state is none (of another version, say)."""
    try:
        return ProgressReader.from_state(reader["progress"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return ProgressReader()


def progress(place: LogPlace) -> Progress:
    return progress_of(place.reader).result()


def whole_text(place: LogPlace) -> bytes:
    """The kept lines and the one that is still growing."""
    return text_of(place.reader) + place.held


def look(place: LogPlace, news: News, clock: float) -> LogLook:
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
