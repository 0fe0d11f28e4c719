"""Framing: how a section's output is told from what is in it, and the answer taken apart again. Pure.

Every mark is a line `<<<NONCE words>>>`; the nonce is new for each look, so no log line can hold one. A mark begins
with a line break of its own: what stands before it needs none, and loses exactly one.
"""

from __future__ import annotations

import re
from itertools import islice

from onbox.contract.readings import Unseen
from onbox.named_tuple import NamedTuple

# `p_section NAME SECONDS FUNCTION VALUE...` runs a section beside the main shell and waits for it, but no longer than
# SECONDS. The main shell itself never touches a file system: it cannot hang. The watcher wakes it each second; a `wait`
# ends then. A section that is late is killed with all below it, and what of it hangs in the kernel is left behind: it
# has its SIGKILL. Once one was late, further sections that touch files get little time (`p_calm`): it is likely to be
# the same mount. Should the main shell be gone (a cut link) or stuck (nobody reads), the watcher ends the whole group,
# if the group is ours (it is under sshd). A beat that meets a full pipe makes bash and busybox give up a write (EINTR):
# a mark is then said again. Where a beat and the end of a section come together, `wait` tells of the beat (128 and
# SIGUSR1's 10) though nothing is left to wait for: asked once more, it tells the section's code, or 127.
SHELL = r"""
p_mark() {
  p_try=0
  until printf '\n<<<%s %s>>>\n' "$p_nonce" "$1" || [ $p_try = 99 ]; do
    p_try=$((p_try+1))
  done
}
p_slay() {
  p_all=" $1 " p_more=1
  while [ $p_more = 1 ]; do
    p_more=0
    for p_file in /proc/[0-9]*/stat; do
      read -r p_line <$p_file || continue
      p_pid=${p_line%% *} p_line=${p_line##*') '?' '}
      case $p_all in
        *" $p_pid "*) ;;
        *" ${p_line%% *} "*) p_all="$p_all$p_pid " p_more=1;;
      esac
    done
  done
  kill -9 $p_all
}
p_watch() {
  set +u
  trap 'kill $!;exit' TERM
  read -r p_line </proc/$$/stat
  set -- ${p_line##*') '} - - -
  p_beat=0
  while [ $p_beat -lt $p_total ]; do
    sleep 1 &
    wait $!
    kill -USR1 $$ || p_beat=$p_total
    p_beat=$((p_beat+1))
  done
  [ $3 = $$ ] && kill -9 -$$
  p_slay $$
}
p_section() {
  p_name=$1 p_until=$((p_ticks+$2))
  shift 2
  [ $p_until -lt $p_total ] || p_until=$((p_total-2))
  p_mark $p_name
  if [ $p_ticks -lt $p_until ]; then
    { "$@"; p_mark "/$p_name $?"; } &
    p_job=$!
    while
      wait $p_job
      p_code=$?
      [ $p_code -gt 128 ] && kill -0 $p_job
    do
      if [ $p_ticks -ge $p_until ]; then
        p_slay $p_job
        p_code=late p_calm=0
        break
      fi
    done
  else
    p_code=late
  fi
  [ $p_code = 0 ] || p_mark "/$p_name $p_code"
}
p_at() {
  case $1 in
    /*) p_path=$1;;
    '~'|'~/'*) p_path=$HOME${1#?};;
    *) p_path=./$1;;
  esac
}
"""

# What stands around the calls of the sections. $1: nonce; $2: seconds for all; then the sections' values.
BEGIN = r"""
set -u
p_nonce=$1 p_total=$2 p_ticks=0 p_calm=1
LC_ALL=C PATH=$PATH:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
export LC_ALL PATH
trap 'p_ticks=$((p_ticks+1))' USR1
p_watch >/dev/null &
p_watcher=$!
"""
END = r"""
kill $p_watcher
p_mark end
"""

LATE = Unseen("late: it took too long on the box")
CUT = Unseen("cut off: its end did not come")
TOO_LONG = Unseen("too long: more came than was asked for")

