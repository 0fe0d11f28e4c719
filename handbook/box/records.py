"""The records of a box's runs: what is asked of the box, and the answer taken apart. Pure.

One POSIX-sh script brings, for each wanted run, run.json, the newest lines of the journal, every marker, and what
`onbox resume --dry-run` foretells. Frames begin with a random word that no file on the box can know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import Unreadable, parse_events
from onbox.contract.json_text import parse_object
from onbox.contract.markers import Invalid, Marker, parse_marker
from onbox.contract.names import name_problem
from onbox.contract.runfile import DamagedRunfile, RunHead, parse_head, parse_stages
from onbox.named_tuple import NamedTuple
from patrol.memory.scrub import scrub_lines
from patrol.ssh.box_program import FUNCTIONS
from patrol.ssh.client import script_with_values

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from onbox.contract.events import Record
    from onbox.contract.runfile import FrozenStage

# $1: project; $2: state directory, below it unless absolute; $3: the frames' word; the rest, in pairs: a run's name
# and the interpreter that started it, or empty. What it would do is asked of that one: onbox may lie in an environment
# that no login knows.
SCRIPT = (
    FUNCTIONS
    + r"""
h_mark=$3
h_end() { printf '\n%s end\n' "$h_mark"; }
cd "$1" || { printf '\n%s trouble\nthe project cannot be entered\n' "$h_mark"; h_end; return; }
h_project=$PWD
h_state=$2
case $h_state in
  '~') h_state=$HOME;;
  '~/'*) h_state=$HOME/${h_state#'~/'};;
esac
shift 3
onbox_find
h_foretell() {
  if [ -n "$2" ] && onbox_knows "$2"; then onbox_python "$2" resume --dry-run --json -- "$1"
  elif [ -n "$onbox_program" ]; then "$onbox_program" resume --dry-run --json -- "$1"
  else onbox_python python3 resume --dry-run --json -- "$1"; fi 2>/dev/null
}
cd "$h_state" 2>/dev/null || { h_end; return; }
while [ $# -ge 2 ]; do
  h_run=$1 h_python=$2
  shift 2
  case $h_run in
    */*|''|.|..) continue;;
  esac
  [ -f "./$h_run/run.json" ] || continue
  printf '\n%s run\n%s' "$h_mark" "$h_run"
  printf '\n%s manifest\n' "$h_mark"
  head -c 1048576 "./$h_run/run.json"
  printf '\n%s launches\n' "$h_mark"
  grep '"event":"chain_started"' "./$h_run/events.jsonl" 2>/dev/null | tail -n 40
  printf '\n%s events\n' "$h_mark"
  grep -v -e '"event":"attempt_started"' -e '"event":"chain_started"' "./$h_run/events.jsonl" 2>/dev/null |
    tail -n 200 | tail -c 262144
  for h_file in "./$h_run/markers/"*_DONE "./$h_run/markers/"*_FAILED; do
    [ -f "$h_file" ] || continue
    case ${h_file##*/} in
      *[!A-Za-z0-9._-]*) continue;;
    esac
    printf '\n%s marker %s\n' "$h_mark" "${h_file##*/}"
    head -c 4096 "$h_file"
  done
  printf '\n%s forecast\n' "$h_mark"
  h_python=$(onbox_here "./$h_run" "$h_python")
  (cd "$h_project" && h_foretell "$h_run" "$h_python")
done
h_end
"""
)


# As much as the script sends; more is not looked at.
PIECES_LIMIT = 8192
NAME_LIMIT = 300
LIMIT_BYTES = 256 << 10
LIMITS = {"manifest": 1 << 20, "marker": 4096}


class RawRecords(NamedTuple):
    """One run's records, as text: what is kept between two builds. forecast: None: nobody asked for it yet."""

    manifest: str
    launches: str
    events: str
    markers: dict[str, str]
    forecast: str | None


class BoxRecords(NamedTuple):
    """What one box sent. trouble: why there is nothing."""

    runs: dict[str, RawRecords]
    trouble: str = ""


