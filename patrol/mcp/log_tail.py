"""The end of a run's log, read on its box: so much of it as is asked for, at the cost of that much.

Script and parser. The box seeks to the place (`tail -c`), so that a log of gigabytes costs as much as a small one.
"""

from __future__ import annotations

from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple
from patrol.ssh.client import Answer, NoAnswer, SshTarget, ask, script_with_values

END_MARK = b"<<<onbox tail end>>>"
WINDOW_BYTES = 256 << 10  # what one answer is made of
GREP_BYTES = 16 << 20  # what one answer searches
LINES_LIMIT = 500
LINE_LIMIT_BYTES = 4096
DEADLINE_SECONDS = 30.0

# $1: the log. $2: read from this byte on; empty: from the end back. $3: so many bytes at most. $4: a pattern for
# `grep -E`; empty: every line. The first line of the answer is the file's size.
SCRIPT = r"""
if [ ! -f "$1" ]; then echo absent; printf '\n<<<onbox tail end>>>\n'; return; fi
size=$(wc -c <"$1") || { echo unreadable; printf '\n<<<onbox tail end>>>\n'; return; }
echo "$((size))"
from=$2
if [ -z "$from" ]; then from=$((size - $3)); fi
if [ "$from" -lt 0 ]; then from=0; fi
echo "$from"
part() { tail -c +"$((from + 1))" <"$log" | head -c "$bytes"; }
log=$1 bytes=$3
if [ -n "$4" ]; then part | LC_ALL=C grep -aE -e "$4" | tail -n 500 | cut -c 1-4096
else part
fi
printf '\n<<<onbox tail end>>>\n'
"""


class Tail(NamedTuple):
    """lines: oldest first. begins: the byte of the log from which on it was read. ends: where to read on from."""

    lines: tuple[str, ...]
    begins: int
    ends: int


def read_tail(target: SshTarget, path: str, lines: int, since: int | None, grep: str) -> Tail | Absent | Unseen:
    """The last `lines` lines; since: what lies behind this byte, a window at a time. grep: only lines that match it."""
    size = GREP_BYTES if grep else WINDOW_BYTES
    values = (path, "" if since is None else str(since), str(size), grep)
    heard = ask(
        target,
        script_with_values(SCRIPT, values),
        end_mark=END_MARK,
        deadline_seconds=DEADLINE_SECONDS,
        limit_bytes=WINDOW_BYTES + (LINES_LIMIT + 2) * LINE_LIMIT_BYTES,
    )
    return parse_tail(heard, lines, since, size, grep=bool(grep))


def parse_tail(
    heard: Answer | NoAnswer, lines: int, since: int | None, window: int, *, grep: bool
) -> Tail | Absent | Unseen:
    """Pure. A line that is cut at a window's edge is left out; the next answer has it whole."""
    if isinstance(heard, NoAnswer):
        return Unseen(f"{heard.reason}: {heard.detail}")
    first, _, rest = heard.output.partition(b"\n")
    if first == b"absent":
        return Absent("there is no such log yet")
    second, _, text = rest.partition(b"\n")
    if not (first.isdigit() and second.isdigit()):
        return Unseen("the log could not be read")
    size, begins = int(first), int(second)
    if since is not None and since > size:
        return Unseen(f"the log is shorter than the cursor says ({size} bytes): it was replaced; ask without `since`")
    text = text.removesuffix(b"\n")  # of the script, before its end mark
    if since is None and begins and not grep:
        text = text[text.find(b"\n") + 1 :]
    ends = min(size, begins + window)
    if ends < size and not grep:
        text = text[: text.rfind(b"\n") + 1]
        ends = begins + len(text)
    found = text.splitlines(keepends=True)
    kept = found[-lines:]
    if since is not None and not grep and len(found) > lines:  # the rest is for the next answer
        kept = found[:lines]
        ends = begins + sum(map(len, kept))
    shown = (line[:LINE_LIMIT_BYTES].decode("utf-8", "replace").rstrip("\r\n") for line in kept)
    return Tail(tuple(shown), begins, ends)
