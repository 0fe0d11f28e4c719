"""What asks an engine on the box about a run's jobs: POSIX sh, run by both programs that look there.

It prints the journal's lines about jobs, the engine's answers, and then the stages' markers: in this order, so that the
marker of a job which was over when the engine was asked is seen, too. `sentinels/judge/engine_state.py` reads it.
"""

from __future__ import annotations

from onbox.backends.table import probe_of
from onbox.model.engines import ON_BOX

_ENGINE = r"""
  case $onbox_lines in *'"backend":"NAME"'* | *'"backend": "NAME"'*)
    [ -z "$onbox_head" ] || onbox_reach_NAME
    onbox_NAME $onbox_open ;;
  esac
"""
# onbox_engine ROOT. A job whose end is on record is not asked for again. What a shell without a login lacks to reach
# the engine is taken from the definition of the run, if that is the own file of the user.
_ASK = r"""
onbox_engine() {
  onbox_lines=$(grep -s -e '"event": *"job_' -e '"event": *"chain_started"' -e '"event": *"stage_redo"' \
    -e '"event": *"done_accepted"' "$1/events.jsonl" </dev/null | tail -n 100)
  case $onbox_lines in *'"job_submitting"'*) ;; *) return 0 ;; esac
  printf '<journal>\n%s\n</journal>\n' "$onbox_lines"
  onbox_over=" $(onbox_ids_of job_ended | tr '\n' ' ')"
  onbox_open=
  for onbox_id in $(onbox_ids_of job_submitted | tail -n 64); do
    case $onbox_over in *" $onbox_id "*) ;; *) onbox_open="$onbox_open $onbox_id" ;; esac
  done
  onbox_head=
  [ ! -O "$1/run.json" ] || onbox_head=$(head -n 1 "$1/run.json" </dev/null)
ENGINES
  printf '<markers>\n'
  for onbox_file in "$1"/markers/*_DONE "$1"/markers/*_FAILED; do
    [ ! -s "$onbox_file" ] || printf '%s\n' "${onbox_file##*/}"
  done
  printf '</markers>\n'
}
onbox_frozen() {
  printf '%s\n' "$onbox_head" | sed -n "s/.*[{,] *\"$1\": *\"\([^\"\\\\]*\)\".*/\1/p"
}
onbox_ids_of() {
  printf '%s\n' "$onbox_lines" | sed -n "/\"event\": *\"$1\"/s/.*\"job_id\": *\"\([0-9A-Za-z_.]*\)\".*/\1/p"
}
"""
ASK = "".join(probe_of(name).FUNCTIONS + probe_of(name).REACH for name in ON_BOX) + _ASK.replace(
    "ENGINES\n", "".join(_ENGINE.replace("NAME", name) for name in ON_BOX)
)
