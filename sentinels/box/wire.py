"""What the program on the box says, as values: one line, one observation. Pure. `lookout.py` is the other side."""

from __future__ import annotations

import binascii
import math

from onbox.named_tuple import NamedTuple

MARK = b"@s "
LINE_LIMIT_BYTES = 2 << 20  # a line that is longer is not a line of ours
DIGITS_LIMIT = 19
LAST_SECOND = 253402300799.0  # of the year 9999, since the epoch


class Hello(NamedTuple):
    """The program has begun. engine: python or sh. clock: the box's, seconds since the epoch."""

    engine: str
    clock: float
    boot_id: str
    pid: int


class Beat(NamedTuple):
    """It is alive, and all items were looked at before."""

    clock: float


class EndedLine(NamedTuple):
    """It ended by itself; why: `held`: its time was over."""

    why: str


class FileSeen(NamedTuple):
    """A marker that is there. stamp: device:inode:ctime:mtime:size (times in ns). contract: head of run.json and the
    stage's line, where the marker lies in a run directory; else empty.
    """

    item: str
    stamp: str
    content: bytes
    contract: bytes

    @property
    def changed_at(self) -> float | None:
        """Time of the last change of the inode (it is renewed when a file is renamed into place); None: not told."""
        parts = self.stamp.split(":")
        try:
            return _whole(parts[2]) / 1e9 if len(parts) == 5 else None
        except ValueError:
            return None


class NotThere(NamedTuple):
    """Looked, and it is not there."""

    item: str


class CouldNotLook(NamedTuple):
    item: str
    why: str


class LineSeen(NamedTuple):
    """A line of the log that matched. failed: it is the fail pattern's. written_at: when the log was written last."""

    item: str
    line: str
    failed: bool
    written_at: float = 0.0


class Remember(NamedTuple):
    """Where to go on from on the next connection; opaque."""

    item: str
    known: str


class Quiet(NamedTuple):
    """For how long nothing was written, by the box's clock."""

    item: str
    seconds: float


class ArtifactSeen(NamedTuple):
    """ready: a file is big enough and stable (path, size, changed_at), the newest of them; else how many match and how
    many of them are not done.
    """

    item: str
    ready: bool
    path: str = ""
    size: int = 0
    changed_at: float = 0.0
    files: int = 0
    growing: int = 0


class PidSeen(NamedTuple):
    """stamp: start time and boot of a live process, age_seconds: for how long it has lived; None: gone."""

    item: str
    stamp: str | None
    age_seconds: float | None = None


class ProcessesSeen(NamedTuple):
    """What the shell text that lists processes answered, and its exit code."""

    item: str
    code: int
    answer: bytes


class RunSeen(NamedTuple):
    """Parts of a run directory by name: raw bytes as they lie there, and what the kernel says. See `run_look`."""

    item: str
    parts: dict[str, bytes]


class EngineSeen(NamedTuple):
    """What an engine answered about a run's jobs; clock: when it was asked, by the box's. See `engine_look`."""

    item: str
    clock: float
    answer: str


Message = (
    Hello
    | Beat
    | EndedLine
    | FileSeen
    | NotThere
    | CouldNotLook
    | LineSeen
    | Remember
    | Quiet
    | ArtifactSeen
    | PidSeen
    | ProcessesSeen
    | RunSeen
    | EngineSeen
)


def parse_line(line: bytes) -> Message | None:
    """The observation of one line without its end; None for everything else (a start-up file's noise, half a line)."""
    if not line.startswith(MARK):
        return None
    try:
        words = line[len(MARK) :].decode("ascii").split(" ")
        return _parse(words)
    except (ValueError, IndexError, binascii.Error):
        return None


def _parse(words: list[str]) -> Message | None:
    kind, rest = words[0], words[1:]
    if kind == "beat":
        return Beat(_clock(rest[0]))
    if kind == "hello":
        return Hello(rest[0], _clock(rest[1]), rest[2], _whole(rest[3]))
    if kind == "end":
        return EndedLine(rest[0])
    if kind == "quiet":
        return Quiet(rest[0], _clock(rest[1]))
    if kind == "run":
        return RunSeen(rest[0], {name: unhex(text) for name, _, text in (word.partition("=") for word in rest[1:])})
    if kind == "engine":
        return EngineSeen(rest[0], _clock(rest[1]), _text(rest[2]))
    if rest[1] == "absent":
        return NotThere(rest[0])
    if rest[1] == "unseen":
        return CouldNotLook(rest[0], _text(rest[2]))
    parser = {
        "file": _parse_file,
        "log": _parse_log,
        "artifact": _parse_artifact,
        "pid": _parse_pid,
        "procs": _parse_procs,
    }.get(kind)
    return parser(rest) if parser is not None else None


def _parse_file(rest: list[str]) -> Message:
    return FileSeen(rest[0], rest[2], unhex(rest[3]), unhex(rest[4]))


def _parse_log(rest: list[str]) -> Message:
    if rest[1] == "cursor":
        return Remember(rest[0], rest[2])
    return LineSeen(rest[0], _text(rest[2]), failed=rest[1] == "fail", written_at=_clock(rest[3]))


def _parse_artifact(rest: list[str]) -> Message:
    if rest[1] == "known":
        return Remember(rest[0], "" if rest[2] == "-" else rest[2])
    if rest[1] == "ready":
        return ArtifactSeen(rest[0], ready=True, path=_text(rest[2]), size=_whole(rest[3]), changed_at=_clock(rest[4]))
    return ArtifactSeen(rest[0], ready=False, files=_whole(rest[2]), growing=_whole(rest[3]))


def _parse_pid(rest: list[str]) -> Message:
    return PidSeen(rest[0], None) if rest[1] == "gone" else PidSeen(rest[0], rest[2], _clock(rest[3]))


def _parse_procs(rest: list[str]) -> Message:
    return ProcessesSeen(rest[0], _whole(rest[1]), unhex(rest[2]))


def _clock(text: str) -> float:
    """Seconds from 0 to the end of the year 9999. Raises ValueError."""
    value = float(text) if len(text) <= 2 * DIGITS_LIMIT else math.nan
    if not 0.0 <= value <= LAST_SECOND:
        raise ValueError("no such time")
    return value


def _whole(text: str) -> int:
    """A whole number from 0 on. Raises ValueError."""
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS_LIMIT):
        raise ValueError("no such number")
    return int(text)


def unhex(text: str) -> bytes:
    return b"" if text == "-" else binascii.unhexlify(text)


def _text(hexed: str) -> str:
    return unhex(hexed).decode("utf-8", "replace")


class Splitter:
    """Bytes of a stream, in pieces as they come, to whole lines."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LINE_LIMIT_BYTES:
            self._rest = b""
        return lines
