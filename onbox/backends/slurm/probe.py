"""A look at Slurm jobs from afar: a few lines of POSIX sh, and what their output means. Pure.

For whoever has one connection to a login node and wants the engine's word in it: the lines are run there with the job
ids as positional arguments (never put into the text), print framed answers, and end whatever Slurm does. Where
`timeout` is missing (it is everywhere but on the barest systems) the bound is the connection's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.backends.slurm import text
from onbox.backends.slurm.states import job_from
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.backends.base import Job

NO_COMMAND, NO_QUEUE = 127, 20
BOUND_SECONDS = 10  # for each of the commands, if ONBOX_BOUND of the caller's shell does not say otherwise

# Section by section: a header line, the command's own output, a footer with its exit code. 127: there is no such
# command. Of a controller that was too slow once (124) nothing more is asked. `scontrol` settles only what `squeue` did
# not show. The taste of the user's shell is taken away (an empty SQUEUE_USERS would hide every job).
FUNCTIONS = f"""\
onbox_slurm() {{
  unset SQUEUE_FORMAT SQUEUE_FORMAT2 SQUEUE_STATES SQUEUE_SORT SQUEUE_USERS SQUEUE_ACCOUNT SQUEUE_PARTITION \\
    SQUEUE_QOS SQUEUE_LICENSES SQUEUE_NAMES SQUEUE_CLUSTERS SACCT_FORMAT SLURM_TIME_FORMAT
  LC_ALL=C; export LC_ALL
  onbox_ids= onbox_slow= onbox_said=
  for onbox_id do
    case $onbox_id in *[!0-9_]* | '') continue ;; esac
    onbox_ids=$onbox_ids${{onbox_ids:+,}}$onbox_id
  done
  [ -n "$onbox_ids" ] || return 0
  onbox_ask squeue squeue -h -a -t all -j "$onbox_ids" -O {text.SQUEUE_FORMAT}
  onbox_shown=$onbox_said
  for onbox_id do
    case $onbox_id in *[!0-9_]* | '') continue ;; esac
    case "
$onbox_shown" in *"
$onbox_id "*) continue ;; esac
    onbox_ask "scontrol $onbox_id" scontrol show job "$onbox_id"
  done
  onbox_slow=
  onbox_ask sacct sacct -n -P -X -j "$onbox_ids" -o {text.SACCT_OLD_FIELDS}
}}
onbox_ask() {{
  printf '<slurm %s>\\n' "$1"
  shift
  if ! command -v "$1" >/dev/null 2>&1; then
    printf '</slurm 127>\\n'
    return 0
  fi
  if [ -n "$onbox_slow" ]; then
    printf '</slurm 124>\\n'
    return 0
  fi
  if command -v timeout >/dev/null 2>&1; then
    onbox_said=$(timeout ${{ONBOX_BOUND:-{BOUND_SECONDS}}} "$@" 2>&1)
  else
    onbox_said=$("$@" 2>&1)
  fi
  onbox_code=$?
  [ "$onbox_code" -ne 124 ] || onbox_slow=1
  printf '%s\\n</slurm %s>\\n' "$onbox_said" "$onbox_code"
}}
"""
# What a shell without a login lacks to reach Slurm: `onbox_frozen NAME` says what a variable was where the run was
# submitted.
REACH = r"""
onbox_reach_slurm() {
  command -v squeue >/dev/null 2>&1 || PATH=$PATH:$(onbox_frozen PATH)
  [ -n "${SLURM_CONF-}" ] || SLURM_CONF=$(onbox_frozen SLURM_CONF)
  if [ -n "$SLURM_CONF" ]; then export SLURM_CONF; else unset SLURM_CONF; fi
}
"""
QUEUE = r"""
onbox_queue_slurm() {
  command -v squeue >/dev/null || return 20
  squeue -h -u "$(id -un)" -o '%i|%T|%r|%M|%j' 2>&1
}
"""


class CommandSection(NamedTuple):
    """What one command printed (both streams); code: its exit code, None where the output is cut off."""

    output: str
    code: int | None


def parse_sections(output: str) -> dict[str, CommandSection]:
    """The sections by name: `squeue`, `sacct`, `scontrol ID`. A section without its footer has the code None."""
    found: dict[str, CommandSection] = {}
    name = ""
    lines: list[str] = []
    for line in output.splitlines():
        head, foot = re.fullmatch(r"<slurm ([\w ]+)>", line), re.fullmatch(r"</slurm (\d+)>", line)
        if head:
            name, lines = head[1], []
            found[name] = CommandSection("", None)
        elif foot and name:
            found[name] = CommandSection("\n".join(lines), int(foot[1]))
            name = ""
        elif name:
            lines.append(line)
    return found


def parse_probe(output: str, job_ids: Sequence[str]) -> Mapping[str, Maybe[Job]]:
    """The engine's word on each job, as `Backend.look` gives it. `Absent`: the controller answers and does not know
    the job, nor does the accounting where there is one.
    """
    sections = parse_sections(output)
    queue = _queue(sections.get("squeue"))
    history = _history(sections.get("sacct"))
    words = {job_id: _controller(job_id, queue, sections.get(f"scontrol {job_id}")) for job_id in job_ids}
    return {job_id: text.weigh(job_id, word, history) for job_id, word in words.items()}


def has_no_commands(output: str) -> bool:
    """Whether Slurm's commands are not there at all, so that nobody there can ever ask it."""
    queue = parse_sections(output).get("squeue")
    return queue is not None and queue.code == NO_COMMAND