# What an honest box sends is far below. More is not looked at, so that no answer costs more time or memory than this.
MARKS_LIMIT = 4096
SECTION_LIMIT_BYTES = 256 << 10
LARGE_SECTIONS = {"runs": 6 << 20, "jobs": 2 << 20}  # 32 runs, each with a few files and the ends of its logs
LONGEST_WORDS = 100
CODE_DIGITS = 3  # of an exit code
_MARK = re.compile(rb"(?:^|\n)<<<([^ \n]+) ([^\n]{1,%d})>>>(?=\n|$)" % LONGEST_WORDS)


class MarkBlock(NamedTuple):
    """What stands between two marks. words: of the mark before it."""

    words: tuple[str, ...]
    data: bytes


class SectionPart(NamedTuple):
    """A section's answer. data: up to its first inner mark. blocks: behind inner marks. code: its exit code; None: it
    was late. Then what is there may end anywhere.
    """

    data: bytes
    blocks: tuple[MarkBlock, ...]
    code: int | None

    def block(self, word: str) -> bytes | None:
        """The data of the first inner block of that name."""
        return next((block.data for block in self.blocks if block.words[0] == word), None)

    def number(self, word: str) -> int | None:
        """The number that an inner mark says."""
        words = next((block.words for block in self.blocks if block.words[0] == word), ())
        return int(words[1]) if len(words) == 2 and words[1].isdecimal() and len(words[1]) < 20 else None


class Frames(NamedTuple):
    """An answer taken apart. parts: by section; one without its end mark is not among them. whole: the end mark came.
    begun: the names of all sections that were begun. too_long: those that are not among the parts for their size.
    """

    parts: dict[str, SectionPart]
    begun: tuple[str, ...]
    whole: bool
    too_long: frozenset[str] = frozenset()

    def part(self, name: str) -> SectionPart | Unseen:
        """A section that came whole, or why it did not."""
        part = self.parts.get(name)
        if part is None:
            return TOO_LONG if name in self.too_long else CUT
        return LATE if part.code is None else part


def end_mark(nonce: str) -> bytes:
    return b"<<<%s end>>>" % nonce.encode("ascii")


def split(answer: bytes, nonce: str) -> Frames:
    """Take an answer apart. What came before the first mark (a banner, a motd) is nobody's. Never raises."""
    parts: dict[str, SectionPart] = {}
    begun: list[str] = []
    too_long: set[str] = set()
    name, inside, size = "", list[MarkBlock](), 0
    for block in _blocks(answer, nonce):
        word = block.words[0]
        if word == "end":
            return Frames(parts, tuple(begun), True, frozenset(too_long))
        if not name and word.startswith("/"):
            continue  # said again
        if not name or (word == name and len(inside) == 1 and not inside[0].data):
            name, inside, size = word, [block], len(block.data)
            begun.append(word)
        elif word == "/" + name:
            if size > LARGE_SECTIONS.get(name, SECTION_LIMIT_BYTES):
                too_long.add(name)
            else:
                parts[name] = SectionPart(inside[0].data, tuple(inside[1:]), _code(block.words))
            name = ""
        else:
            inside.append(block)
            size += len(block.data)
    return Frames(parts, tuple(begun), False, frozenset(too_long))


def _blocks(answer: bytes, nonce: str) -> list[MarkBlock]:
    wanted = nonce.encode("ascii")
    marks = list(islice((mark for mark in _MARK.finditer(answer) if mark[1] == wanted), MARKS_LIMIT))
    ends = [mark.start() for mark in marks[1:]] + [len(answer)]
    return [
        MarkBlock(tuple(mark[2].decode("utf-8", "replace").split()) or ("",), answer[mark.end() + 1 : end])
        for mark, end in zip(marks, ends, strict=False)  # no mark at all: an end too many
    ]


def _code(words: tuple[str, ...]) -> int | None:
    plain = len(words) == 2 and words[1].isascii() and words[1].isdigit() and len(words[1]) <= CODE_DIGITS
    return int(words[1]) if plain else None
