"""What could be watched on a box that nobody has described yet: found by one look, read-only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from onbox.redact import printable
from patrol.ssh import NoAnswer, script_with_values

if TYPE_CHECKING:
    from patrol.ssh import Answer

END_MARK = b"<<<onbox discover end>>>"
SECONDS = 6  # on the box, for each search
PROJECTS_LIMIT = 20

# Run directories are known by run.json beside events.jsonl. Bounded in depth and time; other file systems are not
# entered, so that a hung mount costs nothing. Every line begins with a letter. A project that is not there any more
# (a copy, an example, a moved folder) has no runs; a run says its age, in seconds since the epoch, by its journal.
SCRIPT = r"""
bounded() { if command -v timeout >/dev/null 2>&1; then timeout "$seconds" "$@"; else "$@"; fi; }
seconds=$1
printf 'H %s\n' "$HOME"
for root in "$HOME" /root /workspace /data /mnt /scratch /home /opt /srv; do
  [ -d "$root" ] || continue
  case $root in "$HOME") ;; *) case $HOME in "$root"/*) continue ;; esac ;; esac
  bounded find "$root" -xdev -maxdepth 6 -name run.json -type f 2>/dev/null
done | while IFS= read -r file; do
  folder=${file%/run.json}
  [ -f "$folder/events.jsonl" ] || continue
  project=$(sed -n 's/.*"project": *"\([^"\\]*\)".*/\1/p' "$file" | head -n 1)
  [ -z "$project" ] || [ -d "$project" ] || continue
  at=$(stat -c %Y "$folder/events.jsonl" 2>/dev/null || stat -f %m "$folder/events.jsonl" 2>/dev/null)
  printf 'R %s\t%s\t%s\n' "${at:-0}" "$project" "$folder"
done | head -n 100
tmux ls 2>/dev/null | cut -d: -f1 | head -n 10 | while IFS= read -r name; do printf 'S %s\n' "$name"; done
ps -eo pid=,etime=,args= 2>/dev/null | grep -E '[p]ython[0-9.]* .*[.]py|[t]orchrun|[d]eepspeed|[a]ccelerate launch' \
  | grep -v 'onbox' | cut -c1-200 | head -n 10 | while IFS= read -r line; do printf 'P %s\n' "$line"; done
echo '<<<onbox discover end>>>'
"""


class Found(NamedTuple):
    """projects: project directories of runs that onbox started, each with the folder that holds its runs; the one whose
    run moved last comes first. sessions: of tmux. processes: command lines that look like training.
    """

    projects: tuple[tuple[str, str], ...]
    sessions: tuple[str, ...]
    processes: tuple[str, ...]


def discover_stdin() -> bytes:
    return script_with_values(SCRIPT, (str(SECONDS),))


def parse_found(answer: Answer | NoAnswer) -> Found | NoAnswer:
    """What the box said."""
    if isinstance(answer, NoAnswer):
        return answer
    runs: list[tuple[int, str, str]] = []
    sessions, processes = [], []
    for line in answer.output.decode("utf-8", "replace").split("\n"):
        kind, _, rest = line.partition(" ")
        if kind == "R":
            at, _, places = rest.partition("\t")
            project, _, folder = places.partition("\t")
            state_dir = folder.rpartition("/")[0]
            place = project or state_dir.rpartition("/")[0]
            if re.fullmatch(r"/[^\x00-\x1f]*", place):
                runs.append((int(at) if at.isascii() and at.isdigit() else 0, place, state_dir))
        elif kind == "S":
            sessions.append(printable(rest))
        elif kind == "P":
            processes.append(printable(rest.strip()))
    projects: dict[str, str] = {}
    for _, place, state_dir in sorted(runs, key=lambda run: -run[0]):
        projects.setdefault(place, state_dir)
    return Found(tuple(projects.items())[:PROJECTS_LIMIT], tuple(sessions), tuple(processes))


def state_dir_of(project: str, state_dir: str, default: str) -> str | None:
    """What `state_dir` must say for the runs of a project to be found; None: nothing, they are where they are by
    default.
    """
    below = state_dir[len(project) + 1 :] if state_dir.startswith(f"{project}/") else state_dir
    return None if below == default else below
