"""What a finished run left: whether the files that its DONE markers vouch for are still there, and its small results.
Shell text and parser.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.contract.names import name_problem
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from patrol.snapshot import ResultFile

if TYPE_CHECKING:
    from patrol.probe.frames import SectionPart

RUNS_LIMIT = 32
FILES_LIMIT = 4  # small results of a run
SHOWN_BYTES = 4096  # of each
LISTED_LIMIT = 400

# p_left PROJECT STATE_DIR [RUN]...: the RUNs whose small results came at an earlier look. What a marker lists is taken
# from its text by grep: a path with a quote, a backslash or a letter beyond ASCII stands there with a backslash, and is
# not looked for. Nothing but a name is sent of a run whose files are all there with their bytes; else what its markers
# list, and a line for each that is not: its size now or `-`, and its path.
SHELL = r"""
p_left() {
  p_at "$1"
  cd "$p_path" || return 20
  p_project=$PWD
  p_at "$2"
  cd "$p_path" || return 0
  p_state=$PWD
  shift 2
  p_told=" $* "
  ls -dt ./*/markers/CHAIN_DONE | head -n 32 | while IFS= read -r p_run; do
    p_run=${p_run#./}
    p_run=${p_run%%/*}
    case $p_run in
      *[!A-Za-z0-9._-]*) continue;;
    esac
    cd "$p_state/$p_run/markers" || continue
    p_said=$(grep -o -e '"cwd": "[^"\\]*"' -e '{"path": "[^"\\]*", "bytes": [0-9]*' -e '"artifact_count": [0-9]*' \
      *_DONE /dev/null | head -n 400)
    cd "$p_project"
    p_lost=$(printf '%s\n' "$p_said" | p_compare)
    if [ "$p_lost" ]; then
      p_mark "listed $p_run"
      printf '%s\n' "$p_said"
      p_mark "lost $p_run"
      printf '%s\n' "$p_lost"
    else
      p_mark "whole $p_run"
    fi
    case $p_told in
      *" $p_run "*) ;;
      *) printf '%s\n' "$p_said" | p_small;;
    esac
  done
  return 0
}
p_entry() {
  p_entry=${1#*:} p_file=
  case $p_entry in
    '"cwd": "'*)
      p_cwd=${p_entry#'"cwd": "'}
      p_cwd=${p_cwd%'"'};;
    '{"path": "'*)
      p_file=${p_entry#'{"path": "'}
      p_bytes=${p_file##*'", "bytes": '}
      p_file=${p_file%'", "bytes": '*}
      case $p_file in
        /*) ;;
        *) case $p_cwd in
             /*) p_file=$p_cwd/$p_file;;
             *) p_file=./$p_cwd/$p_file;;
           esac;;
      esac;;
  esac
}
p_compare() {
  p_cwd=. p_want=
  set --
  while IFS= read -r p_line; do
    p_entry "$p_line"
    [ "$p_file" ] || continue
    if [ -f "$p_file" ]; then
      set -- "$@" "$p_file"
      p_want="$p_want$p_bytes "
    elif [ -d "$p_file" ]; then
      [ "$p_bytes" = 0 ] || p_holds "$p_file" || printf '%s\n' "- $p_file"
    elif [ ! -e "$p_file" ]; then
      printf '%s\n' "- $p_file"
    fi
  done
  [ $# -gt 0 ] || return
  stat -L -c '%s %n' "$@" | while IFS= read -r p_line; do
    while [ $# -gt 0 ] && [ "$1" != "${p_line#* }" ]; do
      shift
      p_want=${p_want#* }
    done
    [ "${p_line%% *}" = "${p_want%% *}" ] || printf '%s\n' "$p_line"
    shift
    p_want=${p_want#* }
  done
}
p_holds() {
  for p_any in "$1"/* "$1"/.[!.]*; do
    [ -e "$p_any" ] && return
  done
  return 1
}
p_small() {
  p_cwd=. p_count=0 p_sent=' '
  while IFS= read -r p_line; do
    p_entry "$p_line"
    case $p_file in
      *.json|*.csv|*.tsv|*.txt|*.md) [ "$p_bytes" -le 4096 ] && p_send "$p_file";;
    esac
  done
  for p_file in ./metrics.json ./results.json ./results.csv ./metrics.csv ./results.txt; do
    [ "$p_file" -nt "$p_state/$p_run/run.json" ] && p_send "$p_file"
  done
}
p_send() {
  [ $p_count -lt 4 ] && [ -f "$1" ] || return
  p_plain=./${1#./}
  p_plain=./${p_plain#././}
  case $p_sent in
    *" $p_plain "*) return;;
  esac
  p_sent="$p_sent$p_plain " p_count=$((p_count+1))
  p_mark "file $p_run"
  printf '%s\n' "$1"
  head -c 4097 "$1"
}
"""


class Listed(NamedTuple):
    """One file or folder that a DONE marker lists. place: as the box looked for it."""

    stage: str
    path: str
    place: str
    size: int


class LeftFiles(NamedTuple):
    """Of one run. listed: what its markers list, () where nothing is lost. counts: how much each stage left in all.
    lost: by place, with the size that it has now; None: it is not there.
    """

    listed: tuple[Listed, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    lost: tuple[tuple[str, int | None], ...] = ()
    results: tuple[ResultFile, ...] = ()


_LINE = re.compile(
    r"([A-Za-z0-9._-]+)_DONE:"
    r'(?:"cwd": "([^"]*)"|\{"path": "([^"]*)", "bytes": ([0-9]{1,18})|"artifact_count": ([0-9]{1,18}))'
)


def parse(part: SectionPart) -> dict[str, LeftFiles]:
    """By run; what cannot be understood is left out, and says nothing."""
    found: dict[str, LeftFiles] = {}
    for block in part.blocks:
        word, run = block.words[0], block.words[1] if len(block.words) > 1 else ""
        if name_problem(run) is not None or (run not in found and len(found) >= RUNS_LIMIT):
            continue
        left = found.setdefault(run, LeftFiles())
        text = block.data.decode("utf-8", "replace")
        if word == "listed":
            listed, counts = _listed(text.splitlines()[:LISTED_LIMIT])
            found[run] = left._replace(listed=listed, counts=counts)
        elif word == "lost" and left.listed:
            found[run] = left._replace(lost=_lost(text.splitlines()[:LISTED_LIMIT], left.listed))
        elif word == "file" and len(left.results) < FILES_LIMIT:
            found[run] = left._replace(results=(*left.results, _result(block.data, whole=part.code == 0)))
    return found


def _listed(lines: list[str]) -> tuple[tuple[Listed, ...], tuple[tuple[str, int], ...]]:
    folder, listed, counts = ".", [], {}
    for line in lines:
        seen = _LINE.fullmatch(line)
        if seen is None:
            continue
        stage = seen[1]
        if seen[2] is not None:
            folder = seen[2]
        elif seen[5] is not None:
            counts[stage] = int(seen[5])
        else:
            below = folder if folder.startswith("/") else f"./{folder}"
            place = seen[3] if seen[3].startswith("/") else f"{below}/{seen[3]}"
            listed.append(Listed(stage, seen[3], place, int(seen[4])))
    return tuple(listed), tuple(counts.items())


def _lost(lines: list[str], listed: tuple[Listed, ...]) -> tuple[tuple[str, int | None], ...]:
    known = {one.place for one in listed}
    found = []
    for line in lines:
        size, _, place = line.partition(" ")
        if place in known and (size == "-" or (size.isdigit() and len(size) < 19)):
            found.append((place, None if size == "-" else int(size)))
    return tuple(found)


def _result(data: bytes, *, whole: bool) -> ResultFile:
    name, _, text = data.partition(b"\n")
    path = safe_line(name.decode("utf-8", "replace").removeprefix("./").removeprefix("./"), 300)
    return ResultFile(path, text[:SHOWN_BYTES].decode("utf-8", "replace"), whole=len(text) <= SHOWN_BYTES and whole)
