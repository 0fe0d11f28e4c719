"""The runs that were handed to an engine on the box: their jobs by their journals, and its word. Shell text and parser.

The engine is asked first and the markers are listed after it: a job that was COMPLETED then has left its marker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.backends.table import probe_of
from onbox.contract.readings import Absent, Unseen
from onbox.model.engines import ON_BOX
from onbox.named_tuple import NamedTuple
from patrol.probe.box.runs import TROUBLE

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe
    from patrol.probe.frames import SectionPart

# p_jobs PROJECT STATE_DIR ENGINE
# The ids come from the journals themselves, so that no earlier look is needed. A job whose end is on record is not
# asked for again. Two questions of 3 s that both hang are still within the section's budget.
SHELL = r"""
p_jobs() {
  p_engine=$3
  p_at "$1"
  cd "$p_path" || return 20
  p_at "$2"
  [ -e "$p_path" ] || return 0
  cd "$p_path" || return 21
  p_ids= p_count=0
  for p_file in */events.jsonl; do
    p_lines=$(grep -s -e '"event": *"job_' -e '"event": *"chain_started"' -e '"event": *"stage_redo"' \
      -e '"event": *"done_accepted"' "./$p_file" | tail -n 100)
    case $p_lines in
      *'"job_submitting"'*) ;;
      *) continue;;
    esac
    p_count=$((p_count+1))
    [ $p_count -le 32 ] || continue
    p_mark job_run
    printf '%s\n%s\n' "${p_file%/*}" "$p_lines"
    p_over=" $(p_id_of job_ended | tr '\n' ' ')"
    for p_pid in $(p_id_of job_submitted | tail -n 16); do
      case $p_over in
        *" $p_pid "*) ;;
        *) p_ids="$p_ids $p_pid";;
      esac
    done
  done
  p_mark answer
  ONBOX_BOUND=3
  "onbox_$p_engine" $p_ids
  for p_file in */jobs; do
    [ -d "./$p_file" ] || continue
    p_mark markers
    printf '%s\n' "${p_file%/*}"
    for p_new in "./${p_file%/*}"/markers/*_DONE "./${p_file%/*}"/markers/*_FAILED; do
      [ -s "$p_new" ] && printf '%s\n' "${p_new##*/}"
    done
  done
  return 0
}
p_id_of() {
  printf '%s\n' "$p_lines" | sed -n "/\"event\": *\"$1\"/s/.*\"job_id\": *\"\([0-9A-Za-z_.]*\)\".*/\1/p"
}
"""
TEXTS = (*(probe_of(name).FUNCTIONS for name in ON_BOX), SHELL)
NO_JOB = Absent("no run has a job")


class RawJobs(NamedTuple):
    """journals: of each run, the lines about its jobs. answer: what the engine said. markers: names, of each run."""

    journals: dict[str, tuple[bytes, ...]]
    answer: str
    markers: dict[str, frozenset[str]]


def parse(part: SectionPart) -> Maybe[RawJobs]:
    """`Absent`: no run has a job. The order of the blocks is the box's."""
    if part.code != 0:
        return Unseen(TROUBLE.get(part.code or 0, f"the runs' jobs could not be looked at (code {part.code})"))
    journals, markers = {}, {}
    for block in part.blocks:
        first, _, rest = block.data.partition(b"\n")
        name = first.decode("utf-8", "replace")
        if block.words[0] == "job_run":
            journals[name] = tuple(line for line in rest.split(b"\n") if line)
        elif block.words[0] == "markers":
            markers[name] = frozenset(rest.decode("utf-8", "replace").split("\n")) - {""}
    if not journals:
        return NO_JOB
    return RawJobs(journals, (part.block("answer") or b"").decode("utf-8", "replace"), markers)
