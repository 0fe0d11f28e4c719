"""A command of onbox about a run, on the box where it lives, with its output as it comes."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

from onbox.outside import safe_line, safe_text
from patrol.config.ssh_target import target_of
from patrol.memory.run_codec import memories_of
from patrol.memory.store import Memory
from patrol.ssh.box_program import FUNCTIONS
from patrol.transfer.stream.scripts import END
from patrol.transfer.stream.talk import LinkLost, Talk
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings

SILENT_SECONDS = 900.0  # a stop waits for its stage's grace
FOREVER_SECONDS = 1e6  # more than epoll takes is an error

_FINISH = "printf '\\n<<<onbox transfer end %s>>>\\n' \"$code\""
# $1: project; $2: state directory; $3: run; $4: the interpreter that started it; empty: its own
# records say it; then the words behind onbox.
ONBOX = (
    FUNCTIONS
    + rf"""
printf '\n<<<onbox transfer ready>>>\n'
case $1 in
  '~'|'~/'*) cd "$HOME${{1#?}}";;
  *) cd "$1";;
esac || {{ echo "cannot enter the project"; code=126; {_FINISH}; return; }}
case $2 in
  '~'|'~/'*) state=$HOME${{2#?}};;
  *) state=$2;;
esac
[ -e "$state/$3/run.json" ] || {{
  there=$(cd "$state" 2>/dev/null && ls -d ./*/run.json 2>/dev/null | cut -d/ -f2 | tr '\n' ' ')
  echo "there is no run $3; the runs there: ${{there:-none}}"
  code=64
  {_FINISH}
  return
}}
python=$4
[ -n "$python" ] || python=$(sed -n '1s/.*"python": "\(\/[^"\\]*\)".*/\1/p' "$state/$3/run.json" 2>/dev/null)
python=$(onbox_here "$state/$3" "$python")
shift 4
onbox_find
if [ -n "$python" ] && onbox_knows "$python"; then onbox_python "$python" "$@" 2>&1; code=$?
elif [ -n "$onbox_program" ]; then "$onbox_program" "$@" 2>&1; code=$?
elif onbox_knows python3; then onbox_python python3 "$@" 2>&1; code=$?
else
  echo "no onbox where the run was started, on the PATH, in .venv or venv of the project, in ~/.local/bin, in python3"
  code=127
fi
{_FINISH}
"""
)
# $1: project, or empty; $2: a log; $3: lines; $4: -f or empty.
TAIL = rf"""
printf '\n<<<onbox transfer ready>>>\n'
[ -z "$1" ] || case $1 in
  '~'|'~/'*) cd "$HOME${{1#?}}";;
  *) cd "$1";;
esac || {{ echo "cannot enter the project"; code=126; {_FINISH}; return; }}
case $2 in
  '~/'*) log=$HOME${{2#?}};;
  /*) log=$2;;
  *) log=./$2;;
esac
tail -n "$3" ${{4:+"$4"}} "$log" 2>&1
code=$?
{_FINISH}
"""


def call_onbox(settings: Settings, box: BoxSettings, run: str, words: Sequence[str], *, follows: bool = False) -> int:
    """`onbox WORDS` in the project; its exit code, or that of a box that could not be reached. follows: it may be
    silent for ever.
    """
    memories = memories_of(Memory(settings.state).recall().memories.get(box.name, {}))
    known = memories.runs.get(run)
    python = known.manifest.python if known is not None and known.manifest is not None else ""
    values = (box.project or "~", settings.state_dir_of(box), run, python, *words)
    return _stream(settings, box, ONBOX, values, follows=follows)


def show_log(settings: Settings, box: BoxSettings, log: str, lines: int, *, follows: bool = False) -> int:
    """The end of a log of a run that onbox did not start."""
    return _stream(settings, box, TAIL, (box.project or "", log, str(lines), "-f" if follows else ""), follows=follows)


def _stream(settings: Settings, box: BoxSettings, script: str, values: Sequence[str], *, follows: bool) -> int:
    silent = FOREVER_SECONDS if follows else SILENT_SECONDS
    try:
        with closing(Talk(target_of(settings, box), script, values, stall_seconds=silent)) as talk:
            return _show(talk)
    except LinkLost as lost:
        print(f"patrol: {box.name}: {safe_line(lost)}", file=sys.stderr)
        return int(Severity.UNKNOWN)


def _show(talk: Talk) -> int:
    """Whole lines, as they come, up to the mark of the end; the code in it."""
    held = b""
    while True:
        held += talk.some()
        at = held.find(END)
        if at >= 0 and b">>>" in held[at:]:
            _print(held[:at])
            word = held[at + len(END) :].partition(b">>>")[0]
            return int(word) if word.isdigit() and len(word) < 4 else 255
        if at < 0 and (cut := held.rfind(b"\n", 0, max(0, len(held) - len(END)))) >= 0:
            _print(held[:cut])
            held = held[cut + 1 :]


def _print(data: bytes) -> None:
    text = safe_text(data.decode("utf-8", "replace")).rstrip("\n")
    if text:
        print(text, flush=True)
