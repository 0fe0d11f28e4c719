"""The runs that onbox started: what lies in their folders, and what of it lives. Shell text and the taking apart.

What is read is normative in docs/format.md. A pid in a file is never proof of life: the kernel's list of locks is, or
a process with that pid, start time and boot; failing both, a try of the lock itself (shared, let go at once).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.contract.names import name_problem
from onbox.contract.readings import Unseen
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.runs.room import RunRoom
from patrol.memory.run_records import MARKERS_LIMIT, RecordText, record_of
from patrol.snapshot import RemovedRun

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe
    from patrol.probe.frames import MarkBlock, SectionPart

# p_runs PROJECT STATE_DIR CAP [NAME MANIFEST JOURNAL_INODE JOURNAL_OFFSET LOG INODE OFFSET CHECKSUM MTIME SERIES]...
# Names of stages are plain ASCII words by contract, so their unquoted lists are safe; other files are left out.
# Of more than 32 runs those whose status was written last: one that lives writes it again and again.
# A slot that its keeper holds open needs no further proof; else its later lines are read. When run.json has changed,
# journal and log are begun anew: it may be another run. Of the log of a run that failed more is read: its traceback.
# MANIFEST: what stat(1) said of run.json, a colon, and the count of markers: where either is another now, the run's
# records come along, for whoever takes over. SERIES: inode and size of series.jsonl as it was read, with a dot between;
# of a file that was thinned since (another inode), or was never read, the end is sent.
# Where there is no run, or one that is known is not there, processes that were started in its place are sought.
# At last the room where their records and the project lie: to root that is free, too, which is kept for root.
SHELL = r"""
p_runs() {
  p_at "$1"
  cd "$p_path" || return 20
  p_home=$PWD
  p_at "$2"
  case $2 in
    /*|'~'|'~/'*) p_run=$p_path;;
    *) p_run=$PWD/$2;;
  esac
  if [ ! -e "$p_path" ]; then
    p_orphans "$p_run" "$(pwd -P)/$2"
    return 0
  fi
  cd "$p_path" || return 21
  p_state=$p_run
  p_cap=$3 p_locks= p_count=0
  shift 3
  while read -r p_line; do
    case $p_line in
      *' WRITE '*) p_locks="$p_locks $p_line";; # a shared one is another look's, at this moment
    esac
  done </proc/locks
  for p_run in */run.json; do
    [ -e "./$p_run" ] && p_count=$((p_count+1))
  done
  if [ $p_count -le 32 ]; then
    for p_run in */run.json; do
      p_enter "$@"
    done
  else
    ls -dt ./*/status.json | head -n 32 | while IFS= read -r p_run; do
      p_run=${p_run#./}
      p_enter "$@" </dev/null
    done
  fi
  p_mark "count $p_count"
  p_dead=$p_count
  while [ $# -gt 0 ]; do
    [ -e "./$1/run.json" ] || p_dead=0
    shift 10
  done
  [ "$p_dead" != 0 ] || p_orphans "$p_state" "$(pwd -P)"
  p_run=0
  [ -O / ] && p_run=1
  p_mark "room $p_run"
  stat -f -c '%f %a %S %d %c' . "$p_home" || :
}
p_orphans() {
  p_mark orphans
  for p_file in $(grep -lF -e "ONBOX_RUN_DIR=$1/" -e "ONBOX_RUN_DIR=$2/" /proc/[0-9]*/environ | head -n 64); do
    p_line=$(tr '\0' '\n' <$p_file | grep '^ONBOX_RUN_DIR=' | head -n 1)
    case $p_line in
      "ONBOX_RUN_DIR=$1/"*) p_line=${p_line#"ONBOX_RUN_DIR=$1/"};;
      "ONBOX_RUN_DIR=$2/"*) p_line=${p_line#"ONBOX_RUN_DIR=$2/"};;
      *) continue;;
    esac
    p_line=${p_line%%/*} p_file=${p_file#/proc/}
    [ -e "$1/$p_line/run.json" ] || echo ${p_file%/environ} "$p_line"
  done
}
p_enter() {
  p_run=${p_run%/*}
  [ -e "./$p_run/run.json" ] && cd "./$p_run" || return
  p_one "$@"
  cd ..
}
p_newest() {
  p_new=
  for p_file in "$@"; do
    case $p_file in
      *CHAIN*|*[!A-Za-z0-9._/-]*) ;;
      *) [ "$p_new" ] && [ ! $p_file -nt $p_new ] || p_new=$p_file;;
    esac
  done
}
p_alive() {
  case $2 in
    ''|*[!0-9]*) return;;
  esac
  read -r p_line </proc/$2/stat || return
  set -- $1 $2 ${p_line##*') '}
  echo $1 $2 $3 ${22}
}
p_record() {
  p_mark "record $p_done.$p_ends"
  head -c 49152 run.json
  p_mark launches
  tail -c 4194304 events.jsonl | grep '"event":"chain_started"' | tail -n 20
  p_mark events
  tail -c 1048576 events.jsonl | grep -v -e '"event":"attempt_started"' -e '"event":"chain_started"' | tail -n 100
  p_mark markers
  head -c 4096 lock markers/*_DONE markers/*_FAILED
  p_mark told
}
p_stages() {
  set --
  for p_file in markers/[!C]*_DONE markers/C[!H]*_DONE; do
    [ -s "$p_file" ] || continue
    p_word=${p_file#markers/}
    set -- "$@" -e "{\"name\": \"${p_word%_DONE}\","
  done
  [ $# = 0 ] || p_done=$(grep -cF "$@" run.json)
  p_done=${p_done:-0}
}
p_one() {
  while [ $# -gt 0 ] && [ "$1" != "$p_run" ]; do
    shift 10
  done
  [ $# -gt 0 ] || set -- - 0 0 0 - 0 0 0 0 0.0
  p_mark run
  printf '%s\n' "$p_run"
  p_done=0 p_ends=0 p_waiting=0 p_dead=0 p_holder= p_stage= p_keeper= p_exit= p_inode=0 p_offset=0 p_size=0
  p_points=${10} p_new_inode=0 p_new_size=0
  p_stages
  for p_file in markers/*_FAILED markers/CHAIN_*; do
    [ -s "$p_file" ] && p_ends=$((p_ends+1))
  done
  for p_file in outbox/[0-9]*.json; do
    [ -e "$p_file" ] && p_waiting=$((p_waiting+1))
  done
  for p_file in dead/[0-9]*.json; do
    [ -e "$p_file" ] && p_dead=$((p_dead+1))
  done
  p_newest markers/.*.slot
  p_slot=$p_new
  if [ "$p_slot" ]; then
    while read -r p_word p_value p_rest; do
      case $p_word in
        slot) p_stage=${p_rest#* };;
        keeper) p_keeper=$p_value;;
        exit) p_exit=$p_value;;
      esac
      [ /proc/$p_keeper/fd/9 -ef $p_slot ] && p_exit=held && break
    done <$p_slot
  fi
  p_file=logs/${p_stage% *}.${p_stage#* }.log
  if [ ! -e "$p_file" ]; then
    p_newest logs/*.log
    p_file=$p_new
  fi
  p_output=$p_file p_files=status.json p_manifest=${2%:*} p_marks=${2#*:} p_old=$3 p_seen=$4
  p_newest markers/*_FAILED
  if [ "$p_output" = "$5" ]; then
    shift 5
  else
    set -- 0 0 0 0
  fi
  p_known="$1 $2 $3 $4"
  p_mark "stat $p_done $p_waiting ${p_stage:-- -} ${p_keeper:--} ${p_exit:--} ${p_output:--} $p_dead"
  p_told=
  set -- $(stat -L -c '%n %d %i %s %Y' run.json lock events.jsonl series.jsonl $p_slot $p_output)
  while [ $# -ge 5 ]; do
    p_held=-
    case $p_locks in
      *":$3 "*)
        p_held=${p_locks%%":$3 "*}
        p_held=${p_held##* };;
    esac
    case $1 in
      run.json) [ $3.$4.$5 = "$p_manifest" ] || p_files="$p_files run.json" p_marks=- p_old=- p_known='0 0 0 0';;
      events.jsonl)
        p_inode=$3 p_size=$4
        [ $3 != $p_old ] || [ $4 -lt $p_seen ] || p_offset=$p_seen;;
      series.jsonl) p_new_inode=$3 p_new_size=$4;;
      "$p_output")
        p_told="$2 $3 $4 $5"
        shift 5
        continue;;
      *)
        [ $1 != lock ] || [ $4 -ge 999 ] || read -r p_holder <lock
        if [ $p_held = - ] && command -v flock >/dev/null; then
          flock -sn $1 true
          p_held=flock$?
        fi;;
    esac
    echo $1 $2 $3 $4 $5 $p_held
    shift 5
  done
  p_holder=${p_holder#*'"pid": '}
  p_alive runner "${p_holder%%,*}"
  p_alive keeper "$p_keeper"
  p_mark files
  head -c 16384 $p_files lock markers/CHAIN_DONE markers/CHAIN_FAILED $p_new
  [ "$p_marks" = $p_done.$p_ends ] || p_record | head -c 131072
  p_old=${p_points#*.}
  [ $p_new_inode = ${p_points%.*} ] && [ $p_new_size -ge $p_old ] || p_old=$((p_new_size>12288?p_new_size-12288:0))
  p_mark "series $p_new_inode $p_old"
  [ $p_new_size -le $p_old ] || p_piece series.jsonl $p_old $p_new_size 16384
  p_mark "journal $p_inode $p_offset $p_size"
  [ $p_size -le $p_offset ] || p_piece events.jsonl $p_offset $p_size 8192
  if [ "$p_output" ]; then
    p_most=$p_cap
    [ ! "$p_new" ] || p_most=$((p_cap*4))
    p_log $p_output $p_known $p_most
    p_mark "logged $?"
  fi
}
"""


class FileStat(NamedTuple):
    """held: by the kernel's list of locks, or by a try; None: neither could be looked at."""

    device: int
    inode: int
    size: int
    mtime: int
    held: bool | None

    @property
    def identity(self) -> str:
        return f"{self.inode}.{self.size}.{self.mtime}"


class LiveProcess(NamedTuple):
    """A process that was there: state as in proc(5)."""

    pid: int
    state: str
    start_ticks: int


class RawRun(NamedTuple):
    """What the box sent of one run, still as text. done_count: of the stages in run.json, as a chain of the same name
    before it may have left markers of others. stage, attempt: of the newest slot; "" and None: no slot.

    keeper_holds: the slot's keeper was seen to hold it open. exit_code: what the slot says of the command's end. marks:
    which markers there are, where that is another than the box was told; "": the same. record: then the run's records,
    as far as they were not too long. series: inode of series.jsonl, and from where on
    its bytes came.
    """

    name: str
    done_count: int
    waiting_count: int
    dead_count: int
    stage: str
    attempt: int | None
    keeper_pid: int | None
    keeper_holds: bool
    exit_code: int | None
    log_path: str
    stats: dict[str, FileStat]
    runner: LiveProcess | None
    keeper: LiveProcess | None
    files: dict[str, bytes]
    journal: tuple[int, int, int]
    journal_blocks: tuple[MarkBlock, ...]
    log_blocks: tuple[MarkBlock, ...]
    log_code: int | None
    marks: str = ""
    record: RecordText | None = None
    series: tuple[int, int] = (0, 0)
    series_blocks: tuple[MarkBlock, ...] = ()

    @property
    def slot(self) -> FileStat | None:
        return self.stats.get(f"markers/.{self.stage}.slot")


class RawRuns(NamedTuple):
    """runs: at most 32, of more the newest; there_are: how many there are. left_out: what came and was not looked at,
    in words; "": nothing. rooms: where their records and the project lie, both without a path; () where that was not
    told. removed: runs that are not there and of which processes live.
    """

    runs: tuple[RawRun, ...]
    there_are: int
    left_out: str = ""
    rooms: tuple[RunRoom, ...] = ()
    removed: tuple[RemovedRun, ...] = ()


NO_NUMBER = 1 << 63  # -1 as an unsigned number, and what is near it
RUNS_LIMIT = 32  # as many as the script sends
FILES_LIMIT = 16  # of a run
FILE_LIMIT_BYTES = 16384  # of each file, as the script cuts them
TROUBLE = {20: "no such project directory on the box, or no permission", 21: "the state directory cannot be entered"}
_HEADER = re.compile(rb"(?:^|\n)==> ([^\n]{1,300}) <==\n")


def parse(part: SectionPart) -> Maybe[RawRuns]:
    if part.code != 0:
        return Unseen(TROUBLE.get(part.code or 0, f"the runs could not be looked at (code {part.code})"))
    starts = [at for at, block in enumerate(part.blocks) if block.words[0] == "run"]
    ends = [*starts, len(part.blocks)][1:]
    named: dict[str, RawRun] = {}
    refused: list[bytes] = []
    for start, end in list(zip(starts, ends, strict=True))[:RUNS_LIMIT]:
        raw_name = part.blocks[start].data.removesuffix(b"\n")
        name = raw_name.decode("ascii", "replace")
        if name_problem(name) is None:
            named.setdefault(name, _run(name, part.blocks[start:end]))
        else:
            refused.append(raw_name)
    there_are = part.number("count")
    left_out = _left_out(refused, len(starts))
    runs = tuple(named.values())
    return RawRuns(
        runs, len(runs) if there_are is None else there_are - len(refused), left_out, _rooms(part), _removed(part)
    )


def _removed(part: SectionPart) -> tuple[RemovedRun, ...]:
    found: dict[str, list[int]] = {}
    for line in (part.block("orphans") or b"").decode("ascii", "replace").splitlines():
        pid, _, name = line.partition(" ")
        if count(pid) is not None and name_problem(name) is None:
            found.setdefault(name, []).append(count(pid) or 0)
    return tuple(RemovedRun(name, tuple(sorted(pids))) for name, pids in sorted(found.items()))


def _rooms(part: SectionPart) -> tuple[RunRoom, ...]:
    """A file system that tells no size, or counts no inodes (0 of 0), says nothing of what is missing."""
    block = next((block for block in part.blocks if block.words[0] == "room"), None)
    lines = [] if block is None else [line.split() for line in block.data.decode("ascii", "replace").splitlines()]
    rooms = []
    for words in filter(None, lines):
        numbers = [count(one) for one in words]
        if len(numbers) != 5 or None in numbers:
            return ()
        free, available, size, inodes_free, inodes = (number or 0 for number in numbers)
        blocks = free if block is not None and block.words[-1] == "1" else available
        is_sized, is_counted = size and blocks < NO_NUMBER, 0 < inodes < NO_NUMBER and inodes_free <= inodes
        rooms.append(RunRoom("", blocks * size if is_sized else NO_NUMBER, inodes_free if is_counted else None))
    return tuple(rooms) if len(rooms) == 2 else ()


def _left_out(refused: list[bytes], came: int) -> str:
    """A directory that is not called as onbox calls its runs was made by somebody else; its name goes nowhere."""
    words = []
    if refused:
        shown = safe_line(refused[0].decode("ascii", "backslashreplace"), 40)
        words.append(f"{len(refused)} left out, not a run's name: {shown}")
    if came > RUNS_LIMIT:
        words.append(f"{came - RUNS_LIMIT} more came than the {RUNS_LIMIT} that are looked at")
    return "; ".join(words)


def _run(name: str, blocks: tuple[MarkBlock, ...]) -> RawRun:
    by_word = {block.words[0]: block for block in reversed(blocks)}
    stat = by_word.get("stat")
    facts = (*(stat.words[1:] if stat else ()), *("-" * 8))[:8]
    done, waiting, stage, attempt, keeper, exit_, log, dead = facts
    lines = [line.split() for line in (stat.data if stat else b"").decode("utf-8", "replace").splitlines()]
    journal = by_word["journal"].words[1:] if "journal" in by_word else ()
    series = by_word["series"].words[1:] if "series" in by_word else ()
    logged = by_word.get("logged")
    order = [block.words[0] for block in blocks]
    log_at = order.index("log") if "log" in order else len(blocks)
    return RawRun(
        name=name,
        done_count=count(done) or 0,
        waiting_count=count(waiting) or 0,
        dead_count=count(dead) or 0,
        stage="" if stage == "-" else stage,
        attempt=count(attempt),
        keeper_pid=count(keeper),
        keeper_holds=exit_ == "held",
        exit_code=count(exit_),
        log_path="" if log == "-" else log,
        stats={words[0]: found for words in lines if (found := _stat(words)) is not None},
        runner=_alive(lines, "runner"),
        keeper=_alive(lines, "keeper"),
        files=split_files(by_word["files"].data if "files" in by_word else b""),
        journal=tuple(count(word) or 0 for word in (*journal, "0", "0", "0")[:3]),  # type: ignore[arg-type]
        journal_blocks=blocks[order.index("journal") : log_at] if "journal" in order else (),
        log_blocks=blocks[log_at:],
        series=tuple(count(word) or 0 for word in (*series, "0", "0")[:2]),  # type: ignore[arg-type]
        series_blocks=blocks[order.index("series") : order.index("journal")]
        if "series" in order and "journal" in order
        else (),
        marks=by_word["record"].words[-1] if "record" in by_word else "",
        record=_record(by_word),
        log_code=None if logged is None or len(logged.words) < 2 else count(logged.words[1]),
    )


def _record(by_word: dict[str, MarkBlock]) -> RecordText | None:
    """None: it did not come, or was cut off."""
    words = ("record", "launches", "events", "markers", "told")
    if not all(word in by_word for word in words):
        return None
    manifest, launches, events, markers = (by_word[word].data for word in words[:-1])
    return record_of(manifest, launches, events, split_files(markers, MARKERS_LIMIT))


def split_files(text: bytes, limit: int = FILES_LIMIT) -> dict[str, bytes]:
    """The output of head(1) for several files, by name. Of one that is longer than asked for, as much as was asked."""
    pieces = _HEADER.split(text, limit)
    names = (name.decode("utf-8", "replace") for name in pieces[1::2])
    return {name: data[:FILE_LIMIT_BYTES] for name, data in zip(names, pieces[2::2], strict=True)}


_TRIED = {"flock1": True, "flock0": False}


def _stat(words: list[str]) -> FileStat | None:
    numbers = [count(word) for word in words[1:5]]
    if len(words) != 6 or None in numbers:
        return None
    device, inode, size, mtime = (number or 0 for number in numbers)
    held = _TRIED[words[5]] if words[5] in _TRIED else _is_locked(device, words[5])
    return FileStat(device, inode, size, mtime, held)


def _is_locked(device: int, locked: str) -> bool | None:
    """Whether a lock on this inode number is a lock on this file: /proc/locks tells the device as `fe:00`.

    None: it is on another file system, or there is none. Where devices have no numbers of their own (overlay, btrfs),
    file and file system may tell different ones: then the inode number must do.
    """
    major, colon, minor = locked.partition(":")
    if not colon or not re.fullmatch(r"[0-9a-f]{1,8}:[0-9a-f]{1,8}", locked):
        return None
    own_major, own_minor = device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xFFF00
    return (
        True if (own_major, own_minor) == (int(major, 16), int(minor, 16)) or own_major == int(major, 16) == 0 else None
    )


def _alive(lines: list[list[str]], who: str) -> LiveProcess | None:
    for words in lines:
        if len(words) == 4 and words[0] == who:
            pid, ticks = count(words[1]), count(words[3])
            if pid is not None and ticks is not None:
                return LiveProcess(pid, words[2], ticks)
    return None


def count(word: str) -> int | None:
    """A plain number of at most 19 digits; None for anything else."""
    return int(word) if word.isdigit() and word.isascii() and len(word) < 20 else None
