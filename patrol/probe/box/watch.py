"""What is looked for of a run that onbox did not start: processes, a terminal session, artifacts, the queue, counts."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from onbox.backends.table import probe_of
from onbox.contract.readings import Absent, Unseen
from onbox.model.engines import ON_BOX
from onbox.named_tuple import NamedTuple
from onbox.outside import printable, safe_line
from patrol.probe.box.runs import count
from patrol.snapshot import Artifacts

if TYPE_CHECKING:
    from onbox.backends.base import Job
    from onbox.contract.readings import Maybe
    from patrol.probe.frames import SectionPart

PROCESSES_LIMIT = 40

# p_processes PATTERN: as pgrep -f, from /proc alone: head names each file, and grep keeps these names and what matches.
# A name that nothing matches is left out by sed (a shell reads byte by byte), but for the first: where grep refuses the
# pattern, not even that comes. Whoever descends from this login (it is of its session, then), or is above it, is none
# of the run's; what only looks at or edits files is sorted out by who reads the answer. At the end come their working
# directories, which tell two runs of one script apart: by one program, or singly where one of them may not be read.
PROCESSES = r"""
p_parent() {
  read -r p_line </proc/$1/stat || return
  p_line=${p_line##*') '}
  p_line=${p_line#? }
  p_parent=${p_line%% *}
}
p_is_ours() {
  case $p_mine in
    *" $1 "*) return 0;;
  esac
  [ $2 = $p_session ] || return 1
  p_parent=$1
  while [ $p_parent -gt 1 ]; do
    [ $p_parent != $$ ] || return 0
    p_parent $p_parent || return 1
  done
  return 1
}
p_processes() {
  read -r p_line </proc/$$/stat
  set -- "$1" ${p_line##*') '}
  p_session=$5 p_mine=" " p_parent=$$
  while [ $p_parent -gt 1 ]; do
    p_mine="$p_mine$p_parent "
    p_parent $p_parent || break
  done
  p_heads='^==> .proc.[0-9]*.cmdline <==$'
  case $1 in
    *'$'*) p_commands | sed 's/ *$//';;
    *) p_commands;;
  esac | grep -E -e "$p_heads" -e "$1" | sed -n -e "1p;/$p_heads/{h;d;}" -e 'x;p;x;p' | {
    p_pid= p_found=0 p_seen=0 p_all=
    while read -r p_text; do
      case $p_text in
        '==> /proc/'*)
          p_seen=1 p_pid=${p_text#*c/}
          p_pid=${p_pid%%/*};;
        *)
          if [ "$p_pid" ] && read -r p_line </proc/$p_pid/stat; then
            set -- ${p_line##*') '}
            if ! p_is_ours $p_pid $4; then
              p_found=$((p_found+1))
              if [ $p_found -le 40 ]; then
                printf '%s %s %s %.160s\n' $p_pid $1 ${20} "$p_text"
                p_all="$p_all /proc/$p_pid/cwd"
              fi
            fi
          fi
          p_pid=;;
      esac
    done
    [ $p_seen = 1 ] || return 20
    p_mark "count $p_found"
    [ ! "$p_all" ] && return
    p_mark folders
    readlink $p_all && return
    p_mark folders_singly
    for p_file in $p_all; do
      p_text=$(readlink $p_file)
      printf '%s\n' "$p_text"
    done
  }
}
p_commands() { head -c 4096 /proc/[0-9]*/cmdline | tr '\000' ' '; }
"""

# p_session NAME: panes of that tmux session, or that screen session, and whether anything runs in them. All panes are
# listed: as a target, a name that is not there quietly becomes that of another session.
SESSION = r"""
p_session() {
  p_code=20
  if command -v tmux >/dev/null; then
    p_code=0
    p_found=$(tmux list-panes -a -F '#{pane_pid} #{pane_dead} #{session_name}' 2>&1) || p_mark tmux
    printf '%s\n' "$p_found" | while read -r p_pid p_rest p_text; do
      p_line="$p_rest $p_text"
      if [ "$p_text" = "$1" ]; then
        p_text=? p_file=/proc/$p_pid/task/$p_pid/children
        [ ! -r $p_file ] || read -r p_text <$p_file
        p_line=$p_rest"|$p_text|$(tr '\000' ' ' </proc/$p_pid/cmdline)"
      fi
      printf '%s %s\n' "$p_pid" "$p_line"
    done
  fi
  if command -v screen >/dev/null; then
    p_code=0
    p_mark screen
    screen -ls | grep -F -e ".$1"
  fi
  return $p_code
}
"""

# p_artifacts PATTERN...: globs only (IFS is empty, nothing is run or split); regular files are counted.
ARTIFACTS = r"""
p_artifacts() {
  IFS=
  for p_glob in "$@"; do
    p_at "$p_glob"
    stat -c '%f %s %Y' $p_path
  done | awk '/^8/{n++;b+=$2;if($3>m)m=$3}END{printf "%.0f %.0f %.0f\n",n,b,m}'
}
"""
# p_count DIRECTORY: the regular files below it.
COUNT = r"""
p_count() {
  p_at "$1"
  [ -d "$p_path" ] || return 20
  if command -v awk >/dev/null; then
    find "$p_path/." -type f -print0 | xargs -0 stat -c %s | awk '{ bytes += $1 } END { printf "%d %.0f\n", NR, bytes }'
  else
    find "$p_path/." -type f -print0 | tr -dc '\000' | wc -c
  fi
}
"""
# p_queue ENGINE: the account's own jobs.
QUEUE = r"""
p_queue() {
  "onbox_queue_$1"
}
"""
QUEUE_TEXTS = (*(probe_of(name).QUEUE for name in ON_BOX), QUEUE)

# Programs that have the name of a script on their command line without running it.
ONLOOKERS = frozenset(
    """
    tail less more most cat vi vim nvim view nano emacs emacsclient grep egrep fgrep rg ag sed awk pgrep pkill watch
    tmux screen sshd ssh scp sftp rsync man tee head wc find ls du inotifywait multitail code git sudo su
    """.split()
)
SHELLS = frozenset("sh bash dash zsh fish ksh csh tcsh ash".split())


class FoundProcess(NamedTuple):
    """A process of the run. folder: its working directory; "": not known."""

    pid: int
    start_ticks: int
    words: str
    folder: str = ""


def parse_processes(part: SectionPart) -> Maybe[tuple[FoundProcess, ...]]:
    """The live processes that match; () means: looked, and there is none."""
    if part.code == 20:
        return Unseen("the pattern is none for the box's grep -E")
    if part.code != 0:
        return Unseen(f"the processes could not be looked at (code {part.code})")
    found: list[FoundProcess] = []
    rows = [words for line in part.data.decode("utf-8", "replace").split("\n") if len(words := line.split(" ", 3)) == 4]
    block = part.block("folders_singly") or part.block("folders") or b""
    folders = block.decode("utf-8", "replace").split("\n")
    folders = folders if folders[-1] else folders[:-1]
    if len(folders) != len(rows):
        folders = [""] * len(rows)
    for words, folder in zip(rows, folders, strict=True):
        if words[1] in "ZX" or is_onlooker(words[3]):
            continue
        pid, ticks = count(words[0]), count(words[2])
        if pid is not None and ticks is not None:
            found.append(FoundProcess(pid, ticks, printable(words[3]).strip(), folder))
    return tuple(found[:PROCESSES_LIMIT])


def is_onlooker(command: str) -> bool:
    first = command.strip().split(" ", 1)[0].rstrip(":")
    return os.path.basename(first) in ONLOOKERS


class Session(NamedTuple):
    """A terminal session of the name. busy: whether anything runs in it but an idle shell."""

    kind: str
    busy: bool


_ABSENT_TMUX = re.compile(r"can't find|no server running|No such file or directory|no current|no sessions")
_SCREEN = re.compile(r"^\s*(\d{1,9})\.(\S(?:.{0,200}?\S)?)\s+(?:\(\d\d/\d\d/[^()]*\)\s+)?\(([^()]*)\)\s*$")


def parse_session(part: SectionPart, name: str) -> Maybe[Session]:
    """Absent: there is no session of that name."""
    if part.code == 20:
        return Unseen("neither tmux nor screen is on the box's path")
    trouble = (part.block("tmux") or b"").decode("utf-8", "replace").replace("|", "")
    if not trouble:
        panes = [line for line in part.data.decode("utf-8", "replace").split("\n") if line.count("|") >= 2]
        if panes:
            return Session("tmux", any(_is_busy(*line.split("|", 2)) for line in panes))
    screens = [
        match
        for line in (part.block("screen") or b"").decode("utf-8", "replace").split("\n")
        if (match := _SCREEN.match(line)) and match[2] == name
    ]
    if screens:
        return Session("screen", any("Dead" not in match[3] for match in screens))
    if trouble and not _ABSENT_TMUX.search(trouble):
        return Unseen(f"tmux: {safe_line(trouble, 120)}")
    return Absent("no session of that name")


def _is_busy(pane: str, children: str, command: str) -> bool:
    """A pane whose program has ended is dead; a shell without arguments or children only waits."""
    words = command.split()
    if pane.endswith(" 1"):
        return False
    idle = len(words) == 1 and os.path.basename(words[0].lstrip("-")) in SHELLS
    return not idle or bool(children.strip())


def parse_artifacts(part: SectionPart, clock: float) -> Maybe[Artifacts]:
    words = [count(word) for word in part.data.decode("ascii", "replace").split()]
    if part.code != 0 or len(words) != 3 or None in words:
        return Unseen(f"the artifacts could not be counted (code {part.code})")
    files, size, newest = (word or 0 for word in words)
    age = max(0.0, clock - newest) if files else Absent("no such file")
    return Artifacts(files, size, age)


def parse_count(part: SectionPart) -> tuple[Maybe[int], Maybe[int]]:
    """Files and bytes; the bytes are Absent where the box has no awk to add them up."""
    if part.code == 20:
        absent = Absent("no such directory on the box")
        return absent, absent
    words = part.data.decode("ascii", "replace").split()
    found = [count(word) for word in words[:2]]
    if part.code != 0 or not found or None in found:
        unseen = Unseen(f"the files could not be counted (code {part.code})")
        return unseen, unseen
    return found[0] or 0, Absent("not added up there") if len(found) < 2 else found[1] or 0


def parse_queue(part: SectionPart, engine: str) -> Maybe[dict[str, Job]]:
    """The account's own jobs by name."""
    return probe_of(engine).read_names(part.code, part.data.decode("utf-8", "replace"))
