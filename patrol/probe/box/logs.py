"""A log's new bytes: only what lies behind the place where the last look ended, whatever became of the file since.

Cost and answer depend on the new bytes, not on the file's size: `dd` seeks. The 256 bytes before the place are sent
along, so that the next place can be told by them; their checksum tells the box whether the file was cut and grew again.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen
from onbox.logs.cursor import BEFORE_BYTES, Cursor
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe
    from patrol.probe.frames import MarkBlock

ATTACH_BYTES = 1 << 16

# p_piece FILE FROM TO CAP: its bytes, from at least 256 before FROM on; of more than CAP only beginning and end.
# p_log FILE INODE OFFSET CHECKSUM MTIME CAP: INODE 0 for a file that was never read. What stat(1) says of the file may
# stand in p_told already. After a rotation the rest of the
# old file comes first, found by its inode in the same directory (stat and the glob keep the same order).
SHELL = r"""
p_piece() {
  p_from=$((($2>256?$2-256:0)/256)) p_to=$((($3+255)/256))
  if [ $(($3-$2)) -gt $4 ]; then
    p_mark "at $((p_from*256))"
    dd if="$1" bs=256 skip=$p_from count=$(($4/1024+2))
    p_from=$((($3-$4*3/4)/256))
  fi
  p_mark "at $((p_from*256))"
  dd if="$1" bs=256 skip=$p_from count=$((p_to-p_from))
}
p_told=
p_log() {
  p_at "$1"
  shift
  [ -f "$p_path" ] || {
    [ ! -e "$p_path" ] || return 22
    p_path=${p_path%/*}/
    [ ! -d "$p_path" ] || [ -x "$p_path" ] || return 21
    return 20
  }
  [ -r "$p_path" ] || return 21
  [ "$p_told" ] || p_told=$(stat -L -c '%d %i %s %Y' "$p_path") || return 23
  set -- "$p_path" "$@" $p_told
  p_event=grown p_start=$3 p_sum=
  if [ $2 = 0 ]; then
    p_event=first p_start=$(($9>$6?$9-$6:0))
  elif [ $2 != $8 ]; then
    p_event=rotated p_start=0
  elif [ $9 -lt $3 ]; then
    p_event=truncated p_start=0
  elif [ "$9.${10}" = "$3.$5" ]; then
    p_event=same
  else
    p_back=$(($3<256?$3:256))
    p_sum=$(dd if="$1" bs=1 skip=$(($3-p_back)) count=$p_back | cksum)
    [ "${p_sum%% *}" = "$4" ] || [ ! "$p_sum" ] || p_event=rewritten p_start=0
  fi
  p_mark "log $p_event $p_start $7 $8 $9 ${10}"
  [ $p_event != rotated ] || p_rest "$@"
  [ $p_event = same ] || p_piece "$1" $p_start $9 $6
}
p_rest() {
  p_cap=$6 p_old=$2 p_behind=$3 p_place=0
  set -- "${1%/*}"/*
  for p_inode in $(stat -c %i "$@"); do
    p_place=$((p_place+1))
    [ $p_inode = $p_old ] && break
  done
  shift $((p_place-1))
  p_found=$(stat -c '%i %s' "$1")
  [ "${p_found% *}" = $p_old ] || return
  p_mark "rest ${p_found#* }"
  p_piece "$1" $p_behind ${p_found#* } $((p_cap/2))
  p_mark new
}
"""

_TROUBLE: dict[int | None, Absent | Unseen] = {
    20: Absent("no such file"),
    21: Unseen("no permission to read it"),
    22: Unseen("it is not a plain file"),
    23: Unseen("the box's `stat` does not work"),
}


class LogNews(NamedTuple):
    """What the look at a log brought. pieces: the new bytes; between two of them, bytes were skipped. rest: new bytes
    of the file that was rotated away, in the same way; they come first. start: where in the file the pieces begin.
    event: as in `onbox.logs.cursor.Look`. mtime: last write by the box's clock, whole seconds.
    """

    event: str
    cursor: Cursor
    bytes_total: int
    mtime: int
    start: int
    pieces: tuple[bytes, ...]
    skipped_bytes: int
    rest: tuple[bytes, ...] = ()
    checksum: int = 0

    @property
    def is_fresh(self) -> bool:
        """Whether what was known of the log's text no longer holds. A rotation whose rest was found loses nothing."""
        return self.event in ("first", "truncated", "rewritten") or (self.event == "rotated" and not self.rest)


def parse_log(blocks: tuple[MarkBlock, ...], code: int | None, known: Cursor | None) -> Maybe[LogNews]:
    """The answer of `p_log`. known: the place that the box was told to go on from."""
    if code in _TROUBLE:
        return _TROUBLE[code]
    head = next((block.words for block in blocks if block.words[0] == "log"), ())
    numbers = [int(word) for word in head[2:] if word.isdecimal() and len(word) < 20]
    if code != 0 or len(numbers) != 5:
        return Unseen("the log could not be looked at" + ("" if code is None else f" (code {code})"))
    event, (start, device, inode, size, mtime) = head[1], numbers
    if event == "same" and known is not None:
        return LogNews("same", known, size, mtime, known.offset, (), 0)
    if event in ("same", "grown") and known is None:  # what the box went on from is no longer believed here
        return LogNews("first", Cursor(device, inode, 0, digest(b"")), size, mtime, 0, (), 0, checksum=checksum(b""))
    here = [at for at, block in enumerate(blocks) if block.words[0] in ("log", "new")][-1]
    found = Span.of(blocks[here:]).up_to(size)
    if event == "grown" and known is not None and not found.follows(known):
        # No checksum on the box, or the file was cut after it: what came is not from its beginning.
        return LogNews(
            "rewritten", Cursor(device, inode, 0, digest(b"")), size, mtime, 0, (), 0, checksum=checksum(b"")
        )
    pieces, end, skipped = found.behind(start)
    before = found.before(end)
    rest, _, skipped_before = Span.of(blocks[:here]).behind(known.offset if known else 0)
    if event == "grown" and not pieces:
        event = "same"
    cursor = Cursor(device, inode, end, digest(before))
    return LogNews(event, cursor, size, mtime, start, pieces, skipped + skipped_before, rest, checksum(before))


class Span(NamedTuple):
    """Bytes of one file, each piece with its place."""

    placed: tuple[tuple[int, bytes], ...]

    @classmethod
    def of(cls, blocks: tuple[MarkBlock, ...]) -> Span:
        return cls(
            tuple(
                (int(block.words[1]), block.data)
                for block in blocks
                if block.words[0] == "at" and len(block.words) == 2 and block.words[1].isdecimal()
            )
        )

    def up_to(self, size: int) -> Span:
        """Without what was written after the size was told: it ends where a block of `dd` ends, amid a line."""
        return Span(tuple((start, data[: max(0, size - start)]) for start, data in self.placed))

    def behind(self, offset: int) -> tuple[tuple[bytes, ...], int, int]:
        """The bytes from `offset` on, where they end, and how many are missing between the pieces."""
        pieces, skipped = [], 0
        for start, data in self.placed:
            if start > offset:
                skipped, offset = skipped + start - offset, start
            new = data[offset - start :]
            if new:
                pieces.append(new)
                offset += len(new)
        return tuple(pieces), offset, skipped

    def before(self, offset: int) -> bytes:
        """Up to 256 bytes before `offset`."""
        for start, data in reversed(self.placed):
            if start < offset <= start + len(data):
                return data[: offset - start][-BEFORE_BYTES:]
        return b""

    def follows(self, known: Cursor) -> bool:
        reached = any(start <= known.offset <= start + len(data) for start, data in self.placed)
        return reached and digest(self.before(known.offset)) == known.before


def digest(before: bytes) -> str:
    """What a cursor that is kept in a file tells of the bytes before its place."""
    return hashlib.sha256(before).hexdigest()[:32]


def checksum(data: bytes) -> int:
    """As POSIX cksum(1) prints it: the one checksum that every box can work out."""
    crc = 0
    length = len(data)
    tail = []
    while length:
        tail.append(length & 0xFF)
        length >>= 8
    for byte in (*data, *tail):
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1) ^ 0x104C11DB7 if crc & 0x80000000 else crc << 1
    return crc ^ 0xFFFFFFFF
