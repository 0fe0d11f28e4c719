"""A run's files at its experiment tracker, where they lie on the box. Shell text and the taking apart.

Of W&B's run file the bytes that are new since the last look, from the last block's beginning, as a file grows by
records that only make sense from there; nothing where it has not changed. Of trackio's database what a small program
says: there must be a python on the box, which trackio needs, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple
from onbox.trackers.trackio_db import PROGRAM
from patrol.probe.box.logs import Span
from patrol.probe.box.runs import count
from patrol.ssh.box_program import OWNED

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe
    from patrol.probe.frames import SectionPart

CAP_BYTES = 1 << 16

# p_tracker wandb FOLDER FROM KNOWN CAP: KNOWN is `INODE.SIZE.MTIME` of the last look.
# p_tracker trackio DATABASE RUN PYTHON PROGRAM: PYTHON, of a run's records, is tried before python3 of the path.
SHELL = (
    OWNED
    + r"""
p_tracker() {
  case $1 in
    wandb) shift && p_wandb "$@";;
    trackio) shift && p_trackio "$@";;
  esac
}
p_wandb() {
  p_at "$1"
  [ -d "$p_path" ] || return 20
  set -- "$p_path" "$2" "$3" "$4" "$p_path"/run-*.wandb
  [ -e "$5" ] || return 24
  p_found=$(stat -L -c '%i.%s.%Y' "$5") || return 23
  p_synced=0
  [ ! -e "$5.synced" ] || p_synced=1
  p_mark "wandb $p_found $p_synced"
  [ $p_found != "$3" ] || return 0
  [ -r "$5" ] || return 21
  p_size=${p_found#*.}
  p_size=${p_size%.*} p_start=$2
  [ ${p_found%%.*} = "${3%%.*}" ] && [ $p_size -ge $p_start ] || p_start=0
  p_mark "from $p_start"
  p_piece "$5" $p_start $p_size $4
}
p_trackio() {
  p_at "$1"
  for p_python in "$3" python3; do
    case $p_python in
      */*) onbox_owned "$p_python" || continue;;
    esac
    if command -v "$p_python" >/dev/null; then
      p_mark trackio
      "$p_python" -I -S -c "$4" "$p_path" "$2"
      return
    fi
  done
  return 25
}
"""
)

_TROUBLE: dict[int | None, Absent | Unseen] = {
    20: Absent("its directory is gone"),
    21: Unseen("no permission to read its files"),
    23: Unseen("the box's `stat` does not work"),
    24: Absent("nothing of it was written to the disk yet"),
    25: Unseen("no python on the box that could read trackio's database"),
}


class RawWandb(NamedTuple):
    """identity: `INODE.SIZE.MTIME` of the run file. size: in bytes. synced: `wandb sync` has sent it. start: where what
    is new was read from; None: nothing is new. pieces: with their places.
    """

    identity: str
    size: int
    synced: bool
    start: int | None
    pieces: tuple[tuple[int, bytes], ...]


def parse(part: SectionPart) -> Maybe[RawWandb | str]:
    """What the section says; of trackio the program's answer as text."""
    if part.code in _TROUBLE:
        return _TROUBLE[part.code]
    answer = part.block("trackio")
    if answer is not None:
        return answer.decode("utf-8", "replace")
    words = next((block.words for block in part.blocks if block.words[0] == "wandb"), ())
    numbers = [count(word) for word in words[1].split(".")] if len(words) == 3 else []
    if part.code != 0 or len(numbers) != 3 or None in numbers:
        return Unseen(f"its files could not be looked at (code {part.code})")
    placed = Span.of(part.blocks).placed
    return RawWandb(words[1], numbers[1] or 0, words[2] == "1", part.number("from"), placed)


def wandb_values(folder: str, start: int, identity: str) -> tuple[str, ...]:
    return ("wandb", folder, str(start), identity, str(CAP_BYTES))


def trackio_values(database: str, run: str, python: str) -> tuple[str, ...]:
    return ("trackio", database, run, python or "python3", PROGRAM)