def read_names(code: int | None, output: str) -> Maybe[dict[str, Job]]:
    """The account's own jobs by name. code, output: of `onbox_queue_slurm`; None: it is cut off."""
    if code == NO_QUEUE:
        return Absent("no squeue on the box's path")
    if code != 0:
        return Unseen(f"squeue: {safe_line(output.strip(), 120)}")
    rows = [line.split("|", 4) for line in output.split("\n")]
    return {row[4]: job_from(row[0], safe_line(row[1]), safe_line(row[2]), None, 0) for row in rows if len(row) == 5}


def _queue(section: CommandSection | None) -> Maybe[Mapping[str, Job]]:
    trouble = _trouble("squeue", section)
    if trouble is not None or section is None:
        return trouble or Unseen("squeue was not asked")
    return text.read_queue(
        text.CommandAnswer(section.code or 0, section.output, section.output if section.code else "")
    )


def _controller(job_id: str, queue: Maybe[Mapping[str, Job]], section: CommandSection | None) -> Maybe[Job]:
    if not isinstance(queue, Absent | Unseen) and job_id in queue:
        return queue[job_id]
    trouble = _trouble("scontrol", section)
    if trouble is not None or section is None:
        return queue if isinstance(queue, Unseen) else trouble or Unseen("scontrol was not asked")
    return text.read_one(job_id, text.CommandAnswer(section.code or 0, section.output, section.output))


def _history(section: CommandSection | None) -> Maybe[Mapping[str, Job]]:
    if section is not None and section.code == NO_COMMAND:
        return Absent("there is no sacct")
    trouble = _trouble("sacct", section)
    if trouble is not None or section is None:
        return trouble or Unseen("sacct was not asked")
    return text.read_history(text.CommandAnswer(section.code or 0, section.output, section.output))


def _trouble(name: str, section: CommandSection | None) -> Unseen | None:
    """Why a section says nothing at all; None if it does."""
    if section is None or section.code is None:
        return Unseen(f"the answer of {name} is cut off" if section else f"there is no answer of {name}")
    if section.code == NO_COMMAND:
        return Unseen(f"there is no {name} where it was asked")
    return Unseen(f"{name} did not answer in time") if section.code == 124 else None