class RunRecord(NamedTuple):
    """One run's records, read. trouble: what of it could not be read, in words."""

    head: RunHead | None
    stages: tuple[FrozenStage, ...]
    launches: tuple[Record, ...]
    events: tuple[Record, ...]
    markers: dict[str, Marker | Invalid]
    forecast: Mapping[str, Any]
    trouble: str


def ask_stdin(project: str, state_dir: str, mark: str, runs: Mapping[str, str]) -> bytes:
    """What goes to the box's sh. mark: a word that nobody can guess. runs: each with the interpreter that started it,
    or "". Raises ValueError on a NUL.
    """
    return script_with_values(SCRIPT, (project, state_dir, mark, *(word for pair in runs.items() for word in pair)))


def end_mark(mark: str) -> bytes:
    return f"{mark} end".encode()


def parse(output: bytes, mark: str, wanted: Collection[str], *, cut: bool = False) -> BoxRecords:
    """Take an answer apart. What is cut off or hostile is text that `read` will not understand. wanted: the runs that
    were asked for, others are left out. cut: the answer has no end, and its last run may be half a one.
    """
    found: dict[str, dict[str, Any]] = {}
    current: dict[str, Any] | None = None
    pieces = output.split(f"\n{mark} ".encode(), PIECES_LIMIT)[1:]
    for piece in pieces[:PIECES_LIMIT]:
        head, _, data = piece.partition(b"\n")
        kind, _, name = head[:NAME_LIMIT].decode("utf-8", "replace").partition(" ")
        text = data[: LIMITS.get(kind, LIMIT_BYTES)].decode("utf-8", "replace")
        if kind == "trouble":
            return BoxRecords({}, text.strip())
        if kind == "run":
            known = text in wanted and name_problem(text) is None
            current = found.setdefault(text, {"markers": {}}) if known else None
        elif kind == "marker" and current is not None and name_problem(name) is None:
            current["markers"][name] = text
        elif current is not None and kind in RawRecords._fields:
            current[kind] = text
    if cut and found:
        found.popitem()
    runs = {
        name: RawRecords(
            scrub_lines(one.get("manifest", "")),
            scrub_lines(one.get("launches", "")),
            scrub_lines(one.get("events", "")),
            {marker: scrub_lines(text) for marker, text in one["markers"].items()},
            scrub_lines(one.get("forecast", "")),
        )
        for name, one in found.items()
    }
    return BoxRecords(runs)


def read(raw: RawRecords) -> RunRecord:
    """Never raises: what cannot be read is left out, and `trouble` says so."""
    head, stages, trouble = _manifest(raw.manifest)
    markers = {name: parse_marker(text.encode()) for name, text in sorted(raw.markers.items())}
    forecast, why = _forecast(raw.forecast)
    return RunRecord(
        head,
        stages,
        _records(raw.launches),
        _records(raw.events),
        markers,
        forecast,
        "; ".join(filter(None, (trouble, why))),
    )


def _manifest(text: str) -> tuple[RunHead | None, tuple[FrozenStage, ...], str]:
    lines = text.encode().splitlines(keepends=True)
    if not lines:
        return None, (), "run.json was not read"
    try:
        head = parse_head(lines[0])
        return head, tuple(parse_stages(lines[1:])), ""
    except DamagedRunfile as error:
        return None, (), str(error)


def _records(text: str) -> tuple[Record, ...]:
    lines = text.strip("\n").encode().splitlines()
    return tuple(one for one in parse_events(line + b"\n" for line in lines) if not isinstance(one, Unreadable))


def _forecast(text: str | None) -> tuple[dict[str, Any], str]:
    if text is None:
        return {}, "what a resume would do was not asked yet: `handbook resume` asks"
    data = parse_object(text)
    if data is not None and isinstance(data.get("would"), str):
        return data, ""
    return {}, "what a resume would do is not known: no `onbox resume --dry-run` on the box answered"
